"""The simulated user of a dialogue: it knows the scenario in its prompt, does what it is asked, and stops.

It never sees the gold. Now and then it hangs up too early, as simulated users do.
"""

import json
import re

from tasks.llm.base import Request
from tasks.llm.simulated.dialogues.spoken import DONE, SORRY, TRANSFERRED, asked_for
from tasks.llm.simulated.dice import dice
from tasks.llm.tool_calls import tool_call

HANGS_UP = 0.02
"""Chance that an attempt's user stops at its second message, whatever was done."""

STOP = "###STOP###"
TRANSFER = "###TRANSFER###"

_SCENARIO = re.compile(r"<scenario>(.*?)</scenario>", re.DOTALL)
_LONGEST_STORY = 6_000


def speak(request: Request, rng_seed: int) -> tuple[str, tuple[dict, ...]]:
    """The user's next text and tool calls."""
    own = [one for one in request.messages if one.role == "assistant"]
    last = request.messages[-1]
    subject = request.subject
    luck = dice(rng_seed, "user", subject.item_id, subject.measurement, subject.repeat)
    if not own:
        return _story(request), ()
    if len(own) == 1 and luck.random() < HANGS_UP:
        return f"Never mind, I have no time for this. {STOP}", ()
    if last.role == "tool":
        return f"I have done that. It says: {last.content}", ()
    if TRANSFERRED in last.content:
        return TRANSFER, ()
    if DONE in last.content or SORRY in last.content:
        return STOP, ()
    asked = asked_for(last.content)
    if asked is not None:
        name, arguments = asked
        if any(tool["name"] == name for tool in request.tools):
            call_id = f"call_{len(request.messages)}"
            return "", (tool_call(call_id, name, json.dumps(arguments)),)
        return f"I have nothing that is called {name}.", ()
    return "That is all that I know.", ()


def _story(request: Request) -> str:
    """The scenario, told in one go."""
    system = next((one.content for one in request.messages if one.role == "system"), "")
    found = _SCENARIO.search(system)
    text = " ".join(found[1].split()) if found else ""
    return f"Hello. {text[:_LONGEST_STORY]}".strip()
