"""One attempt while it is made, whatever the agent: what is known of it, and what ends it."""

import time
from dataclasses import dataclass, field

from tasks.errors import AttemptCause
from tasks.llm.base import Completion, LLMSpec
from tasks.plan import SolverLimits
from tasks.spool import Unit
from tasks.suites.base import Call, Outcome
from tasks.workbench import Workbench
from warehouse.records import Item, Measurement, digest_of

SESSION_RNG_SEED = 100
"""The rng_seed that AppWorld itself gives every world."""


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
    user: LLMSpec | None = None
    """Who plays the other party of a dialogue; None where there is none."""
    turns: int = 0
    calls: list[tuple[int, Call]] = field(default_factory=list)
    """Simulator API calls with the turn that made them."""
    completions: list[Completion] = field(default_factory=list)
    """The solver's."""
    user_completions: list[Completion] = field(default_factory=list)
    shown_chars: int = 0
    cut_chars: int = 0
    """Characters of earlier observations that the conversation does not hold any more."""
    limit: AttemptCause | None = None
    """What ended the attempt before it was declared complete; None when nothing did."""
    ended: str | None = None
    """How a dialogue ended, in the protocol's words; None where nothing but a limit ended it."""
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
        """Sum of both parties' turns' costs; None when a turn's is unknown."""
        made = (*self.completions, *self.user_completions)
        costs = [completion.cost_usd for completion in made]
        return None if None in costs else sum(costs)


def limit_of(solving: Solving, started: float) -> AttemptCause | None:
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


def shown(text: str, most: int) -> str:
    """The observation as the solver sees it: whole, or its head and tail with a line that says so."""
    if len(text) <= most:
        return text
    head, tail = text[: most * 3 // 4], text[-most // 4 :]
    return f"{head}\n[... {len(text) - len(head) - len(tail)} characters cut here ...]\n{tail}"
