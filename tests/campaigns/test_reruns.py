"""Reruns: nothing finished is lost or paid twice, and the end is the same however often it was killed."""

import shutil
import time
from collections.abc import Callable

import pytest

from tests.toy.reruns import reruns_one_stage, survives_kills
from tests.toy.running import Toy, ledger_of

KILLS = 3
"""Twenty of them, on the real engine: tests/endurance/test_reruns_on_appworld.py."""
CALLS_IN_FLIGHT = 8
"""The toy endpoint's concurrency: so many calls may be under way when a kill comes."""


def test_kills_lose_and_repeat_nothing_finished(
    toy: Callable[[str], Toy], undisturbed: Toy
) -> None:
    survives_kills(toy("killed"), undisturbed, KILLS, 9, CALLS_IN_FLIGHT, latency_s=0.05)


def test_one_more_run_calls_no_model_and_no_simulator(finished: Toy) -> None:
    before, journal = finished.units(), finished.journal()
    assert finished.run()["asked"] == 0
    assert finished.units() == before
    assert finished.journal() == journal


def test_receipts_warehouse_and_prefect_can_be_lost(finished: Toy, undisturbed: Toy) -> None:
    for lost in ("receipts", "warehouse", "prefect"):
        shutil.rmtree(finished.state / lost, ignore_errors=True)
    journal = finished.journal()
    assert finished.run()["asked"] == 0
    assert finished.journal() == journal
    assert finished.tables() == undisturbed.tables()


def test_a_lost_unit_is_made_again_and_nothing_else(finished: Toy, undisturbed: Toy) -> None:
    before, calls = finished.units(), len(finished.journal())
    lost = next(name for name in sorted(before) if name.startswith("attempts/"))
    next((finished.state / "spool").glob(f"*/{lost}.jsonl")).unlink()
    finished.run()
    after = finished.units()
    assert {name for name in before if before[name] != after[name]} == {lost}
    assert len(finished.journal()) == calls + 1
    assert finished.findings() == undisturbed.findings()
    assert len(ledger_of(finished)) == len(ledger_of(undisturbed)) + 1


@pytest.mark.parametrize(
    ("stage", "kind", "roles"),
    [  # these and two more, on the real engine: tests/endurance/test_reruns_on_appworld.py
        ("solve", "attempts", {"solver"}),
        ("verify", "steps", set()),
    ],
)
def test_a_bumped_stage_runs_again_and_nothing_else_where_its_outputs_are_equal(
    finished: Toy, undisturbed: Toy, stage: str, kind: str, roles: set[str]
) -> None:
    reruns_one_stage(finished, undisturbed, stage, kind, roles)


def test_a_second_process_is_told_that_the_campaign_is_running(
    toy: Callable[[str], Toy],
) -> None:
    campaign = toy("held")
    first = campaign.start("--latency-s", "5")  # much longer than a process takes to start
    while not campaign.journal():
        assert first.poll() is None
        time.sleep(0.05)
    second = campaign.start()
    _, err = second.communicate(timeout=120)
    assert second.returncode != 0
    assert "another process is running it" in err
    first.kill()
    first.communicate()
