"""A Prefect server for tests that start flows in processes of their own."""

import contextlib
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from flows.settings import PREFECT_ENVIRONMENT

SERVER_START_S = 300


@contextlib.contextmanager
def serving(home: Path) -> Iterator[dict[str, str]]:
    """Starts a server; gives the environment of a child that runs flows against it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = dict(os.environ) | PREFECT_ENVIRONMENT | {"PREFECT_HOME": str(home)}
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
