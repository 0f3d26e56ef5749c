"""Which instructions speak of a place in a text: only then does the place of what is added count."""

import re
from pathlib import Path

import pytest

PLACES = (
    'Put the line "- candles" at the top of my note "Groceries".',
    "Append the titles to my note.",
    "Add the total to the very end of the file.",
    "Write the sum below the last line of it.",
    "Put the name above the heading.",
    "Write my address below it.",
    "Replace the first entry of my list.",
    "Add the date after the line with the rent.",
)
NO_PLACES = (
    'Add the line "- candles" to my note "Groceries".',
    "Note every expense above $50.",
    "Write down the songs that are rated below the average.",
    "Remind me at the end of May.",
    "Pay the rent at the start of the month and note it.",
    "Note the bill that is due at the end of 2023.",
    "List the products with a rating above 3 stars.",
)


@pytest.fixture
def place_words(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> re.Pattern[str]:
    monkeypatch.syspath_prepend(checkout / "deployments" / "simulators" / "appworld")
    from grading.policy import PLACE_WORDS

    return PLACE_WORDS


@pytest.mark.parametrize("instruction", PLACES)
def test_a_place_is_heard(place_words: re.Pattern[str], instruction: str) -> None:
    assert place_words.search(instruction.casefold())


@pytest.mark.parametrize("instruction", NO_PLACES)
def test_times_and_amounts_are_no_places(place_words: re.Pattern[str], instruction: str) -> None:
    assert not place_words.search(instruction.casefold())
