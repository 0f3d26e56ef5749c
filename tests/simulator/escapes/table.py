"""The table of SANDBOX.md: what each escape reaches, by level and user.

    python -m tests.simulator.escapes.table SIMULATOR_PYTHON SIMULATOR_HOME

runs the whole panel for every level, as the user who runs it and, where that is root, as nobody too, and
writes the table anew. The tests compare it with what they see.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.simulator.as_nobody import NOBODY, prefix
from tests.simulator.escapes.outside import Outside, plant_key
from tests.simulator.escapes.panel import ESCAPES, Panel
from tests.simulator.running import PROGRAM, RunningSimulator

DOCUMENT = PROGRAM.parents[1] / "SANDBOX.md"
LEVELS = {
    "bubblewrap": ("--sandbox=bubblewrap",),
    "rlimits": ("--sandbox=rlimits",),
    "rlimits, no Landlock": ("--sandbox=rlimits", "--no-landlock"),
}
USERS = ("root", "ordinary user")
CONTAINED = "-"
_BEGIN = "<!-- the table -->"
KEY = f"canary-of-the-keyring-{os.getpid()}"


@contextmanager
def panel(level: str, user: str, python: Path, home: Path, folder: Path) -> Iterator[Panel]:
    """A panel on a simulator of its own; `folder` is empty and becomes the world outside.

    An ordinary user is the one who runs this, or nobody with a copy of the home where that is root.
    """
    before: list[str] = []
    if user == "ordinary user" and os.getuid() == 0:
        home = _copy_for_nobody(home, folder / "home")
        before = prefix(python, home)
    plant_key(KEY)
    outside_folder = folder / "outside"
    outside_folder.mkdir()
    outside_folder.chmod(0o777)
    secrets, command = {"the keyring": KEY}, [*before, str(python)]
    with (
        RunningSimulator(python, home, *LEVELS[level], prefix=before) as simulator,
        Outside(outside_folder, simulator.process.pid, secrets, command) as outside,
    ):
        yield Panel(simulator, outside, home.resolve())


def _copy_for_nobody(home: Path, copy: Path) -> Path:
    for part in ("root", "items"):
        shutil.copytree(home / part, copy / part)
    for place in (copy, *copy.rglob("*")):
        os.chown(place, NOBODY, NOBODY)
    return copy


def users_here() -> tuple[str, ...]:
    """The users as whom this process can run a simulator."""
    return USERS if os.getuid() == 0 else USERS[1:]


def shown(effects: set[str]) -> str:
    """The effects of an escape as a cell of the table."""
    return ", ".join(sorted(effects)) or CONTAINED


def read_table() -> dict[tuple[str, str], dict[str, str]]:
    """The cells of the table by (level, user) and escape."""
    lines = DOCUMENT.read_text(encoding="utf-8").partition(_BEGIN)[2].strip().splitlines()
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    columns = [tuple(name.split(" / ")) for name in head[1:]]
    return {
        (level, user): {row[0]: row[place] for row in rows}
        for place, (level, user) in enumerate(columns, 1)
    }


def write_table(table: dict[tuple[str, str], dict[str, str]]) -> None:
    """Writes the table into the document, below its text."""
    columns = [(level, user) for level in LEVELS for user in USERS]
    rows = [["escape", *(" / ".join(column) for column in columns)], ["---"] * (len(columns) + 1)]
    rows += [[name, *(table[column].get(name, "?") for column in columns)] for name in ESCAPES]
    text = DOCUMENT.read_text(encoding="utf-8").partition(_BEGIN)[0]
    lines = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    DOCUMENT.write_text(f"{text}{_BEGIN}\n\n{lines}\n", encoding="utf-8")


def main(python: Path, home: Path) -> None:
    """Runs everything and writes the table."""
    table = read_table()
    for level in LEVELS:
        for user in users_here():
            with tempfile.TemporaryDirectory() as folder:
                os.chmod(folder, 0o755)
                with panel(level, user, python, home, Path(folder)) as running:
                    table[level, user] = {name: shown(running.attempt(name)) for name in ESCAPES}
            print(level, user, table[level, user], flush=True)
            write_table(table)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
