"""Context budgets: what goes first when a prompt is too long, that it is said, and what never goes."""

import json
import re
from bisect import bisect_left
from pathlib import Path

import pytest

from tasks.errors import InputError
from tasks.feedback import feedback
from tasks.judge import judge
from tasks.label import label
from tasks.labels.features import JUDGED_FEATURES
from tasks.llm.base import LLMSpec, Message, Request
from tasks.llm.context import (
    NO_ROOM,
    OBSERVATION_REST,
    SHORTENED_TO,
    Prompt,
    continued,
    fit,
    length,
    shortened,
)
from tasks.llm.prompting import (
    feedback_prompt,
    judge_prompt,
    labeller_prompt,
    load_prompt,
    observation_message,
    proposer_prompt,
    solver_messages,
)
from tasks.llm.rendering import api_list
from tasks.llm.simulated.reading import items_in, section
from tasks.mutate import mutate
from tasks.room import lacks_room, require_room
from tasks.workbench import Loaded
from tests.handful import DESCRIPTION, FORBID, PAY, TEXT, briefing, item
from tests.stage_work import work_of
from tests.test_broken_replies import saying
from tests.test_prompting import attempt, effect, turn
from warehouse.records import Edit, GoldCall, Verdict

ITEM = item(PAY, TEXT, FORBID)
LONG = item((PAY[0], PAY[1] + "\n# " + "reading on " * 1_000))
ROWS = [{"note_id": n, "title": f"Note {n}"} for n in range(400)]
CALLS = [
    GoldCall(
        item_id="i", n=n, app="simple_note", api="search_notes", ok=True, wrote=False,
        arguments='{"access_token": "t", "query": "Note"}', output=str(ROWS).replace("'", '"'),
    )
    for n in range(3)
]  # fmt: skip
SURVEY = "\n".join(f"- app {n}: {'; '.join(f'thing {k}' for k in range(80))}" for n in range(12))
NOTE = "They stumble over the notes. " * 60
TRAJECTORIES = [
    (attempt(n, {"missing": [effect(amount=n)]}), [turn(k, "seen " * 900) for k in range(8)])
    for n in range(6)
]


def proposer(context_chars: int) -> Prompt:
    return proposer_prompt(
        ITEM, DESCRIPTION, "harder", NOTE, [item(PAY), item(TEXT)], CALLS, SURVEY, context_chars
    )


PROMPTS = {
    "proposer": proposer,
    "feedback": lambda room: feedback_prompt(LONG, TRAJECTORIES, room),
    "judge": lambda room: judge_prompt(LONG, [one for one, _ in TRAJECTORIES], room),
    "labeller": lambda room: labeller_prompt(LONG, [], room),
}


@pytest.mark.parametrize("role", PROMPTS)
def test_a_prompt_keeps_to_its_room_and_says_what_it_lacks(role: str) -> None:
    whole = PROMPTS[role](10**6)
    assert whole.cut_chars == 0
    rooms = range(length(whole.messages), 0, -997)
    before = whole
    for room in rooms:
        try:
            prompt = PROMPTS[role](room)
        except InputError as error:
            assert f"{role}.context_chars" in str(error)
            break
        assert length(prompt.messages) <= room
        assert prompt.cut_chars == length(whole.messages) - length(prompt.messages)
        if prompt.cut_chars:
            assert any(
                mark in prompt.messages[1].content
                for mark in (" cut", "left out", "not shown", "too long")
            )
        assert prompt.cut_chars >= before.cut_chars, "less room never shows more"
        assert LONG.instruction in prompt.messages[1].content
        before = prompt
    else:
        pytest.fail("a prompt without any room was made")
    assert before.cut_chars > 0


def test_the_survey_goes_before_the_inspirations_and_the_item_never() -> None:
    full = length(proposer(10**6).messages)
    slightly = proposer(full - 10).messages[1].content
    assert "characters cut" in section(slightly, "What there is at its start")
    borrowed = "Other items of this world, to borrow ideas from"
    assert len(items_in(section(slightly, borrowed))) == 2
    seen = [proposer(room) for room in range(full, length(_least()), -500)]
    counts = [len(items_in(section(one.messages[1].content, borrowed))) for one in seen]
    assert sorted(counts, reverse=True) == counts and set(counts) == {0, 1, 2}
    for one in seen:
        text = one.messages[1].content
        assert items_in(section(text, "The item to edit"))[0] == (
            ITEM.instruction,
            ITEM.gold.strip("\n"),
        )
        assert section(text, "The edit")


def _least() -> tuple[Message, ...]:
    """The shortest prompt that can be made."""
    room = length(load_prompt_messages())
    while True:
        try:
            return proposer(room).messages
        except InputError:
            room += 100


def load_prompt_messages() -> tuple[Message, ...]:
    return (Message(role="system", content=load_prompt("proposer")["system"]),)


def conversation(turns: int, chars: int = 2_000) -> tuple[Message, ...]:
    messages = solver_messages(briefing(ITEM.instruction), "handful")
    for n in range(turns):
        messages += (
            Message(role="assistant", content=f"Cell {n}."),
            observation_message(f"start {n} " + "x" * chars + f" end {n}"),
        )
    return messages


ROLES = ("proposer", "solver", "feedback", "judge", "labeller")
WORDY = LONG.model_copy(update={"instruction": "Pay them all, in turn. " * 240})


def specs(**context_chars: int) -> dict[str, LLMSpec]:
    return {
        role: LLMSpec(endpoint="toy", llm_id="toy", context_chars=context_chars.get(role, 10**6))
        for role in ROLES
    }


@pytest.mark.parametrize("role", ROLES)
def test_an_item_that_has_room_never_outgrows_a_prompt(role: str) -> None:
    """Asked before anything is paid: what it lets pass fits with whatever else a prompt has to say."""

    def room_at(chars: int) -> bool:
        lack = lacks_room(WORDY, DESCRIPTION, specs(**{role: chars}))
        assert lack is None or lack.startswith(f"plan: {role}.context_chars leaves ")
        return lack is None

    least = bisect_left(range(8_000, 40_000), True, key=room_at) + 8_000
    assert 8_000 < least < 40_000
    if role == "solver":
        messages = solver_messages(briefing(WORDY.instruction), "handful")
        assert length(messages) < least
        return
    many = [item(PAY), item(TEXT)] * 4
    prompt = {
        "proposer": lambda: proposer_prompt(
            WORDY, DESCRIPTION, "harder", NOTE * 9, many, CALLS * 30, SURVEY, least
        ),
        "feedback": lambda: feedback_prompt(WORDY, TRAJECTORIES * 40, least),
        "judge": lambda: judge_prompt(WORDY, [one for one, _ in TRAJECTORIES] * 40, least),
        "labeller": lambda: labeller_prompt(WORDY, JUDGED_FEATURES, least),
    }[role]()
    assert length(prompt.messages) <= least
    assert prompt.cut_chars > 0 or role == "labeller"


def test_a_seed_without_room_is_named() -> None:
    with pytest.raises(InputError, match=f"judge.context_chars.*{WORDY.item_id}"):
        require_room([ITEM, WORDY], DESCRIPTION, specs(judge=8_000))


def test_apis_are_left_out_app_by_app_and_it_is_said() -> None:
    apis = DESCRIPTION.apis
    whole = api_list(apis)
    assert "left out" not in whole and "without parameters" not in whole
    named = api_list(apis, {"venmo"})
    assert "- venmo.create_transaction(" in named
    assert "- phone." not in named and "(without parameters)" in named and "send_text" in named
    own = api_list(apis, {"venmo"}, {"venmo"})
    assert "send_text" not in own and re.search(r"left out: .*\d APIs of phone", own)
    called = api_list(apis, {"venmo.create_transaction"}, {"venmo"})
    assert re.findall(r"^- (\S+)\(", called, re.MULTILINE) == ["venmo.create_transaction"]
    assert "(without parameters) create_payment_request" in called
    assert len(whole) > len(named) > len(own) > len(called)


def test_a_conversation_loses_its_earliest_observations_first() -> None:
    messages = conversation(12)
    assert shortened(messages, length(messages)) == Prompt(messages=messages)
    room = length(messages) - 1
    prompt = shortened(messages, room)
    assert length(prompt.messages) <= room * SHORTENED_TO
    assert prompt.cut_chars == length(messages) - length(prompt.messages)
    was_cut = ["characters cut" in message.content for message in prompt.messages]
    assert was_cut == sorted(was_cut, reverse=True) or was_cut[3::2] == sorted(
        was_cut[3::2], reverse=True
    )
    assert prompt.messages[:3] == messages[:3], "the task and the replies stay"
    assert "start 0" in prompt.messages[3].content and "end 0" in prompt.messages[3].content
    assert len(prompt.messages[3].content) < OBSERVATION_REST + 100
    assert prompt.messages[-1] == messages[-1]


def test_a_conversation_once_shortened_stays_so_for_some_turns() -> None:
    first = shortened(conversation(12), length(conversation(12)) - 1).messages
    longer = (*first, Message(role="assistant", content="Next."), observation_message("short"))
    assert shortened(longer, length(conversation(12)) - 1).messages == longer


def test_what_cannot_be_shortened_is_left_and_too_long() -> None:
    messages = conversation(2, chars=9_000)
    assert length(shortened(messages, 8_000).messages) > 8_000


def test_a_step_without_a_lower_level_is_passed_over() -> None:
    values, cut_chars = fit({"a": ["aaaa", "a"], "b": ["bbbb"]}, ("b", "a"), 5, "judge")
    assert values == {"a": "a", "b": "bbbb"} and cut_chars == 3


async def test_the_unit_says_how_much_a_prompt_lacks(tmp_path: Path) -> None:
    """Through a stage, as a campaign does it: a plan's `context_chars` cuts, and the spool tells."""
    narrow = LLMSpec(endpoint="toy", llm_id="toy", context_chars=8_000)
    bench = saying(tmp_path, "A note.")
    await work_of(
        feedback, bench, item=LONG, attempts=[one for one, _ in TRAJECTORIES],
        turns=[
            one.model_copy(update={"attempt_id": attempt.attempt_id})
            for attempt, turns in TRAJECTORIES
            for one in turns
        ],
        measurement="search", spec=narrow,
    )  # fmt: skip
    (path,) = bench.spool.folder.glob("notes/*.jsonl")
    calls = [json.loads(line) for line in path.read_text().splitlines() if '"call"' in line]
    assert [call["cut_chars"] > 50_000 for call in calls] == [True]
    assert length(bench.clients["toy"].asked[0].messages) <= 8_000


SPOKEN = "Nothing that anyone could read. " * 60
ASKING = {
    "mutate": (
        mutate,
        {
            "step": 0, "parent": ITEM, "gold_calls": CALLS, "inspirations": [item(PAY)], "note": None,
            "direction": "harder", "world": DESCRIPTION.model_copy(update={"survey": None}),
        },
        "proposer",
    ),
    "judge": (judge, {"item": WORDY, "failures": [one for one, _ in TRAJECTORIES]}, "spec"),
    "label": (
        label, {"item": WORDY, "gold_calls": [], "failures": [], "turns": [], "interaction": "code"}, "spec",
    ),
}  # fmt: skip
"""The stages that ask again: how each is called, and the name of its model's spec among the inputs."""


@pytest.mark.parametrize("name", ASKING)
async def test_what_is_asked_again_keeps_to_its_room(name: str, tmp_path: Path) -> None:
    """The rest of the prompt makes room for reply and fault, or nothing is asked."""
    stage, inputs, role = ASKING[name]

    async def asked(folder: str, room: int, said: str = SPOKEN) -> tuple[list[Request], Loaded]:
        bench = saying(tmp_path / folder, said)
        spec = LLMSpec(endpoint="toy", llm_id="toy", context_chars=room)
        made = await work_of(stage, bench, **inputs, **{role: spec}, repair_rounds=1)
        return bench.clients["toy"].asked, made

    (first, again), _ = await asked("wide", 10**6)
    whole, added = length(first.messages), length(again.messages) - length(first.messages)
    assert again.cut_chars == 0 and added > len(SPOKEN)
    (tight, repaired), _ = await asked("tight", whole + 10)
    assert tight.messages == first.messages
    assert length(repaired.messages) <= whole + 10 and repaired.cut_chars >= added - 10
    assert repaired.messages[2:] == again.messages[2:]
    (_, shown), _ = await asked("endless", whole + 10, SPOKEN * 200)
    assert length(shown.messages) <= whole + 10 and "characters cut" in shown.messages[2].content

    least = whole
    while least > 8_500:
        try:
            await asked(f"at {least}", least - 500)
        except InputError:
            break
        least -= 500
    only, made = await asked("full", least)
    assert len(only) == 1
    faults = [edit.rejection_detail for edit in made.all(Edit)]
    faults += [verdict.reason for verdict in made.all(Verdict)]
    assert [str(fault).endswith(NO_ROOM) for fault in faults] == [True] * (name != "label")


def test_a_cut_reply_goes_out_without_what_would_bring_back_the_whole() -> None:
    """Gemini's parts, which hold the text again, stand in a message's `state`."""
    opening = Prompt(messages=(Message(role="user", content="Edit it."),))
    reply = Message(role="assistant", content="word " * 1_000, state={"parts": []})
    for room, state in ((30_000, {"parts": []}), (8_000, None)):
        prompt = continued(lambda _: opening, room, [reply])
        assert prompt is not None
        assert prompt.messages[-1].state == state
        assert (prompt.cut_chars > 0) == (state is None)
