"""What instructions state, in whatever form."""

import pytest

from tasks.golds import stated


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Send $1,250.50 now.", {1250.5}),
        ("Pay 20% of it.", {20, 0.2}),
        ("twice, or thirty-three times", {2, 30, 3, 33}),
        ("at 7:30 pm", {7, 30, 19}),
        ("at 12 am", {12, 0}),
        ("the 3rd of the first five", {3, 1, 5}),
        ("note A4 and v2", set()),
        ("", set()),
    ],
)
def test_numbers(text: str, numbers: set[float]) -> None:
    assert stated.numbers(text) == numbers


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("May 18", {(5, 18)}),
        ("the 3rd of June, or July 4th", {(6, 3), (7, 4)}),
        ("2023-05-18", {(5, 18)}),
        ("18 apples", set()),
    ],
)
def test_days(text: str, days: set[tuple[int, int]]) -> None:
    assert stated.days(text) == days


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        ("1,000.5", 1000.5),
        (True, None),
        ("3 apples", None),
        ("nan", None),
        (10**400, None),
    ],
)
def test_as_number(value: object, number: float | None) -> None:
    assert stated.as_number(value) == number
