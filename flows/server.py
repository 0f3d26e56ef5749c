"""One machine's Prefect: a server that stays, a worker, and the deployments; up, down and status."""

import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from flows.service import Service
from flows.settings import CHECKOUT, PREFECT_ENVIRONMENT, Settings
from tasks.errors import InputError

POOL = "turtle"
"""The work pool whose worker runs deployments."""

AUTOMATIONS = CHECKOUT / "deployments" / "automations.json"

START_S = 600.0
"""How long a server may take to answer for the first time: it makes its database, 18 s on two busy cores, and
more than 180 s where ten processes wait for each. One that dies is noticed at once."""

SERVER_ENVIRONMENT = {
    # A stage run costs about 5 KB: old flow runs go after 30 days. Results are in the spool.
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs,orphans",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_RETENTION_PERIOD": str(30 * 24 * 3600),
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "true",
}
"""What we ask besides of a server that stays, unless the user's environment says otherwise."""

WORKER_ENVIRONMENT = {
    # A run that was killed with its worker is told from a slow one by its heartbeat (automations.json).
    "PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30",
}


@dataclass(frozen=True)
class LocalPrefect:
    """The server and the worker of one state folder."""

    settings: Settings

    @property
    def server(self) -> Service:
        """Prefect's API and UI."""
        return Service("server", self._folder)

    @property
    def worker(self) -> Service:
        """What runs deployments, each run in a process of its own."""
        return Service("worker", self._folder)

    @property
    def _folder(self) -> Path:
        return self.settings.state / "prefect" / "services"

    @property
    def _address(self) -> Path:
        return self._folder / "address.json"

    def url(self) -> str | None:
        """Where the UI is; None when the server does not run."""
        if self.server.process_id() is None or not self._address.exists():
            return None
        return json.loads(self._address.read_text(encoding="utf-8"))["url"]

    def environment(self, url: str) -> dict[str, str]:
        """Of every process that works with the server."""
        home = {"PREFECT_HOME": str(self.settings.state / "prefect")}
        own = {"PREFECT_API_URL": f"{url}/api", "TURTLE_CHECKOUT": str(CHECKOUT)}
        state = {"TURTLE_STATE": str(self.settings.state)}
        return (
            PREFECT_ENVIRONMENT
            | SERVER_ENVIRONMENT
            | WORKER_ENVIRONMENT
            | os.environ
            | home
            | own
            | state
        )

    def up(self, port: int, deployments: Path, say: Callable[[str], None]) -> str:
        """Starts what does not run, and registers the deployments anew; returns the UI's address.

        Raises InputError, and stops what it started, when something does not come up.
        """
        url = self.url() or f"http://127.0.0.1:{port}"
        environment = self.environment(url)
        fresh = self.server.process_id() is None
        try:
            if fresh:
                say("starting the server")
                self._start_server(url, port, environment)
            say(f"registering the deployments of {deployments.name}")
            self._register(deployments, environment)
            if self.worker.process_id() is None:
                say("starting the worker")
                self.worker.start(
                    _prefect("worker", "start", "--pool", POOL, "--type", "process"),
                    environment,
                    CHECKOUT,
                )
        except BaseException:
            if fresh:
                self.down()
            raise
        return url

    def down(self) -> list[str]:
        """Stops worker and server, where they run; returns their names."""
        return [service.name for service in (self.worker, self.server) if service.stop()]

    def _start_server(self, url: str, port: int, environment: dict[str, str]) -> None:
        command = _prefect("server", "start", "--host", "127.0.0.1", "--port", str(port))
        self.server.start(command, environment, CHECKOUT)
        self._address.write_text(json.dumps({"url": url}) + "\n", encoding="utf-8")
        deadline = time.monotonic() + START_S
        while not answers(url):
            if self.server.process_id() is None:
                raise InputError(
                    f"server: did not start on port {port}: {self.server.last_words()} "
                    f"(log: {self.server.log}); if the port is taken: turtle up --port N"
                )
            if time.monotonic() > deadline:
                raise InputError(
                    f"server: no answer within {START_S:.0f} s; log: {self.server.log}"
                )
            time.sleep(0.3)

    def _register(self, deployments: Path, environment: dict[str, str]) -> None:
        """The work pool, the deployments and the automation; each replaces its former self."""
        if not deployments.exists():
            raise InputError(f"deployments {deployments}: no such file")
        _command(["work-pool", "create", POOL, "--type", "process", "--overwrite"], environment)
        _command(
            ["--no-prompt", "deploy", "--all", "--prefect-file", str(deployments)], environment
        )
        known = _known_automations(environment["PREFECT_API_URL"])
        for automation in json.loads(AUTOMATIONS.read_text(encoding="utf-8"))["automations"]:
            if automation["name"] not in known:
                _command(
                    ["automation", "create", "--from-json", json.dumps(automation)], environment
                )


def _known_automations(api: str) -> set[str]:
    request = urllib.request.Request(
        f"{api}/automations/filter", data=b"{}", headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return {automation["name"] for automation in json.load(answer)}


def answers(url: str) -> bool:
    """Whether a Prefect server answers there."""
    try:
        with urllib.request.urlopen(f"{url}/api/health", timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def _prefect(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "prefect", *arguments]


def _command(arguments: list[str], environment: dict[str, str]) -> str:
    """What a command of Prefect's prints. Raises InputError with its last line when it fails."""
    ended = subprocess.run(
        _prefect(*arguments),
        cwd=CHECKOUT,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    if ended.returncode != 0:
        said = [line for line in (ended.stdout + ended.stderr).splitlines() if line.strip()]
        raise InputError(f"prefect {arguments[0]}: {said[-1] if said else 'failed without a word'}")
    return ended.stdout
