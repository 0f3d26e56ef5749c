"""Intervals: against tables, against the textbook, and by what clustering must do to them."""

import random
from math import sqrt
from statistics import fmean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.intervals import mean_interval, share_interval, t_quantile

FLOATS = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))
HITS = st.lists(st.booleans(), min_size=2, max_size=40)


@pytest.mark.parametrize(
    ("degrees", "level", "expected"),
    [
        (1, 0.95, 12.706),
        (2, 0.95, 4.303),
        (3, 0.95, 3.182),
        (9, 0.95, 2.262),
        (10, 0.90, 1.812),
        (29, 0.99, 2.756),
        (1000, 0.95, 1.962),
    ],
)
def test_quantiles_are_those_of_the_printed_tables(degrees, level, expected):
    assert t_quantile(degrees, level) == pytest.approx(expected, abs=6e-4)


@given(st.lists(FLOATS, min_size=2, max_size=30))
def test_unclustered_it_is_the_textbook_t_interval(values):
    found = mean_interval(values)
    reach = t_quantile(len(values) - 1) * stdev(values) / sqrt(len(values))
    assert found.estimate == fmean(values)
    assert found.high - found.estimate == pytest.approx(reach, rel=1e-6, abs=1e-6)
    assert found.estimate - found.low == pytest.approx(reach, rel=1e-6, abs=1e-6)


@given(st.lists(FLOATS, min_size=2, max_size=12), st.integers(2, 4))
def test_copies_within_a_cluster_add_no_information(values, copies):
    """Each value told again in its own cluster is the same interval, not a narrower one."""
    once = mean_interval(values)
    again = mean_interval(values * copies, list(range(len(values))) * copies)
    assert (again.low, again.high) == pytest.approx((once.low, once.high), rel=1e-6, abs=1e-6)
    assert (again.values, again.clusters) == (len(values) * copies, len(values))


@given(HITS, st.integers(2, 4))
def test_copies_of_hits_add_none_either(hits, copies):
    once, again = share_interval(hits), share_interval(hits * copies, [*range(len(hits))] * copies)
    assert again.high - again.low >= (once.high - once.low) * (1 - 1e-9)


@given(st.data(), HITS)
def test_a_share_stays_in_its_range_and_has_a_width(data, hits):
    names = data.draw(st.lists(st.integers(0, 9), min_size=len(hits), max_size=len(hits)))
    found = share_interval(hits, names)
    if len(set(names)) < 2:
        assert found is None
        return
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert found.high - found.low > 0


@given(HITS)
def test_a_share_and_its_complement_mirror_each_other(hits):
    found, other = share_interval(hits), share_interval([not hit for hit in hits])
    mirrored = (1 - other.high, 1 - other.low)
    assert (found.low, found.high) == pytest.approx(mirrored, abs=1e-9)


def test_one_cluster_tells_nothing():
    assert mean_interval([1.0, 2.0], ["a", "a"]) is None
    assert mean_interval([1.0]) is None
    assert share_interval([]) is None


def test_values_and_clusters_must_match():
    with pytest.raises(ValueError, match="2 values, but 1 clusters"):
        mean_interval([1.0, 2.0], ["a"])


def test_clustered_intervals_cover_where_unclustered_ones_do_not():
    """20 clusters of 3 that move together: the true mean 0 must lie inside in about 95 of 100."""
    dice = random.Random(5)
    names = [number // 3 for number in range(60)]
    covered = {"clustered": 0, "single": 0}
    for _ in range(600):
        common = [dice.gauss(0, 1) for _ in range(20)]
        values = [common[name] + dice.gauss(0, 0.3) for name in names]
        for kind, found in (
            ("clustered", mean_interval(values, names)),
            ("single", mean_interval(values)),
        ):
            covered[kind] += found.low <= 0 <= found.high
    assert 0.92 < covered["clustered"] / 600 < 0.98
    assert covered["single"] / 600 < 0.85
