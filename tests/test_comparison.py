"""The figures of a comparison, against counting by hand and by brute force."""

from collections.abc import Sequence
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.arms import ARMS, ArmName
from tasks.comparison import (
    MIN_KEPT,
    MIN_RNG_SEEDS,
    Cell,
    Harvest,
    Kept,
    app_pairs_at,
    compared,
    fresh_share,
    hard_share,
    jackknife,
    kept_per_1000,
    unequal,
)
from tasks.intervals import mean_interval

APPS = ("gmail", "phone", "spotify", "venmo")
VARIANTS = st.builds(
    Kept,
    solved=st.integers(0, 40),
    scored=st.just(40),
    difficulty=st.sampled_from((1, 2, 3, None)),
    apps=st.frozensets(st.sampled_from(APPS)),
)


def kept(solved: int = 20, difficulty: int | None = 1, *apps: str) -> Kept:
    """A kept variant of 40 fresh attempts."""
    return Kept(solved, 40, difficulty, frozenset(apps))


def harvest(variants: Sequence[Kept], rng_seed: int = 1, arm: ArmName = "iid", attempts: int = 100):
    """What a campaign of 100 attempts came to."""
    return Harvest(arm, rng_seed, attempts, tuple(variants))


def cell(cells: Sequence[Cell], figure: str, arm: ArmName) -> Cell:
    """The one cell of a figure and an arm."""
    (found,) = [one for one in cells if one.figure.startswith(figure) and one.arm == arm]
    return found


@given(st.lists(VARIANTS, min_size=1, max_size=7), st.data())
def test_rarefaction_is_the_mean_over_all_draws(variants: list[Kept], data: st.DataObject) -> None:
    drawn = data.draw(st.integers(1, len(variants)))
    draws = list(combinations(variants, drawn))
    needed = [
        len({pair for one in draw for pair in combinations(sorted(one.apps), 2)}) for draw in draws
    ]
    found = app_pairs_at(drawn)([harvest(variants)], [harvest(variants)])
    assert found is not None
    assert found[0] == found[1] == pytest.approx(sum(needed) / len(draws))


def test_fewer_variants_than_are_drawn_have_no_number_of_pairs() -> None:
    assert app_pairs_at(2)([harvest([kept()] * 3)], [harvest([kept()])]) is None
    assert app_pairs_at(0)([harvest([])], [harvest([])]) is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=12))
def test_the_jackknife_of_a_mean_is_the_paired_t_interval(counts: list[tuple[int, int]]) -> None:
    """At equal attempts, kept per 1,000 is a mean over rng_seeds, where both are the same interval."""
    mine = [harvest([kept()] * m, n) for n, (m, _) in enumerate(counts)]
    full = [harvest([kept()] * f, n, "full") for n, (_, f) in enumerate(counts)]
    found = jackknife(mine, full, kept_per_1000)
    expected = mean_interval([10.0 * (m - f) for m, f in counts])
    assert found is not None and expected is not None
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (expected.estimate, expected.low, expected.high), abs=1e-6
    )


def test_an_arm_beside_its_twin_differs_by_nothing() -> None:
    twins = [harvest([kept(n), kept(40 - n, 3)], n) for n in range(1, 11)]
    for figure in (fresh_share, kept_per_1000, hard_share, app_pairs_at(5)):
        found = jackknife(twins, twins, figure)
        assert found is not None and (found.estimate, found.low, found.high) == (0.0, 0.0, 0.0)


def test_hard_share_is_taken_where_both_sides_have_variants_of_that_rate() -> None:
    """The arm's hard items are those that nobody solves; matched, it is the easier one."""
    mine = [harvest([kept(0, 3), kept(1, 3), kept(2, 3), kept(20, 1), kept(20, 3)])]
    full = [harvest([kept(20, 3), kept(22, 3), kept(39, 1)])]
    assert hard_share(mine, full) == (0.5, 1.0)
    assert hard_share([harvest([kept(0)])], [harvest([kept(40)])]) is None


def test_strata_are_weighted_by_the_smaller_side() -> None:
    mine = [harvest([kept(0, 3), kept(0, 1), kept(0, 1), kept(0, 1), kept(20, 3)])]
    full = [harvest([kept(0, 1), kept(20, 3), kept(20, 3)])]
    assert hard_share(mine, full) == (pytest.approx((1 / 4 + 1) / 2), pytest.approx(1 / 2))


def rounds(count: int, *, poor: ArmName | None = None) -> list[Harvest]:
    """Harvests of all arms under `count` rng_seeds, two variants each; the poor arm keeps none."""
    return [
        harvest([] if arm == poor else [kept(20 + n % 5), kept(10, 3, *APPS[:2])], n, arm)
        for n in range(count)
        for arm in ARMS
    ]


def test_every_figure_stands_beside_the_full_evolution_for_every_arm() -> None:
    cells = compared(rounds(10))
    assert len(cells) == 4 * len(ARMS)
    assert [one.arm for one in cells[: len(ARMS)]] == list(ARMS)
    for one in cells:
        assert one.value == one.full
        assert (one.spread is not None) == one.figure.startswith("fresh share")
        assert (one.difference is None) == (one.arm == "full")


def test_what_rests_on_too_little_is_not_compared() -> None:
    few = compared(rounds(MIN_RNG_SEEDS - 1))
    assert all(one.difference is None for one in few)
    poor = compared(rounds(10, poor="iid"))
    for figure in ("fresh share", "hard share", "app pairs"):
        assert cell(poor, figure, "iid").difference is None
        assert cell(poor, figure, "sequential").difference is not None
    # That an arm keeps nothing is a finding.
    none_kept = cell(poor, "kept per", "iid").difference
    assert none_kept is not None and none_kept.high < 0
    assert 2 * MIN_RNG_SEEDS >= MIN_KEPT


def test_an_interval_as_wide_as_half_the_range_compares_nothing() -> None:
    swinging = [
        harvest([kept(20 if (n + (arm == "iid")) % 2 else 0)] * 2, n, arm)
        for n in range(6)
        for arm in ARMS
    ]
    assert cell(compared(swinging), "fresh share", "iid").difference is None
    assert cell(compared(swinging), "fresh share", "sequential").difference is not None


def test_unequal_attempts_and_unfinished_rng_seeds_take_no_part() -> None:
    whole = rounds(6)
    dearer = harvest([kept()] * 50, 2, "iid", attempts=110)
    harvests = [h for h in whole if (h.rng_seed, h.arm) not in {(2, "iid"), (4, "full")}] + [dearer]
    assert unequal(harvests) == {2, 4}
    assert unequal(whole) == set()
    left = [h for h in whole if h.rng_seed not in {2, 4}]
    assert compared(harvests) == compared(left)
