"""The forecast: counts that follow from a plan, and the means of an earlier campaign."""

import asyncio
import json
from collections import Counter

import pytest

from tasks.forecast import TURNS_AN_API, Means, RoleMeans, assumed, forecast, measured
from tasks.llm.prices import Prices
from tasks.plan import ROLES, Plan, SolverLimits
from tests.handful import DESCRIPTION, FORBID, PAY, TEXT, item
from tests.toy.__main__ import toy_plan
from tests.toy.running import Toy, ledger_of
from tests.toy.suite import ToySuite, toy_seeds

ONE = RoleMeans(calls=1, prompt_tokens=100, completion_tokens=10)
EVEN = Means(
    source="here",
    accepted_share=0.5,
    selected_share=0.5,
    kept_share=0.5,
    by_role=dict.fromkeys(ROLES, ONE) | {"solver": ONE.model_copy(update={"calls": 3.0})},
)


def test_counts_follow_from_the_plan() -> None:
    plan = toy_plan(steps=40, repeats=10)
    expected = {one.role: one for one in forecast(plan, 8, EVEN, dict.fromkeys(ROLES, Prices()))}
    # 20 variants, 10 judged, 5 kept; the seeds are attempted, noted, labelled and embedded as well.
    calls = {role: one.calls for role, one in expected.items()}
    assert calls == {
        "proposer": 40,
        "solver": 28 * 10 * 3,
        "feedback": 28,
        "judge": 10,
        "labeller": 13,
        "embedder": 1,
    }
    assert expected["embedder"].prompt_tokens == 13 * 100
    assert (expected["solver"].prompt_tokens, expected["solver"].completion_tokens) == (84000, 8400)


def test_steps_of_each_seed_are_counted_for_each() -> None:
    plan = toy_plan(steps=5, steps_scope="seed")
    proposer = forecast(plan, 4, EVEN, dict.fromkeys(ROLES))[0]
    assert proposer.calls == 20


def test_a_cost_is_unknown_without_a_price_and_nothing_is_taken_as_cached() -> None:
    prices = dict.fromkeys(ROLES) | {"judge": Prices(input=10.0, cached_input=1.0, output=100.0)}
    costs = {one.role: one.cost_usd for one in forecast(toy_plan(steps=40), 8, EVEN, prices)}
    assert costs.pop("judge") == pytest.approx(10 * (100 * 10.0 + 10 * 100.0) / 1e6)
    assert set(costs.values()) == {None}


def test_means_of_a_campaign() -> None:
    progress = {
        "campaign": "toy-1",
        "seeds": 4,
        "steps": 10,
        "accepted": 6,
        "attempts": 100,
        "selected": 3,
        "kept": 3,
    }
    solver = {
        "llm_calls": 260,
        "failed_calls": 10,
        "prompt_tokens": 50000,
        "completion_tokens": 2500,
    }
    silent = {"llm_calls": 4, "failed_calls": 4, "prompt_tokens": None, "completion_tokens": None}
    means = measured(progress, {"solver": solver, "judge": silent}, EVEN)
    assert means.by_role["solver"] == RoleMeans(
        calls=2.5, prompt_tokens=200.0, completion_tokens=10.0
    )
    assert means.by_role["judge"] == EVEN.by_role["judge"]
    assert (means.accepted_share, means.selected_share, means.kept_share) == (0.6, 0.5, 1.0)
    assert "toy-1" in means.source


def test_a_campaign_without_variants_says_nothing_of_them() -> None:
    names = ("seeds", "steps", "accepted", "attempts", "selected", "kept")
    means = measured({"campaign": "toy-1"} | dict.fromkeys(names, 0), {}, EVEN)
    assert means.accepted_share == EVEN.accepted_share
    assert means.by_role == EVEN.by_role


def test_without_an_earlier_campaign_the_seeds_say_how_much_there_is_to_do() -> None:
    plan = toy_plan()
    one_call, many = item(PAY), item(PAY, TEXT, FORBID)
    little = assumed(plan, [one_call], DESCRIPTION)
    much = assumed(plan, [many], DESCRIPTION)
    assert "assumed" in little.source
    apis = {"phone.search_contacts", "venmo.create_transaction"}
    assert all(f"apis.{api}" in (one_call.gold or "") for api in apis)
    assert little.by_role["solver"].calls == TURNS_AN_API * len(apis)
    for role in ("proposer", "solver", "feedback", "judge", "labeller", "embedder"):
        assert 0 < little.by_role[role].prompt_tokens < much.by_role[role].prompt_tokens
    few = plan.model_copy(update={"limits": SolverLimits(max_turns=3)})
    assert assumed(few, [many], DESCRIPTION).by_role["solver"].calls == 3


def test_what_is_assumed_of_a_first_campaign_is_near_what_it_makes(undisturbed: Toy) -> None:
    (plan,) = (
        Plan.model_validate_json(json.dumps(json.loads(path.read_text())["plan"]))
        for path in (undisturbed.state / "spool").glob("*/plan.json")
    )
    suite = ToySuite()
    seeds = [seed.item for seed in toy_seeds()]
    world = asyncio.run(suite.describe())
    expected = forecast(plan, len(seeds), assumed(plan, seeds, world), dict.fromkeys(ROLES))
    made = Counter(row["role"] for row in ledger_of(undisturbed))
    print({one.role: (one.calls, made[one.role]) for one in expected})
    for one in expected:
        assert made[one.role] / 3 <= one.calls <= 3 * max(made[one.role], 1), one
