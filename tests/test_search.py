"""The search: decisions from the dice and the population alone."""

from collections import Counter

import pytest

from tasks.search import Population, direction
from tests.rows import item_row, note_row, score_row
from tests.toy.__main__ import toy_plan
from warehouse.records import Decision


def population(*solved: int, **plan: object) -> Population:
    """A population of seeds with these counts of solved attempts."""
    made = Population(toy_plan(**plan))
    for n, count in enumerate(solved):
        item = item_row(f"seed {n}")
        made.add_seed(item, score_row(item.item_id, count), note_row(item.item_id))
    return made


def decision(step: int, parent_node: int, island: int = 0) -> Decision:
    """A decision to edit a node."""
    return Decision(
        campaign="c",
        step=step,
        island=island,
        parent_node=parent_node,
        inspiration_nodes=(),
        direction="harder",
        parent_weight=1.0,
    )


def grow(made: Population, step: int, parent_node: int, solved: int | None) -> None:
    """Adds what a step came to; None for a rejected edit."""
    taken = decision(step, parent_node)
    made.announce(taken)
    item = None if solved is None else item_row(f"variant {step}")
    score = None if item is None else score_row(item.item_id, solved)
    made.add(taken, item, score, None)


def test_a_step_is_chosen_alike_from_an_equal_population() -> None:
    one, other = population(5, 9, 2), population(5, 9, 2)
    assert [one.choose("c", k) for k in range(20)] == [other.choose("c", k) for k in range(20)]


def test_another_rng_seed_chooses_otherwise() -> None:
    one, other = population(5, 9, 2, rng_seed=1), population(5, 9, 2, rng_seed=2)
    assert [one.choose("c", k) for k in range(20)] != [other.choose("c", k) for k in range(20)]


def test_islands_take_turns_and_inspire_one_another() -> None:
    made = population(5, 9, 2)
    chosen = [made.choose("c", k) for k in range(30)]
    assert Counter(d.island for d in chosen) == {0: 10, 1: 10, 2: 10}
    for taken in chosen:
        nodes = taken.inspiration_nodes
        assert len(set(nodes)) == 2
        assert all(made.member(node).island != taken.island for node in nodes)


def test_weight_grows_with_the_score_and_falls_with_use() -> None:
    made = population(10)
    grow(made, 0, -1, solved=5)
    grow(made, 1, -1, solved=9)
    weights = dict(zip((-1, 0, 1), made.weights(made.island(0)), strict=True))
    assert weights[0] > weights[1] > weights[-1] > 0
    grow(made, 2, 0, solved=None)
    assert made.weights(made.island(0))[1] == pytest.approx(weights[0] / 2)


def test_a_member_below_the_gate_may_be_a_parent_at_low_weight() -> None:
    made = population(5)
    grow(made, 0, -1, solved=0)
    seed, below = made.weights(made.island(0))
    assert 0 < below < seed / 10


def test_a_rejected_step_stands_for_its_own_parent() -> None:
    made = population(5)
    grow(made, 0, -1, solved=6)
    grow(made, 1, 0, solved=None)
    grow(made, 2, 1, solved=None)
    assert made.member(2).node == made.member(1).node == 0


def test_an_item_enters_an_island_once() -> None:
    made = population(5)
    taken = [decision(0, -1), decision(1, -1)]
    item = item_row("twice")
    for each in taken:
        made.announce(each)
        made.add(each, item, score_row(item.item_id, 5), None)
    assert len(made.variants()) == 1
    assert made.member(1).node == -1


@pytest.mark.parametrize(
    ("solved", "asked"),
    [(0, "easier"), (3, "easier"), (4, "sideways"), (6, "sideways"), (7, "harder"), (10, "harder")],
)
def test_the_direction_leads_towards_the_middle(solved: int, asked: str) -> None:
    assert direction(toy_plan(), score_row("i", solved)) == asked


@pytest.mark.parametrize("name", ["bell", "variance", "bell_length_wide", "variance_length_narrow"])
def test_any_of_the_six_scores_ranks_parents(name: str) -> None:
    made = population(10, score=name)
    item = item_row("best")
    taken = decision(0, -1)
    made.announce(taken)
    made.add(taken, item, score_row(item.item_id, 5, **{name: 9.0}), None)
    weights = made.weights(made.island(0))
    assert weights[1] > weights[0]


def parents(arm: str, *grown: int) -> list[int]:
    """The parents of 40 choices on one island whose variants, in step order, have these solved counts."""
    made = population(10, search={"arm": arm})
    for step, solved in enumerate(grown):
        grow(made, step, -1, solved)
    return [made.choose("c", k).parent_node for k in range(40)]


def test_independent_edits_are_always_edits_of_the_seed() -> None:
    assert set(parents("iid", 5, 9)) == {-1}


def test_sequential_edits_are_edits_of_the_best_so_far() -> None:
    assert set(parents("sequential", 9, 5, 8)) == {1}
    assert set(parents("sequential", 5, 9, 5)) == {2}, "of equals the latest"
    assert set(parents("sequential")) == {-1}
    assert set(parents("sequential", 0, 0)) == {-1}, "what nobody solved is not the best"


def test_evolution_draws_among_all_with_or_without_notes() -> None:
    assert parents("full", 9, 5, 8) == parents("no_notes", 9, 5, 8)
    assert len(set(parents("full", 9, 5, 8))) > 2


@pytest.mark.parametrize(
    ("arm", "inspired", "noted"),
    [
        ("iid", False, False),
        ("sequential", False, False),
        ("no_notes", True, False),
        ("full", True, True),
    ],
)
def test_an_arm_shows_what_it_says(arm: str, inspired: bool, noted: bool) -> None:
    made = population(5, 9, 2, search={"arm": arm})
    move = made.move(made.choose("c", 0))
    assert bool(move.inspirations) == inspired
    assert (move.note is not None) == noted
