"""Programs of tests in processes of their own that start at once, because all is imported already.

`python -m MODULE` spends 3 s of a core on imports before a campaign begins, and tests start a hundred. Here
multiprocessing's fork server imports once and forks: a process still, with its own environment, output and
end, that can be killed at any point.
"""

import atexit
import multiprocessing
import os
import random
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parents[2]
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.toy.imported"])


class Forked:
    """A running `python -m MODULE`, with those methods of `subprocess.Popen` that tests use.

    It writes to files, so nobody has to read while it runs.
    """

    def __init__(
        self, module: str, arguments: Sequence[str], cwd: Path, environment: Mapping[str, str]
    ) -> None:
        self.args = [module, *arguments]
        self._folder = tempfile.TemporaryDirectory(prefix="turtle-forked-")
        self._files = [Path(self._folder.name) / name for name in ("stdout", "stderr")]
        self._process = CONTEXT.Process(
            target=_run, args=(self.args, str(cwd), dict(environment), self._files)
        )
        self._process.start()

    @property
    def returncode(self) -> int | None:
        """Exit code, or minus the signal that ended it; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """See `returncode`."""
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it wrote to stdout and stderr, once it has ended. Raises TimeoutExpired."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        out, err = (file.read_text() for file in self._files)
        return out, err

    def send_signal(self, number: int) -> None:
        """Sends a signal to the process alone."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def kill(self) -> None:
        """As kill -9 does."""
        self.send_signal(signal.SIGKILL)


Process = Forked | subprocess.Popen[str]


def started(
    module: str,
    arguments: Sequence[str],
    checkout: Path,
    environment: Mapping[str, str],
    from_nothing: bool = False,
) -> Process:
    """Starts `python -m MODULE` of a checkout, forked unless it is another one or `from_nothing`."""
    if checkout == HERE and not from_nothing:
        return Forked(module, arguments, checkout, environment)
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _run(command: list[str], cwd: str, environment: dict[str, str], files: list[Path]) -> None:
    """Is the program, in a process that has imported what `tests.toy.imported` does."""
    for number, file in enumerate(files, start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    random.seed()
    from prefect.context import refresh_global_settings_context

    refresh_global_settings_context()
    sys.argv = command
    try:
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
    finally:
        atexit._run_exitfuncs()
