"""The rows we keep, as frozen objects.

A record is what a stage writes to the spool and what the warehouse shows as a table: one class a table,
one field a column. A record never changes once written. Columns marked as a circumstance hold what a
repetition of the same work may find otherwise (durations, the sandbox's level); they take no part in
`digest`, so that a stage keyed on an upstream record is served from the cache when only they differed.
"""

import hashlib
import json
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

CIRCUMSTANCE = {"circumstance": True}
"""Marks a column that tells of the circumstances of the work (a clock's reading, a sandbox's level)."""

JsonText = Annotated[str, Field(json_schema_extra={"json": True})]
"""A JSON document as text; the warehouse stores it in a JSON column."""

Direction = Literal["harder", "easier", "sideways"]
"""What an edit is asked to do to its parent."""

Measurement = Literal["search", "confirmation", "report"]
"""Why attempts were made. Estimates of different measurements are never mixed."""

VerdictName = Literal["valid", "false_failure", "vague", "other"]
"""The judge's closed list; only `valid` keeps an item."""


def canonical(value: Any) -> str:
    """The one JSON text of a value: sorted keys, no spaces, no NaN.

    Raises ValueError on NaN and infinities: a missing number is None, never NaN.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


def digest_of(value: Any) -> str:
    """24 hex digits (96 bits) of the SHA-256 of the value's canonical JSON text."""
    text = canonical(value).encode("utf-8", "surrogatepass")
    return hashlib.sha256(text).hexdigest()[:24]


class Record(BaseModel):
    """A frozen object of plain JSON values."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="strings")

    def digest(self) -> str:
        """Hash of the record's content without its circumstances."""
        circumstances = {
            name
            for name, field in type(self).model_fields.items()
            if field.json_schema_extra == CIRCUMSTANCE
        }
        return digest_of(self.model_dump(mode="json", exclude=circumstances))


class Row(Record):
    """A record that is a row of a warehouse table."""

    table: ClassVar[str]
    """Name of the table."""
    key: ClassVar[tuple[str, ...]]
    """The columns that name a row; a later row with the same key replaces an earlier one."""


class Campaign(Row):
    """One evolution of a suite by a solver, under one frozen plan."""

    table: ClassVar = "campaigns"
    key: ClassVar = ("campaign",)
    campaign: str
    """`<suite>-<plan hash>-<edition>`."""
    suite: str
    plan_hash: str
    plan: JsonText
    edition: str
    """Which run of an unchanged plan; "1" unless the user or a schedule says otherwise."""
    world: str
    """Hash of the suite's base data."""
    simulator_version: str
    sandbox: str
    """Level under which model-written code ran: "bubblewrap", "rlimits" or "none"."""
    simulated: bool
    """True when any role was played by the offline model: its numbers say nothing of real models."""


class Spec(Row):
    """One language model with its sampling, in one role."""

    table: ClassVar = "specs"
    key: ClassVar = ("spec_id", "role")
    spec_id: str
    role: str
    endpoint: str
    llm_id: str
    sampling: JsonText


class Item(Row):
    """What a solver can attempt: content only. Where it came from stands in steps."""

    table: ClassVar = "items"
    key: ClassVar = ("item_id",)
    item_id: str
    """`item_id_of` the other fields."""
    suite: str
    world: str
    """Hash of the base data on which the item stands."""
    start: str
    """The suite's name of the initial state."""
    setup: str | None = None
    """An edit of the initial state, in the suite's own form; None where it is taken as it is."""
    instruction: str
    gold: str | None
    """Reference program or action list, as text; None for a seed that its suite ships without one."""
    grading: str | None = None
    """Grading rules in the suite's own form; None where the suite derives them from the gold."""
    expects_answer: bool = False
    """True when the item asks for an answer, beside or instead of a change of state."""

    @classmethod
    def of(cls, **content: Any) -> "Item":
        """An item whose id is the hash of its content."""
        bare = cls(item_id="", **content)
        return bare.model_copy(
            update={"item_id": digest_of(bare.model_dump(mode="json", exclude={"item_id"}))}
        )


class Seed(Row):
    """That an item is one of the seeds a campaign was offered."""

    table: ClassVar = "seeds"
    key: ClassVar = ("campaign", "item_id")
    campaign: str
    item_id: str
    position: int
    """0-based, among the seeds offered."""
    name: str
    intended_difficulty: int | None
    """1-3 as its author meant it; None where the author did not say."""
    cluster: str | None = None
    """Seeds of one cluster succeed and fail together (AppWorld: tasks of one generator), and intervals
    count them as one. None for a seed that stands alone."""


class Decision(Row):
    """What the search chose for one step, before anything was done about it.

    Nodes name members of the population by number, not by content: `-1 - island` is a seed,
    `k >= 0` is what step k produced. So a decision keeps its meaning when a stage's new version makes
    step k yield another item; where step k yields none, its own parent stands in.
    """

    table: ClassVar = "decisions"
    key: ClassVar = ("campaign", "step")
    campaign: str
    step: int
    island: int
    """0-based number of the root seed among those searched."""
    parent_node: int
    inspiration_nodes: tuple[int, ...]
    direction: Direction
    parent_weight: float
    """Probability (0-1) with which the parent was drawn in its island."""


class Step(Row):
    """One edit-and-check move of the search; a rejected edit is a step too."""

    table: ClassVar = "steps"
    key: ClassVar = ("campaign", "step")
    campaign: str
    step: int
    root: str
    """item_id of the seed from which the line descends."""
    parent: str
    inspirations: tuple[str, ...]
    direction: Direction
    note_id: str | None
    """The note shown to the proposer; None where the parent had none."""
    child: str | None
    """item_id of the accepted variant; None when the edit was rejected."""
    rejection: str | None
    """Cause from `tasks.errors.Rejection`; None when the edit was accepted."""
    rejection_detail: str | None
    repair_rounds: int
    """How often the proposer was shown an error and asked again."""


class Check(Row):
    """One gate of verify on one candidate item."""

    table: ClassVar = "checks"
    key: ClassVar = ("campaign", "item_id", "examined", "check")
    campaign: str
    item_id: str
    examined: str
    """"seed" or "step <k>": several steps may propose one item, and the gates look at the step as well."""
    check: str
    """Cause of `tasks.errors.Rejection` that the gate stands for."""
    passed: bool
    detail: str | None


class Attempt(Row):
    """One solver run on one item."""

    table: ClassVar = "attempts"
    key: ClassVar = ("campaign", "item_id", "solver", "measurement", "repeat")
    attempt_id: str
    """Hash of campaign, item, solver, measurement and repeat."""
    campaign: str
    item_id: str
    solver: str
    """spec_id of the solver."""
    measurement: Measurement
    repeat: int
    """0-based within the measurement."""
    outcome: Literal["solved", "failed", "unscored"]
    cause: str | None
    """None when solved; else why not, from `tasks.errors.AttemptCause`."""
    partial: float | None
    """Share (0-1) of the item's tests that passed; None when there was no final state to grade."""
    calls: int
    """Simulator API calls."""
    turns: int
    distinct_apis: int
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    """None when the price of any of its calls is unknown."""
    difference: JsonText | None
    """The suite's Difference (deployments/simulators/README.md); None without a final state or a gold."""
    sandbox: str = Field(json_schema_extra=CIRCUMSTANCE)
    duration_s: float = Field(json_schema_extra=CIRCUMSTANCE)


class Turn(Record):
    """One action and its observation. Stays in the spool: observations quote the suite's documents."""

    attempt_id: str
    turn: int
    thought: str
    """The reply's text outside of the action."""
    action: str
    observation: str
    error: bool


class Edit(Record):
    """What one step's proposer came to, after its repair rounds. Stays in the spool."""

    step: int
    parent: str
    """item_id of the parent."""
    reasoning: str
    instruction: str | None
    """None when no reply could be read."""
    gold: str | None
    setup: str | None = None
    grading: str | None = None
    """Of an item whose suite lets a proposer edit these; None leaves the parent's."""
    rejection: str | None
    """Cause from `tasks.errors.Rejection`; None when the gold ran through."""
    rejection_detail: str | None
    repair_rounds: int

    def of(self, parent: Item) -> Item:
        """The item that this edit, when it was not rejected, makes of its parent."""
        content = parent.model_dump(exclude={"item_id"})
        edited = {"instruction": self.instruction, "gold": self.gold}
        own = {"setup": self.setup, "grading": self.grading}
        edited |= {name: text for name, text in own.items() if text is not None}
        return Item.of(**content | edited)


class World(Record):
    """What a simulator said of itself when the campaign took its seeds in. Stays in the spool."""

    description: JsonText
    """A `tasks.suites.base.Description`."""


class ApiCall(Row):
    """One simulator API call of an attempt."""

    table: ClassVar = "api_calls"
    key: ClassVar = ("attempt_id", "n")
    attempt_id: str
    n: int
    turn: int
    app: str
    api: str
    ok: bool
    wrote: bool
    """The call changed the state."""


class GoldCall(Row):
    """One simulator API call of an item's gold, from the run that verified it."""

    table: ClassVar = "gold_calls"
    key: ClassVar = ("item_id", "n")
    item_id: str
    n: int
    app: str
    api: str
    ok: bool
    wrote: bool
    arguments: JsonText
    output: JsonText | None


class LlmCall(Row):
    """One try of a call of a model, failed ones too. The ledger; bodies stay in the spool."""

    table: ClassVar = "llm_calls"
    key: ClassVar = ("campaign", "call_id")
    call_id: str
    """What asks (the unit, else role and prompt), and which of its tries this is, from 0."""
    campaign: str
    unit: str | None
    """`<kind>/<key>` of the spool unit that made the call; None for embeddings, made for many units."""
    role: str
    item_id: str | None
    step: int | None
    repeat: int | None
    turn: int | None
    spec_id: str
    endpoint: str
    llm_id: str
    prompt_hash: str
    finish_reason: str | None
    prompt_tokens: int | None
    cached_tokens: int | None
    completion_tokens: int | None
    reasoning_tokens: int | None
    cut_chars: int | None = None
    """Characters that the prompt lacks to keep within its spec's `context_chars`; None in rows of earlier
    releases, which did not write it down."""
    cost_usd: float | None
    """None when the price is unknown."""
    most_usd: float | None
    """The most that the try can have cost, which is what counts against a budget: `cost_usd` where that is
    known; 0 where the provider said that it did nothing; None when the price is unknown."""
    cause: str | None
    """None when a reply arrived; else the fault's name, "Cancelled" when we did not wait for the reply, or
    "Interrupted" when this process ended first."""
    latency_s: float = Field(json_schema_extra=CIRCUMSTANCE)


class Note(Row):
    """What the feedback model wrote from an item's trajectories."""

    table: ClassVar = "notes"
    key: ClassVar = ("campaign", "item_id", "measurement")
    note_id: str
    campaign: str
    item_id: str
    measurement: Measurement
    text: str


class Score(Row):
    """Our arithmetic on an item's outcomes. Formulas: `tasks.score`."""

    table: ClassVar = "scores"
    key: ClassVar = ("campaign", "item_id", "solver", "measurement")
    campaign: str
    item_id: str
    solver: str
    """spec_id of the solver whose attempts these are."""
    measurement: Measurement
    scored: int
    """Attempts that ended solved or failed."""
    solved: int
    unscored: int
    completion_rate: float | None
    """c: solved / scored (0-1), or the mean partial where the plan says so; None where nothing was scored."""
    mean_solved_length: float | None
    """L: mean simulator API calls of the solved attempts; None where none is."""
    mean_solved_turns: float | None
    mean_partial: float | None
    gate: bool
    """At least one solved attempt."""
    bell: float | None
    variance: float | None
    bell_length_wide: float | None
    variance_length_wide: float | None
    bell_length_narrow: float | None
    variance_length_narrow: float | None


class Selection(Row):
    """That select-by-variance kept a variant."""

    table: ClassVar = "selections"
    key: ClassVar = ("campaign", "item_id")
    campaign: str
    item_id: str
    root: str
    solved: int
    scored: int
    variance_count: int
    """k(n-k) as an integer, the number by which it was selected."""


class Confirmation(Row):
    """What fresh attempts say of a kept variant. Arithmetic: `tasks.posterior`."""

    table: ClassVar = "confirmations"
    key: ClassVar = ("campaign", "item_id", "solver")
    campaign: str
    item_id: str
    solver: str
    """spec_id of the solver asked, which may be another than the search's."""
    simulated: bool
    """True when the offline model made the attempts."""
    solved: int
    scored: int
    in_band: bool | None
    """solved / scored lies in [0.4, 0.6]; None where nothing was scored."""
    band_probability: float
    """Posterior P(0.4 < p < 0.6) of the solve probability p, from a uniform prior (0-1)."""


class Replication(Row):
    """How many of a campaign's kept variants hold in fresh attempts."""

    table: ClassVar = "replications"
    key: ClassVar = ("campaign", "solver")
    campaign: str
    solver: str
    kept: int
    confirmed: int
    """Kept variants with at least one scored fresh attempt."""
    in_band: int
    rate: float | None
    """in_band / confirmed (0-1); None where none is confirmed."""
    rate_low: float | None
    """95 % interval, variants of seeds that are alike as one cluster; None with fewer than two clusters."""
    rate_high: float | None


class Verdict(Row):
    """A judge's answer on a selected variant."""

    table: ClassVar = "verdicts"
    key: ClassVar = ("campaign", "item_id", "judge")
    campaign: str
    item_id: str
    judge: str
    """spec_id of the judge."""
    reason: str
    verdict: VerdictName | None
    """None when no valid reply came within the repair rounds; such an item is not kept."""
    user_failures: tuple[int, ...] | None = None
    """Of a dialogue, the repeats of those failed attempts that the judge lays at the simulated user's door.
    None where there is no user, or no verdict."""


class Embedding(Row):
    """The vector of an item's instruction."""

    table: ClassVar = "embeddings"
    key: ClassVar = ("campaign", "item_id", "embedder")
    campaign: str
    item_id: str
    embedder: str
    dimensions: int
    vector: tuple[float, ...]


class Label(Row):
    """One name that holds or does not hold of an item or of a failed attempt."""

    table: ClassVar = "labels"
    key: ClassVar = ("campaign", "item_id", "attempt_id", "name", "source")
    campaign: str
    item_id: str
    attempt_id: str
    """"" for a label of the item itself."""
    name: str
    """"difficulty", "interaction", "reasoning", a feature (F1...) or a failure reason (R1...)."""
    value: int
    """1-3 for the first three; 1 or 0 for a feature or a reason."""
    source: str
    """"code", "author" (of a seed of ours), "appworld" (AppWorld's own people), or the spec_id of the
    model that gave it."""


TABLES: tuple[type[Row], ...] = (
    Campaign, Spec, Item, Seed, Decision, Step, Check, Attempt, ApiCall, GoldCall, LlmCall,
    Note, Score, Selection, Verdict, Embedding, Label, Confirmation, Replication,
)  # fmt: skip
"""The tables of the warehouse."""

RECORDS: tuple[type[Record], ...] = (*TABLES, Edit, Turn, World)
"""What a spool file may hold: the tables' rows, and records that stay in the spool."""

DIRECTIONS: tuple[str, ...] = get_args(Direction)
