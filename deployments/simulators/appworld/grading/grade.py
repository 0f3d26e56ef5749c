"""Grade of a live world, as the protocol's Outcome and Difference."""

import json
from typing import Any

from appworld import AppWorld
from appworld.common.utils import answer_to_text
from appworld.evaluator import evaluate_task
from appworld.ground_truth import GroundTruth

from grading.changes import Effect, read_changes
from grading.ground_truth import model_pair
from grading.item_tests import compare, given_answer, tidy_answer

LABELS = ("gone", "new", "own")


def grade(world: AppWorld, compare_with: str | None = None) -> dict[str, Any]:
    """Outcome of a live world by the stock evaluation of its item.

    An evaluation.py of ours tells the difference as well; for one that AppWorld ships, the expected state
    of the task `compare_with` does, and where that is None nobody knows it.

    The state is flushed first: stock reads write counters from disk, and whoever grades the same run
    from disk in another process must see the same.
    """
    world._save_state(world.output_db_home_path_on_disk)
    world.save_logs()
    tracker = evaluate_task(world.task_id, world.experiment_name, save_report=False)
    passed = {test["requirement"] for test in tracker.passes}
    requirements = [test["requirement"] for test in world.task.ground_truth.test_data]
    return {
        "solved": tracker.success,
        "partial": tracker.pass_count / tracker.num_tests,
        "completed": model_pair(world).end.supervisor.Task.first().status is not None,
        "tests": [{"requirement": text, "passed": text in passed} for text in requirements],
        "difference": _difference(world, tracker, compare_with),
        "calls": len(world.requester.request_tracker.requests),
    }


def _difference(world: AppWorld, tracker: Any, compare_with: str | None) -> dict[str, Any] | None:
    if hasattr(tracker, "missing"):
        return protocol_difference(world, tracker.missing, tracker.unexpected)
    if compare_with is None:
        return None
    expected = json.loads(GroundTruth.load(compare_with).private_data["expected"])
    effects = read_changes(model_pair(world), expected["policy"]).effects()
    return protocol_difference(world, *compare(expected["effects"], effects))


def protocol_difference(
    world: AppWorld, missing: list[Effect], unexpected: list[Effect]
) -> dict[str, Any]:
    """A Difference of the protocol."""
    given, answer = given_answer(model_pair(world)), world.task.ground_truth.answer
    return {
        "missing": [protocol_effect(effect) for effect in missing],
        "unexpected": [protocol_effect(effect) for effect in unexpected],
        "answer": None if same_answer(given, answer) else {"expected": answer, "given": given},
    }


def same_answer(given: Any, expected: Any) -> bool:
    """Whether stock AppWorld takes the two for the same answer."""
    return answer_to_text(tidy_answer(given)) == answer_to_text(tidy_answer(expected))


def protocol_effect(effect: Effect) -> dict[str, Any]:
    """An Effect of the protocol: the app apart, without the labels that only `compare` reads."""
    app, table = effect["table"].split(".")
    rest = {key: value for key, value in effect.items() if key not in LABELS}
    return {"app": app, **rest, "table": table}
