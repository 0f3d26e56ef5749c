"""The doctor: what is amiss is said with what to type, by real parts that are really amiss."""

import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from flows.doctor import Finding, examine, report
from flows.settings import Settings
from flows.suites import SUITES

DOCTOR = "from flows.cli import main; main()"


def findings(state: Path, endpoints: str = "", **limits: int) -> dict[str, Finding]:
    """What the doctor finds in a state folder with these endpoints, by name."""
    file = state.parent / "endpoints.toml"
    file.write_text(endpoints)
    settings = Settings(state=state, endpoints=file, **limits)
    return {finding.name: finding for finding in examine(settings)}


def run_doctor(checkout: Path, *arguments: str, file_bytes: int | None = None) -> tuple[int, str]:
    """Exit code and output of `turtle doctor`, in a process that may write files of so many bytes."""

    def limit() -> None:
        if file_bytes is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))

    ended = subprocess.run(
        [sys.executable, "-c", DOCTOR, "doctor", *arguments],
        cwd=checkout,
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=limit,
    )
    assert ended.stderr == ""
    return ended.returncode, ended.stdout


def test_a_missing_simulator_is_amiss_and_nothing_is_installed(
    checkout: Path, tmp_path: Path
) -> None:
    state = tmp_path / "state"
    code, said = run_doctor(checkout, "--state", str(state))
    assert code == 1
    (line,) = [line for line in said.splitlines() if line.startswith("amiss")]
    assert line == (
        "amiss  simulator appworld: its environment is missing or of another version; "
        f"type: turtle setup appworld --state {state}"
    )
    assert not state.exists()
    assert "ok     Python: 3." in said and "ok     environment: prefect 3." in said


def test_every_suite_is_looked_at_and_one_that_was_never_used_is_well(tmp_path: Path) -> None:
    found = findings(tmp_path / "state")
    assert {f"simulator {suite}" for suite in SUITES} <= found.keys()
    amiss = {suite for suite in SUITES if found[f"simulator {suite}"].mend}
    assert amiss == {"appworld"}
    assert "first use installs it" in found["simulator tau-telecom"].found


def test_a_simulator_that_is_half_there_is_amiss_for_each_of_its_suites(tmp_path: Path) -> None:
    (tmp_path / "state" / "simulators" / "tau_bench").mkdir(parents=True)
    found = findings(tmp_path / "state")
    for suite in ("tau-telecom", "tau-banking-bm25", "tau-banking-golden"):
        one = found[f"simulator {suite}"]
        assert one.found == "its environment is missing or of another version"
        assert one.mend == f"type: turtle setup {suite} --state {tmp_path / 'state'}"


def test_a_state_that_cannot_be_written_is_amiss(checkout: Path, tmp_path: Path) -> None:
    code, said = run_doctor(checkout, "--state", str(tmp_path), file_bytes=0)
    assert code == 1
    assert f"amiss  state: {tmp_path} cannot be written: File too large; make" in said
    assert f"amiss  Prefect: 3.9.1, {tmp_path / 'prefect'} cannot be written" in said


def test_too_little_disk_is_amiss(tmp_path: Path) -> None:
    found = findings(tmp_path / "state", min_free_bytes=1 << 60)
    assert found["disk"].mend == "make room, or name another disk by --state"


def test_an_environment_of_another_lock_is_amiss(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "requirements.lock").write_text("duckdb==0.0.1 \\\n    --hash=sha256:00\n")
    settings = Settings(state=tmp_path / "state")
    found = {finding.name: finding for finding in examine(settings, checkout=tmp_path)}
    assert found["environment"].mend == "type: make environment"


@pytest.fixture
def closed_port() -> int:
    """A port of loopback on which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


ENDPOINT = """
[here]
kind = "openai"
base_url = "http://127.0.0.1:{port}/v1"
key_variable = "TURTLE_TEST_KEY"
"""


def test_an_endpoint_without_key_and_server_is_amiss(
    tmp_path: Path, closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TURTLE_TEST_KEY", raising=False)
    found = findings(tmp_path / "state", ENDPOINT.format(port=closed_port))["endpoint here"]
    assert found.line() == (
        "amiss  endpoint here: kind openai, TURTLE_TEST_KEY is not set, or holds no key, "
        f"127.0.0.1:{closed_port} cannot be reached (Connection refused); "
        "type: export TURTLE_TEST_KEY=your-key; "
        "start that server, or mend the network or base_url of [here]"
    )


def test_an_endpoint_that_answers_is_well_and_its_key_is_told_to_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURTLE_TEST_KEY", "secret-of-the-test")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = findings(tmp_path / "state", ENDPOINT.format(port=port))["endpoint here"]
    assert found.mend is None and "TURTLE_TEST_KEY is set" in found.found
    assert "secret-of-the-test" not in found.line()


def test_endpoints_that_cannot_be_read_are_amiss(tmp_path: Path) -> None:
    found = findings(tmp_path / "state", "[here\n")["endpoints"]
    assert "cannot be read" in found.found and found.mend == f"mend {tmp_path / 'endpoints.toml'}"


def test_one_thing_amiss_is_enough() -> None:
    told: list[str] = []
    assert report([Finding("a", "here")], told.append)
    assert not report([Finding("b", "gone", "type: b"), Finding("c", "here")], told.append)
    assert told == ["ok     a: here", "amiss  b: gone; type: b", "ok     c: here"]
