"""An APPWORLD_ROOT in the layout of the official data, made of our own world and seeds.

The official data itself cannot be had in a test. What stands here is what stock AppWorld reads of it: two
splits, generators of several tasks, full and minimal ground truth, evaluations written by hand.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
SOLUTION_FILES = ("solution.py", "compiled_solution.py", "required_apps.json", "api_calls.json")
"""What full ground truth has and minimal lacks."""


@dataclass(frozen=True)
class OfficialTask:
    """One task of the root, and the seed of ours that it is made from."""

    task_id: str
    seed: str
    split: str
    difficulty: int
    evaluation: str
    """Name of the file beside this one that holds its evaluation.py."""
    requirements: tuple[tuple[str, str], ...]
    mode: str = "full"


_ANSWERED = (("assert answers match.", "no_op_fail"), ("assert no model changes.", "no_op_pass"))
_ALARMED = (
    ("assert model changes match phone.Alarm.", "no_op_fail"),
    ("assert one alarm at the public_data.time was added, which does not vibrate.", "no_op_fail"),
)
TASKS = (
    OfficialTask("a1b2c3d_1", "neonharbor", "train", 2, "answered", _ANSWERED),
    OfficialTask("a1b2c3d_2", "mostplayedsong", "train", 2, "answered", _ANSWERED),
    OfficialTask("c0ffee1_1", "stretchingalarm", "train", 3, "alarmed", _ALARMED),
    OfficialTask("beef042_1", "groceriespayer", "dev", 1, "answered", _ANSWERED),
    OfficialTask("d00d0e5_1", "receivedinmay", "test_normal", 1, "answered", _ANSWERED, "minimal"),
)


def make_official_root(home: Path, root: Path) -> Path:
    """Fills `root` from the small world of a simulator's home and returns it."""
    built, data = home / "root" / "data", root / "data"
    for part in ("base_dbs", "api_docs"):
        shutil.copytree(built / part, data / part)
    (data / "datasets").mkdir()
    for task in TASKS:
        with (data / "datasets" / f"{task.split}.txt").open("a") as listed:
            listed.write(f"{task.task_id}\n")
        _write_task(built / "tasks" / f"{task.seed}_1", data / "tasks" / task.task_id, task)
    return root


def _write_task(source: Path, place: Path, task: OfficialTask) -> None:
    left_out = ("__pycache__", *(SOLUTION_FILES if task.mode == "minimal" else ()))
    shutil.copytree(source, place, ignore=shutil.ignore_patterns(*left_out))
    truth = place / "ground_truth"
    metadata = json.loads((truth / "metadata.json").read_text())
    tests = [{"requirement": text, "label": label} for text, label in task.requirements]
    contents = {
        "metadata": metadata | {"difficulty": task.difficulty, "mode": task.mode},
        "public_data": {"time": "07:45"},
        "private_data": {},
        "test_data": tests,
    }
    for name, content in contents.items():
        (truth / f"{name}.json").write_text(json.dumps(content))
    shutil.copy(FOLDER / f"{task.evaluation}.py", truth / "evaluation.py")


def contents_of(root: Path) -> dict[str, bytes]:
    """The bytes of every file below a root, by its path."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file()
    }
