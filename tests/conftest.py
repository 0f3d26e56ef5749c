"""What every test shares: tiers by folder, and property tests that repeat themselves.

A tier is a folder. Tests under tests/simulator need the AppWorld environment, those under
tests/benchmarks measure, those under tests/endurance take many minutes, those under tests/llama install a
model, those under tests/tau τ-bench, those under tests/browser open pages; all are marked here, so that no
file has to say it and none can forget.
"""

import gc
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.toy.prefect_server import serving, wait_for
from tests.toy.running import Toy

TESTS = Path(__file__).resolve().parent

TIER_OF_FOLDER = {
    "simulator": "simulator",
    "benchmarks": "benchmark",
    "endurance": "endurance",
    "llama": "llama",
    "tau": "tau",
    "browser": "browser",
}

LONG = {"simulator", "campaigns"}
"""Folders whose files start simulators or campaigns."""

TOGETHER = {
    *("test_attack_panel.py", "test_export_round_trip.py", "test_held_out_golds.py"),
    *("test_parity.py", "test_program.py"),
}
"""Files that share the fixture `simulator`: one worker runs them all, so that it starts once."""

WORKER_INPUT = "prefect_environment"
SHARED = pytest.StashKey[dict[str, str]]()

# The machine is shared: a slow example says nothing of the code. The same examples every time, so that
# a red build is red again.
settings.register_profile(
    "turtle", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("turtle")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test with the tier of its folder, before pytest deselects by marker.

    Files that take minutes come first, of them those that stay together: at the end the workers then wait for
    short ones only.
    """
    items.sort(key=lambda i: (i.path.name not in TOGETHER, not LONG & set(i.path.parts)))
    for item in items:
        if not item.path.is_relative_to(TESTS):
            continue
        folder = item.path.relative_to(TESTS).parts[0]
        if folder == "simulator" and "simulator" in getattr(item, "fixturenames", ()):
            assert item.path.name in TOGETHER, f"{item.path.name} shares a simulator: name it there"
        if folder in TIER_OF_FOLDER:
            item.add_marker(TIER_OF_FOLDER[folder])


def pytest_collection_finish() -> None:
    """Leaves what imports have made out of every later look at garbage; at its end pytest takes five."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Under `--dist loadfile` deals out whole files, and those that stay together as one."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Together(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return "together" if Path(file).name in TOGETHER else file

    return Together(config, log)


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder that holds flows/, tasks/ and warehouse/."""
    return TESTS.parent


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Gives every worker of pytest-xdist the one Prefect server of the whole run."""
    stash = node.config.stash
    if SHARED not in stash:
        home = Path(tempfile.mkdtemp(prefix="turtle-test-prefect-"))
        node.config.add_cleanup(partial(shutil.rmtree, home, ignore_errors=True))
        server = serving(home)
        stash[SHARED] = server.__enter__()
        node.config.add_cleanup(partial(server.__exit__, None, None, None))
    node.workerinput[WORKER_INPUT] = stash[SHARED]


@pytest.fixture(scope="session")
def prefect_environment(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, str]]:
    """The environment of a child that runs flows: a Prefect server of this run's own."""
    with ExitStack() as ends:
        environment = getattr(request.config, "workerinput", {}).get(WORKER_INPUT)
        if environment is None:
            environment = ends.enter_context(serving(tmp_path_factory.mktemp("prefect")))
        wait_for(environment)
        yield environment


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
