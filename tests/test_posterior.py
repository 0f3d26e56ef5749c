"""The exact posterior, against numerical integration and what every distribution keeps."""

from fractions import Fraction
from math import exp, lgamma, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.posterior import band_probability, beta_distribution, in_band

COUNTS = st.integers(1, 60)


def density(p: float, a: int, b: int) -> float:
    """Of Beta(a, b) at p inside (0, 1)."""
    constant = lgamma(a + b) - lgamma(a) - lgamma(b)
    return exp(constant + (a - 1) * log(p) + (b - 1) * log(1 - p))


def integral(a: int, b: int, low: float, high: float, parts: int = 400) -> float:
    """Simpson's rule over the density."""
    width = (high - low) / (2 * parts)
    values = [density(low + k * width, a, b) for k in range(2 * parts + 1)]
    return width / 3 * (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))


@given(st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_band_holds_what_integration_finds_there(counts: tuple[int, int]) -> None:
    solved, scored = counts
    expected = integral(1 + solved, 1 + scored - solved, 0.4, 0.6)
    assert band_probability(solved, scored) == pytest.approx(expected, abs=1e-9)


@given(COUNTS, COUNTS, st.fractions(0, 1, max_denominator=50))
def test_solved_and_failed_are_mirror_images(a: int, b: int, x: Fraction) -> None:
    assert beta_distribution(a, b, x) + beta_distribution(b, a, 1 - x) == 1


@given(COUNTS, COUNTS)
def test_it_is_a_distribution(a: int, b: int) -> None:
    steps = [beta_distribution(a, b, Fraction(k, 10)) for k in range(11)]
    assert steps[0] == 0 and steps[-1] == 1
    assert steps == sorted(steps)


def test_without_attempts_only_the_prior_speaks() -> None:
    assert band_probability(0, 0) == pytest.approx(0.2, abs=1e-15)


@pytest.mark.parametrize(
    ("solved", "scored", "inside"),
    [(15, 40, False), (16, 40, True), (24, 40, True), (25, 40, False), (3, 5, True), (6, 10, True)],
)
def test_the_ends_of_the_band_lie_in_it(solved: int, scored: int, inside: bool) -> None:
    """0.6 is no float: 6 / 10 <= 0.6 is luck, 3 / 5 as a fraction is not."""
    assert in_band(solved, scored) is inside


def test_more_attempts_at_the_same_rate_make_surer() -> None:
    assert band_probability(5, 10) < band_probability(20, 40) < band_probability(200, 400) < 1
