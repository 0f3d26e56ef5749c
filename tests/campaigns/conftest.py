"""Campaigns on the toy suite, each run in a process of its own against one Prefect server."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from flows.settings import PREFECT_ENVIRONMENT
from warehouse.marts import query
from warehouse.records import CIRCUMSTANCE, TABLES

SERVER_START_S = 120


@pytest.fixture(scope="session")
def prefect_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a child that runs flows: a Prefect server of this session's own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = (
        dict(os.environ)
        | PREFECT_ENVIRONMENT
        | {"PREFECT_HOME": str(tmp_path_factory.mktemp("prefect"))}
    )
    command = [sys.executable, "-m", "prefect", "server", "start", "--port", str(port)]
    server = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    api = f"http://127.0.0.1:{port}/api"
    try:
        _wait(f"{api}/health", server)
        yield environment | {"PREFECT_API_URL": api}
    finally:
        server.terminate()
        server.wait(30)


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + SERVER_START_S
    while time.monotonic() < deadline:
        assert server.poll() is None, "the Prefect server ended while it started"
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise AssertionError(f"no Prefect server within {SERVER_START_S} s")


@dataclass
class Toy:
    """A state folder with a toy campaign in it, and how to run it."""

    state: Path
    environment: dict[str, str]
    checkout: Path

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Starts the campaign, or goes on with it, in a new process."""
        command = [sys.executable, "-m", "tests.toy", str(self.state), *arguments]
        return subprocess.Popen(
            command,
            cwd=self.checkout,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> dict[str, Any]:
        """Runs it to its end; returns what the process printed."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        return json.loads(out.splitlines()[-1])

    def journal(self) -> list[tuple[str, str]]:
        """(role, request and subject) of each model call that was answered."""
        path = self.state / "journal.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        calls = [json.loads(line) for line in lines]
        return [(role, json.dumps([prompt, subject])) for role, prompt, subject in calls]

    def units(self) -> dict[str, tuple[int, int]]:
        """Finished units with inode and time of change: equal means untouched."""
        found = sorted((self.state / "spool").glob("*/*/*.jsonl"))
        return {
            f"{path.parent.name}/{path.stem}": (path.stat().st_ino, path.stat().st_mtime_ns)
            for path in found
        }

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every table, sorted, without the columns that tell of circumstances."""
        return tables_of(self.state / "warehouse" / "turtle.duckdb")


def tables_of(warehouse: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every table of a warehouse, sorted, without the columns that tell of circumstances."""
    content = {}
    for record in TABLES:
        columns = [
            name
            for name, field in record.model_fields.items()
            if field.json_schema_extra != CIRCUMSTANCE
        ]
        _, rows = query(warehouse, f"SELECT {', '.join(columns)} FROM {record.table}")
        content[record.table] = sorted(rows, key=repr)
    return content


@pytest.fixture
def toy(
    tmp_path: Path, prefect_environment: dict[str, str], checkout: Path
) -> Callable[[str], Toy]:
    """Makes state folders by name."""
    return lambda name: Toy(tmp_path / name, prefect_environment, checkout)


@pytest.fixture(scope="session")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, prefect_environment: dict[str, str], checkout: Path
) -> Toy:
    """A campaign that ran to its end in one go. Tests copy it before they change it."""
    made = Toy(tmp_path_factory.mktemp("undisturbed"), prefect_environment, checkout)
    made.run()
    return made
