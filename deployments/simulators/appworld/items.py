"""Task directories: where the engine finds an item, and when one has to be made.

A program has a folder of its own, HOME/runs/<pid>, which is the engine's APPWORLD_ROOT: links to the
world's data, links to the items, scratch. It is removed at the end; what a killed program left is removed
by the next one. Finished items are kept in HOME/items under a hash of all that they depend on: the item,
the world and the text of the grading.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path

from official import OfficialData
from small_world import SmallWorld

HERE = Path(__file__).resolve().parent
ITEM_FIELDS = ("start", "setup", "instruction", "gold", "grading")


class Items:
    """The program's view of the world and of all items."""

    def __init__(
        self, home: Path, world: SmallWorld | OfficialData, kept: Path | None = None
    ) -> None:
        """Makes the program's folder in `home`, with links to the world's data.

        `kept` is where the sessions' scratch goes when they end; None removes it.
        """
        self._home = home
        self._kept = kept
        if kept is not None:
            kept.mkdir(parents=True, exist_ok=True)
        self.world = world
        self.run = home / "runs" / str(os.getpid())
        self._tasks = self.run / "data" / "tasks"
        self._clear_stale()
        self._tasks.mkdir(parents=True)
        (home / "items").mkdir(exist_ok=True)
        (self.run / "scratch").mkdir(mode=0o500)
        for part in world.data.iterdir():
            if part.name != "tasks":
                (self.run / "data" / part.name).symlink_to(part)
        for start in (world.data / "tasks").iterdir():
            if start.is_dir():
                (self._tasks / start.name).symlink_to(start)
        self._base = _digest([world.hash, *_grading_texts()])
        self._made = 0

    def _clear_stale(self) -> None:
        for folder in (self._home / "runs").glob("*"):
            if folder.name == str(os.getpid()) or not Path(f"/proc/{folder.name}").exists():
                shutil.rmtree(folder, ignore_errors=True)

    def find(self, item: dict) -> str | None:
        """The engine's task id of an item whose directory is made; None where it is not."""
        task_id = self._task_id(item)
        if not (self._home / "items" / task_id).is_dir():
            return None
        link = self._tasks / task_id
        if not link.is_symlink():
            link.symlink_to(self._home / "items" / task_id)
        return task_id

    def unmade(self) -> str:
        """A task id under which the engine can make a directory; `keep` or `discard` it after."""
        self._made += 1
        return f"making{os.getpid()}n{self._made}_1"

    def keep(self, made: str, item: dict) -> str:
        """Moves a made directory to its place among the items and returns its task id."""
        task_id = self._task_id(item)
        try:
            (self._tasks / made).rename(self._home / "items" / task_id)
        except OSError:
            if self.find(item) is None:  # else another program made the same one first
                raise
            self.discard(made)
        return self.find(item) or task_id

    def discard(self, made: str) -> None:
        """Removes a made directory."""
        shutil.rmtree(self._tasks / made, ignore_errors=True)

    def forget_experiment(self, name: str) -> None:
        """Removes the scratch of a session, or keeps it where that was asked for."""
        scratch = self.run / "experiments" / "outputs" / name
        if self._kept is not None and scratch.exists():
            shutil.move(scratch, self._kept / name)
        shutil.rmtree(scratch, ignore_errors=True)

    def close(self) -> None:
        """Removes the program's folder."""
        shutil.rmtree(self.run, ignore_errors=True)

    def _task_id(self, item: dict) -> str:
        return _digest([self._base, *(item[field] for field in ITEM_FIELDS)])[:24] + "_1"


def _grading_texts() -> list[str]:
    return [path.read_text(encoding="utf-8") for path in sorted((HERE / "grading").glob("*.py"))]


def _digest(parts: list) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
