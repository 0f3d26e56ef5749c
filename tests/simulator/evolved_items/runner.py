"""Runs programs on evolved items inside AppWorld's own environment, many in one process.

    APPWORLD_ROOT=... python runner.py MODE JOB OUT

`JOB` is a JSON file `{"items": {id: {"parent", "instruction", "gold", "expects_answer"}}, "cases": [{"item",
"name", "program"}]}`, `OUT` gets a JSON list, one entry a case (for `write`: one an item). Modes:

- `write`: run each gold and write the item's task directory with our code.
- `ours`: run each case and grade it with our code in the live world.
- `stock`: run each case and grade it with stock AppWorld; our code cannot even be imported.
- `disk`: let stock AppWorld grade the states that a run of `ours` left on disk.
"""

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

from appworld import AppWorld
from appworld.common.path_store import path_store
from appworld.evaluator import evaluate_tasks


def write(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Make the task directory of every item from its parent's and from a run of its gold."""
    from grading.ground_truth import write_ground_truth, write_start

    tasks = Path(path_store.data) / "tasks"
    found = []
    for name, item in job["items"].items():
        place = tasks / f"{name}_1"
        write_start(place, tasks / f"{item['parent']}_1", item["instruction"])
        with AppWorld(place.name, "write", load_ground_truth=False) as world:
            output = world.execute(item["gold"])
            if "Execution failed" in output:
                raise ValueError(f"gold of {name}: {output}")
            write_ground_truth(
                place,
                world,
                instruction=item["instruction"],
                gold=item["gold"],
                expects_answer=item["expects_answer"],
                calls=None,
                difficulty=2,
            )
        expected = json.loads((place / "ground_truth" / "private_data.json").read_text())[
            "expected"
        ]
        found.append({"item": name, "output": output, **json.loads(expected)})
    return found


def ours(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Outcome of every case by our code, with what the program printed."""
    from grading.grade import grade

    return [run(case, grade) for case in job["cases"]]


def stock(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Result of every case by stock AppWorld alone."""
    assert importlib.util.find_spec("grading") is None, "the stock side must not see our code"
    return [run(case, lambda world: tracked(world.evaluate().to_dict())) for case in job["cases"]]


def disk(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Result of every case by stock AppWorld, from the state that `ours` saved."""
    assert importlib.util.find_spec("grading") is None, "the stock side must not see our code"
    found = []
    for case in job["cases"]:
        task, place = f"{case['item']}_1", f"ours-{case['name']}"
        metrics = evaluate_tasks([task], place, save_reports=False)["individual"]
        found.append({**case, **tracked(metrics[task])})
    return found


def run(case: dict[str, Any], grader: Any) -> dict[str, Any]:
    """Open the case's item, run its program as one cell, grade it."""
    place = f"{sys.argv[1]}-{case['name']}"
    with AppWorld(f"{case['item']}_1", place, max_api_calls_per_interaction=3000) as world:
        output = world.execute(case["program"])
        return {**case, "output": output, **grader(world)}


def tracked(result: dict[str, Any]) -> dict[str, Any]:
    """A stock result in the words of our outcome."""
    return {
        "solved": result["success"],
        "partial": len(result["passes"]) / result["num_tests"],
        "failures": [failure["requirement"] for failure in result["failures"]],
    }


if __name__ == "__main__":
    mode = {"write": write, "ours": ours, "stock": stock, "disk": disk}[sys.argv[1]]
    Path(sys.argv[3]).write_text(json.dumps(mode(json.loads(Path(sys.argv[2]).read_text()))))
    sys.stdout.flush()
    os._exit(0)  # the engine needs 3 s to tear itself down, and nothing is left to do
