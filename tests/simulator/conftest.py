"""Where the simulator tests find AppWorld's environment and the small world."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulator.running import RunningSimulator

INSTALLED = Path(__file__).resolve().parents[2] / ".turtle" / "simulators" / "appworld"


def _place(variable: str, installed: Path) -> Path:
    place = Path(os.environ.get(variable, installed))
    if not place.exists():
        pytest.fail(f"no {place}: run `make setup`, or set {variable}", pytrace=False)
    return place


@pytest.fixture(scope="session")
def appworld_python() -> Path:
    """The interpreter of AppWorld's environment."""
    return _place("TURTLE_TEST_APPWORLD_PYTHON", INSTALLED / "venv" / "bin" / "python")


@pytest.fixture(scope="session")
def appworld_home() -> Path:
    """The simulator's home, with the small world in `root`."""
    return _place("TURTLE_TEST_APPWORLD_HOME", INSTALLED / "home")


@pytest.fixture(scope="session")
def kept_states(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `simulator` keeps what each of its sessions leaves on disk, a folder a session."""
    return tmp_path_factory.mktemp("kept-states")


@pytest.fixture(scope="session")
def simulator(
    appworld_python: Path, appworld_home: Path, kept_states: Path
) -> Iterator[RunningSimulator]:
    """One running simulator for all tests that leave it as they found it."""
    arguments = ("--keep-states", str(kept_states))
    with RunningSimulator(appworld_python, appworld_home, *arguments) as running:
        yield running


@pytest.fixture(scope="session")
def simulator_state(appworld_home: Path) -> Path:
    """The state folder in which set-up has made the simulators."""
    return appworld_home.parents[2]
