"""What a shell says to its world, read with suspicion: model-written code may have written every byte.

A line that is no message of ours, or that is too long or too deep, costs the session and nothing else.
Text is made sound on the way in, so that whatever is stored and shown later can be encoded.
"""

import json
from collections.abc import Callable
from typing import Any, BinaryIO

LINE_BYTES = 8 << 20
"""Longest message that is read."""
SESSION_BYTES = 16 << 20
"""Most that one session may say and, where calls keep their results, be told."""
DEPTH = 64
"""Deepest nesting of a message; the engine's own parameters have one level."""


class ShellLost(Exception):
    """The shell ended, or says what no shell of ours says."""


class FromShell:
    """The messages of one session's shell, in order."""

    def __init__(self, lines: BinaryIO) -> None:
        """Reads from `lines`, the shell's end of the socket as a file."""
        self._lines = lines
        self._left = SESSION_BYTES

    def read(self) -> dict:
        """The next message: `{"text": str, "error": bool}`, or a call with `arguments` of names and values.

        Raises:
            ShellLost: see the module's docstring.
        """
        line = self._lines.readline(LINE_BYTES)
        self.spend(len(line))
        try:
            message = sound(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise ShellLost("the shell of this session ended") from error
        if not isinstance(message, dict) or not any(fits(message) for fits in _SHAPES):
            raise ShellLost("the shell of this session sent what is no message")
        return message

    def spend(self, size: int) -> None:
        """Counts bytes against the session's bound. Raises ShellLost beyond it."""
        self._left -= size
        if self._left < 0:
            raise ShellLost(f"this session moved more than {SESSION_BYTES >> 20} MB")


def sound(value: Any, depth: int = DEPTH) -> Any:
    """A JSON value with U+FFFD for each NUL and lone surrogate, which no file and no database can hold.

    Raises:
        ValueError: it is nested deeper than `depth`, or holds a number that JSON does not have.
    """
    if depth == 0:
        raise ValueError("nested too deep")
    if isinstance(value, str):
        whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole.replace("\0", "\ufffd")
    if isinstance(value, dict):
        return {sound(key): sound(part, depth - 1) for key, part in value.items()}
    return [sound(part, depth - 1) for part in value] if isinstance(value, list) else value


def _is_text(message: dict) -> bool:
    return isinstance(message.get("text"), str) and isinstance(message.get("error"), bool)


def _is_call(message: dict) -> bool:
    return isinstance(message.get("arguments"), dict) and all(
        isinstance(message.get(name), str) for name in ("app", "api")
    )


_SHAPES: tuple[Callable[[dict], bool], ...] = (_is_text, _is_call)
