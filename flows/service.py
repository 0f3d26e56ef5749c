"""Processes that stay when the command that started them ends: started once, found again, stopped."""

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tasks.errors import InputError

STOP_S = 30.0
"""How long a process may take to end by itself, in seconds."""


@dataclass(frozen=True)
class Service:
    """A background process of this machine, known by a lock that it holds as long as it lives.

    The lock is the kernel's and is handed to the process at its start: a process id that was taken over by
    another program is never mistaken for ours, and one that died leaves nothing to clean up.
    """

    name: str
    folder: Path
    """Where the lock with the process id, and the log, lie."""

    @property
    def log(self) -> Path:
        """What the process printed, from its last start on."""
        return self.folder / f"{self.name}.log"

    @property
    def _lock(self) -> Path:
        return self.folder / f"{self.name}.pid"

    def start(self, command: Sequence[str], environment: Mapping[str, str], cwd: Path) -> None:
        """Starts the process in a group of its own. Raises InputError when it runs already."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self._lock, "a+", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InputError(f"{self.name}: runs already; turtle down stops it") from error
            with open(self.log, "wb") as log:
                process = subprocess.Popen(
                    command,
                    cwd=cwd,
                    env=dict(environment),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    pass_fds=[lock.fileno()],
                )
            lock.truncate(0)
            lock.write(str(process.pid))

    def process_id(self) -> int | None:
        """The id of the process; None when it does not run."""
        try:
            with open(self._lock, encoding="ascii") as lock:
                try:
                    fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
                except BlockingIOError:
                    return int(lock.read())
        except FileNotFoundError:
            pass
        return None

    def stop(self) -> bool:
        """Ends the process and its group, by force after `STOP_S`; False when it did not run."""
        process_id = self.process_id()
        if process_id is None:
            return False
        for how in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):  # it ended by itself meanwhile
                os.killpg(process_id, how)
            deadline = time.monotonic() + STOP_S
            while self.process_id() is not None and time.monotonic() < deadline:
                time.sleep(0.1)
            if self.process_id() is None:
                break
        return True

    def last_words(self) -> str:
        """The last line of the log; empty where there is none."""
        text = self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""
        return next((line for line in reversed(text.splitlines()) if line.strip()), "")
