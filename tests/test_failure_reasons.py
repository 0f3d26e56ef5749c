"""Minimal pairs for each failure reason: attempts that have it, and near ones that do not."""

from typing import Any

import pytest

from tasks.errors import AttemptCause
from tasks.labels.failure_reasons import FAILURE_REASONS, failure_reasons
from tasks.suites.base import AnswerDifference, Difference, Effect
from warehouse.records import Attempt


def attempt(cause: str | None = "wrong_state", outcome: str = "failed") -> Attempt:
    return Attempt(
        attempt_id="a",
        campaign="toy",
        item_id="i",
        solver="s",
        measurement="search",
        repeat=0,
        outcome=outcome,
        cause=cause,
        partial=0.5,
        calls=9,
        turns=4,
        distinct_apis=3,
        prompt_tokens=None,
        completion_tokens=None,
        cost_usd=None,
        difference=None,
        sandbox="none",
        duration_s=1.0,
    )


def payment(receiver: str, amount: float = 12.0, text: str = "Internet") -> Effect:
    content = {"receiver_id": receiver, "amount": amount, "description": text}
    return Effect(
        app="venmo",
        table="Transaction",
        change="added",
        content=content,
        references=("receiver_id",),
    )


def balance(user: int, after: float, before: float = 100.0) -> Effect:
    return Effect(
        app="venmo",
        table="User",
        change="changed",
        row=user,
        content={"venmo_balance": after},
        before={"venmo_balance": before},
    )


def changed(row: int, table: str = "Task", **content: Any) -> Effect:
    return Effect(app="todoist", table=table, change="changed", row=row, content=content)


def removed(row: int, table: str = "LikedSong") -> Effect:
    return Effect(
        app="spotify", table=table, change="removed", row=row, before={"song_id": row + 50}
    )


def note(title: str, content: str) -> Effect:
    return Effect(
        app="simple_note",
        table="Note",
        change="added",
        content={"title": title, "content": content},
    )


def answered(given: Any, expected: Any) -> Difference:
    return Difference(answer=AnswerDifference(expected=expected, given=given))


def differs(missing: list[Effect], unexpected: list[Effect]) -> Difference:
    return Difference(missing=tuple(missing), unexpected=tuple(unexpected))


LIMITS = [cause for cause in AttemptCause if cause.endswith("limit")]

STATE: list[tuple[str, Difference, set[str]]] = [
    # R1 and, beside it, the same effect on the right entity.
    ("paid another person", differs([payment("old:4")], [payment("old:7")]), {"R1"}),
    (
        "paid another person another sum",
        differs([payment("old:4")], [payment("old:7", 15.0)]),
        {"R1"},
    ),
    ("unliked another song", differs([removed(3)], [removed(5)]), {"R1"}),
    (
        "completed another task",
        differs([changed(31, is_completed=True)], [changed(32, is_completed=True)]),
        {"R1"},
    ),
    (
        "paid another person, whose balance is off, as is the right one's",
        differs([payment("old:4"), balance(4, 112)], [payment("old:7"), balance(7, 112)]),
        {"R1"},
    ),
    # R2 and near it.
    (
        "paid another sum, balances follow",
        differs(
            [payment("old:4"), balance(1, 88), balance(4, 112)],
            [payment("old:4", 15.0), balance(1, 85), balance(4, 115)],
        ),
        {"R2"},
    ),
    ("wrote another text", differs([note("Plan", "tent")], [note("Plan", "boat")]), {"R2"}),
    (
        "set another date",
        differs([changed(31, due_date="2023-05-18")], [changed(31, due_date="2023-05-19")]),
        {"R2"},
    ),
    (
        "gave another rating",
        differs([changed(8, "SongReview", rating=5)], [changed(8, "SongReview", rating=4)]),
        {"R2"},
    ),
    (
        "one sum wrong, one person wrong",
        differs(
            [payment("old:4"), payment("old:5")], [payment("old:4", 15.0), payment("old:7")]
        ),
        {"R1", "R2"},
    ),
    (
        "the likest are paired: the second payment was right but for its sum",
        differs([payment("old:4"), payment("old:5")], [payment("old:5", 15.0)]),
        {"R2"},
    ),
    # R3 and near it.
    ("did nothing", differs([payment("old:4"), balance(1, 88), balance(4, 112)], []), {"R3"}),
    (
        "left one payment of three out, so that the payer's balance is off",
        differs([payment("old:4"), balance(4, 112), balance(1, 64)], [balance(1, 76)]),
        {"R3"},
    ),
    ("left one song liked", differs([removed(3)], []), {"R3"}),
    ("left a setting", differs([changed(31, priority="high")], []), {"R3"}),
    (
        "left something out and did something else",
        differs([payment("old:4")], [note("Plan", "tent")]),
        {"R4"},
    ),
    (
        "a balance off by what no payment explains",
        differs([payment("old:4"), balance(1, 64)], [balance(1, 70)]),
        {"R2"},
    ),
    # R4 and near it.
    ("wrote a note unasked", differs([], [note("Plan", "tent")]), {"R4"}),
    (
        "paid one more",
        differs(
            [balance(1, 88)], [payment("old:7"), balance(7, 112), balance(1, 76)]
        ),
        {"R4"},
    ),
    ("changed a task unasked", differs([], [changed(32, is_completed=True)]), {"R4"}),
    (
        "deleted and made again where a change was due: another kind of effect",
        differs([changed(31, priority="high")], [removed(31, "Task")]),
        {"R4"},
    ),
    ("nothing differs", differs([], []), set()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("difference", "expected"), [case[1:] for case in STATE], ids=[case[0] for case in STATE]
)
def test_reasons_of_a_state(difference: Difference, expected: set[str]) -> None:
    assert failure_reasons(attempt(), difference, False) == expected


@pytest.mark.parametrize(
    ("given", "expected", "reason"),
    [
        (58.5, 58.75, "R2"),
        ("60", 58.75, "R2"),
        ("Ember", "Kite", "R2"),
        (3, None, "R2"),
        (None, 58.75, "R6"),
        ("", "Kite", "R6"),
        ("<<NOT_GIVEN>>", "Kite", "R6"),
        # Where no answer is due the engine tells this of whoever did not complete.
        ("<<NOT_GIVEN>>", None, "R6"),
        ("$58.75", 58.75, "R6"),
        ("The song is Kite.", "Kite", "R6"),
    ],
)
def test_reason_of_an_answer(given: Any, expected: Any, reason: str) -> None:
    found = failure_reasons(attempt("wrong_answer"), answered(given, expected), False)
    assert found == {reason}


@pytest.mark.parametrize("cause", [*LIMITS, AttemptCause.NOT_COMPLETED, AttemptCause.NO_ACTION])
def test_what_was_not_completed_is_unfinished(cause: AttemptCause) -> None:
    unfinished = differs([payment("old:4")], [])
    assert failure_reasons(attempt(cause), unfinished, False) == {"R3", "R6"}
    assert failure_reasons(attempt(cause), unfinished, True) == {"R3", "R5", "R6"}


@pytest.mark.parametrize("cause", [AttemptCause.WRONG_STATE, AttemptCause.WRONG_ANSWER])
def test_an_error_before_a_completion_ended_nothing(cause: AttemptCause) -> None:
    found = failure_reasons(attempt(cause), differs([payment("old:4")], []), True)
    assert found == {"R3"}


def test_a_difference_that_is_not_known_shows_no_reason_of_state() -> None:
    assert failure_reasons(attempt("turn_limit"), None, True) == {"R5", "R6"}


@pytest.mark.parametrize(("cause", "outcome"), [(None, "solved"), ("provider", "unscored")])
def test_only_failed_attempts_have_reasons(cause: str | None, outcome: str) -> None:
    difference = differs([payment("old:4")], [note("Plan", "tent")])
    assert failure_reasons(attempt(cause, outcome), difference, True) == frozenset()


def test_each_reason_of_state_has_three_attempts_with_it_and_three_without() -> None:
    for reason in ("R1", "R2", "R3", "R4"):
        having = [reason in expected for _, _, expected in STATE]
        assert having.count(True) >= 3 and having.count(False) >= 3, reason


def test_every_failed_attempt_that_differs_has_a_reason_of_the_list() -> None:
    for _, difference, _ in STATE:
        found = failure_reasons(attempt(), difference, False)
        assert found <= set(FAILURE_REASONS)
        assert bool(found) == bool(difference.missing or difference.unexpected)
