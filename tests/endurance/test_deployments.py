"""Deployed runs with a real server, a real worker and real kills, on the toy suite."""

import json
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.toy.__main__ import ENDPOINTS
from tests.toy.machine import Machine, machine_up
from tests.toy.running import Toy

CALLS_IN_FLIGHT = 8
WORKER_REPORTS_S = 10
"""What deployments/README.md tells users to wait. The run's own starter reports its death at once, the worker
4 s later; a retry in between is overruled by the second report, which leaves no other trace (Prefect 3.9)."""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Iterator[Machine]:
    state = tmp_path_factory.mktemp("machine")
    (state / "endpoints.toml").write_text(ENDPOINTS.format(concurrency=8, latency_s=0.5))
    with machine_up(state, checkout) as made:
        yield made


def test_a_plan_that_is_not_valid_is_refused_in_words(machine: Machine) -> None:
    refused = machine.run(repeats=0)
    assert refused.returncode != 0
    assert "0 is less than the minimum of 1" in " ".join((refused.stdout + refused.stderr).split())
    assert machine.found("flow_runs") == []


def test_a_killed_run_is_tried_again_and_makes_only_what_is_missing(
    machine: Machine, undisturbed: Toy
) -> None:
    toy = Toy(machine.state, {}, machine.checkout)
    assert machine.run().returncode == 0
    while len(toy.journal()) < 40:
        time.sleep(0.05)
    os.kill(int((machine.state / "process_id").read_text()), signal.SIGKILL)
    (crashed,) = machine.wait_for("Crashed")
    time.sleep(WORKER_REPORTS_S)
    done = set(machine.state.glob("spool/*/*/*.jsonl"))
    retried = machine.prefect("flow-run", "retry", crashed["id"])
    assert retried.returncode == 0, retried.stderr
    machine.wait_for("Completed")
    assert len(list(machine.state.glob("spool/*"))) == 1, "the run tried again began a new campaign"
    assert done <= set(machine.state.glob("spool/*/*/*.jsonl"))
    paid = Counter(toy.journal())
    assert set(paid) == set(undisturbed.journal())
    assert sum(paid.values()) - len(paid) <= CALLS_IN_FLIGHT


def test_the_ui_shows_tables_and_progress_and_no_text_of_an_item(machine: Machine) -> None:
    made = sorted(machine.found("artifacts"), key=lambda artifact: artifact["created"])
    artifacts = {
        artifact["key"]: artifact for artifact in made
    }  # the killed run left a progress too
    named = {key.rsplit("-", 1)[-1]: one for key, one in artifacts.items() if key}
    assert {"tables", "kept", "progress"} <= named.keys()
    assert "parents_evolved" in named["tables"]["data"]
    assert json.loads(named["kept"]["data"])[0].keys() >= {"item_id", "solved", "scored"}
    assert named["progress"]["data"] == 100.0
    shown = json.dumps(list(artifacts.values()))
    for path in machine.state.glob("spool/*/steps/*.jsonl"):
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            if entry.get("record") == "Item":
                assert entry["row"]["instruction"] not in shown


def test_no_failed_attempt_and_no_rejected_edit_is_a_failed_run(machine: Machine) -> None:
    states = Counter(run["state_name"] for run in machine.found("task_runs"))
    assert states["Completed"] > 0
    # What the killed process was at stays Running or is found Crashed: it cannot say how it ended.
    assert states.keys() <= {"Completed", "Cached", "Crashed", "Running"}


def test_a_killed_server_comes_up_again_with_its_runs(machine: Machine) -> None:
    before = {run["id"] for run in machine.found("flow_runs")}
    os.killpg(machine.server_process, signal.SIGKILL)
    while (told := machine.turtle("status")).returncode == 0:
        time.sleep(0.2)
    assert "server: not up" in told.stdout
    machine.up()
    assert machine.turtle("status").returncode == 0
    assert {run["id"] for run in machine.found("flow_runs")} >= before


def test_down_leaves_nothing(machine: Machine) -> None:
    assert "stopped: worker, server" in machine.turtle("down").stdout
    assert machine.turtle("status").returncode == 1
    assert "nothing was up" in machine.turtle("down").stdout
