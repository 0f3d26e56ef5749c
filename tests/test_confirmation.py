"""Confirmation: fresh attempts only, and how many of the kept hold."""

import pytest

from tasks.confirmation import confirmations, replication
from tests.rows import score_row


def fresh(item_id: str, solved: int, scored: int = 40):
    """A score of fresh attempts."""
    if scored:
        return score_row(item_id, solved, scored, measurement="confirmation")
    return score_row(item_id, 0, 1, measurement="confirmation").model_copy(update={"scored": 0})


def test_scores_of_the_search_confirm_nothing() -> None:
    with pytest.raises(ValueError, match="another measurement than confirmation: lucky"):
        confirmations([fresh("held", 20), score_row("lucky", 5)], simulated=True)


def test_a_variant_holds_by_its_fresh_rate_and_says_how_sure_that_is() -> None:
    held, lost, unknown = confirmations(
        [fresh("held", 20), fresh("lost", 36), fresh("unknown", 0, scored=0)], simulated=False
    )
    assert (held.in_band, lost.in_band, unknown.in_band) == (True, False, None)
    assert held.band_probability > 0.79
    assert lost.band_probability < 0.001
    assert unknown.band_probability == pytest.approx(0.2)


def test_the_replication_rate_counts_those_of_which_something_is_known() -> None:
    made = confirmations(
        [fresh("a", 20), fresh("b", 39), fresh("c", 18), fresh("d", 0, scored=0)], simulated=True
    )
    found = replication("c", "s", made, ["r1", "r1", "r2", "r3"])
    assert (found.kept, found.confirmed, found.in_band) == (4, 3, 2)
    assert found.rate == pytest.approx(2 / 3)
    assert found.rate_low is not None and found.rate_high is not None
    assert 0 <= found.rate_low < found.rate < found.rate_high <= 1


def test_one_seed_gives_a_rate_without_an_interval_and_none_gives_no_rate() -> None:
    alone = replication("c", "s", confirmations([fresh("a", 20)], True), ["r1"])
    assert (alone.rate, alone.rate_low, alone.rate_high) == (1.0, None, None)
    nothing = replication("c", "s", [], [])
    assert (nothing.kept, nothing.rate) == (0, None)
