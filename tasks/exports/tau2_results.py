"""Attempts as τ-bench's results.json, which `tau2 view` opens and `tau2 evaluate-trajs` grades anew.

What was said stands in the attempts' units of the spool, each side's conversation as its model was shown it.
Where an attempt ended with a call, the call and its answer are left out: no model was shown the answer.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tasks.errors import AttemptCause
from tasks.plan import Plan
from warehouse.records import Attempt

_POLICY = re.compile(r"<policy>\n(.*)\n</policy>", re.DOTALL)

_TERMINATIONS = {
    AttemptCause.TURN_LIMIT: "max_steps",
    AttemptCause.CALL_LIMIT: "max_steps",
    AttemptCause.OBSERVATION_LIMIT: "max_steps",
    AttemptCause.TOKEN_LIMIT: "max_steps",
    AttemptCause.TIME_LIMIT: "max_steps",
    AttemptCause.CELL_TIME_LIMIT: "max_steps",
    AttemptCause.TOOL_ERRORS: "too_many_errors",
    AttemptCause.UNUSABLE_REPLY: "agent_error",
    AttemptCause.UNUSABLE_USER: "user_error",
}
"""τ-bench's word for the end by our cause; it has one word for all ceilings. Else the user stopped, or the
agent."""


def results_of(
    units: Iterable[bytes],
    tasks: Mapping[str, dict[str, Any]],
    plan: Plan,
    named: str,
    version: str,
) -> dict[str, Any]:
    """The search's attempts on exported items, in τ-bench's form.

    Args:
        units: the contents of the campaign's attempt units; those on other items are passed over.
        tasks: the exported tasks, by item_id.
        plan: of the campaign.
        named: τ-bench's name of the domain.
        version: of the simulated package, which stands where τ-bench has its git commit.
    """
    found = [one for unit in units for one in _attempts(unit, tasks)]
    runs = [_simulation(attempt, calls, tasks[attempt.item_id]) for attempt, calls in found]
    policies = (_policy(calls) for _, calls in found)
    return {
        "info": {
            "git_commit": version,
            "num_trials": plan.repeats,
            "max_steps": 200,
            "max_errors": 10,
            "user_info": {"implementation": "user_simulator", "llm": plan.party.llm_id},
            "agent_info": {"implementation": "llm_agent", "llm": plan.solver.llm_id},
            "environment_info": {
                "domain_name": named,
                "policy": next(filter(None, policies), ""),
            },
            "seed": plan.rng_seed,
        },
        "tasks": list(tasks.values()),
        "simulations": sorted(runs, key=lambda run: (run["task_id"], run["trial"])),
    }


def _attempts(
    unit: bytes, tasks: Mapping[str, dict[str, Any]]
) -> Iterator[tuple[Attempt, list[dict[str, Any]]]]:
    """The unit's attempt with its answered model calls, where it is one of the search on an exported item."""
    entries = [json.loads(line) for line in unit.splitlines()]
    (row,) = (entry["row"] for entry in entries if entry.get("record") == "Attempt")
    attempt = Attempt.model_validate(row)
    if attempt.item_id in tasks and attempt.measurement == "search":
        yield attempt, [entry for entry in entries if entry.get("completion")]


def _simulation(
    attempt: Attempt, calls: Sequence[dict[str, Any]], exported: Mapping[str, Any]
) -> dict[str, Any]:
    """τ-bench's run. Its times have to be there; the spool keeps none of the day."""
    messages = _messages(calls)
    return {
        "id": attempt.attempt_id,
        "task_id": exported["id"],
        "start_time": "",
        "end_time": "",
        "duration": attempt.duration_s,
        "termination_reason": _termination(attempt, messages),
        "agent_cost": attempt.cost_usd,
        "user_cost": None,
        "reward_info": {
            "reward": 1.0 if attempt.outcome == "solved" else 0.0,
            "reward_basis": exported["evaluation_criteria"]["reward_basis"],
            "info": {
                "cause": attempt.cause,
                "partial": attempt.partial,
                "difference": attempt.difference and json.loads(attempt.difference),
            },
        },
        "messages": messages,
        "trial": attempt.repeat,
    }


def _messages(calls: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One conversation of the two: what each side said, with the answers to its tool calls before it."""
    said: list[dict[str, Any]] = []
    for entry in calls:
        side = "user" if entry["call"]["role"] == "user" else "assistant"
        heard = [message for message in entry["messages"] if message["role"] != "system"]
        if not said:
            said += [{"role": "assistant", "content": one["content"]} for one in heard]
        said += [_answer(one, side) for one in heard if one["role"] == "tool"]
        reply = entry["completion"]
        if reply["text"].strip() or reply["tool_calls"]:
            said.append(_reply(reply, side))
    while said and "tool_calls" in said[-1]:
        said.pop()
    return [message | {"turn_idx": n} for n, message in enumerate(said)]


def _answer(message: Mapping[str, Any], side: str) -> dict[str, Any]:
    text = message["content"]
    named = {"id": message["tool_call_id"], "role": "tool", "requestor": side}
    return named | {"content": text, "error": text.startswith("Error")}


def _reply(reply: Mapping[str, Any], side: str) -> dict[str, Any]:
    said: dict[str, Any] = {"role": side, "content": reply["text"] or None}
    if reply["tool_calls"]:
        said["tool_calls"] = [
            {
                "id": call["id"],
                "name": call["name"],
                "arguments": _arguments(call["arguments"]),
                "requestor": side,
            }
            for call in reply["tool_calls"]
        ]
    tokens = reply["tokens"]
    if tokens["prompt"] is not None and tokens["completion"] is not None:
        said["usage"] = {
            "prompt_tokens": tokens["prompt"],
            "completion_tokens": tokens["completion"],
        }
    return said | {"cost": reply["cost_usd"]}


def _arguments(text: str) -> dict[str, Any]:
    """A call's arguments; a call whose arguments nobody can read ends the attempt, and is left out."""
    try:
        read = json.loads(text or "{}")
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}


def _termination(attempt: Attempt, messages: Sequence[Mapping[str, Any]]) -> str:
    if attempt.cause in _TERMINATIONS:
        return _TERMINATIONS[AttemptCause(attempt.cause)]
    by_user = bool(messages) and messages[-1]["role"] == "user"
    return "user_stop" if by_user else "agent_stop"


def _policy(calls: Sequence[dict[str, Any]]) -> str | None:
    """The policy that the solver was shown; None where it had no turn."""
    of_solver = (entry for entry in calls if entry["call"]["role"] == "solver")
    first = next(of_solver, None)
    shown = first and _POLICY.search(first["messages"][0]["content"])
    return shown[1] if shown else None
