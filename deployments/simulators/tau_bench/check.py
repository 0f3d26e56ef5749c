"""`check`: an item's gold played, nothing played, and the gold without each of its calls."""

from typing import Any

from tau2.data_model.simulation import TerminationReason
from tau2.data_model.tasks import RewardType

import quiet  # noqa: F401 - first
from differences import Rows, effects_of
from domain import Domain
from grade import outcome
from items import Fault, ReadItem
from playing import Played, opened, play
from reach import unreachable

GATES = (
    "unknown_key",
    "wrong_type",
    "dangling_document",
    "unknown_tool",
    "wrong_basis",
    "setup_error",
)
"""Causes of a Fault in the order in which they are looked for."""

_NOTHING = {"do_nothing": None, "suppressed": None, "expects_answer": None, "state_changes": None}


def check(domain: Domain, fields: dict[str, Any], gold_only: bool, writes: bool) -> dict[str, Any]:
    """The protocol's result of `check`."""
    try:
        item = ReadItem(fields)
        item.require(domain)
        with surroundings(domain, item):
            opened(domain, item)
            return _checked(domain, item, gold_only, writes)
    except Fault as fault:
        passed = dict.fromkeys(GATES[: GATES.index(fault.cause)])
        return _NOTHING | {"gold": None, "gates": passed | {fault.cause: str(fault)}}


def surroundings(domain: Domain, item: ReadItem) -> Any:
    """The domain's surroundings for an item's plays and grades."""
    return domain.reading([(action.name, action.arguments) for action in item.actions])


def _checked(domain: Domain, item: ReadItem, gold_only: bool, writes: bool) -> dict[str, Any]:
    gold = play(domain, item)
    found = _NOTHING | {"gates": dict.fromkeys(GATES)}
    if gold_only or gold.errors:
        return found | {"gold": _run(domain, item, gold, gold.end)}
    nothing = play(domain, item, without=range(len(item.actions)))
    changes = gold.start != gold.end
    return {
        "gates": dict.fromkeys(GATES) | {"unreachable_value": unreachable(domain, item, gold)},
        "gold": _run(domain, item, gold, gold.end),
        "do_nothing": _run(domain, item, nothing, gold.end),
        "suppressed": _suppressed(domain, item, gold) if writes else None,
        "expects_answer": False,
        "state_changes": changes or RewardType.ACTION in item.task.evaluation_criteria.reward_basis,
    }


def _run(domain: Domain, item: ReadItem, played: Played, wanted: Rows) -> dict[str, Any]:
    graded = outcome(
        domain,
        item,
        played.messages,
        TerminationReason.USER_STOP,
        effects_of(played.start, wanted),
        effects_of(played.start, played.end),
        len(played.calls),
    )
    error = next(iter(played.errors.values()), None)
    return {"outcome": graded, "calls": played.calls, "error": error}


def _suppressed(domain: Domain, item: ReadItem, gold: Played) -> list[dict[str, Any]]:
    """The gold without each call in turn, but for those that a later call needs: it fails without them (they
    unlock something), or uses what they told."""
    runs = []
    for n, call in enumerate(gold.calls):
        played = play(domain, item, without=(n,))
        if played.errors or _feeds(item, gold, n):
            continue
        run = _run(domain, item, played, gold.end)
        runs.append({"call": n, "app": call["app"], "api": call["api"], "run": run})
    return runs


def _feeds(item: ReadItem, gold: Played, n: int) -> bool:
    """Whether a later call uses a text that this one's output holds and nothing before it did."""
    told = str(gold.calls[n]["output"])
    before = " ".join([str(item.task.user_scenario), *(str(c["output"]) for c in gold.calls[:n])])
    later = (value for action in item.actions[n + 1 :] for value in action.arguments.values())
    texts = (value for value in later if isinstance(value, str) and len(value) > 2)
    return any(text in told and text not in before for text in texts)
