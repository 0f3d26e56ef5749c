"""A ReAct agent that acts by code cells: reply, cell, observation, until the item is declared complete.

The documents that it needs it reads through the simulator's own APIs, in AppWorld's three steps; the
prompt tells it how.
"""

import time

from tasks.agents.solving import SESSION_RNG_SEED, Solving, limit_of, shown
from tasks.errors import AttemptCause, SessionLost
from tasks.llm.base import Completion, Message, Request, Subject
from tasks.llm.context import length, shortened
from tasks.llm.faults import PromptTooLong
from tasks.llm.prompting import observation_message, solver_messages
from tasks.llm.replies import Cell, parse_cell
from tasks.suites.base import Observation, Session
from warehouse.records import Turn

IDLE_TURNS = 3
"""So many replies without a cell, one after the other, end an attempt."""

NO_CELL = "No code cell was found in the reply. Write exactly one ```python block per turn."


async def attempt_in_code(solving: Solving) -> None:
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


async def _converse(solving: Solving, session: Session, started: float) -> None:
    messages = solver_messages(session.briefing, solving.bench.suite.name)
    idle = 0
    while True:
        solving.limit = limit_of(solving, started) or (
            AttemptCause.NO_ACTION if idle == IDLE_TURNS else None
        )
        if solving.limit is not None:
            return
        prompt = shortened(messages, solving.solver.context_chars)
        messages = prompt.messages
        solving.cut_chars += prompt.cut_chars
        try:
            completion = await _ask(solving, messages)
        except PromptTooLong:
            solving.limit = AttemptCause.TOKEN_LIMIT
            return
        cell = parse_cell(completion.text)
        idle = idle + 1 if cell.code is None else 0
        observation = await _act(solving, session, cell)
        if observation is None:
            return
        seen = shown(observation.text, solving.limits.max_observation_chars)
        _keep_turn(solving, cell, observation, seen)
        if observation.done:
            return
        reply = Message(role="assistant", content=completion.text, state=completion.state)
        messages = (*messages, reply, observation_message(seen))


async def _ask(solving: Solving, messages: tuple[Message, ...]) -> Completion:
    """The next reply. Raises PromptTooLong where the conversation outgrew its room or the model's."""
    if length(messages) > solving.solver.context_chars:
        raise PromptTooLong(f"the conversation is longer than {solving.solver.context_chars}")
    subject = Subject(
        item_id=solving.item.item_id,
        measurement=solving.measurement,
        repeat=solving.repeat,
        turn=solving.turns,
    )
    request = Request(
        role="solver",
        spec=solving.solver,
        messages=messages,
        subject=subject,
        cut_chars=solving.cut_chars,
    )
    completion = await solving.unit.complete(solving.bench.client(solving.solver), request)
    solving.completions.append(completion)
    return completion


async def _act(solving: Solving, session: Session, cell: Cell) -> Observation | None:
    """The cell's observation; None when it ran past its time, which costs the session."""
    if cell.code is None:
        return Observation(text=NO_CELL, error=True)
    try:
        return await session.act({"kind": "code", "code": cell.code}, solving.limits.cell_seconds)
    except SessionLost:
        # The program kills a session for what its code did: a hang, an abort, a limit of the sandbox.
        solving.limit = AttemptCause.CELL_TIME_LIMIT
        solving.turns += 1
        solving.unit.add(
            Turn(
                attempt_id=solving.attempt_id,
                turn=solving.turns - 1,
                thought=cell.thought,
                action=cell.code,
                observation="(the session was killed)",
                error=True,
            )
        )
        return None


def _keep_turn(solving: Solving, cell: Cell, observation: Observation, seen: str) -> None:
    solving.calls += [(solving.turns, call) for call in observation.calls]
    solving.shown_chars += len(seen)
    solving.unit.add(
        Turn(
            attempt_id=solving.attempt_id,
            turn=solving.turns,
            thought=cell.thought,
            action=cell.code or "",
            observation=seen,
            error=observation.error,
        )
    )
    solving.turns += 1
