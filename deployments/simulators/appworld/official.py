"""Data in AppWorld's own layout, as `appworld download data` leaves it: read, never written.

    <root>/data/datasets/<split>.txt    one task id a line
    <root>/data/tasks/<generator>_<n>/  specs.json, dbs/, ground_truth/
    <root>/data/base_dbs, api_docs      what all tasks start from

A task's ground truth is full (it holds the solution, so the seed has a gold) or minimal (evaluation only).
A seed is graded by its own evaluation.py, as it stands there.
"""

import ast
import hashlib
import importlib.util
import json
import re
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

from solutions import gold_of

_NEEDED = (
    "specs.json",
    "dbs",
    *(f"ground_truth/{name}.json" for name in ("metadata", "public_data", "private_data")),
    *(f"ground_truth/{name}.json" for name in ("answer", "test_data")),
    "ground_truth/evaluation.py",
)
"""What stock AppWorld opens of a task in either mode."""
_SOLUTION = "ground_truth/compiled_solution.py"
_HASHED = ("base_dbs", "api_docs", "tasks")
_TASK_ID = re.compile(r"[A-Za-z0-9]+_[0-9]+")


class OfficialData:
    """One root. Its data version and each task are checked when a split is asked for."""

    is_ours = False

    def __init__(self, root: Path) -> None:
        """Hashes the data.

        Raises:
            FileNotFoundError: `root` holds no data.
        """
        self.data = root / "data"
        for part in (*_HASHED, "datasets"):
            if not (self.data / part).is_dir():
                raise FileNotFoundError(
                    f"no {part} in {self.data}; type: appworld download data --root {root}"
                )
        self.hash = _hash(self.data)
        self.people = _people(self.data)
        self._contents = cache(self._read)

    def seeds(self, split: str) -> list[dict]:
        """The protocol's items of `seeds`: the tasks that datasets/<split>.txt names, in its order.

        Raises:
            ValueError: no such split, another data version than the engine's, an incomplete task.
        """
        listed = self.data / "datasets" / f"{split}.txt"
        known = sorted(path.stem for path in listed.parent.glob("*.txt"))
        if split not in known:
            raise ValueError(f"seeds.split: {listed.parent} has {', '.join(known)}, not {split!r}")
        names = [line.strip().split(":")[0] for line in listed.read_text("utf-8").splitlines()]
        return [self._seed(name) for name in names if name]

    def start(self, name: str) -> Path:
        """The task directory of a task id. Raises ValueError where there is none."""
        folder = self.data / "tasks" / name
        if not _TASK_ID.fullmatch(name) or not folder.is_dir():
            raise ValueError(f"item.start: {folder.parent} holds no task {name!r}")
        return folder

    def own_task(self, item: dict) -> str | None:
        """The task whose own evaluation grades an item: its start, where it is that very seed."""
        seed = self._contents(item["start"])
        return item["start"] if all(item[part] == text for part, text in seed.items()) else None

    def expects_answer(self, task_id: str) -> bool:
        """Whether a task asks for an answer."""
        return _json(self.start(task_id) / "ground_truth" / "answer.json") is not None

    def _read(self, task_id: str) -> dict:
        """Instruction and gold of a task. Raises ValueError where it is not complete."""
        folder = self.start(task_id)
        missing = [name for name in _NEEDED if not (folder / name).exists()]
        if not missing and _metadata(folder).get("mode", "full") == "full":
            missing = [name for name in (_SOLUTION,) if not (folder / name).exists()]
            solution = None if missing else (folder / _SOLUTION).read_text(encoding="utf-8")
        else:
            solution = None
        if missing:
            raise ValueError(
                f"{folder}: lacks {', '.join(missing)}; get the data anew: appworld download data"
            )
        return {
            "instruction": _json(folder / "specs.json")["instruction"],
            "gold": None if solution is None else gold_of(solution),
        }

    def _seed(self, task_id: str) -> dict:
        content = self._contents(task_id)
        folder = self.start(task_id)
        version = _json(folder / "specs.json").get("db_version")
        if version != _engine_data_version():
            raise ValueError(
                f"{folder}: is of data version {version}, the installed AppWorld reads "
                f"{_engine_data_version()} only; get that one: appworld download data"
            )
        return content | {
            "name": task_id,
            "start": task_id,
            "setup": None,
            "grading": None,
            "expects_answer": self.expects_answer(task_id),
            "intended_difficulty": _metadata(folder)["difficulty"],
            "difficulty_source": "appworld",
            "cluster": task_id.split("_")[0],
        }


def _json(path: Path) -> dict:
    return json.loads(path.read_text(encoding="utf-8"))


def _metadata(folder: Path) -> dict:
    return _json(folder / "ground_truth" / "metadata.json")


def _hash(data: Path) -> str:
    """Hash of the names and bytes of all that an item can stand on or be graded by."""
    digest = hashlib.sha256()
    for part in _HASHED:
        for path in sorted((data / part).rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(f"\0{path.relative_to(data).as_posix()}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def _people(data: Path) -> str:
    """Who lives in the world, for a proposer: everybody's first name; the rest it learns from golds."""
    with closing(
        sqlite3.connect(f"file:{data / 'base_dbs' / 'admin.db'}?mode=ro", uri=True)
    ) as base:
        names = [name for (name,) in base.execute("SELECT first_name FROM main_users ORDER BY id")]
    return f"{len(names)} people know one another by relationship (phone contacts): {', '.join(names)}."


@cache
def _engine_data_version() -> str:
    """The engine's DB_VERSION, read from its text: importing it takes seconds.

    Raises:
        ValueError: the engine's constants are not where this version of it keeps them.
    """
    package = importlib.util.find_spec("appworld")
    folders = package.submodule_search_locations if package is not None else None
    for folder in folders or ():
        text = (Path(folder) / "common" / "constants.py").read_text(encoding="utf-8")
        for node in ast.parse(text).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "DB_VERSION":
                return ast.literal_eval(node.value)
    raise ValueError("appworld: no DB_VERSION in its common/constants.py")
