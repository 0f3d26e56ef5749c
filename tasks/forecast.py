"""What a campaign is expected to ask and to cost, by role, before anything is asked.

Arithmetic on a plan and on means: those of an earlier campaign, or what is assumed from the seeds. Nothing is
taken as served from a provider's cache, so that a forecast errs on the dear side.
"""

import math
import re
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from tasks.documents import document_of
from tasks.labels.features import JUDGED_FEATURES
from tasks.llm.base import LLMSpec, Tokens
from tasks.llm.context import length
from tasks.llm.prices import Prices, cost_usd
from tasks.llm.prompting import (
    feedback_prompt,
    judge_prompt,
    labeller_prompt,
    proposer_prompt,
    solver_messages,
)
from tasks.llm.retrying import TEXTS_A_CALL
from tasks.plan import Plan, roles_in
from tasks.suites.base import Briefing, Description
from warehouse.records import Item, Record


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


TURNS_AN_API = 2
"""Turns that an attempt is assumed to take for each API that its gold calls: one to read the API's document,
one to call it. Offline campaigns on AppWorld took 8.3 turns for 4.1 APIs, players of real ones 4."""

TURN_TOKENS = 1_000
"""By which a solver's prompt is assumed to grow a turn: 1,050 in offline campaigns on AppWorld."""

START_TOKENS = 3_500
"""Of a proposer's prompt, where a suite can look around a start: what is there, and what its gold was
told."""

FAILURES_TOKENS = 2_400
"""Of a judge's prompt: what its failed attempts left otherwise."""

REPLY_TOKENS = 300
"""Of a reply: a thought with a cell, a note, a reason with a verdict."""

DIALOGUE_OPENING_TOKENS = {"solver": 7_500, "user": 3_500}
"""Of the simulator's own first prompts with its tools, which are known only when a dialogue is opened: in
offline campaigns on telecom 7,500 and 3,650, on banking 3,700 to 5,300 and 1,360."""

_API = re.compile(r"\bapis\.(?!supervisor\.)(\w+\.\w+)")


def assumed(plan: Plan, seeds: Sequence[Item], world: Description) -> Means:
    """Averages where there is no earlier campaign: from the seeds' golds and the prompts made of them.

    Prompts are the real ones as far as they are known beforehand, four characters a token. Calls and
    completions are guesses at what a language model makes of them, on the dear side.
    """
    roles = roles_in(world.interaction)
    made = [_turns(seed, world) for seed in seeds]
    turns = mean(min(solver, plan.limits.max_turns) for solver, _ in made)
    user_turns = mean(min(user, plan.limits.max_turns) for _, user in made)
    opening = _opening_tokens(plan, seeds, world)
    item_tokens = mean(len(seed.instruction + (seed.gold or "")) / 4 for seed in seeds)
    told = {
        "proposer": START_TOKENS if world.survey is not None else 0,
        "solver": TURN_TOKENS * (turns - 1) / 2,
        "user": TURN_TOKENS / 4 * (user_turns - 1) / 2,
        # Two attempts in full, of each at most what a feedback prompt shows.
        "feedback": 2 * min(TURN_TOKENS * turns, 3_000),
        "judge": FAILURES_TOKENS,
    }
    calls = {"proposer": 1.3, "solver": turns, "user": user_turns, "judge": 1.1, "labeller": 1.1}
    written = {"proposer": 2 * item_tokens + REPLY_TOKENS, "embedder": 0}
    return Means(
        source="assumed from seeds and prompts, for no earlier campaign of the suite is in the warehouse",
        accepted_share=0.6,
        selected_share=0.4,
        kept_share=0.8,
        by_role={
            role: RoleMeans(
                calls=calls.get(role, 1),
                prompt_tokens=opening[role] + told.get(role, 0),
                completion_tokens=written.get(role, REPLY_TOKENS),
            )
            for role in roles
        },
    )


def _turns(seed: Item, world: Description) -> tuple[int, int]:
    """Turns of solver and user that an attempt is assumed to take; none of a user where there is none.

    In a dialogue each call of the gold is a turn of who makes it; one of the user's is also asked for and
    told of. Beside these both greet and part.
    """
    if world.interaction != "dialogue":
        return max(TURNS_AN_API * len(set(_API.findall(seed.gold or ""))), 1), 0
    sides = [one.get("requestor", "assistant") for one in document_of(seed)["actions"]]
    users = sides.count("user")
    return len(sides) + 1, 2 * users + 2


def _opening_tokens(plan: Plan, seeds: Sequence[Item], world: Description) -> dict[str, float]:
    """Mean length of each role's first prompt on a seed."""
    borrowed, form = seeds[: plan.search.inspirations], world.interaction

    def prompts(seed: Item) -> dict[str, int]:
        briefing = Briefing(supervisor={}, datetime="", instruction=seed.instruction)
        return {
            "proposer": length(proposer_prompt(seed, world, "harder", None, borrowed).messages),
            "solver": 4 * DIALOGUE_OPENING_TOKENS["solver"]
            if form == "dialogue"
            else length(solver_messages(briefing, seed.suite)),
            "feedback": length(feedback_prompt(seed, (), interaction=form).messages),
            "judge": length(judge_prompt(seed, (), interaction=form).messages),
            "labeller": length(labeller_prompt(seed, JUDGED_FEATURES, interaction=form).messages),
            "embedder": len(seed.instruction),
            "user": 4 * DIALOGUE_OPENING_TOKENS["user"] + len(seed.instruction),
        }

    made = [prompts(seed) for seed in seeds]
    return {role: mean(one[role] for one in made) / 4 for role in roles_in(form)}


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
    """The calls, tokens and cost of each role of a plan that has means.

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
        "user": (seeds + variants) * plan.repeats,
    }
    return [
        _expected(role, plan.spec(role), units[role], one, prices[role])
        for role, one in means.by_role.items()
    ]


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


def measured(
    progress: Mapping[str, Any], by_role: Mapping[str, Mapping[str, Any]], otherwise: Means
) -> Means:
    """The means of a campaign, from its rows in the marts progress and cost_per_kept.

    What it has none of (a role that was never asked, no variant) is as `otherwise`.
    """
    steps, accepted, selected = (progress[name] for name in ("steps", "accepted", "selected"))
    done = {
        "proposer": steps,
        "solver": progress["attempts"],
        "user": progress["attempts"],
        "feedback": progress["seeds"] + accepted,
        "judge": selected,
        "labeller": progress["seeds"] + progress["kept"],
    }
    roles = dict(otherwise.by_role)
    for role, units in done.items():
        spent = by_role.get(role)
        if spent is None or role not in roles or not units or spent["prompt_tokens"] is None:
            continue
        answered = spent["llm_calls"] - spent["failed_calls"]
        roles[role] = RoleMeans(
            calls=answered / units,
            prompt_tokens=spent["prompt_tokens"] / answered,
            completion_tokens=(spent["completion_tokens"] or 0) / answered,
        )
    return Means(
        source=f"means of campaign {progress['campaign']}, the largest earlier one of its kind",
        accepted_share=accepted / steps if steps else otherwise.accepted_share,
        selected_share=selected / accepted if accepted else otherwise.selected_share,
        kept_share=progress["kept"] / selected if selected else otherwise.kept_share,
        by_role=roles,
    )
