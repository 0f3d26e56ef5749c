"""One small campaign on the real engine, from the command line to the tables."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from warehouse.marts import query, read, run_checks

MAIN = "from flows.cli import main; main()"
PLAN = """
suite = "appworld"
seeds = 2
steps = 2
in_flight = 2
repeats = 4

[proposer]
endpoint = "offline"
llm_id = "simulated-proposer"
[solver]
endpoint = "offline"
llm_id = "simulated-solver"
[feedback]
endpoint = "offline"
llm_id = "simulated-feedback"
[judge]
endpoint = "offline"
llm_id = "simulated-judge"
[labeller]
endpoint = "offline"
llm_id = "simulated-labeller"
[embedder]
endpoint = "local"
llm_id = "all-MiniLM-L6-v2-int8"
"""


@pytest.fixture(scope="module")
def campaign(
    tmp_path_factory: pytest.TempPathFactory,
    checkout: Path,
    simulator_state: Path,
    prefect_environment: dict[str, str],
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Output and state folder of a campaign that ran to its end."""
    state = tmp_path_factory.mktemp("campaign")
    (state / "simulators").symlink_to(simulator_state / "simulators")
    (state / "plan.toml").write_text(PLAN)
    ended = evolve(checkout, state, prefect_environment)
    assert ended.returncode == 0, ended.stderr
    return ended, state


def evolve(
    checkout: Path, state: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Runs the campaign, or goes on with it."""
    command = [sys.executable, "-c", MAIN, "evolve", str(state / "plan.toml")]
    return subprocess.run(
        [*command, "--state", str(state)],
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
    )


def test_the_tables_are_printed_and_say_that_the_model_is_simulated(
    campaign: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    out = campaign[0].stdout
    for mart in ("parents_evolved", "difficulty", "completion_histogram", "features", "app_pairs"):
        assert mart in out
    tables = sum(line.startswith("┏") for line in out.splitlines())
    assert tables > 5
    assert out.count("simulated model") == tables


def test_every_attempt_is_real_and_every_seed_is_labelled(
    campaign: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    warehouse = campaign[1] / "warehouse" / "turtle.duckdb"
    assert run_checks(warehouse) == []
    _, ((attempts, calls, sandboxes),) = query(
        warehouse, "SELECT count(*), min(calls), list(DISTINCT sandbox) FROM attempts"
    )
    accepted = query(warehouse, "SELECT count(DISTINCT child) FROM steps")[1][0][0]
    assert attempts == 4 * (2 + accepted)
    assert calls > 0
    assert set(sandboxes) <= {"bubblewrap", "rlimits"}
    assert read(warehouse, "steps").height == 2
    labelled = query(
        warehouse,
        "SELECT count(DISTINCT item_id) FROM labels WHERE name = 'difficulty' AND source = 'code'",
    )
    assert labelled[1][0][0] >= 2
    dimensions = query(warehouse, "SELECT DISTINCT embedder, dimensions FROM embeddings")[1]
    assert dimensions == [("all-MiniLM-L6-v2-int8", 384)]


def test_a_second_run_makes_no_call_and_no_attempt(
    campaign: tuple[subprocess.CompletedProcess[str], Path],
    checkout: Path,
    prefect_environment: dict[str, str],
) -> None:
    state = campaign[1]
    before = sorted(path.stat().st_mtime_ns for path in state.glob("spool/*/*/*.jsonl"))
    again = evolve(checkout, state, prefect_environment)
    assert again.returncode == 0, again.stderr
    assert "; 0 attempts made" in again.stderr.splitlines()[-1]
    assert sorted(path.stat().st_mtime_ns for path in state.glob("spool/*/*/*.jsonl")) == before


def test_nothing_of_the_accounts_is_in_the_spool(
    campaign: tuple[subprocess.CompletedProcess[str], Path],
) -> None:
    """Gold runs are kept with their outputs: passwords and tokens are blanked there."""
    golds = [
        json.loads(line)["row"]
        for path in campaign[1].glob("spool/*/seed_checks/*.jsonl")
        for line in path.read_text().splitlines()
        if line.startswith('{"record":"GoldCall"')
    ]
    logins = [row for row in golds if row["api"] == "login"]
    assert logins
    for row in logins:
        assert json.loads(row["arguments"])["password"] == "<secret>"
        assert json.loads(row["output"])["access_token"] == "<secret>"
