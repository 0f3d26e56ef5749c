"""Rows for tests, with what a test does not care about filled in."""

from typing import Any

from warehouse.records import Attempt, Item, Note, Score


def attempt_row(**values: Any) -> Attempt:
    """An attempt; by default a failed one."""
    defaults: dict[str, Any] = {
        "attempt_id": f"a{values.get('repeat', 0)}",
        "campaign": "c",
        "item_id": "i",
        "solver": "s",
        "measurement": "search",
        "repeat": 0,
        "outcome": "failed",
        "cause": None if values.get("outcome") == "solved" else "wrong_state",
        "partial": 1.0 if values.get("outcome") == "solved" else 0.5,
        "calls": 5,
        "turns": 3,
        "distinct_apis": 2,
        "prompt_tokens": 10,
        "completion_tokens": 10,
        "cost_usd": None,
        "difference": None,
        "sandbox": "none",
        "duration_s": 0.1,
    }
    return Attempt(**defaults | values)


def score_row(item_id: str, solved: int, scored: int = 10, **values: Any) -> Score:
    """A score with `solved` of `scored`, and the plain formulas filled in."""
    c = solved / scored
    defaults: dict[str, Any] = {
        "campaign": "c",
        "item_id": item_id,
        "solver": "s",
        "measurement": "search",
        "scored": scored,
        "solved": solved,
        "unscored": 0,
        "completion_rate": c,
        "mean_solved_length": 5.0 if solved else None,
        "mean_solved_turns": 3.0 if solved else None,
        "mean_partial": c,
        "gate": solved > 0,
        "bell": 10 ** -((2 * c - 1) ** 2),
        "variance": c * (1 - c),
        "bell_length_wide": None,
        "variance_length_wide": None,
        "bell_length_narrow": None,
        "variance_length_narrow": None,
    }
    return Score(**defaults | values)


def item_row(text: str) -> Item:
    """An item that differs from others by its text alone."""
    return Item.of(suite="toy", world="w", start=text, instruction=text, gold=f"# {text}")


def note_row(item_id: str) -> Note:
    """A note on an item."""
    return Note(
        note_id=f"n-{item_id}", campaign="c", item_id=item_id, measurement="search", text="note"
    )
