"""Escapes from a cell: what each reaches is what SANDBOX.md says, and behind bubblewrap it is nothing."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest

from tests.simulator.escapes.outside import Outside
from tests.simulator.escapes.panel import ESCAPES, Panel
from tests.simulator.escapes.table import (
    CONTAINED,
    LEVELS,
    USERS,
    panel,
    read_table,
    shown,
    users_here,
)

OWN = USERS[os.getuid() != 0]
NOTICED_S = 30.0
"""The keeper writes a connection down in milliseconds; a crowded machine takes longer."""
CASES = [
    pytest.param(
        *(level, user, escape),
        # The other columns take minutes more.
        marks=() if (level, user) == ("bubblewrap", OWN) else pytest.mark.endurance,
    )
    for level in LEVELS
    for user in users_here()
    for escape in ESCAPES
]
PanelOf = Callable[[str, str], Panel]


@pytest.fixture(scope="module")
def panel_of(
    appworld_python: Path, appworld_home: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PanelOf]:
    """A simulator under attack for each column that is asked for."""
    with ExitStack() as running:

        @cache
        def opened(level: str, user: str) -> Panel:
            folder = tmp_path_factory.mktemp("panel")
            return running.enter_context(panel(level, user, appworld_python, appworld_home, folder))

        yield opened


@pytest.mark.parametrize(("level", "user", "escape"), CASES)
def test_an_escape_reaches_what_the_table_says(
    panel_of: PanelOf, level: str, user: str, escape: str
) -> None:
    effects = panel_of(level, user).attempt(escape)
    if level == "bubblewrap":
        assert not effects
    assert shown(effects) == read_table()[level, user][escape]


def test_the_table_holds_every_escape_and_nothing_escapes_bubblewrap() -> None:
    table = read_table()
    assert set(table) == {(level, user) for level in LEVELS for user in USERS}
    for (level, user), cells in table.items():
        assert list(cells) == list(ESCAPES), (
            f"{level}, {user}: run tests/simulator/escapes/table.py"
        )
        assert "?" not in cells.values()
        if level == "bubblewrap":
            assert set(cells.values()) == {CONTAINED}


def test_the_panel_sees_what_gets_out(tmp_path: Path) -> None:
    """Each probe fires when its effect is there: planted secrets, files, connections, a stopped process."""
    with Outside(tmp_path, os.getpid(), {"the keyring": "canary-k"}) as outside:
        assert outside.effects("nothing") == set()
        assert outside.effects("so canary-k it is") == {"read the keyring"}
        assert outside.effects(outside.planted.read_text()) == {"read a file"}
        assert outside.effects("REACHED: a limit") == {"a limit"}
        (outside.target / "made").touch()
        assert outside.effects("") == {"wrote outside"}
        os.kill(outside.keeper, signal.SIGSTOP)
        os.waitid(os.P_PID, outside.keeper, os.WSTOPPED | os.WNOWAIT)  # a signal takes its time
        assert outside.effects("") == {"stopped a process"}
        assert outside.effects("") == set()


def test_the_panel_misses_nothing_that_comes_between_two_looks(tmp_path: Path) -> None:
    """The keeper writes a connection down while the panel looks: each is seen, and seen once."""
    with Outside(tmp_path, os.getpid(), {}) as outside:
        for _ in range(50):
            socket.create_connection(("127.0.0.1", outside.port)).close()
            seen: set[str] = set()
            last = time.monotonic() + NOTICED_S
            while not seen and time.monotonic() < last:
                seen = outside.effects("")
            assert seen == {"connected"}
