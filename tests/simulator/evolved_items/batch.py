"""Starts `runner.py` under AppWorld's interpreter, on a root of its own that borrows the built world."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.simulator.evolved_items.items import EvolvedItem

RUNNER = Path(__file__).with_name("runner.py")
OUR_CODE = Path(__file__).parents[3] / "deployments" / "simulators" / "appworld"


def borrow_world(home: Path, place: Path) -> Path:
    """Make `place` an APPWORLD_ROOT with the world and seeds of `home` and room for items of its own."""
    built, data = home / "root" / "data", place / "data"
    (data / "tasks").mkdir(parents=True)
    for name in ("base_dbs", "api_docs"):
        (data / name).symlink_to(built / name)
    for seed in (built / "tasks").iterdir():
        (data / "tasks" / seed.name).symlink_to(seed)
    return place


def job_of(items: Iterable[EvolvedItem]) -> dict[str, Any]:
    """Everything `runner.py` needs: the items, and a case for each of their attacks."""
    items = list(items)
    return {
        "items": {
            item.name: {
                "parent": item.parent,
                "instruction": item.instruction,
                "gold": item.gold,
                "expects_answer": item.expects_answer,
            }
            for item in items
        },
        "cases": [
            {"item": item.name, "name": name, "program": program}
            for item in items
            for name, program in item.attacks.items()
        ],
    }


def left_in(root: Path, item: str, case: str) -> Path:
    """Where mode `disk` looks for the state that a case of ours has left (the runner's `left_by`)."""
    return root / "experiments" / "outputs" / f"ours-{case}" / "tasks" / f"{item}_1"


def run_batch(python: Path, root: Path, mode: str, job: dict[str, Any]) -> list[dict[str, Any]]:
    """Results of one mode of `runner.py`; raises CalledProcessError when the process itself fails."""
    job_file, out_file = root / f"{mode}-job.json", root / f"{mode}-out.json"
    job_file.write_text(json.dumps(job))
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(root),
        "APPWORLD_ROOT": str(root),
        "PYTHONPATH": str(OUR_CODE) if mode == "ours" else "",
    }
    command = [str(python), "-W", "ignore", str(RUNNER), mode, str(job_file), str(out_file)]
    with (root / f"{mode}-log.txt").open("w") as log:
        subprocess.run(command, env=environment, stdout=log, stderr=sys.stderr, check=True)
    return json.loads(out_file.read_text())
