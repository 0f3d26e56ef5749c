"""What Prefect costs a stage run, and whether the server that stays records them all. Run: make benchmark."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.toy.machine import Machine, machine_up

RUNS = 1000
CPU_GOAL_S = 0.040
"""Of one stage run, client and server together."""
RECORDED_S = 60.0
"""How long after the last run all may take to stand in the server's database."""
WARM_UP = 10


@pytest.fixture
def machine(tmp_path: Path, checkout: Path) -> Iterator[Machine]:
    with machine_up(tmp_path, checkout) as made:
        yield made


def cpu_of(process_id: int) -> float:
    """Seconds of CPU that a process has used, all its threads together."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_a_stage_run_costs_little_and_every_one_is_recorded(
    machine: Machine, tmp_path: Path
) -> None:
    idle = idle_share(machine)
    server, began = cpu_of(machine.server_process), time.monotonic()
    command = [sys.executable, "-m", "tests.benchmarks.stage_runs", str(tmp_path / "runs")]
    ended = subprocess.run(
        [*command, str(RUNS)],
        cwd=machine.checkout,
        env=machine.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    recorded_s = seconds_until_recorded(machine, RUNS + WARM_UP)
    client_s = json.loads(ended.stdout.splitlines()[-1])["cpu_s"]
    server_s = cpu_of(machine.server_process) - server - idle * (time.monotonic() - began)
    each = (client_s + server_s) / RUNS
    print(
        f"\n{RUNS} stage runs, each {1000 * client_s / RUNS:.1f} ms CPU of the client and "
        f"{1000 * server_s / RUNS:.1f} ms of the server; all recorded {recorded_s:.1f} s after the end"
    )
    assert recorded_s <= RECORDED_S
    assert each <= CPU_GOAL_S


def idle_share(machine: Machine) -> float:
    """Part of a core that the server uses while nothing runs."""
    before = cpu_of(machine.server_process)
    time.sleep(20)
    return (cpu_of(machine.server_process) - before) / 20


def seconds_until_recorded(machine: Machine, count: int) -> float:
    """Seconds until the server counts so many completed stage runs; infinite when they do not come."""
    ended = {"task_runs": {"state": {"type": {"any_": ["COMPLETED"]}}}}
    began = time.monotonic()
    while machine.count("task_runs", **ended) < count:
        if time.monotonic() > began + 5 * RECORDED_S:
            return float("inf")
        time.sleep(0.2)
    return time.monotonic() - began
