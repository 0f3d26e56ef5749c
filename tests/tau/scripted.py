"""Two participants who play a gold between them, each its own side's calls, through the suite's dialogue.

They stand for models where only τ-bench itself is tested: whoever has the next call of the gold makes it, the
other says a word, and the user stops at the end.
"""

import json
from collections.abc import Sequence
from typing import Any

from tasks.suites.base import Call, Ended, ModelRequest, Outcome
from tasks.suites.tau_bench import TauSession, TauSuite
from warehouse.records import Item

ACT_S = 60.0


def reply(role: str, text: str = "", calls: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
    """A model's reply as it crosses to the simulator."""
    wired = [
        {
            "id": call.get("id", "c"),
            "name": call["name"],
            "arguments": json.dumps(call["arguments"]),
        }
        for call in calls
    ]
    return {"kind": "reply", "role": role, "text": text, "tool_calls": wired}


async def played(
    suite: TauSuite, item: Item, actions: Sequence[dict[str, Any]], ends_with: str = "###STOP###"
) -> tuple[Outcome, Ended, list[Call]]:
    """The outcome of a dialogue that makes these calls, how it ended, and the calls seen."""
    session = await suite.open(item, rng_seed=0)
    try:
        return await _played(session, list(actions), ends_with)
    finally:
        await session.close()


async def _played(
    session: TauSession, left: list[dict[str, Any]], ends_with: str
) -> tuple[Outcome, Ended, list[Call]]:
    now: ModelRequest | Ended = session.request
    seen: list[Call] = []
    while isinstance(now, ModelRequest):
        side = "user" if now.role == "user" else "assistant"
        if left and left[0].get("requestor", "assistant") == side:
            answer = reply(now.role, calls=[left.pop(0)])
        else:
            over = not left and now.role == "user"
            answer = reply(now.role, ends_with if over else "Go on, please.")
        now = await session.act(answer, ACT_S)
        seen += now.calls
    return await session.finish(), now, seen
