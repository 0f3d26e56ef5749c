"""A dialogue: the simulator says whose turn it is, and the solver's model or the user's gives the reply.

Prompts, tools and the order of turns are the simulator's own; nothing is added here. A turn of ours is the
solver's: what it said or called, and what it then was shown.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks.agents.solving import SESSION_RNG_SEED, Solving, limit_of, shown
from tasks.errors import AttemptCause, SessionLost
from tasks.llm.base import Completion, Message, Request, Subject
from tasks.llm.context import length
from tasks.llm.faults import PromptTooLong
from tasks.suites.base import Dialogue, Ended, ModelRequest
from warehouse.records import Turn

EMPTY_REPLIES = 3
"""So many replies without text or call, to one request, are asked for; then the last one counts."""


@dataclass
class Side:
    """One party's conversation so far."""

    messages: tuple[Message, ...] = ()
    tools: tuple[dict[str, Any], ...] = ()


@dataclass
class Sides:
    """Both conversations, and the solver's turn that waits for what it will be shown."""

    sides: dict[str, Side] = field(default_factory=lambda: {"solver": Side(), "user": Side()})
    waiting: Completion | None = None


async def attempt_in_dialogue(solving: Solving) -> None:
    """Makes the attempt; the session is closed whatever happens. Raises on infrastructure trouble only."""
    started = time.monotonic()
    session = await solving.bench.suite.open(solving.item, SESSION_RNG_SEED)
    try:
        solving.sandbox = session.sandbox
        await _converse(solving, session, started)
        if solving.limit != AttemptCause.CELL_TIME_LIMIT:
            solving.outcome = await session.finish()
    finally:
        await session.close()
        solving.duration_s = time.monotonic() - started


async def _converse(solving: Solving, session: Dialogue, started: float) -> None:
    both = Sides()
    now: ModelRequest | Ended = session.request
    while isinstance(now, ModelRequest):
        side = both.sides[now.role]
        side.messages += now.messages
        side.tools = now.tools or side.tools
        if now.role == "solver":
            _keep_turn(solving, both, now.messages)
            solving.limit = limit_of(solving, started)
            if solving.limit is not None:
                return
        try:
            completion = await _ask(solving, now.role, side)
            now = await session.act(_reply(now.role, completion), solving.limits.cell_seconds)
        except PromptTooLong:
            solving.limit = AttemptCause.TOKEN_LIMIT
            return
        except SessionLost:
            solving.limit = AttemptCause.CELL_TIME_LIMIT
            return
        spoken = Message(
            role="assistant",
            content=completion.text,
            tool_calls=completion.tool_calls,
            state=completion.state,
        )
        side.messages += (spoken,)
        if side is both.sides["solver"]:
            both.waiting = completion
        solving.calls += [(solving.turns, call) for call in now.calls]
    solving.ended = now.cause
    _keep_turn(solving, both, both.sides["user"].messages[-1:])


async def _ask(solving: Solving, role: str, side: Side) -> Completion:
    """A party's next reply. Raises PromptTooLong where its conversation outgrew its room or the model's."""
    spec = solving.solver if role == "solver" else solving.user
    assert spec is not None
    if length(side.messages) > spec.context_chars:
        raise PromptTooLong(f"the conversation is longer than {spec.context_chars}")
    request = Request(
        role=role,
        spec=spec,
        messages=side.messages,
        tools=side.tools,
        subject=Subject(
            item_id=solving.item.item_id,
            measurement=solving.measurement,
            repeat=solving.repeat,
            turn=solving.turns,
        ),
    )
    for _ in range(EMPTY_REPLIES):
        completion = await solving.unit.complete(solving.bench.client(spec), request)
        (solving.completions if role == "solver" else solving.user_completions).append(completion)
        if completion.text.strip() or completion.tool_calls:
            break
    return completion


def _reply(role: str, completion: Completion) -> dict[str, Any]:
    calls = [
        {name: call[name] for name in ("id", "name", "arguments")} for call in completion.tool_calls
    ]
    return {"kind": "reply", "role": role, "text": completion.text, "tool_calls": calls}


def _keep_turn(solving: Solving, both: Sides, heard: Sequence[Message]) -> None:
    """Writes down the solver's last turn with what it heard since; nothing before its first one."""
    spoken, both.waiting = both.waiting, None
    if spoken is None:
        return
    told = "\n".join(f"{_speaker(message)}: {message.content}" for message in heard)
    seen = shown(told, solving.limits.max_observation_chars)
    solving.shown_chars += len(seen)
    calls = "\n".join(f"{call['name']}({call['arguments']})" for call in spoken.tool_calls)
    failed = any(
        message.role == "tool" and message.content.startswith("Error") for message in heard
    )
    solving.unit.add(
        Turn(
            attempt_id=solving.attempt_id,
            turn=solving.turns,
            thought=spoken.text if calls else "",
            action=calls or f"say({json.dumps(spoken.text, ensure_ascii=False)})",
            observation=seen,
            error=failed,
        )
    )
    solving.turns += 1


def _speaker(message: Message) -> str:
    return "tool" if message.role == "tool" else "user"
