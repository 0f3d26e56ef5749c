"""The simulated solver of a dialogue: plays an item's gold by tool calls and by asking the user, with slips.

It is asked turn by turn and remembers nothing: how far it is, it reads out of the conversation. It acts only
where the user has told most of the scenario, and uses an identifier only when the conversation or the policy
shows it; what it lacks it looks up, by reads of what it was shown. Blank the user's words or the
observations, and it gives up.
"""

import json
import re
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from tasks.llm.base import Message, Request
from tasks.llm.simulated.dialogues.skills import dialogue_logit, strain_of
from tasks.llm.simulated.dialogues.spoken import DONE, SORRY, TRANSFERRED, asked_for, please
from tasks.llm.simulated.dice import dice
from tasks.llm.simulated.skills import chance
from tasks.llm.tool_calls import tool_call
from warehouse.records import Item

LOOKUPS = 24
"""So many reads beyond its gold it makes before it gives up."""

_TOLD = 0.6
"""Share of the scenario's words that the user has to have said, for the solver to act on it."""

_IDENTIFIER = re.compile(r"[\w.+-]+@[\w.-]+|(?=[\w-]*\d)\w[\w-]{2,}")
_NAME = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)+")

Call = tuple[str, dict[str, Any]]
Reply = tuple[str, tuple[dict[str, Any], ...]]


def solve_dialogue(request: Request, item: Item | None, rng_seed: int) -> Reply:
    """The solver's next text and tool calls."""
    if item is None or item.gold is None or not _is_told(item, request.messages):
        return SORRY, ()
    subject = request.subject
    luck = dice(rng_seed, "solver", subject.item_id, subject.measurement, subject.repeat)
    plan = json.loads(item.gold)
    content = f"{item.instruction}\n{item.setup}"
    if luck.random() >= chance(dialogue_logit(plan, content)):
        plan = _with_slip(plan, luck)
    left = plan[_progress(plan, request.messages) :]
    if not left:
        moved = any(one["name"] == "transfer_to_human_agents" for one in plan)
        return (TRANSFERRED if moved else f"{DONE} Is there anything else?"), ()
    action = left[0]
    if action.get("requestor", "assistant") == "user":
        return please(action["name"], action["arguments"]), ()
    lacking = [one for one in _identifiers(action) if not _is_shown(one, request.messages)]
    if not lacking:
        return _calling(request, action["name"], action["arguments"])
    lookup = _lookup(request, lacking[0])
    return (SORRY, ()) if lookup is None else _calling(request, *lookup)


def _is_told(item: Item, messages: Sequence[Message]) -> bool:
    """Whether the user has said (most of) what the scenario holds."""
    words = set(re.findall(r"\w+", " ".join(_texts(json.loads(item.instruction))).lower()))
    heard = " ".join(one.content for one in messages if one.role == "user").lower()
    said = words & set(re.findall(r"\w+", heard))
    return bool(words) and len(said) >= _TOLD * len(words)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)


def _progress(plan: Sequence[dict[str, Any]], messages: Sequence[Message]) -> int:
    """How many of the plan's calls the conversation shows: its own, and those that it asked for."""
    at = 0
    for message in messages:
        if message.role != "assistant" or at == len(plan):
            continue
        made = [(call["name"], json.loads(call["arguments"])) for call in message.tool_calls]
        asked = asked_for(message.content)
        wanted = (plan[at]["name"], plan[at]["arguments"])
        at += wanted in made or wanted == asked
    return at


def _identifiers(action: dict[str, Any]) -> list[str]:
    """What of a call's arguments has to be known from somewhere; what it only writes has not."""
    found = _IDENTIFIER.findall(json.dumps(action["arguments"]).replace("\\", " "))
    return [one for one in found if not re.fullmatch(r"[\d.,/-]+", one)]


def _is_shown(identifier: str, messages: Sequence[Message]) -> bool:
    return any(
        identifier.casefold() in message.content.casefold()
        for message in messages
        if message.role != "assistant"
    )


def _lookup(request: Request, lacking: str) -> Call | None:
    """A read that was not made yet, of what was shown; None where there is none, or enough were made."""
    made = [
        (call["name"], call["arguments"])
        for message in request.messages
        for call in message.tool_calls
    ]
    if len(made) >= LOOKUPS:
        return None
    search = ("KB_search", {"query": re.sub(r"[_\d]+", " ", lacking).strip() or lacking})
    exact = ("KB_search", {"query": lacking})
    offered = {tool["name"]: tool for tool in request.tools}
    tries = [search, exact] if "KB_search" in offered else []
    tries += [one for tool in offered.values() for one in _reads(tool, request.messages)]
    return next((one for one in tries if (one[0], json.dumps(one[1])) not in made), None)


def _reads(tool: dict[str, Any], messages: Sequence[Message]) -> Iterator[Call]:
    """Calls of a tool that reads by one thing, with what was shown that may be such a thing."""
    needed = tool["parameters"].get("required", [])
    if not tool["name"].startswith("get_") or len(needed) != 1:
        return
    shown = " ".join(one.content for one in messages if one.role in ("user", "tool"))
    pattern = _NAME if "name" in needed[0] else _IDENTIFIER
    for value in dict.fromkeys(pattern.findall(shown)):
        if _may_be(needed[0], value):
            yield tool["name"], {needed[0]: value}


def _may_be(parameter: str, value: str) -> bool:
    """Whether a value looks like what a parameter of this name takes."""
    if "phone" in parameter and not value[0].isdigit():
        return False
    return ("email" in parameter) == ("@" in value)


def _calling(request: Request, name: str, arguments: dict[str, Any]) -> Reply:
    return "", (tool_call(f"call_{len(request.messages)}", name, json.dumps(arguments)),)


def _with_slip(plan: list[dict[str, Any]], luck: Random) -> list[dict[str, Any]]:
    """The plan with one call left out, changed or made twice; the hardest calls first."""
    if not plan:
        return plan
    at = luck.choices(range(len(plan)), [0.05 + strain_of(one) for one in plan])[0]
    kind = luck.choices(("missing", "wrong_value", "extra"), (5, 3, 2))[0]
    changed = _other_value(plan[at], luck) if kind == "wrong_value" else None
    if changed is not None:
        return [*plan[:at], changed, *plan[at + 1 :]]
    if kind == "extra":
        return [*plan[: at + 1], *plan[at:]]
    return [*plan[:at], *plan[at + 1 :]]


def _other_value(action: dict[str, Any], luck: Random) -> dict[str, Any] | None:
    """The call with another number or truth value; None where it has none."""
    names = [
        name for name, value in action["arguments"].items() if isinstance(value, bool | int | float)
    ]
    if not names:
        return None
    name = luck.choice(names)
    value = action["arguments"][name]
    other = not value if isinstance(value, bool) else value + 1
    return action | {"arguments": action["arguments"] | {name: other}}
