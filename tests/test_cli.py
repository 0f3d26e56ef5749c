"""The command line: help that teaches, and one line with exit code 2 for what the user can mend."""

import subprocess
import sys
from pathlib import Path

import pytest

MAIN = "from flows.cli import main; main()"
PLAN = "deployments/plans/offline.toml"


def turtle(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the console script in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", MAIN, *arguments],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=120,
    )


def test_help_names_the_commands_and_teaches_the_first_step(checkout: Path) -> None:
    ended = turtle(checkout, "--help")
    assert ended.returncode == 0
    assert "Start with: turtle evolve" in " ".join(ended.stdout.split())
    for command in ("evolve", "resume", "sql", "delete", "rebuild", "tables"):
        assert command in ended.stdout


BAD_PLANS = {
    "not toml": ("steps = = 3", "cannot be read"),
    "unknown field": ("stepz = 3", "stepz"),
    "steps below zero": ("steps = -1", "steps"),
    "no solver": ("steps = 3", "solver"),
    "bad score": ('score = "sharpe"', "score"),
    "repeats none": ("repeats = 0", "repeats"),
}


@pytest.mark.parametrize(("text", "named"), BAD_PLANS.values(), ids=BAD_PLANS)
def test_a_bad_plan_is_one_line_that_names_file_and_field(
    checkout: Path, tmp_path: Path, text: str, named: str
) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text(text)
    state = tmp_path / "state"
    ended = turtle(checkout, "evolve", str(plan), "--state", str(state))
    assert_one_line(ended, str(plan), named)
    assert not state.exists(), "something was written for a plan that is no plan"


def test_a_plan_that_is_not_there_is_one_line(checkout: Path, tmp_path: Path) -> None:
    ended = turtle(checkout, "evolve", str(tmp_path / "none.toml"))
    assert_one_line(ended, "none.toml", "no such file")


@pytest.mark.parametrize("words", [(), ("some-campaign", "--older-than", "3")])
def test_prune_wants_a_campaign_or_an_age(checkout: Path, words: tuple[str, ...]) -> None:
    assert_one_line(turtle(checkout, "prune", *words), "prune", "one of the two")


def test_an_unknown_suite_is_one_line_that_names_the_known_ones(
    checkout: Path, tmp_path: Path
) -> None:
    ended = turtle(
        checkout, "evolve", PLAN, "--suite", "wobble", "--state", str(tmp_path / "state")
    )
    assert_one_line(ended, "wobble", "appworld")


def test_official_data_that_is_not_there_is_one_line_that_says_what_to_type(
    checkout: Path, tmp_path: Path
) -> None:
    options = ["--appworld-root", str(tmp_path / "none"), "--state", str(tmp_path / "state")]
    ended = turtle(checkout, "evolve", PLAN, *options)
    assert_one_line(ended, "has no base_dbs", f"appworld download data --root {tmp_path / 'none'}")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["resume", "delete", "tables"])
def test_an_unknown_campaign_is_one_line(checkout: Path, tmp_path: Path, command: str) -> None:
    ended = turtle(checkout, command, "nobody-knows-1", "--state", str(tmp_path))
    assert_one_line(ended, "nobody-knows-1")


def test_an_unknown_option_is_one_line(checkout: Path) -> None:
    assert_one_line(turtle(checkout, "evolve", "--stepz", "3"), "stepz")


def test_sql_without_a_warehouse_says_what_makes_one(checkout: Path, tmp_path: Path) -> None:
    ended = turtle(checkout, "sql", "SELECT 1", "--state", str(tmp_path))
    assert_one_line(ended, "turtle evolve")


def assert_one_line(ended: subprocess.CompletedProcess[str], *words: str) -> None:
    """Exit code 2 and one line on stderr that holds these words."""
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert ended.stderr.startswith("turtle: ")
    for word in words:
        assert word in ended.stderr
