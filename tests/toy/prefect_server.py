"""A Prefect server for tests that start flows in processes of their own."""

import contextlib
import os
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from flows.settings import PREFECT_ENVIRONMENT, Settings

SERVER_START_S = 300


@contextlib.contextmanager
def serving(home: Path) -> Iterator[dict[str, str]]:
    """Starts a server; gives the environment of a child that runs flows against it, once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    home.mkdir(parents=True, exist_ok=True)
    take_unused(Settings().state / "prefect" / "prefect.db", home / "prefect.db")
    environment = dict(os.environ) | PREFECT_ENVIRONMENT | {"PREFECT_HOME": str(home)}
    command = [sys.executable, "-m", "prefect", "server", "start", "--port", str(port)]
    server = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    api = f"http://127.0.0.1:{port}/api"
    # Plain http: without the second, each process reads the machine's certificates three times.
    told = {"PREFECT_API_URL": api, "PREFECT_API_TLS_INSECURE_SKIP_VERIFY": "true"}
    try:
        yield environment | told
    finally:
        server.terminate()
        server.wait(30)


def take_unused(database: Path, copy: Path) -> None:
    """Copies the database that set-up made, whose migrations take 10 s of a core; none with flow runs."""
    if copy.exists() or not database.exists():
        return
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as made:
        ((flow_runs,),) = made.execute("SELECT count(*) FROM flow_run")
        if flow_runs == 0:
            with contextlib.closing(sqlite3.connect(copy)) as opened:
                made.backup(opened)  # whole also while a server has it open


def wait_for(environment: dict[str, str]) -> None:
    """Returns when the server of `environment` answers: its first start takes 20 s of a core."""
    deadline = time.monotonic() + SERVER_START_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(f"{environment['PREFECT_API_URL']}/health", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise AssertionError(f"no Prefect server within {SERVER_START_S} s")
