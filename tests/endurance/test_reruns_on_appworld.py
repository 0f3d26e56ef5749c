"""Reruns of a campaign on the real engine: the claims of tests/campaigns/test_reruns.py, made once more."""

import shutil
from pathlib import Path

import pytest

from tests.toy.reruns import reruns_one_stage, survives_kills
from tests.toy.running import Toy

KILLS = 20
CALLS_IN_FLIGHT = 8
"""6 attempts at once, and two steps of which each may ask another role."""
SIMULATORS = Path(".turtle") / "simulators"


@pytest.fixture(scope="module")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, prefect_environment: dict[str, str], checkout: Path
) -> Toy:
    """A campaign on AppWorld that ran to its end in one go."""
    made = begun(tmp_path_factory.mktemp("undisturbed"), prefect_environment, checkout)
    made.run()
    return made


def begun(state: Path, environment: dict[str, str], checkout: Path) -> Toy:
    """A state folder with the simulators that set-up has made, and no campaign yet."""
    (state / "simulators").symlink_to(checkout / SIMULATORS)
    return Toy(state, environment, checkout, "tests.endurance", timeout_s=3600)


def test_twenty_kills_lose_and_repeat_nothing_finished(
    tmp_path: Path, undisturbed: Toy, prefect_environment: dict[str, str], checkout: Path
) -> None:
    campaign = begun(tmp_path, prefect_environment, checkout)
    survives_kills(campaign, undisturbed, KILLS, 60, CALLS_IN_FLIGHT, latency_s=0.05)


@pytest.mark.parametrize(
    ("stage", "kind", "roles"),
    [
        ("feedback", "notes", {"feedback"}),
        ("score", "scores", set()),
        ("solve", "attempts", {"solver"}),
        ("verify", "steps", set()),
    ],
)
def test_a_bumped_stage_runs_again_and_nothing_else(
    undisturbed: Toy, tmp_path: Path, stage: str, kind: str, roles: set[str]
) -> None:
    shutil.copytree(undisturbed.state, tmp_path / "state", symlinks=True)
    finished = Toy(
        tmp_path / "state",
        undisturbed.environment,
        undisturbed.checkout,
        undisturbed.program,
        undisturbed.timeout_s,
    )
    reruns_one_stage(finished, undisturbed, stage, kind, roles)
