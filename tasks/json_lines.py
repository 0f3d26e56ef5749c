"""Append-only files of JSON lines: appended whole, and read without the line that a kill cut off."""

import errno
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tasks.errors import SpoolError


class JsonLines:
    """A file that is appended to. What is written survives the death of this process."""

    def __init__(self, path: Path, first: Iterable[bytes]) -> None:
        """Begins the file anew with the lines of `first`, at once or not at all. Raises SpoolError."""
        self.path = path
        fresh = path.with_suffix(".taken-up")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(b"".join(first))
            os.replace(fresh, path)
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND)
        except OSError as error:
            raise write_error(path, error) from error

    def append(self, entry: dict[str, Any]) -> None:
        """Adds a line. Raises SpoolError when the disk is full or gone."""
        data = line(entry)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise write_error(self.path, error) from error

    def sync(self) -> None:
        """Returns when the file is on the disk to the last byte."""
        os.fsync(self._file)

    def close(self) -> None:
        """Ends appending; harmless when it ended before."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def line(entry: dict[str, Any]) -> bytes:
    """An entry as a line of ASCII, in insertion order, so that its first key says what it is."""
    text = json.dumps(entry, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.encode("ascii") + b"\n"


def whole_lines(path: Path) -> list[bytes]:
    """The lines that were written to their end; none where there is no such file."""
    if not path.exists():
        return []
    data = path.read_bytes()
    return data[: data.rfind(b"\n") + 1].splitlines(keepends=True)


def write_error(path: Path, error: OSError) -> SpoolError:
    """What to tell the user of a file that cannot be written."""
    if error.errno == errno.ENOSPC:
        return SpoolError(
            f"spool {path.parent.parent}: the disk is full; free space and run the same command again"
        )
    return SpoolError(f"spool file {path}: cannot be written ({error.strerror})")
