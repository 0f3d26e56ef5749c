"""A simulator's program as a child process that answers requests, one JSON object a line.

The protocol stands in deployments/simulators/README.md. What the bridge adds: the program starts on first
use, answers many requests at once, and is started anew by the next request after it died. It runs in a
process group of its own that ends with it, at `aclose`, and when we are killed ourselves. It sees the
environment it is given and nothing else; its stderr is a log for people.
"""

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tasks.errors import InputError, SessionLost, SimulatorError, TurtleError

LINE_LIMIT_BYTES = 64 * 1024 * 1024
"""Longest line taken from a program; one that writes more is out of its mind and is killed."""

LOG_LIMIT_BYTES = 10 * 1024 * 1024
"""A log longer than this is started anew with the next process."""

LAST_WORDS_BYTES = 2000
"""How much of the end of a log is looked at for what a program said before it ended."""

GOODBYE_S = 3.0
"""How long a program may take to end by itself once its input is closed."""

ALLOWED_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR")
"""What a program may see of our environment. No key, no address, no path of the user's."""

# Stands beside the program in its process group and waits for our end of a pipe to close: the kernel does
# that when we end, however we end, and the whole group is killed. A program that hangs or that forked
# would outlive the end of its stdin. It must not hold the program's stdout open.
_LIFELINE = '(read -r _ < "/dev/fd/$1"; kill -9 0) >/dev/null 2>&1 & shift; exec "$@"'

_ERRORS: dict[str, type[TurtleError]] = {"bad_request": InputError, "session_lost": SessionLost}


def reduced_environment(added: Mapping[str, str]) -> dict[str, str]:
    """The allowed variables of our environment, with those of the simulator added."""
    allowed = {name: os.environ[name] for name in ALLOWED_VARIABLES if name in os.environ}
    return allowed | dict(added)


class Process(asyncio.SubprocessProtocol):
    """One run of a simulator's program, from its start to its death. Made by `Bridge`."""

    def __init__(self, name: str, log: Path, lifeline: int) -> None:
        self.cause: str | None = None
        """Why the process is over, as one line; None while it runs."""
        self._name = name
        self._log = log
        self._log_start = log.stat().st_size
        self._lifeline = lifeline
        self._asked = 0
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._unread = bytearray()
        self._exited = asyncio.Event()

    @property
    def pid(self) -> int:
        """Process id of the program, and of its group."""
        return self._transport.get_pid()

    async def ask(self, method: str, params: Mapping[str, Any], timeout_s: float) -> Any:
        """The program's result for one request.

        Raises InputError when the program calls the parameters wrong, SessionLost when the session is
        gone, SimulatorError when the program died, is in trouble, wrote garbage, or did not answer within
        `timeout_s` seconds, more on a crowded machine; it is killed in the last three cases.
        """
        if self.cause is not None:
            raise SimulatorError(self.cause)
        number, self._asked = self._asked, self._asked + 1
        request = {"id": number, "method": method, "params": dict(params)}
        line = json.dumps(request, allow_nan=False)  # ASCII: no matter of the program's locale
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        self._stdin.write(line.encode("ascii") + b"\n")
        try:
            async with asyncio.timeout(stretched(timeout_s)):
                return await answer
        except TimeoutError:
            raise self.end(f"no answer to {method} within {timeout_s:g} s") from None
        finally:
            del self._waiting[number]

    def end(self, reason: str) -> SimulatorError:
        """Kills the group and fails what is in flight. Returns the error, to be raised by the caller."""
        if self.cause is None:
            self.cause = f"simulator {self._name}: {reason}; log: {self._log}"
            _kill_group(self.pid)
            os.close(self._lifeline)
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(SimulatorError(self.cause))
        return SimulatorError(self.cause)

    async def leave(self) -> None:
        """Lets the program end by itself, then kills what is left of its group."""
        self._stdin.close()
        try:
            async with asyncio.timeout(GOODBYE_S):
                await self._exited.wait()
        except TimeoutError:
            self.end("killed: it went on after its input was closed")
        await self._exited.wait()
        self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The process runs: keeps its transport and the way to its stdin."""
        assert isinstance(transport, asyncio.SubprocessTransport)
        stdin = transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)
        self._transport, self._stdin = transport, stdin

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Cuts what the program wrote into lines."""
        looked_at = len(self._unread)
        self._unread += data
        if len(self._unread) > LINE_LIMIT_BYTES:
            self.end(f"wrote a line of more than {LINE_LIMIT_BYTES} bytes")
        while self.cause is None and (end := self._unread.find(b"\n", looked_at)) >= 0:
            line = bytes(self._unread[:end])
            del self._unread[: end + 1]
            looked_at = 0
            self._take(line)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Most often the program is about to end, and `process_exited` will tell its exit code."""
        loop = asyncio.get_running_loop()
        loop.call_later(GOODBYE_S, self.end, "closed its input or output and went on")

    def process_exited(self) -> None:
        """The program ended, by itself or by us; what it forked ends with it."""
        self._exited.set()
        ending = _ending(self._transport.get_returncode())
        self.end(f"{ending}{self._last_words()}")

    def _last_words(self) -> str:
        """The last line that this process wrote to its log, in brackets; "" when there is none."""
        with self._log.open("rb") as log:
            log.seek(max(self._log_start, log.seek(0, os.SEEK_END) - LAST_WORDS_BYTES))
            lines = log.read().decode("utf-8", "replace").split("\n")
        return next((f" ({line.strip()})" for line in reversed(lines) if line.strip()), "")

    def _take(self, line: bytes) -> None:
        """Hands one line of the program's output to whoever waits for it."""
        try:
            message = json.loads(line)
            number, error = message["id"], message.get("error")
            known = type(number) is int and 0 <= number < self._asked
            result = message["result"] if error is None else None
            kind, text = (None, "") if error is None else (error["kind"], str(error["message"]))
        except (ValueError, KeyError, TypeError, AttributeError):
            known = False
        if not known:
            self.end(f"wrote what is no answer to its output: {line[:80]!r}")
            return
        answer = self._waiting.get(number)
        if answer is None or answer.done():
            return  # Whoever asked was cancelled.
        if error is None:
            answer.set_result(result)
        elif kind in _ERRORS:
            answer.set_exception(_ERRORS[kind](f"simulator {self._name}: {text}"))
        else:
            self.end(text)


class Bridge:
    """A simulator's program, started on first use and again after it died. For one event loop."""

    def __init__(self, argv: Sequence[str], env: Mapping[str, str], name: str, log: Path) -> None:
        """Starts nothing yet.

        Args:
            argv: the program and its arguments.
            env: its whole environment, see `reduced_environment`.
            name: of the simulator, for messages.
            log: file to which the program's stderr is appended; its folder is made.
        """
        self._argv = tuple(argv)
        self._env = dict(env)
        self._name = name
        self._log = log
        self._process: Process | None = None
        self._starting = asyncio.Lock()

    async def process(self) -> Process:
        """The running program. Who opens a session keeps it: with this process the session is gone.

        Raises SimulatorError when the program cannot be started.
        """
        async with self._starting:
            if self._process is None or self._process.cause is not None:
                self._process = await self._start()
            return self._process

    async def call(self, method: str, params: Mapping[str, Any], timeout_s: float) -> Any:
        """`Process.ask` on the running program."""
        return await (await self.process()).ask(method, params, timeout_s)

    async def aclose(self) -> None:
        """Ends the program and all that it started. A later call would start it again."""
        async with self._starting:
            if self._process is not None:
                await self._process.leave()
            self._process = None

    async def _start(self) -> Process:
        self._log.parent.mkdir(parents=True, exist_ok=True)
        long = self._log.exists() and self._log.stat().st_size > LOG_LIMIT_BYTES
        watched, lifeline = os.pipe()
        try:
            with self._log.open("wb" if long else "ab") as log:
                _, process = await asyncio.get_running_loop().subprocess_exec(
                    lambda: Process(self._name, self._log, lifeline),
                    *("/bin/sh", "-c", _LIFELINE, "sh", str(watched), *self._argv),
                    stderr=log,
                    env=self._env,
                    pass_fds=(watched,),
                    start_new_session=True,
                )
        except OSError as error:
            os.close(lifeline)
            raise SimulatorError(f"simulator {self._name}: cannot be started ({error})") from error
        finally:
            os.close(watched)
        return process


def _kill_group(leader: int) -> None:
    """Kills a process group; harmless when nothing is left of it."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)


def _ending(code: int | None) -> str:
    """How a process ended, in words."""
    if code is not None and code < 0:
        return f"died of {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def stretched(seconds: float) -> float:
    """A deadline on a machine with more to do than it can: times the load average by core, if above 1.

    The simulators stretch the deadlines of their sessions in the same way, and ours must be the later ones.
    """
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
