"""What a campaign is expected to ask and to cost, by role, before anything is asked.

Arithmetic on a plan and on means: those of an earlier campaign, or the assumptions below. Nothing is taken as
served from a provider's cache, so that a forecast errs on the dear side.
"""

import math
from collections.abc import Mapping
from typing import Any

from tasks.llm.base import LLMSpec, Tokens
from tasks.llm.prices import Prices, cost_usd
from tasks.llm.retrying import TEXTS_A_CALL
from tasks.plan import ROLES, Plan
from warehouse.records import Record


class RoleMeans(Record):
    """What one unit of a role's work takes, on average."""

    calls: float
    """Calls for a unit: a step's edit, an attempt, a note, a verdict, an item's labels."""
    prompt_tokens: float
    """Of one call."""
    completion_tokens: float
    """Of one call, reasoning included."""


class Means(Record):
    """Averages that a forecast stands on."""

    source: str
    """Where they come from, for the reader."""
    accepted_share: float
    """Share (0-1) of the steps whose edit becomes a variant."""
    selected_share: float
    """Share (0-1) of the variants that the judge sees."""
    kept_share: float
    """Share (0-1) of the judged ones that are kept."""
    by_role: dict[str, RoleMeans]


ASSUMED = Means(
    source="assumed: no earlier campaign of the suite is in the warehouse",
    accepted_share=0.6,
    selected_share=0.4,
    kept_share=0.8,
    by_role={
        "proposer": RoleMeans(calls=1.3, prompt_tokens=11_000, completion_tokens=1_500),
        "solver": RoleMeans(calls=12, prompt_tokens=7_000, completion_tokens=400),
        "feedback": RoleMeans(calls=1, prompt_tokens=6_000, completion_tokens=500),
        "judge": RoleMeans(calls=1.1, prompt_tokens=3_300, completion_tokens=300),
        "labeller": RoleMeans(calls=1.1, prompt_tokens=900, completion_tokens=300),
        "embedder": RoleMeans(calls=1, prompt_tokens=60, completion_tokens=0),
    },
)
"""Prompt tokens are those of offline campaigns on our AppWorld world, whose prompts are the real ones; calls
and completions are a guess at what a language model does with them."""


class Expected(Record):
    """What is expected of one role."""

    role: str
    llm_id: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """None when the price is unknown."""


def forecast(
    plan: Plan, seeds: int, means: Means, prices: Mapping[str, Prices | None]
) -> list[Expected]:
    """The calls, tokens and cost of each role of a plan.

    Args:
        plan: The campaign's.
        seeds: How many seeds take part.
        means: What a unit of work takes.
        prices: By role; None where they are unknown.
    """
    steps = plan.steps * (seeds if plan.steps_scope == "seed" else 1)
    variants = means.accepted_share * steps
    judged = means.selected_share * variants
    shown = seeds + means.kept_share * judged
    units = {
        "proposer": steps,
        "solver": (seeds + variants) * plan.repeats,
        "feedback": seeds + variants,
        "judge": judged,
        "labeller": shown,
        "embedder": shown,
    }
    return [_expected(r, getattr(plan, r), units[r], means.by_role[r], prices[r]) for r in ROLES]


def _expected(
    role: str, spec: LLMSpec, units: float, means: RoleMeans, prices: Prices | None
) -> Expected:
    calls = means.calls * units
    prompt, completion = round(calls * means.prompt_tokens), round(calls * means.completion_tokens)
    if role == "embedder":  # its texts are counted above, many of them are one call
        calls = math.ceil(calls / TEXTS_A_CALL)
    return Expected(
        role=role,
        llm_id=spec.llm_id,
        calls=round(calls),
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost_usd=cost_usd(prices, Tokens(prompt=prompt, cached=0, completion=completion)),
    )


def measured(progress: Mapping[str, Any], by_role: Mapping[str, Mapping[str, Any]]) -> Means:
    """The means of a campaign, from its rows in the marts progress and cost_per_kept.

    What it has none of (a role that was never asked, no variant) is as `ASSUMED`.
    """
    steps, accepted, selected = (progress[name] for name in ("steps", "accepted", "selected"))
    done = {
        "proposer": steps,
        "solver": progress["attempts"],
        "feedback": progress["seeds"] + accepted,
        "judge": selected,
        "labeller": progress["seeds"] + progress["kept"],
    }
    roles = dict(ASSUMED.by_role)
    for role, units in done.items():
        spent = by_role.get(role)
        if spent is None or not units or spent["prompt_tokens"] is None:
            continue
        answered = spent["llm_calls"] - spent["failed_calls"]
        roles[role] = RoleMeans(
            calls=answered / units,
            prompt_tokens=spent["prompt_tokens"] / answered,
            completion_tokens=(spent["completion_tokens"] or 0) / answered,
        )
    return Means(
        source=f"means of campaign {progress['campaign']}, the largest earlier one of its kind",
        accepted_share=accepted / steps if steps else ASSUMED.accepted_share,
        selected_share=selected / accepted if accepted else ASSUMED.selected_share,
        kept_share=progress["kept"] / selected if selected else ASSUMED.kept_share,
        by_role=roles,
    )
