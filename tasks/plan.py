"""The frozen parameters of a campaign, as a plan file (TOML) gives them.

Everything that changes what a campaign finds stands here and nowhere else; paths, endpoints' addresses
and how much runs at once are settings of a machine.
"""

import tomllib
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from tasks.arms import ArmName
from tasks.errors import InputError, faults
from tasks.llm.base import EmbedderSpec, LLMSpec
from warehouse.records import Record, digest_of

ScoreName = Literal[
    "bell",
    "variance",
    "bell_length_wide",
    "variance_length_wide",
    "bell_length_narrow",
    "variance_length_narrow",
]


ROLES = ("proposer", "solver", "feedback", "judge", "labeller", "embedder")
"""The roles for which a plan names a model."""


def roles_in(interaction: str) -> tuple[str, ...]:
    """The roles that are asked where a simulator is acted in so: in a dialogue its other party too."""
    return (*ROLES, "user") if interaction == "dialogue" else ROLES


class SolverLimits(Record):
    """Ceilings of one attempt; reaching one ends it with a cause of its own."""

    max_turns: int = Field(default=60, ge=1)
    max_calls: int = Field(default=400, ge=1)
    """Simulator API calls."""
    max_observation_chars: int = Field(default=12_000, ge=200)
    """A longer observation is cut for the solver, and says so; the attempt goes on."""
    max_total_observation_chars: int = Field(default=400_000, ge=200)
    """All observations together, as shown."""
    max_tokens: int = Field(default=600_000, ge=1)
    """Completion tokens of the attempt together with its last prompt's."""
    max_seconds: float = Field(default=900.0, gt=0)
    """Wall clock of the attempt, model calls included."""
    cell_seconds: float = Field(default=60.0, gt=0)
    """Wall clock of one action in the simulator, on a machine that is not crowded."""


class SearchPolicy(Record):
    """How the search draws parents and directions. Evidence: design.md D6a."""

    arm: ArmName = "full"
    """What an edit may build on; the others are there to be compared with "full" (tasks/arms.py)."""
    exploration: float = Field(default=0.1, ge=0, le=1)
    """Added to each member's share of the island's best score before it is squared into a weight."""
    below_gate_weight: float = Field(default=0.05, ge=0, le=1)
    """Share of the island's best score given to a member that no attempt solved."""
    inspirations: int = Field(default=2, ge=0, le=8)
    """Items of other islands shown with an edit."""
    harder_above: float = Field(default=0.6, ge=0, le=1)
    """A parent of higher completion rate is to be made harder."""
    easier_below: float = Field(default=0.4, ge=0, le=1)
    """A parent of lower completion rate is to be made easier; between the two, sideways."""


class Plan(Record):
    """One campaign's parameters. Its hash, with the edition, names the campaign."""

    suite: str = "appworld"
    data: Literal["official"] | None = None
    """Which of a suite's data. None: what comes with Turtle or the suite's package. "official": what the
    user has downloaded; where it lies is a setting (`--appworld-root`, for the τ suites `--tau2-root`)."""
    split: str = "train"
    seeds: int | None = Field(default=None, ge=1)
    """How many of the split's seeds take part, from the first on; None for all."""
    parents: Literal["solvable"] | None = None
    """Which measured seeds the search edits. None: all. "solvable": those that the solver solved at least
    once; the others keep their attempts, notes and labels."""
    rng_seed: int = 1
    steps: int = Field(default=40, ge=0)
    """Edit-and-evaluate moves."""
    max_variants: int | None = Field(default=None, ge=1)
    """The search ends with so many distinct variants attempted, after `steps` moves at the latest: so
    campaigns that differ in luck or policy spend equal attempts. None: `steps` alone decides."""
    steps_scope: Literal["campaign", "seed"] = "campaign"
    """Whether `steps` counts for the whole campaign or for each seed; the paper leaves it open."""
    in_flight: int = Field(default=8, ge=1)
    """W: step k is chosen from the results of steps up to k - W, which changes what the search finds."""
    repeats: int = Field(default=10, ge=1)
    """Attempts on an item in a measurement."""
    completion: Literal["perfect", "partial"] = "perfect"
    """What c is: the share of solved attempts, or the mean partial score."""
    score: ScoreName = "bell"
    """Which of the six scores ranks parents."""
    length_weight: float = Field(default=1.0, ge=0)
    """w, the weight of L in the four scores that hold it."""
    repair_rounds: int = Field(default=1, ge=0, le=5)
    """How often a proposer or judge is shown what is wrong with its reply and asked again."""
    search: SearchPolicy = SearchPolicy()
    limits: SolverLimits = SolverLimits()
    proposer: LLMSpec
    solver: LLMSpec
    feedback: LLMSpec
    judge: LLMSpec
    labeller: LLMSpec
    embedder: EmbedderSpec
    user: LLMSpec | None = None
    """Who plays the other party of a dialogue (τ-bench's user). None: the feedback role's model, so that the
    solver does not talk to itself. Of no account where a suite has no other party."""

    @property
    def party(self) -> LLMSpec:
        """The model that plays the other party of a dialogue."""
        return self.user or self.feedback

    @property
    def total_steps(self) -> int | None:
        """Steps of the campaign; None while the number of seeds that are searched decides it."""
        if self.steps_scope == "campaign":
            return self.steps
        unknown = self.seeds is None or self.parents is not None
        return None if unknown else self.steps * self.seeds

    @property
    def specs(self) -> dict[str, LLMSpec]:
        """The models by role; that of the user only where the plan names one."""
        named = {role: getattr(self, role) for role in ROLES}
        return named if self.user is None else named | {"user": self.user}

    def spec(self, role: str) -> LLMSpec:
        """The model that plays a role, that of the other party of a dialogue ("user") too."""
        return self.party if role == "user" else getattr(self, role)

    def digest(self) -> str:
        """The plan's hash. A field that came later takes no part while it is None, so that names hold."""
        absent = {name for name in ("data", "parents", "user") if getattr(self, name) is None}
        return digest_of(self.model_dump(mode="json", exclude=absent))

    @property
    def judges_itself(self) -> bool:
        """True when the judge is the solver's own model: it may find an item bad because it failed it."""
        return self.judge.llm_id == self.solver.llm_id

    def campaign(self, edition: str) -> str:
        """Name of the campaign that this plan is in one edition."""
        return f"{self.suite}-{self.digest()[:10]}-{edition}"


def read_plan(path: Path, overrides: dict[str, Any]) -> Plan:
    """Reads a plan file; overrides (those not None) replace its top-level values.

    Raises InputError, with the file and the field, when it is missing, no TOML or no valid plan.
    """
    values = _toml(path)
    values |= {name: value for name, value in overrides.items() if value is not None}
    return plan_of(values, origin=f"plan {path}")


def read_solver(path: Path) -> LLMSpec:
    """Reads the table [solver] of a TOML file, a plan or a fragment of one. Raises InputError."""
    values = _toml(path)
    if "solver" not in values:
        raise InputError(f"plan {path}: has no table [solver]")
    try:
        return LLMSpec.model_validate(values["solver"])
    except ValidationError as error:
        raise InputError(f"plan {path}: solver: {faults(error)}") from error


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(
            f"plan {path}: no such file; shipped plans lie in deployments/plans"
        ) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"plan {path}: cannot be read: {error}") from error


def spec_named(text: str) -> dict[str, str]:
    """A role's spec from `endpoint/llm_id`; the llm_id may hold further slashes. Raises InputError."""
    endpoint, _, llm_id = text.partition("/")
    if not endpoint or not llm_id:
        raise InputError(f"{text}: write ENDPOINT/LLM_ID, as in gemini/gemini-3.6-flash")
    return {"endpoint": endpoint, "llm_id": llm_id}


def plan_of(values: dict[str, Any], origin: str) -> Plan:
    """Validates a plan's values. Raises InputError that names each wrong field."""
    try:
        return Plan.model_validate(values)
    except ValidationError as error:
        found = [fault["loc"] for fault in error.errors()]
        if found == [("proposer",)] and "proposer" not in values:
            raise InputError(
                f"{origin}: names no proposer (the paper names none either): add --proposer "
                "ENDPOINT/LLM_ID, or a table [proposer] with endpoint and llm_id to the plan"
            ) from error
        raise InputError(f"{origin}: {faults(error)}") from error
