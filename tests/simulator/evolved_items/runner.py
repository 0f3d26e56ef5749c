"""Runs programs on evolved items inside AppWorld's own environment, many in one process.

    APPWORLD_ROOT=... python runner.py MODE JOB OUT

`JOB` is a JSON file `{"items": {id: {"parent", "instruction", "gold", "expects_answer"}}, "cases": [{"item",
"name", "program"}]}`, `OUT` gets a JSON list, one entry a case. Modes:

- `ours`: write the items' task directories, run each case and grade it in the live world, all with our code.
- `stock`: run each case and grade it with stock AppWorld; our code cannot even be imported.
- `disk`: let stock AppWorld grade the states that a run of `ours` left on disk; cases of a further list
  "also_run" it runs as well.
"""

import gc

gc.disable()  # most of what there is are the engine's classes, which stay: looks at them take a fifth of all

import importlib.util
import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from functools import partial
from itertools import groupby
from multiprocessing import Pipe
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest  # noqa: F401 - the engine's evaluator imports it on first use, which would be in each fork
from appworld import AppWorld, environment
from appworld.common.path_store import path_store
from appworld.common.safety_guard import SafetyGuard
from appworld.evaluator import evaluate_tasks


def write(job: dict[str, Any]) -> None:
    """Make the task directory of every item from its parent's and from a run of its gold."""
    from grading.ground_truth import write_ground_truth, write_start

    tasks = Path(path_store.data) / "tasks"
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


def ours(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Outcome of every case by our code, with what the program printed; leaves its state for `disk`.

    The engine is warmed up as the simulator's is. Each item's world is opened once and each case run in a
    fork of it: to open it costs as much as all the rest. Its databases lie in memory, so a fork has its own.
    What a case leaves on disk is copied to a folder of its own before the next one begins.
    """
    import engine
    from grading.grade import grade

    shell = environment.InteractiveShellEmbed
    engine.warm_up()
    environment.InteractiveShellEmbed = shell  # the simulator has a shell of its own elsewhere
    guard_less()
    write(job)
    found = []
    for item, cases in groupby(job["cases"], key=itemgetter("item")):
        with opened(item, "ours") as world:
            for case in cases:
                found.append(in_a_fork(partial(run, world, case, grade)))
                kept = Path(path_store.experiment_outputs) / left_by(case) / "tasks"
                shutil.copytree(world.output_directory, kept / f"{item}_1")
    return found


def guard_less() -> None:
    """Has the engine's guard parse what it could refuse and nothing else, as the simulator does."""
    from guarded import may_be_refused

    whole = SafetyGuard.is_syntax_safe

    def quick(guard: SafetyGuard, code: str) -> tuple[bool, str]:
        return whole(guard, code) if may_be_refused(code) else (True, "")

    SafetyGuard.is_syntax_safe = quick


def stock(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Result of every case by stock AppWorld alone."""
    assert importlib.util.find_spec("grading") is None, "the stock side must not see our code"
    found = []
    for case in job["cases"]:
        with opened(case["item"], f"stock-{case['name']}") as world:
            found.append(run(world, case, lambda world: tracked(world.evaluate().to_dict())))
    return found


def disk(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Result of every case by stock AppWorld, from the state that was left on disk.

    Then those of the cases `also_run`, as by `stock`: an engine's start costs as much as five of them.
    """
    assert importlib.util.find_spec("grading") is None, "the stock side must not see our code"
    found = []
    for case in job["cases"]:
        task = f"{case['item']}_1"
        metrics = evaluate_tasks([task], left_by(case), save_reports=False)["individual"]
        found.append({**case, **tracked(metrics[task])})
    return found + stock(job | {"cases": job.get("also_run", [])})


def opened(item: str, experiment: str) -> AppWorld:
    """The world in which an item's programs run."""
    return AppWorld(f"{item}_1", experiment, max_api_calls_per_interaction=3000)


def run(world: AppWorld, case: dict[str, Any], grader: Any) -> dict[str, Any]:
    """Run the case's program as one cell and grade it."""
    output = world.execute(case["program"])
    return {**case, "output": output, **grader(world)}


def in_a_fork(work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `work` returns in a fork of this process. Raises EOFError when it failed there (see the log)."""
    ours, theirs = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        try:
            theirs.send(work())
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(0)
    theirs.close()
    try:
        return ours.recv()
    finally:
        os.waitpid(child, 0)


def left_by(case: dict[str, Any]) -> str:
    """Name of the experiment under which a case of `ours` leaves its state."""
    return f"ours-{case['name']}"


def tracked(result: dict[str, Any]) -> dict[str, Any]:
    """A stock result in the words of our outcome."""
    return {
        "solved": result["success"],
        "partial": len(result["passes"]) / result["num_tests"],
        "failures": [failure["requirement"] for failure in result["failures"]],
    }


if __name__ == "__main__":
    mode = {"ours": ours, "stock": stock, "disk": disk}[sys.argv[1]]
    Path(sys.argv[3]).write_text(json.dumps(mode(json.loads(Path(sys.argv[2]).read_text()))))
    sys.stdout.flush()
    os._exit(0)  # the engine needs 3 s to tear itself down, and nothing is left to do
