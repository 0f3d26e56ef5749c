"""Selection by variance: integers, ties, the gate."""

from hypothesis import given
from hypothesis import strategies as st

from tasks.selection import select_by_variance
from tests.rows import score_row

MEASURED = st.lists(
    st.tuples(st.sampled_from(["r1", "r2", "r3"]), st.integers(0, 10), st.sampled_from([9, 10])),
    max_size=40,
)


@given(MEASURED)
def test_each_root_keeps_all_variants_of_its_highest_variance(
    measured: list[tuple[str, int, int]],
) -> None:
    pairs = [
        (root, score_row(str(n), min(solved, scored), scored))
        for n, (root, solved, scored) in enumerate(measured)
    ]
    kept = {s.item_id for s in select_by_variance(pairs, campaign="c", repeats=10)}
    for root in ("r1", "r2", "r3"):
        own = [score for r, score in pairs if r == root and score.scored == 10]
        best = max((s.solved * (10 - s.solved) for s in own), default=0)
        expected = {s.item_id for s in own if s.solved * (10 - s.solved) == best > 0}
        assert kept & {s.item_id for s in own} == expected


def test_mirror_rates_tie_exactly() -> None:
    pairs = [("r", score_row("low", 3)), ("r", score_row("high", 7)), ("r", score_row("far", 9))]
    kept = select_by_variance(pairs, campaign="c", repeats=10)
    assert [(s.item_id, s.variance_count) for s in kept] == [("low", 21), ("high", 21)]


def test_never_and_always_solved_are_not_kept_even_where_nothing_else_is() -> None:
    pairs = [("r", score_row("never", 0)), ("r", score_row("always", 10))]
    assert select_by_variance(pairs, campaign="c", repeats=10) == []


def test_a_measurement_that_is_not_full_takes_no_part() -> None:
    pairs = [("r", score_row("half", 4, 8)), ("r", score_row("full", 1))]
    kept = select_by_variance(pairs, campaign="c", repeats=10)
    assert [s.item_id for s in kept] == ["full"]
