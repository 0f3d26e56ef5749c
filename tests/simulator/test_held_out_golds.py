"""The generated grade on a held-out item: one of the two hundred that the benchmark runs."""

import pytest

from tests.held_out.families import read_families
from tests.held_out.items import make_item
from tests.held_out.mutants import KINDS
from tests.held_out.trials import Trial, misses, table, try_items
from tests.held_out.world import read_world
from tests.simulator.running import RunningSimulator

FAMILY = "three_ways"
"""It has programs of every kind. The rules that held-out items brought about are in test_grading.py too."""
SUPERVISOR = "Hana"


@pytest.fixture(scope="module")
def trials(simulator: RunningSimulator) -> list[Trial]:
    """All programs of the item, on the world of one supervisor."""
    world = read_world(simulator, SUPERVISOR)
    (family,) = [family for family in read_families() if family.name == FAMILY]
    return list(try_items(simulator, [make_item(family, SUPERVISOR, world)]))


def test_every_held_out_program_gets_the_grade_that_its_making_says(trials: list[Trial]) -> None:
    assert {trial.mutant.kind for trial in trials} == set(KINDS)
    assert misses(trials) == [], table(trials)
