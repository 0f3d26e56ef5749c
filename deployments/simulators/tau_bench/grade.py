"""τ-bench's own reward of a conversation, and beside it what separates its final state from the gold's."""

from collections.abc import Sequence
from typing import Any

from tau2.data_model.message import Message
from tau2.data_model.simulation import RewardInfo, SimulationRun, TerminationReason
from tau2.data_model.tasks import RewardType
from tau2.evaluator.evaluator import EvaluationType, evaluate_simulation

import quiet  # noqa: F401 - first
from differences import difference
from domain import Domain
from items import ReadItem

STOPPED = frozenset({TerminationReason.USER_STOP, TerminationReason.AGENT_STOP})
"""How a conversation has to end, for τ-bench to grade it."""


def outcome(
    domain: Domain,
    item: ReadItem,
    messages: Sequence[Message],
    ended: TerminationReason,
    due: list[dict[str, Any]],
    done: list[dict[str, Any]],
    calls: int,
) -> dict[str, Any]:
    """The protocol's Outcome.

    `due` and `done`: effects of the gold, and of what is graded, on the item's start. `solved` is the stock
    reward; the tests are what the reward hangs on, also where the end of the conversation forfeits it.
    """
    task = item.task
    run = SimulationRun(
        id=task.id,
        task_id=task.id,
        start_time="",
        end_time="",
        duration=0.0,
        termination_reason=TerminationReason.USER_STOP,
        messages=list(messages),
    )
    reward = evaluate_simulation(run, task, EvaluationType.ALL, False, domain.name)
    tests = _tests(reward, task.evaluation_criteria.reward_basis)
    passed = sum(test["passed"] for test in tests)
    return {
        "solved": ended in STOPPED and reward.reward == 1.0,
        "partial": passed / len(tests),
        "completed": ended in STOPPED,
        "tests": tests,
        "difference": difference(due, done),
        "calls": calls,
    }


def _tests(reward: RewardInfo, basis: Sequence[RewardType]) -> list[dict[str, Any]]:
    tests = []
    if RewardType.DB in basis:
        tests.append(
            _test("the databases are those that the gold leaves", reward.db_check.db_match)
        )
    if RewardType.ENV_ASSERTION in basis:
        for check in reward.env_assertions or []:
            made = check.env_assertion
            given = ", ".join(f"{name}={value!r}" for name, value in made.arguments.items())
            requirement = f"{made.env_type}: {made.func_name}({given}) is {made.assert_value}"
            tests.append(_test(requirement, check.met))
    if RewardType.ACTION in basis:
        for check in reward.action_checks or []:
            tests.append(_test(f"called: {check.action.get_func_format()}", check.action_match))
    if RewardType.COMMUNICATE in basis:
        for check in reward.communicate_checks or []:
            tests.append(_test(f"told: {check.info}", check.met))
    return tests


def _test(requirement: str, passed: bool) -> dict[str, Any]:
    return {"requirement": requirement, "passed": bool(passed)}
