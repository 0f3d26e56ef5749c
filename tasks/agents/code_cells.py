"""A ReAct agent that acts by code cells: reply, cell, observation, until the item is declared complete.

The documents that it needs it reads through the simulator's own APIs, in AppWorld's three steps; the
prompt tells it how.
"""

import time
from dataclasses import dataclass, field

from tasks.errors import AttemptCause, SessionLost
from tasks.llm.base import Completion, LLMSpec, Message, Request, Subject
from tasks.llm.context import length, shortened
from tasks.llm.faults import PromptTooLong
from tasks.llm.prompting import observation_message, solver_messages
from tasks.llm.replies import Cell, parse_cell
from tasks.plan import SolverLimits
from tasks.spool import Unit
from tasks.suites.base import Call, Observation, Outcome, Session
from tasks.workbench import Workbench
from warehouse.records import Item, Measurement, Turn, digest_of

SESSION_RNG_SEED = 100
"""The rng_seed that AppWorld itself gives every world."""

IDLE_TURNS = 3
"""So many replies without a cell, one after the other, end an attempt."""

NO_CELL = "No code cell was found in the reply. Write exactly one ```python block per turn."


@dataclass
class Solving:
    """One attempt while it is made, and what is known of it when its loop has ended."""

    bench: Workbench
    unit: Unit
    item: Item
    solver: LLMSpec
    limits: SolverLimits
    measurement: Measurement
    repeat: int
    turns: int = 0
    calls: list[tuple[int, Call]] = field(default_factory=list)
    """Simulator API calls with the turn that made them."""
    completions: list[Completion] = field(default_factory=list)
    shown_chars: int = 0
    cut_chars: int = 0
    """Characters of earlier observations that the conversation does not hold any more."""
    limit: AttemptCause | None = None
    """What ended the attempt before it was declared complete; None when nothing did."""
    outcome: Outcome | None = None
    """None when the session was lost to the solver's own doing."""
    sandbox: str = "none"
    duration_s: float = 0.0

    @property
    def attempt_id(self) -> str:
        """Names the attempt whatever version of the stage made it, so that an equal one is equal."""
        spec_id, item_id = self.solver.spec_id, self.item.item_id
        return digest_of([self.bench.campaign, item_id, spec_id, self.measurement, self.repeat])

    def tokens(self, kind: str) -> int | None:
        """Sum of the turns' tokens of a kind; None when a turn's are unknown."""
        counts = [getattr(completion.tokens, kind) for completion in self.completions]
        return None if None in counts else sum(counts)

    def cost_usd(self) -> float | None:
        """Sum of the turns' costs; None when a turn's is unknown."""
        costs = [completion.cost_usd for completion in self.completions]
        return None if None in costs else sum(costs)


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
        solving.limit = _limit(solving, started) or (
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
        shown = _shown(observation.text, solving.limits.max_observation_chars)
        _keep_turn(solving, cell, observation, shown)
        if observation.done:
            return
        reply = Message(role="assistant", content=completion.text, state=completion.state)
        messages = (*messages, reply, observation_message(shown))


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


def _keep_turn(solving: Solving, cell: Cell, observation: Observation, shown: str) -> None:
    solving.calls += [(solving.turns, call) for call in observation.calls]
    solving.shown_chars += len(shown)
    solving.unit.add(
        Turn(
            attempt_id=solving.attempt_id,
            turn=solving.turns,
            thought=cell.thought,
            action=cell.code or "",
            observation=shown,
            error=observation.error,
        )
    )
    solving.turns += 1


def _limit(solving: Solving, started: float) -> AttemptCause | None:
    """The first ceiling that the attempt has reached; None while it may go on."""
    limits = solving.limits
    spent = sum(completion.tokens.completion or 0 for completion in solving.completions)
    if solving.completions:
        spent += solving.completions[-1].tokens.prompt or 0
    reached = (
        (solving.turns >= limits.max_turns, AttemptCause.TURN_LIMIT),
        (len(solving.calls) >= limits.max_calls, AttemptCause.CALL_LIMIT),
        (solving.shown_chars >= limits.max_total_observation_chars, AttemptCause.OBSERVATION_LIMIT),
        (spent >= limits.max_tokens, AttemptCause.TOKEN_LIMIT),
        (time.monotonic() - started >= limits.max_seconds, AttemptCause.TIME_LIMIT),
    )
    return next((cause for over, cause in reached if over), None)


def _shown(text: str, most: int) -> str:
    """The observation as the solver sees it: whole, or its head and tail with a line that says so."""
    if len(text) <= most:
        return text
    head, tail = text[: most * 3 // 4], text[-most // 4 :]
    return f"{head}\n[... {len(text) - len(head) - len(tail)} characters cut here ...]\n{tail}"
