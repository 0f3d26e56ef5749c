"""A state folder with Prefect's server and worker on it, as `turtle up` starts them."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.toy.__main__ import toy_plan

WAIT_S = 900.0


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
        return subprocess.run(
            [sys.executable, "-m", "prefect", *arguments],
            cwd=self.checkout,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
        )

    @property
    def environment(self) -> dict[str, str]:
        """Of a process whose flow runs go to this server."""
        home = {"PREFECT_HOME": str(self.state / "prefect")}
        return dict(os.environ) | home | {"PREFECT_API_URL": f"{self.url}/api"}

    @property
    def url(self) -> str:
        """Where the UI is."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def server_process(self) -> int:
        """Process id of the server."""
        return int((self.state / "prefect" / "services" / "server.pid").read_text())

    def count(self, what: str, **query: object) -> int:
        """How many flow_runs or task_runs that answer a query the server knows."""
        return self._post(f"{what}/count", query)

    def found(self, what: str) -> list[dict[str, Any]]:
        """All flow_runs, task_runs, artifacts or deployments that the server knows."""
        return self._post(f"{what}/filter", {})

    def run(self, **changes: object) -> subprocess.CompletedProcess[str]:
        """Asks for a run of the deployment with a plan."""
        plan = toy_plan().model_dump(mode="json") | changes
        return self.prefect(
            "deployment", "run", "nightly-toy/toy", "-p", f"plan={json.dumps(plan)}"
        )

    def until_completed(self, name: str, count: int) -> None:
        """Switches a deployment's schedule on, and off when it has made `count` runs that all ended well."""
        (deployment,) = (one for one in self.found("deployments") if one["name"] == name)
        (schedule,) = deployment["schedules"]
        address = f"deployments/{deployment['id']}/schedules/{schedule['id']}"
        self._send("PATCH", address, {"active": True})
        self.wait_for("Completed", count, deployment["id"])
        self._send("PATCH", address, {"active": False})
        deadline = time.monotonic() + WAIT_S
        while {run["state_name"] for run in self._runs_of(deployment["id"])} != {"Completed"}:
            assert time.monotonic() < deadline, self._runs_of(deployment["id"])
            time.sleep(0.5)

    def _runs_of(self, deployment_id: str | None) -> list[dict[str, Any]]:
        """The runs of a deployment; of all deployments where None."""
        runs = [run for run in self.found("flow_runs") if run["deployment_id"]]
        return [run for run in runs if deployment_id in (None, run["deployment_id"])]

    def wait_for(
        self, state: str, count: int = 1, deployment_id: str | None = None
    ) -> list[dict[str, Any]]:
        """The runs of a deployment, or of all, when `count` of them are in a state."""
        deadline = time.monotonic() + WAIT_S
        while True:
            runs = self._runs_of(deployment_id)
            if sum(run["state_name"] == state for run in runs) >= count:
                return runs
            assert time.monotonic() < deadline, runs
            time.sleep(0.5)

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return json.loads(self._send("POST", path, body))

    def _send(self, method: str, path: str, body: dict[str, Any]) -> bytes:
        request = urllib.request.Request(
            f"{self.url}/api/{path}",
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.read()


@contextlib.contextmanager
def machine_up(state: Path, checkout: Path) -> Iterator[Machine]:
    """A machine on a free port; it is taken down at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = Machine(state, checkout, port)
    made.up()
    try:
        yield made
    finally:
        made.turtle("down")
