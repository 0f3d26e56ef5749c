"""A comparison on the toy suite: killed and gone on with, its arms as they say, confirmed by two solvers."""

import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from flows.settings import Settings
from flows.stored import ended_units, spooled_rows, unconfirmed
from tasks.arms import ARMS
from tasks.errors import InputError
from tasks.llm.base import LLMSpec
from tests.toy.__main__ import ENDPOINTS
from tests.toy.forked import Process, started
from tests.toy.running import Toy, tables_of
from warehouse.marts import query, read, run_checks
from warehouse.store import rebuild

REPEATS, VARIANTS, FRESH = 4, 4, 8
CALLS_BEFORE_THE_KILL = 90
CONCURRENCY = 8
PLAN = (
    f'suite = "toy"\nseeds = 2\nsteps = {VARIANTS}\nin_flight = 1\nrepeats = {REPEATS}\n'
    + "\n".join(
        f'[{role}]\nendpoint = "toy"\nllm_id = "toy"'
        for role in ("proposer", "solver", "feedback", "judge", "labeller", "embedder")
    )
)


@dataclass
class Comparison(Toy):
    """A state folder with a comparison in it, run from the command line."""

    finished: dict[Path, int] = field(default_factory=dict)
    """`files` when it was killed."""
    table: str = ""
    """What it printed at its end."""

    def command(self, *commands: tuple[str, ...]) -> Process:
        """Starts the console script, with several commands one after the other."""
        line = [str(self.state / "journal.jsonl")]
        for arguments in commands:
            line += ["then", *arguments, "--state", str(self.state)]
            line += ["--endpoints", str(self.state / "endpoints.toml")]
        return started("tests.toy.cli", line, self.checkout, self.environment)

    def done(self, *commands: tuple[str, ...]) -> str:
        """Runs commands to their end; returns what they printed."""
        process = self.command(*commands)
        out, err = process.communicate(timeout=600)
        assert process.returncode == 0, err
        return out

    def files(self) -> dict[Path, int]:
        """Finished units of all campaigns, with the time of change."""
        found = (self.state / "spool").glob("*/*/*.jsonl")
        return {path: path.stat().st_mtime_ns for path in found}

    @property
    def warehouse(self) -> Path:
        """The published file."""
        return self.state / "warehouse" / "turtle.duckdb"

    @property
    def settings(self) -> Settings:
        """Of this state folder."""
        return Settings(state=self.state)

    def campaign(self, arm: str) -> str:
        """The name of an arm's campaign."""
        return read(self.warehouse, "arms", arm=arm)["campaign"].item()


@pytest.fixture(scope="module")
def comparison(
    tmp_path_factory: pytest.TempPathFactory, prefect_environment: dict[str, str], checkout: Path
) -> Comparison:
    """One rng_seed of each arm; killed in its second campaign, then run to its end."""
    state = tmp_path_factory.mktemp("comparison")
    (state / "plan.toml").write_text(PLAN)
    (state / "endpoints.toml").write_text(ENDPOINTS.format(latency_s=0.02, concurrency=CONCURRENCY))
    made = Comparison(state, prefect_environment, checkout)
    arguments = ("compare", str(state / "plan.toml"), "--rng-seeds", "1", "--attempts", str(FRESH))
    first = made.command(arguments)
    while len(made.journal()) < CALLS_BEFORE_THE_KILL:
        assert first.poll() is None, first.communicate()
        time.sleep(0.02)
    first.kill()
    first.communicate()
    made.finished = made.files()
    unfinished = [f.name for f in (state / "spool").iterdir() if not (f / "manifest.json").exists()]
    assert unfinished, "killed too late to show anything"
    with pytest.raises(InputError, match="has not ended; first: turtle resume"):
        ended_units(unfinished[0], made.settings)
    made.table = made.done(arguments)
    return made


def test_a_killed_comparison_goes_on_and_pays_for_nothing_twice(comparison: Comparison) -> None:
    assert comparison.finished.items() <= comparison.files().items()
    paid = comparison.journal()
    answered = "SELECT count(*) FROM llm_calls WHERE cause IS NULL AND role <> 'embedder'"
    _, ((calls,),) = query(comparison.warehouse, answered)
    # Arms may ask the same of the same item: the journal does not say for which campaign.
    assert calls <= len(paid) <= calls + CONCURRENCY
    assert run_checks(comparison.warehouse) == []
    assert len(read(comparison.warehouse, "replications")) == len(ARMS)


def test_all_arms_spend_equal_attempts(comparison: Comparison) -> None:
    arms = read(comparison.warehouse, "arms")
    assert set(arms["arm"]) == set(ARMS)
    assert len(set(arms["comparison"])) == 1
    assert set(arms["search_attempts"]) == {(2 + VARIANTS) * REPEATS}
    fresh = read(comparison.warehouse, "attempts", measurement="confirmation")
    assert len(fresh) == FRESH * arms["kept"].sum()


def lineage(comparison: Comparison, arm: str) -> list[dict[str, Any]]:
    """The steps of an arm's campaign, in order."""
    steps = read(comparison.warehouse, "steps", campaign=comparison.campaign(arm))
    return steps.sort("step").to_dicts()


def test_independent_edits_descend_from_the_seed(comparison: Comparison) -> None:
    assert all(step["parent"] == step["root"] for step in lineage(comparison, "iid"))


def test_sequential_edits_descend_from_the_best_so_far(comparison: Comparison) -> None:
    name = comparison.campaign("sequential")
    scores = read(comparison.warehouse, "scores", campaign=name, measurement="search")
    bell = {row["item_id"]: row["bell"] if row["gate"] else -1 for row in scores.to_dicts()}
    members: dict[str, list[str]] = {}
    followed = 0
    for step in lineage(comparison, "sequential"):
        line = members.setdefault(step["root"], [step["root"]])
        assert bell[step["parent"]] == max(bell[item_id] for item_id in line)
        followed += step["parent"] != step["root"]
        line += [step["child"]] if step["child"] else []
    assert followed, "no edit of a variant: the toy's dice show nothing"


@pytest.mark.parametrize("arm", ARMS)
def test_a_note_is_written_and_shown_where_the_arm_has_notes(
    comparison: Comparison, arm: str
) -> None:
    name = comparison.campaign(arm)
    edits = (comparison.state / "spool" / name / "edits").glob("*.jsonl")
    prompts = [path.read_text() for path in edits]
    noted = ARMS[arm].noted  # type: ignore[index]
    assert all(("Boxes go wrong in" in prompt) == noted for prompt in prompts)
    assert (not read(comparison.warehouse, "notes", campaign=name).is_empty()) == noted
    assert all((step["note_id"] is not None) == noted for step in lineage(comparison, arm))
    assert all(
        bool(step["inspirations"]) == ARMS[arm].inspired for step in lineage(comparison, arm)
    )  # type: ignore[index]


def test_the_table_compares_nothing_on_one_rng_seed_and_says_what_it_is(
    comparison: Comparison,
) -> None:
    rows = [line for line in comparison.table.splitlines() if line.startswith("│")]
    assert len(rows) == 4 * len(ARMS)
    assert sum("too small to compare" in row for row in rows) == 4 * (len(ARMS) - 1)
    assert f"1 rng_seeds, {(2 + VARIANTS) * REPEATS} search attempts" in comparison.table
    assert "simulated model" in comparison.table


def test_the_weekly_confirmation_leaves_the_crippled_arms_out(comparison: Comparison) -> None:
    weekly = LLMSpec(endpoint="toy", llm_id="weekly")
    assert unconfirmed("toy", weekly, comparison.settings) == [comparison.campaign("full")]


def test_confirmations_replace_their_own_and_stand_beside_others(comparison: Comparison) -> None:
    """Another solver adds rows; fewer attempts of the same one replace; the search's stay as they are."""
    name = comparison.campaign("full")
    (comparison.state / "other.toml").write_text('[solver]\nendpoint = "toy"\nllm_id = "other"\n')
    search = set(read(comparison.warehouse, "scores", campaign=name, measurement="search").rows())
    kept = read(comparison.warehouse, "arms", arm="full")["kept"].item()

    other = str(comparison.state / "other.toml")
    out = comparison.done(
        ("confirm", name, "--attempts", "3", "--solver", other),
        ("confirm", name, "--attempts", "5"),
        ("resume", name),
    )
    assert "replication" in out and "other" in out

    rows = read(comparison.warehouse, "confirmation", campaign=name)
    found = Counter(rows.select("llm_id", "fresh_scored", "same_solver").rows())
    assert found == {("toy", 5, True): kept, ("other", 3, False): kept}
    after = read(comparison.warehouse, "scores", campaign=name, measurement="search")
    assert set(after.rows()) == search
    assert run_checks(comparison.warehouse) == []
    again = comparison.state / "again.duckdb"
    rebuild(again, spooled_rows(comparison.settings))
    assert tables_of(again) == comparison.tables()


def test_a_fragment_without_a_solver_is_one_line(comparison: Comparison) -> None:
    fragment, name = str(comparison.state / "none.toml"), comparison.campaign("full")
    Path(fragment).write_text("[judge]\n")
    process = comparison.command(("confirm", name, "--solver", fragment))
    _, err = process.communicate(timeout=120)
    assert process.returncode == 2
    assert err.count("\n") == 1 and "has no table [solver]" in err
