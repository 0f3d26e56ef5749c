"""A real model server: llama.cpp with SmolLM2-135M, in an environment of its own."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tasks.environment import ensure_environment

HERE = Path(__file__).resolve().parent
NEEDED_BYTES = 600_000_000
LLM_ID = "SmolLM2-135M-Instruct"

ENDPOINTS = """
[llama]
kind = "openai"
base_url = "{url}/v1"
concurrency = 2
patience = {{ timeout_s = 7200, stall_s = 3600 }}
"""


@pytest.fixture(scope="session")
def llama_url(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The server's address. It is installed on first use: 130 MB to download."""
    folder = checkout / ".turtle" / "llama"
    python = ensure_environment(
        folder, HERE / "requirements.lock", print, needed_bytes=NEEDED_BYTES
    )
    log = tmp_path_factory.mktemp("llama") / "server.log"
    with (
        log.open("w") as stderr,
        subprocess.Popen(
            [python, HERE / "serve.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
        ) as server,
    ):
        assert server.stdin is not None and server.stdout is not None
        address = server.stdout.readline().strip()
        assert address.startswith("http"), f"the server did not start; its log: {log}"
        yield address
        server.stdin.close()


@pytest.fixture(scope="session")
def endpoints(tmp_path_factory: pytest.TempPathFactory, llama_url: str) -> Path:
    """An endpoints file that knows the server."""
    path = tmp_path_factory.mktemp("llama") / "endpoints.toml"
    path.write_text(ENDPOINTS.format(url=llama_url))
    return path
