"""Scores: the paper's formulas, checked at its points and by property."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.score import NARROW_BAND, WIDE_BAND, bell, score_of, variance
from tests.rows import attempt_row

RATES = st.fractions(min_value=0, max_value=1)


def attempts(*outcomes: str, calls: int = 5) -> list:
    """Attempts with these outcomes on one item."""
    return [attempt_row(repeat=n, outcome=o, calls=calls + n) for n, o in enumerate(outcomes)]


def scored(*outcomes: str, **choices) -> object:
    """The score of attempts with these outcomes."""
    given = attempts(*outcomes)
    return score_of(given, campaign="c", item_id="i", solver="s", measurement="search", **choices)


def test_bell_goes_through_the_papers_points() -> None:
    assert bell(Fraction(1, 2)) == 1.0
    assert bell(0) == bell(1) == pytest.approx(0.1, abs=1e-15)


@given(RATES)
def test_bell_and_variance_are_symmetric_and_peak_at_one_half(c: Fraction) -> None:
    assert bell(c) == pytest.approx(bell(1 - c))
    assert variance(c) == pytest.approx(variance(1 - c))
    assert bell(c) <= 1.0
    assert variance(c) <= 0.25


@given(st.lists(st.sampled_from(["solved", "failed", "unscored"]), max_size=30))
def test_a_score_counts_scored_attempts_only(outcomes: list[str]) -> None:
    score = scored(*outcomes)
    solved, failed = outcomes.count("solved"), outcomes.count("failed")
    assert (score.solved, score.scored) == (solved, solved + failed)
    assert score.unscored == outcomes.count("unscored")
    assert score.gate == (solved >= 1)
    if solved + failed == 0:
        assert score.completion_rate is score.bell is score.variance is None
    else:
        assert score.completion_rate == solved / (solved + failed)
    assert (score.mean_solved_length is None) == (solved == 0)


@pytest.mark.parametrize("solved", range(11))
@pytest.mark.parametrize(("width", "band"), [("wide", WIDE_BAND), ("narrow", NARROW_BAND)])
@pytest.mark.parametrize("base", ["bell", "variance"])
def test_length_counts_inside_the_band_ends_included(
    solved: int, width: str, band: tuple[Fraction, Fraction], base: str
) -> None:
    score = scored(*["solved"] * solved, *["failed"] * (10 - solved), length_weight=0.5)
    inside = band[0] <= Fraction(solved, 10) <= band[1]
    expected = getattr(score, base) + (0.5 * score.mean_solved_length if inside else 0)
    assert getattr(score, f"{base}_length_{width}") == expected


def test_length_is_the_mean_of_successful_trajectories_only() -> None:
    given = [
        attempt_row(repeat=0, outcome="solved", calls=4),
        attempt_row(repeat=1, outcome="solved", calls=6),
        attempt_row(repeat=2, outcome="failed", calls=100),
    ]
    score = score_of(given, campaign="c", item_id="i", solver="s", measurement="search")
    assert score.mean_solved_length == 5.0


def test_partial_completion_is_the_mean_partial_and_a_lost_state_counts_zero() -> None:
    given = [
        attempt_row(repeat=0, outcome="failed", partial=0.5),
        attempt_row(repeat=1, outcome="failed", partial=None),
    ]
    score = score_of(
        given, campaign="c", item_id="i", solver="s", measurement="search", completion="partial"
    )
    assert score.completion_rate == 0.25
    assert score.mean_partial == 0.5
    assert not score.gate


@pytest.mark.parametrize(
    "stray", [{"measurement": "confirmation"}, {"solver": "another"}, {"item_id": "another"}]
)
def test_attempts_of_two_measurements_are_never_one_estimate(stray: dict[str, str]) -> None:
    given = [attempt_row(repeat=0), attempt_row(repeat=1, attempt_id="stray", **stray)]
    with pytest.raises(ValueError, match="not attempts of search on item i: stray"):
        score_of(given, campaign="c", item_id="i", solver="s", measurement="search")
