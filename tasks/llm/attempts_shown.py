"""Which of an item's attempts a prompt shows, and how much of each.

A feedback model is shown some in full, a judge what failed ones left and how a dialogue ended.
"""

from collections.abc import Sequence

from tasks.llm.rendering import attempt_line, difference_of
from tasks.llm.traces import trace_text
from warehouse.records import Attempt, Turn

END_TURNS = 3
"""Turns at the end of a failed dialogue that a judge is shown: who ended it, and on what."""

MAX_END_CHARS = 2_000
"""Length of each such end."""


def traces_of(
    trajectories: Sequence[tuple[Attempt, Sequence[Turn]]], failed: int, solved: int, chars: int
) -> str:
    """Attempts in full, `chars` of each trace: `failed` of the failed ones, `solved` of the solved ones.

    Failed ones of distinct causes and differences come first; of the solved ones the shortest.
    """
    shown = _shown_in_full(trajectories, failed, solved)
    parts = [
        f"## {attempt_line(attempt)}\n\n{difference_of(attempt)}\n\n{trace_text(turns, chars)}"
        for attempt, turns in shown
    ]
    if len(shown) < len(trajectories):
        parts.append(f"({len(trajectories) - len(shown)} further attempts are not shown in full.)")
    return "\n\n".join(parts) or "(none)"


def differences_of(failures: Sequence[Attempt], count: int, turns: Sequence[Turn]) -> str:
    """What `count` failed attempts left, distinct ones first; with the end of those that have turns here."""
    shown = _distinct_first(failures)[:count]
    parts = [
        f"## {attempt_line(attempt)}\n\n{difference_of(attempt)}{_end(attempt, turns)}"
        for attempt in shown
    ]
    if len(shown) < len(failures):
        parts.append(f"({len(failures) - len(shown)} further failed attempts are not shown.)")
    return "\n\n".join(parts) or "(no attempt failed)"


def _end(attempt: Attempt, turns: Sequence[Turn]) -> str:
    own = [turn for turn in turns if turn.attempt_id == attempt.attempt_id]
    return f"\n\nIts end:\n\n{trace_text(own[-END_TURNS:], MAX_END_CHARS)}" if own else ""


def _shown_in_full(
    trajectories: Sequence[tuple[Attempt, Sequence[Turn]]], failures: int, solutions: int
) -> list[tuple[Attempt, Sequence[Turn]]]:
    turns_of = {attempt.attempt_id: turns for attempt, turns in trajectories}
    attempts = [attempt for attempt, _ in trajectories]
    failed = _distinct_first([one for one in attempts if one.outcome == "failed"])
    solved = sorted(
        (one for one in attempts if one.outcome == "solved"),
        key=lambda one: (one.calls, one.repeat),
    )
    shown = [*failed[:failures], *solved[:solutions]]
    return [(attempt, turns_of[attempt.attempt_id]) for attempt in shown]


def _distinct_first(failures: Sequence[Attempt]) -> list[Attempt]:
    """The failures, one of each (cause, difference) before their likes; else in their order."""
    seen: dict[tuple[str | None, str | None], int] = {}
    rank = []
    for attempt in failures:
        kind = (attempt.cause, attempt.difference)
        seen[kind] = seen.get(kind, -1) + 1
        rank.append(seen[kind])
    return [
        attempt for _, attempt in sorted(zip(rank, failures, strict=True), key=lambda two: two[0])
    ]
