"""A whole small campaign, worked out by hand, for the tests of marts and checks."""

from pathlib import Path

from tests.warehouse_rows import (
    CAMPAIGN,
    attempt,
    campaign,
    check,
    confirmation,
    embedding,
    flatten,
    fresh_attempts,
    gold_calls,
    item,
    kept,
    label,
    llm_call,
    replication,
    score,
    seed,
    spec,
    step,
)
from warehouse.records import Row
from warehouse.store import Loader

SOUND = flatten(
    campaign(),
    spec(),
    [item(name) for name in ("s0", "s1", "v0", "v1")],
    seed("s0", 0),
    seed("s1", 1),
    gold_calls("s0", "supervisor", "phone"),
    gold_calls("s1", "supervisor"),
    gold_calls("v0", "phone", "venmo", "phone"),
    gold_calls("v1", "phone", "gmail", "venmo"),
    step(0, "s0", "v0"),
    step(1, "s0", None),
    step(2, "s1", "v1", direction="easier"),
    step(3, "s1", None, rejection="hard_coded", direction="easier"),
    [check("v0", examined="step 0"), check("v1", examined="step 2")],
    attempt("s0", 0, "solved"),
    attempt("s0", 1, "solved"),
    attempt("s1", 0, "failed"),
    attempt("s1", 1, "unscored", cause="SimulatorError"),
    [attempt("v0", n, "solved" if n < 5 else "failed") for n in range(10)],
    [attempt("v1", n, "solved" if n < 5 else "failed") for n in range(10)],
    score("s0", 2, 2),
    score("s1", 0, 1, unscored=1),
    score("v0", 5, 10),
    score("v1", 5, 10),
    kept("v0", "s0"),
    kept("v1", "s1", verdict="vague"),
    fresh_attempts("v0", 2, 4),
    score("v0", 2, 4, measurement="confirmation"),
    confirmation("v0", 2, 4),
    replication(),
    label("s0", "difficulty", 1),
    label("s0", "difficulty", 3, source="author"),
    label("s1", "difficulty", 2, source="judge0"),
    label("v0", "difficulty", 3),
    label("v0", "difficulty", 1, source="a judge"),
    label("s0", "F1", 0),
    label("s0", "F1", 1, source="judge0"),
    label("s1", "F1", 0),
    label("v0", "F1", 1),
    label("s1", "F2", 1),
    label("v0", "R2", 1, attempt_id=f"{CAMPAIGN}/v0/5"),
    label("v0", "R3", 0, attempt_id=f"{CAMPAIGN}/v0/5"),
    label("v0", "R2", 1, attempt_id=f"{CAMPAIGN}/v0/6"),
    embedding("s0", 1.0, 0.0),
    embedding("v0", 0.0, 2.0),
    llm_call("c0", prompt_tokens=100, completion_tokens=20, cost_usd=0.5),
    llm_call("c1", prompt_tokens=50, completion_tokens=10, cost_usd=0.25),
    llm_call("c2", role="judge", prompt_tokens=7, completion_tokens=1, cost_usd=1.0),
    llm_call(
        "c3",
        role="judge",
        cause="ProviderError",
        finish_reason=None,
        prompt_tokens=None,
        completion_tokens=None,
        cost_usd=None,
    ),
)
"""A whole small campaign: two seeds, four steps, two variants selected, one of them judged valid."""


def loaded(path: Path, *parts: Row | list[Row]) -> Path:
    """A warehouse with these rows, published."""
    with Loader(path) as loader:
        loader.put(flatten(*parts))
    return path
