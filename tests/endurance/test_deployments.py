"""Deployed runs with a real server, a real worker and real kills, on the toy suite."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.toy.__main__ import ENDPOINTS, toy_plan
from tests.toy.running import Toy

WAIT_S = 900.0
CALLS_IN_FLIGHT = 8


@dataclass
class Machine:
    """A state folder with Prefect's server and worker on it."""

    state: Path
    checkout: Path
    port: int

    def turtle(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs the command line on this state."""
        main = "from flows.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-c", main, *arguments, "--state", str(self.state)],
            cwd=self.checkout,
            env=dict(os.environ) | {"PYTHONPATH": str(self.checkout)},
            capture_output=True,
            text=True,
            timeout=WAIT_S,
        )

    def up(self) -> None:
        """Starts what does not run."""
        file = str(self.checkout / "tests" / "toy" / "prefect.yaml")
        ended = self.turtle("up", "--port", str(self.port), "--deployments", file)
        assert ended.returncode == 0, ended.stderr

    def prefect(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a command of Prefect's against this server."""
        home = {"PREFECT_HOME": str(self.state / "prefect")}
        server = {"PREFECT_API_URL": f"http://127.0.0.1:{self.port}/api"}
        return subprocess.run(
            [sys.executable, "-m", "prefect", *arguments],
            cwd=self.checkout,
            env=dict(os.environ) | home | server,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
        )

    def found(self, what: str) -> list[dict[str, Any]]:
        """All flow_runs, task_runs or artifacts that the server knows."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/api/{what}/filter",
            data=b"{}",
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def run(self, **changes: object) -> subprocess.CompletedProcess[str]:
        """Asks for a run of the deployment with a plan."""
        plan = toy_plan().model_dump(mode="json") | changes
        return self.prefect(
            "deployment", "run", "nightly-toy/toy", "-p", f"plan={json.dumps(plan)}"
        )

    def wait_for(self, state: str, count: int = 1) -> list[dict[str, Any]]:
        """The deployed runs, when `count` of them are in a state."""
        deadline = time.monotonic() + WAIT_S
        while True:
            runs = [run for run in self.found("flow_runs") if run["deployment_id"]]
            if sum(run["state_name"] == state for run in runs) >= count:
                return runs
            assert time.monotonic() < deadline, runs
            time.sleep(0.5)


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Iterator[Machine]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = Machine(tmp_path_factory.mktemp("machine"), checkout, port)
    (made.state / "endpoints.toml").write_text(ENDPOINTS.format(concurrency=8, latency_s=0.5))
    made.up()
    yield made
    made.turtle("down")


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
    artifacts = {artifact["key"]: artifact for artifact in machine.found("artifacts")}
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
    process_id = int((machine.state / "prefect" / "services" / "server.pid").read_text())
    os.killpg(process_id, signal.SIGKILL)
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
