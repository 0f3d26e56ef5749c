"""A locked Python environment: made once, stamped, and the same on every machine.

    python3 -m tasks.environment FOLDER LOCK [PROJECT]

Set-up runs this with the machine's own Python before anything is installed, so it stands on the standard
library alone. An environment without its stamp does not count: it is written last, and whoever was killed
half-way left none. Two processes may come at once; the second waits for the first.
"""

import contextlib
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tasks.errors import InputError

Progress = Callable[[str], None]
"""Takes one line for the user."""

NEEDED_BYTES = 1_500_000_000
"""Free space asked for before an environment is made: 0.9 GB installed, the rest while it is unpacked."""

QUIET_S = 3.0
"""Progress of one command is told at most this often."""


def ensure_environment(
    folder: Path,
    lock: Path,
    progress: Progress,
    project: Path | None = None,
    needed_bytes: int = NEEDED_BYTES,
) -> Path:
    """The interpreter of an environment that holds what `lock` lists, made when it is not there yet.

    Args:
        folder: of the environment; whatever else lies there is removed.
        lock: a requirements file with a hash for every package.
        progress: told what is being done.
        project: a project that is installed in place on top, with the build backend of the lock.
        needed_bytes: free disk without which nothing is begun.

    Raises InputError, in one line, when pip, the disk or a package is missing.
    """
    python = folder / "bin" / "python"

    def make(held: int) -> None:
        _check_machine(folder, needed_bytes)
        shutil.rmtree(folder, ignore_errors=True)
        progress(f"{folder}: new environment for Python {sys.version.split()[0]}")
        venv.EnvBuilder(with_pip=False, symlinks=True).create(folder)
        _install(python, lock, project, progress, held)
        compile_bytecode(python, folder / "lib", progress, held)

    make_once(folder, folder / "stamp", _environment_stamp(folder, lock), progress, make)
    return python


def has_environment(folder: Path, lock: Path) -> bool:
    """Whether `ensure_environment` would find nothing to do."""
    return has_stamp(folder / "stamp", _environment_stamp(folder, lock))


def _environment_stamp(folder: Path, lock: Path) -> str:
    # An environment names its own folder and the machine's Python in its files.
    return stamp_of([lock], f"{folder.resolve()} {sys.base_prefix} {sys.version}")


def make_once(
    folder: Path, stamp: Path, expected: str, progress: Progress, make: Callable[[int], None]
) -> None:
    """Calls `make` unless its stamp says that it has been done, by one process at a time.

    Args:
        folder: what is made; only one process at a time makes it.
        stamp: file, in `folder`, that is written when `make` is through.
        expected: what the stamp must say, see `stamp_of`.
        progress: told when another process has to be waited for.
        make: does the work; it is given the descriptor of the lock, for `run`.
    """
    if not has_stamp(stamp, expected):
        with _only_one(folder, progress) as held:
            if not has_stamp(stamp, expected):
                make(held)
                part = stamp.with_suffix(".part")
                part.write_text(expected, encoding="ascii")
                part.replace(stamp)


def stamp_of(sources: Sequence[Path], *more: str) -> str:
    """Hash of the sources' names and bytes (folders with all that is in them, bytecode apart)."""
    digest = hashlib.sha256("\0".join(more).encode())
    for source in sources:
        files = sorted(source.rglob("*")) if source.is_dir() else [source]
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(f"\0{file.relative_to(source.parent)}\0".encode())
                digest.update(file.read_bytes())
    return digest.hexdigest()


def has_stamp(path: Path, expected: str) -> bool:
    """Whether a stamp is there and says what it must, see `make_once`."""
    try:
        return path.read_text(encoding="ascii") == expected
    except (FileNotFoundError, NotADirectoryError):
        return False


@contextlib.contextmanager
def _only_one(folder: Path, progress: Progress) -> Iterator[int]:
    """Holds the right to make `folder`; yields the descriptor of the lock.

    The kernel gives the lock back when its last holder ends, however it ends. Commands inherit it (`run`),
    so that one that outlives its killed parent is waited for as well.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress(f"{folder}: waiting for another process that sets it up")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file.fileno()


def run(
    command: Sequence[str | Path],
    held: int,
    env: Mapping[str, str],
    told: Callable[[str], None],
    log: Path,
) -> int:
    """Runs a command of a set-up, hands its lines to `told` and to the log; returns the exit code."""
    with (
        log.open("w", encoding="utf-8") as kept,
        subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(env),
            pass_fds=(held,),
            text=True,
            errors="replace",
        ) as process,
    ):
        for line in process.stdout or ():
            kept.write(line)
            kept.flush()
            told(line.rstrip())
    return process.returncode


def compile_bytecode(python: Path, folder: Path, progress: Progress, held: int) -> None:
    """Compiles every module below `folder`, also where the machine forbids it by default.

    Without it each start of the simulator costs 17 s instead of 3. Files that are not meant for this
    Python (templates, other versions) do not compile, which is no fault.
    """
    progress(f"{folder}: compiling")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [python, "-m", "compileall", "-q", "-q", "-j", "0", folder]
    run(command, held, env, lambda line: None, python.parents[1] / "compileall.log")


def _check_machine(folder: Path, needed_bytes: int) -> None:
    if folder.resolve() == Path(sys.prefix).resolve():
        raise InputError(f"{folder}: is active and has to be made anew; run `deactivate` first")
    if importlib.util.find_spec("pip") is None:
        raise InputError(
            f"pip is missing for {sys.executable}: install it (Debian: apt-get install python3-pip)"
        )
    free = shutil.disk_usage(folder.parent).free
    if free < needed_bytes:
        raise InputError(
            f"disk: {folder} needs about {needed_bytes / 1e9:.1f} GB, {free / 1e9:.1f} GB are free"
        )


def _install(python: Path, lock: Path, project: Path | None, progress: Progress, held: int) -> None:
    total = len(re.findall(r"^[A-Za-z0-9]", lock.read_text(encoding="utf-8"), re.MULTILINE))
    pip = [sys.executable, "-m", "pip", "--python", python, "--no-input", "install", "--no-deps"]
    pip += ["--disable-pip-version-check", "--no-compile", "--progress-bar", "off"]
    log = python.parents[1] / "pip.log"
    told = _PipProgress(lock, total, progress)
    if run([*pip, "--require-hashes", "-r", lock], held, os.environ, told, log) != 0:
        raise InputError(f"{lock}: pip could not install it: {told.fault}; log: {log}")
    if project is not None:
        told = _PipProgress(project, 1, progress)
        command = [*pip, "--no-build-isolation", "--editable", project]
        if run(command, held, os.environ, told, log) != 0:
            raise InputError(f"{project}: pip could not install it: {told.fault}; log: {log}")


class _PipProgress:
    """Makes a few lines of progress from many lines of pip."""

    def __init__(self, what: Path, total: int, progress: Progress) -> None:
        self.fault = "no error was named"
        self._what = what
        self._total = total
        self._progress = progress
        self._count = 0
        self._told = time.monotonic()

    def __call__(self, line: str) -> None:
        if line.startswith("Collecting "):
            self._count += 1
            if time.monotonic() - self._told >= QUIET_S:
                self._told = time.monotonic()
                name = re.split(r"[ =]", line)[1]
                self._progress(f"{self._what}: {self._count} of about {self._total}: {name}")
        elif line.startswith("Installing collected") and self._count:
            self._progress(f"{self._what}: unpacking {self._count} packages")
        elif line.startswith("ERROR:"):
            self.fault = line.removeprefix("ERROR:").strip()


def main(arguments: list[str]) -> int:
    """The command of set-up; 2 with one line on stderr when something is missing."""
    if len(arguments) not in (2, 3):
        print("usage: python3 -m tasks.environment FOLDER LOCK [PROJECT]", file=sys.stderr)
        return 2
    folder, lock, *project = (Path(argument) for argument in arguments)
    try:
        ensure_environment(folder, lock, lambda line: print(line, flush=True), *project)
    except InputError as error:
        print(f"turtle: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
