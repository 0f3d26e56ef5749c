"""What a suite is: seeds, a check of items, and sessions in which a solver acts.

The contract, for every suite:

- `describe`, `seeds` and `check` are pure: the same arguments give the same result, from any process.
- `open` gives a session of its own: nothing done in it is seen by another, and two sessions on the same
  item with the same rng_seed and the same actions observe the same.
- A solver's failure is an `Outcome`. Trouble of the simulator raises `SimulatorError`; of one session
  (killed at a deadline, aborted by the code it ran) `SessionLost`.
- A simulator holds no key and calls no model.

The records below are the simulator protocol of deployments/simulators/README.md, field for field.
"""

from typing import Any, Literal, Protocol, get_args

from pydantic import Field

from tasks.llm.base import Message
from warehouse.records import CIRCUMSTANCE, Item, Record

SandboxLevel = Literal["none", "rlimits", "bubblewrap"]
"""Walls around model-written code; what each holds back: deployments/simulators/SANDBOX.md."""

SANDBOX_LEVELS: tuple[SandboxLevel, ...] = get_args(SandboxLevel)
"""The levels, weakest first."""


class Api(Record):
    """One API or tool that the simulator offers."""

    app: str
    api: str
    method: str | None = None
    description: str
    parameters: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    values: dict[str, tuple[str, ...]] = {}
    """Of a parameter that takes only a few values, these."""
    returns: str = ""
    """Names in its result, nested as they are, such as "[{id, tags: []}]"; "" where that says nothing."""


class Description(Record):
    """What a simulator says of itself."""

    suite: str
    version: str
    """Version of the simulated package."""
    world: str
    interaction: Literal["code", "tools", "dialogue"]
    edits: tuple[str, ...]
    """The item fields that a proposer may change."""
    sandbox: SandboxLevel = Field(json_schema_extra=CIRCUMSTANCE)
    """Level under which model-written code runs."""
    apis: tuple[Api, ...]
    world_summary: str
    survey: dict[str, Any] | None = None
    """An action that, done on an item's start, shows what is there to build on; None without one."""


class SuiteSeed(Record):
    """An item as the suite ships it, with what its author said of it."""

    item: Item
    name: str
    intended_difficulty: int | None = None
    """1-3; None where nobody said."""
    difficulty_source: str = "author"
    """Who said so: the source of the label that it becomes."""
    cluster: str | None = None
    """Group of seeds that are alike (AppWorld: of one generator); None for a seed that stands alone."""


class Call(Record):
    """One API call, secrets blanked."""

    n: int
    app: str
    api: str
    arguments: dict[str, Any] = {}
    ok: bool
    wrote: bool
    side: Literal["assistant", "user"] = "assistant"
    """Who called; "user" in a dialogue, where the other party has tools too."""
    output: Any = None
    """The call's JSON result in a gold's run; None in an attempt."""


class Effect(Record):
    """One row by which two final states differ."""

    app: str
    table: str
    change: Literal["added", "removed", "changed"]
    row: Any = None
    """Id of the row of the initial state; None for an added one."""
    content: dict[str, Any] = {}
    """For "changed": only the changed fields, with their new values."""
    before: dict[str, Any] = {}
    """For "changed": the same fields before; for "removed": the row; else empty."""
    references: tuple[str, ...] = ()
    """Names of the fields of content that point to an entity."""


class AnswerDifference(Record):
    """A wrong answer."""

    expected: Any = None
    given: Any = None


class Difference(Record):
    """What separates an attempt's final state from the one that the gold leaves."""

    missing: tuple[Effect, ...] = ()
    unexpected: tuple[Effect, ...] = ()
    answer: AnswerDifference | None = None
    """None when the answer is right, or none was due and none given."""


class GradeTest(Record):
    """One requirement of the suite's checker."""

    requirement: str
    passed: bool


class Outcome(Record):
    """What the suite's own checker says of a final state."""

    solved: bool
    partial: float
    """Share (0-1) of the tests that passed."""
    completed: bool
    """The item was declared complete."""
    tests: tuple[GradeTest, ...]
    difference: Difference | None
    """None where no gold tells what the state should be: a seed that its suite grades, without a gold."""
    calls: int


class Run(Record):
    """One run of a gold, whole or with one write suppressed, or of nothing at all."""

    outcome: Outcome
    calls: tuple[Call, ...]
    error: str | None = None
    """What a program that raised printed; None when it ran through."""


class SuppressedRun(Record):
    """The gold's run with the state change of one of its calls undone."""

    call: int
    app: str
    api: str
    run: Run


class CheckReport(Record):
    """What `check` found. Where the gold errs or does not complete, only `gold` is there."""

    gates: dict[str, str | None] = {}
    """The suite's own gates in order, each a cause of `tasks.errors.Rejection`, with what is wrong; None when
    it is passed. Where one fails before the gold can be run, nothing else is there."""
    gold: Run | None
    """None for a seed without a gold; of the rest only `do_nothing` is then there."""
    do_nothing: Run | None = None
    suppressed: tuple[SuppressedRun, ...] | None = None
    expects_answer: bool | None = None
    state_changes: bool | None = None


class Briefing(Record):
    """What a solver is told before its first turn."""

    supervisor: dict[str, str]
    datetime: str
    instruction: str


class Observation(Record):
    """What an action showed."""

    kind: Literal["observation"] = "observation"
    text: str
    error: bool = False
    done: bool = False
    calls: tuple[Call, ...] = ()


class ModelRequest(Record):
    """That the simulator has come to where a model has its turn."""

    kind: Literal["model_request"] = "model_request"
    role: Literal["solver", "user"]
    messages: tuple[Message, ...]
    """Those that are new in this role's conversation; the role's own replies are not among them."""
    tools: tuple[dict[str, Any], ...] = ()
    """The role's tools, in the form of tasks/llm/tool_calls.py; only with the first request of a role."""
    calls: tuple[Call, ...] = ()
    """API calls made since the last answer."""


class Ended(Record):
    """That a dialogue is over."""

    kind: Literal["ended"] = "ended"
    cause: str
    """How, from the list in deployments/simulators/README.md."""
    calls: tuple[Call, ...] = ()


class Dialogue(Protocol):
    """A session of interaction "dialogue": it asks for model turns, and is given each one's reply."""

    request: ModelRequest
    """The first turn that is asked for."""
    sandbox: SandboxLevel

    async def act(self, action: dict[str, Any], timeout_s: float) -> ModelRequest | Ended:
        """Goes on with a reply. Raises SessionLost past the deadline; the session is then gone."""
        ...

    async def finish(self) -> Outcome:
        """Grades the final state and closes the session; before its end the dialogue is cut off."""
        ...

    async def close(self) -> None:
        """Gives the session up. Harmless when it is closed or lost already."""
        ...


class Session(Protocol):
    """One attempt's copy of an item's initial state."""

    briefing: Briefing
    sandbox: SandboxLevel
    """Level under which its model-written code runs."""

    async def act(self, action: dict[str, Any], timeout_s: float) -> Observation:
        """Does one action. Raises SessionLost past the deadline; the session is then gone."""
        ...

    async def finish(self) -> Outcome:
        """Grades the final state and closes the session."""
        ...

    async def close(self) -> None:
        """Gives the session up. Harmless when it is closed or lost already."""
        ...


class Suite(Protocol):
    """One suite's simulator, started on first use."""

    name: str
    simulator: str
    """Folder name of its program and of its environment; suites may share one."""

    async def fingerprint(self) -> str:
        """Hash of the simulator's sources, locked packages and base data, known without starting it.

        Installs the simulator where it is missing.
        """
        ...

    async def describe(self) -> Description:
        """What the simulator says of itself."""
        ...

    async def seeds(self, split: str) -> list[SuiteSeed]:
        """The split's seeds, in the suite's order. Raises InputError for an unknown split."""
        ...

    async def check(self, item: Item, gold_only: bool = False, writes: bool = True) -> CheckReport:
        """Runs the gold and what shows it sound.

        With `gold_only` nothing but the gold is run, and not graded; without `writes` the gold is not run
        again for each of its writes (`suppressed` is None), which is what takes long.
        """
        ...

    async def open(self, item: Item, rng_seed: int) -> Session | Dialogue:
        """A session on a fresh copy of the item's initial state; which, `interaction` tells."""
        ...

    async def aclose(self) -> None:
        """Ends the simulator and every session."""
        ...
