"""False accepts and false rejects of the generated grade over 200 held-out items; the goal is none.

Every item is tried with nine kinds of programs, about two thousand sessions in all. What they are worth is
known by how they are made (tests/held_out/mutants.py).
"""

import pytest

from tests.held_out.items import make_items
from tests.held_out.trials import misses, table, try_items
from tests.held_out.world import STARTS, read_world
from tests.simulator.running import RunningSimulator

ITEMS_A_FAMILY = 4
WANTED_ITEMS = 200


def test_held_out_grades(simulator: RunningSimulator, capsys: pytest.CaptureFixture[str]) -> None:
    worlds = {supervisor: read_world(simulator, supervisor) for supervisor in STARTS}
    items = list(make_items(worlds, ITEMS_A_FAMILY))
    trials = []
    for place, item in enumerate(items, start=1):
        trials += try_items(simulator, [item])
        with capsys.disabled():
            print(f"\r{place} of {len(items)} items, {len(trials)} programs", end="", flush=True)
    found = misses(trials)
    with capsys.disabled():
        print(f"\n{table(trials)}", *found, sep="\n")
    assert len(items) >= WANTED_ITEMS
    assert found == []
