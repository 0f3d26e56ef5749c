"""Three processes against one, and ten times the items, on the toy suite. Run: make benchmark."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.settings import Settings
from tests.toy.pool import WORKERS, joined_states
from tests.toy.running import Toy

LATENCY_S = 3.0
STEPS = 72
WINDOW = 36
AT_ONCE = 4
"""Calls that one process has under way: what one solver's machine would stand."""
SPEED_GOAL = 2.5

FEW = 40
MANY = 10 * FEW
TIME_GOAL = 11.0
MEMORY_GOAL = 1.2
PUBLISH_EVERY_S = Settings().publish_every_s
"""As a user's campaigns do; the toy's own do so ten times as often, because tests wait for it."""


@pytest.fixture
def one(tmp_path: Path, prefect_environment: dict[str, str], checkout: Path) -> Toy:
    return Toy(tmp_path / "one", prefect_environment, checkout, timeout_s=1800, from_nothing=True)


def test_three_processes_finish_a_campaign_that_waits_for_models_sooner(
    one: Toy, tmp_path: Path
) -> None:
    told = ["--steps", str(STEPS), "--in-flight", str(WINDOW), "--latency-s", str(LATENCY_S)]
    told += ["--concurrency", "64", "--attempts-in-flight", str(AT_ONCE)]
    alone_s = seconds(lambda: one.run(*told))
    (tmp_path / "pool").mkdir()
    workers = joined_states(one, tmp_path / "pool", [one.checkout] * WORKERS)
    told += ["--workers", str(WORKERS)]

    def together() -> None:
        processes = [w.start(*told, *(["--joins"] if n else [])) for n, w in enumerate(workers)]
        for process in processes:
            _, err = process.communicate(timeout=one.timeout_s)
            assert process.returncode == 0, err

    together_s = seconds(together)
    assert workers[0].findings() == one.findings()
    calls = len(one.journal())
    print(
        f"\n{calls} calls of {LATENCY_S:.0f} s, {AT_ONCE} at once in each process, starts included: one "
        f"{alone_s:.0f} s, {WORKERS} {together_s:.0f} s; ratio {alone_s / together_s:.2f}"
    )
    assert alone_s / together_s >= SPEED_GOAL


def test_ten_times_the_items_take_no_more_than_ten_times_the_time(
    tmp_path: Path, prefect_environment: dict[str, str], checkout: Path
) -> None:
    measured = {}
    for steps in (0, FEW, MANY):
        toy = Toy(tmp_path / str(steps), prefect_environment, checkout, from_nothing=True)
        measured[steps] = time_and_memory(toy, steps)
    start_s, _ = measured[0]
    (few_s, few), (many_s, many) = measured[FEW], measured[MANY]
    ratio = (many_s - start_s) / (few_s - start_s)
    print(
        f"\n{FEW} edits {few_s:.0f} s and {few / 1024:.0f} MB, {MANY} edits {many_s:.0f} s and "
        f"{many / 1024:.0f} MB, of it {start_s:.0f} s for the seeds alone; time {ratio:.1f}x, "
        f"memory {many / few:.2f}x"
    )
    assert ratio <= TIME_GOAL
    assert many / few <= MEMORY_GOAL


def time_and_memory(toy: Toy, steps: int) -> tuple[float, int]:
    """Wall clock in seconds and peak memory in KB of a campaign."""
    began = time.monotonic()
    told = ["--steps", str(steps), "--in-flight", "8", "--publish-every-s", str(PUBLISH_EVERY_S)]
    process = toy.start(*told)
    process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    return time.monotonic() - began, usage.ru_maxrss


def seconds(work: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.monotonic()
    work()
    return time.monotonic() - began
