"""Write an evolved item as a task directory that stock AppWorld loads, runs and grades.

Runs in the trusted process, with the engine importable. Every folder is written beside its place and
renamed into it, so that a reader never sees half of one.
"""

import ast
import json
import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from appworld import AppWorld
from appworld.collections.models import ModelCollectionPair
from appworld.common.constants import CANARY_STRING

from grading.changes import OPEN_POLICY, Changes, Effect, read_states
from grading.item_tests import (
    ANSWER_REQUIREMENT,
    NOTHING_ELSE_REQUIREMENT,
    given_answer,
    table_requirement,
)
from grading.policy import make_policy

SOURCES = ("rows.py", "texts.py", "changes.py", "item_tests.py")
CANARY_LINE = f"# Canary String: {CANARY_STRING}\n"
NOT_USER_APPS = {"admin", "api_docs", "supervisor"}


def write_start(task_directory: Path, parent_task_directory: Path, instruction: str) -> None:
    """Make a task directory without ground truth: the parent's start state, another instruction.

    A task directory that exists already is left as it is: the caller names directories by content.
    """
    if task_directory.exists():
        return
    with _placed(task_directory) as folder:
        shutil.copytree(parent_task_directory / "dbs", folder / "dbs")
        specs = json.loads((parent_task_directory / "specs.json").read_text())
        _write_json(folder / "specs.json", specs | {"instruction": instruction})
        # What a program reads of its item comes from the state, not from the specs.
        with (folder / "dbs" / "supervisor.jsonl").open("a") as log:
            log.write(json.dumps(["UPDATE tasks SET instruction = ?", [instruction], False]) + "\n")


def write_ground_truth(
    task_directory: Path,
    world: AppWorld,
    *,
    instruction: str,
    gold: str,
    expects_answer: bool,
    calls: list[dict[str, Any]] | None,
    difficulty: int | None,
) -> None:
    """Write `ground_truth/` from a live world in which the gold has just run and completed.

    `calls` are the gold's calls as the protocol's Call (None: they are taken from the world's own log
    of requests). `difficulty` is 1-3, None where nobody has said. Raises ValueError when the gold did
    not complete, or gave no answer where one is expected.
    """
    models = model_pair(world)
    answer = given_answer(models)
    if answer == "<<NOT_GIVEN>>" or (expects_answer and answer is None):
        missing = "an answer" if expects_answer else "completion"
        raise ValueError(f"gold of {task_directory.name}: {missing} is missing at its end")
    requests = list(world.requester.request_tracker.requests)
    states = read_states(models)
    policy = make_policy(Changes(*states, OPEN_POLICY), instruction, requests)
    effects = Changes(*states, policy).effects()
    with _placed(task_directory / "ground_truth") as folder:
        _write_json(folder / "answer.json", answer if expects_answer else None)
        _write_json(folder / "public_data.json", {})
        # One text: the engine's JSON reader and its Munch would turn nested data into other types.
        expected = {"effects": effects, "policy": policy}
        _write_json(folder / "private_data.json", {"expected": json.dumps(expected)})
        _write_json(folder / "test_data.json", test_data(effects, expects_answer))
        _write_json(folder / "required_apps.json", required_apps(requests))
        _write_json(folder / "api_calls.json", requests)
        _write_json(folder / "metadata.json", metadata(gold, requests, calls, difficulty))
        (folder / "evaluation.py").write_text(CANARY_LINE + evaluation_source())
        solution = CANARY_LINE + solution_source(gold)
        (folder / "solution.py").write_text(solution)
        (folder / "compiled_solution.py").write_text(solution)


def model_pair(world: AppWorld) -> ModelCollectionPair:
    """The start and end state of a live world, as the engine's own evaluation takes them."""
    return ModelCollectionPair(
        start_db_home_path=world.task.model_collection.from_db_home_path,
        start_model_collection=world.task.model_collection,
        end_db_home_path=world.output_db_home_path_in_memory,
        end_model_collection=world.models,
    )


def test_data(effects: list[Effect], expects_answer: bool) -> list[dict[str, str]]:
    """Requirements of the tests, each with what completing at once and doing nothing makes of it."""
    tables = sorted({effect["table"] for effect in effects})
    answered = "no_op_fail" if expects_answer else "no_op_pass"
    return [
        {"requirement": ANSWER_REQUIREMENT, "label": answered},
        {"requirement": NOTHING_ELSE_REQUIREMENT, "label": "no_op_pass"},
        *({"requirement": table_requirement(name), "label": "no_op_fail"} for name in tables),
    ]


def required_apps(requests: list[dict[str, Any]]) -> list[str]:
    """Apps that the gold called, without those that every program calls."""
    return sorted({request["url"].strip("/").split("/")[0] for request in requests} - NOT_USER_APPS)


def metadata(
    gold: str,
    requests: list[dict[str, Any]],
    calls: list[dict[str, Any]] | None,
    difficulty: int | None,
) -> dict[str, Any]:
    """Sizes of the gold under the names that stock AppWorld asks for."""
    if calls is None:
        apis = set(re.findall(r"apis\.(\w+\.\w+)", gold))
    else:
        apis = {f"{call['app']}.{call['api']}" for call in calls}
    lines = [
        line for line in gold.splitlines() if line.strip() and not line.strip().startswith("#")
    ]
    return {
        "mode": "full",
        "difficulty": difficulty,
        "num_apps": len(required_apps(requests)),
        "num_apis": len(apis),
        "num_api_calls": len(requests),
        "num_solution_code_lines": len(lines),
    }


def evaluation_source() -> str:
    """Text of an item's `evaluation.py`: our modules in one file, without their imports of one another."""
    folder = Path(__file__).parent
    text = "\n\n".join((folder / name).read_text() for name in SOURCES)
    return re.sub(r"(?m)^from grading\.\w+ import (?:\([^)]*\)|.*)\n", "", text)


def solution_source(gold: str) -> str:
    """The gold as the function that stock AppWorld calls; texts of several lines keep their lines."""
    inside_text = {
        line
        for node in ast.walk(ast.parse(gold))
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
        for line in range(node.lineno + 1, node.end_lineno + 1)
    }
    lines = [
        line if number in inside_text or not line.strip() else f"    {line}"
        for number, line in enumerate(gold.splitlines(), start=1)
    ]
    return "def solution(apis, requester) -> None:\n" + "\n".join(lines) + "\n"


@contextmanager
def _placed(place: Path) -> Iterator[Path]:
    """A new folder beside `place`, moved into it at the end; what stood there goes."""
    folder = place.with_name(f".{place.name}.{uuid.uuid4().hex}")
    folder.mkdir(parents=True)
    try:
        yield folder
        if place.exists():
            old = folder.with_name(f"{folder.name}.old")
            place.rename(old)
            shutil.rmtree(old)
        folder.rename(place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1) + "\n")
