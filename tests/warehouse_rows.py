"""Rows for the warehouse's tests: each maker fills what the test does not care about."""

from collections.abc import Iterable
from typing import Any

from warehouse.records import (
    ApiCall,
    Attempt,
    Campaign,
    Check,
    Confirmation,
    Embedding,
    GoldCall,
    Item,
    Label,
    LlmCall,
    Replication,
    Row,
    Score,
    Seed,
    Selection,
    Spec,
    Step,
    Verdict,
)

CAMPAIGN = "toy-1234-1"


def campaign(name: str = CAMPAIGN, **other: Any) -> Campaign:
    defaults = {
        "suite": "toy",
        "plan_hash": "1234",
        "plan": '{"steps":4,"steps_scope":"campaign"}',
        "edition": "1",
        "world": "w0",
        "simulator_version": "1",
        "sandbox": "none",
        "simulated": True,
    }
    return Campaign(campaign=name, **defaults | other)


def spec(spec_id: str = "solver0") -> Spec:
    return Spec(spec_id=spec_id, role="solver", endpoint="offline", llm_id="toy", sampling="{}")


def item(item_id: str) -> Item:
    return Item(
        item_id=item_id,
        suite="toy",
        world="w0",
        start="start",
        instruction=f"Do {item_id}.",
        gold="pass",
    )


def gold_calls(item_id: str, *apps: str) -> list[GoldCall]:
    """One call of each app, in order."""
    return [
        GoldCall(
            item_id=item_id,
            n=n,
            app=app,
            api="act",
            ok=True,
            wrote=False,
            arguments="{}",
            output=None,
        )
        for n, app in enumerate(apps)
    ]


def seed(item_id: str, position: int = 0, campaign: str = CAMPAIGN) -> Seed:
    return Seed(
        campaign=campaign,
        item_id=item_id,
        position=position,
        name=item_id,
        intended_difficulty=None,
    )


def step(number: int, root: str, child: str | None, campaign: str = CAMPAIGN, **other: Any) -> Step:
    defaults = {
        "parent": root,
        "inspirations": (),
        "direction": "harder",
        "note_id": None,
        "rejection": None if child else "padded",
        "rejection_detail": None,
        "repair_rounds": 0,
    }
    return Step(campaign=campaign, step=number, root=root, child=child, **defaults | other)


def check(
    item_id: str, name: str = "gold_error", passed: bool = True, examined: str = "step 0"
) -> Check:
    return Check(
        campaign=CAMPAIGN,
        item_id=item_id,
        examined=examined,
        check=name,
        passed=passed,
        detail=None,
    )


def attempt(
    item_id: str, repeat: int, outcome: str, campaign: str = CAMPAIGN, **other: Any
) -> Attempt:
    defaults = {
        "attempt_id": f"{campaign}/{item_id}/{repeat}",
        "solver": "solver0",
        "measurement": "search",
        "cause": None if outcome == "solved" else "wrong_state",
        "partial": {"solved": 1.0, "failed": 0.5, "unscored": None}[outcome],
        "calls": 7,
        "turns": 3,
        "distinct_apis": 2,
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "cost_usd": 0.0,
        "difference": '{"missing":[],"unexpected":[],"answer":null}',
        "sandbox": "none",
        "duration_s": 0.25,
    }
    return Attempt(
        campaign=campaign, item_id=item_id, repeat=repeat, outcome=outcome, **defaults | other
    )


def api_call(attempt_id: str, n: int = 0) -> ApiCall:
    return ApiCall(attempt_id=attempt_id, n=n, turn=0, app="toy", api="act", ok=True, wrote=False)


def score(item_id: str, solved: int, scored: int, campaign: str = CAMPAIGN, **other: Any) -> Score:
    defaults = {
        "solver": "solver0",
        "measurement": "search",
        "unscored": 0,
        "completion_rate": solved / scored if scored else None,
        "mean_solved_length": 7.0 if solved else None,
        "mean_solved_turns": 3.0 if solved else None,
        "mean_partial": 0.5 if scored else None,
        "gate": solved > 0,
        "bell": 0.5,
        "variance": 0.2,
        "bell_length_wide": None,
        "variance_length_wide": None,
        "bell_length_narrow": None,
        "variance_length_narrow": None,
    }
    return Score(
        campaign=campaign, item_id=item_id, solved=solved, scored=scored, **defaults | other
    )


def kept(
    item_id: str, root: str, verdict: str | None = "valid", campaign: str = CAMPAIGN
) -> list[Row]:
    """A variant's selection at 5 of 10 and its verdict."""
    return [
        Selection(
            campaign=campaign, item_id=item_id, root=root, solved=5, scored=10, variance_count=25
        ),
        Verdict(
            campaign=campaign, item_id=item_id, judge="judge0", reason="It is.", verdict=verdict
        ),
    ]


def confirmation(
    item_id: str, solved: int, scored: int = 40, campaign: str = CAMPAIGN, **other: Any
) -> Confirmation:
    """A row whose arithmetic the test does not care about; its attempts are `fresh_attempts`."""
    defaults = {"solver": "solver0", "simulated": True, "in_band": True, "band_probability": 0.8}
    return Confirmation(
        campaign=campaign, item_id=item_id, solved=solved, scored=scored, **defaults | other
    )


def fresh_attempts(item_id: str, solved: int, scored: int) -> list[Attempt]:
    """Attempts of the measurement "confirmation"."""
    return [
        attempt(
            item_id,
            n,
            "solved" if n < solved else "failed",
            attempt_id=f"{CAMPAIGN}/fresh/{item_id}/{n}",
            measurement="confirmation",
        )
        for n in range(scored)
    ]


def replication(campaign: str = CAMPAIGN, **other: Any) -> Replication:
    defaults = {
        "solver": "solver0",
        "kept": 1,
        "confirmed": 1,
        "in_band": 1,
        "rate": 1.0,
        "rate_low": None,
        "rate_high": None,
    }
    return Replication(campaign=campaign, **defaults | other)


def label(
    item_id: str,
    name: str,
    value: int,
    attempt_id: str = "",
    source: str = "code",
    campaign: str = CAMPAIGN,
) -> Label:
    return Label(
        campaign=campaign,
        item_id=item_id,
        attempt_id=attempt_id,
        name=name,
        value=value,
        source=source,
    )


def embedding(item_id: str, *vector: float, embedder: str = "toy") -> Embedding:
    return Embedding(
        campaign=CAMPAIGN,
        item_id=item_id,
        embedder=embedder,
        dimensions=len(vector),
        vector=vector,
    )


def llm_call(call_id: str, role: str = "solver", **other: Any) -> LlmCall:
    defaults = {
        "campaign": CAMPAIGN,
        "unit": "attempts/a",
        "item_id": None,
        "step": None,
        "repeat": None,
        "turn": None,
        "spec_id": "solver0",
        "endpoint": "offline",
        "llm_id": "toy",
        "prompt_hash": "h",
        "finish_reason": "stop",
        "prompt_tokens": 100,
        "cached_tokens": 0,
        "completion_tokens": 20,
        "reasoning_tokens": None,
        "cut_chars": 0,
        "cost_usd": 0.5,
        "most_usd": 0.5,
        "cause": None,
        "latency_s": 0.5,
    }
    return LlmCall(call_id=call_id, role=role, **defaults | other)


def flatten(*parts: Row | Iterable[Row]) -> list[Row]:
    """Rows and lists of rows as one list."""
    return [row for part in parts for row in ([part] if isinstance(part, Row) else part)]
