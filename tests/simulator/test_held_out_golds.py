"""The generated grade on held-out items: a fixed sample of what the benchmark runs whole."""

import pytest

from tests.held_out.families import read_families
from tests.held_out.items import make_item
from tests.held_out.mutants import KINDS
from tests.held_out.trials import Trial, misses, table, try_items
from tests.held_out.world import read_world
from tests.simulator.running import RunningSimulator

SAMPLE = {
    *("bills_sorted", "merged_week", "three_ways", "same_playlist_again", "labels_anew", "top_up"),
    "with_attachment",
}
"""Families of seven apps; each rule that the held-out items have brought about is tried by one of them."""
SUPERVISOR = "Hana"


@pytest.fixture(scope="module")
def trials(simulator: RunningSimulator) -> list[Trial]:
    """All programs of the sample, on the world of one supervisor."""
    world = read_world(simulator, SUPERVISOR)
    families = [family for family in read_families() if family.name in SAMPLE]
    assert len({family.app for family in families}) == len(SAMPLE)
    return list(try_items(simulator, (make_item(f, SUPERVISOR, world) for f in families)))


def test_every_held_out_program_gets_the_grade_that_its_making_says(trials: list[Trial]) -> None:
    assert {trial.mutant.kind for trial in trials} == set(KINDS)
    assert misses(trials) == [], table(trials)
