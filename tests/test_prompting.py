"""Prompts as they are rendered: what stands in them, what is cut, and what may never be in them."""

import json
import re
from pathlib import Path
from random import Random

import pytest

from tasks.errors import InputError
from tasks.labels.definitions import FEATURES
from tasks.llm.base import Completion
from tasks.llm.fences import find_fences
from tasks.llm.prompting import (
    MAX_FULL_FAILURES,
    ask_again,
    feedback_prompt,
    judge_prompt,
    labeller_prompt,
    load_prompt,
    observation_message,
    prompt_hash,
    prompt_text,
    proposer_prompt,
    repair_messages,
    solver_messages,
)
from tasks.llm.rendering import MAX_EFFECTS
from tasks.llm.replies import parse_cell, parse_edit, parse_labels, parse_verdict
from tasks.llm.simulated.reading import items_in, section
from tasks.llm.simulated.repertoire import repertoire
from tasks.llm.traces import trace_text
from tests.handful import DESCRIPTION, FORBID, PAY, TEXT, briefing, item
from warehouse.records import DIRECTIONS, Attempt, Item, Turn

SEEDS = Path(__file__).parents[1] / "deployments" / "simulators" / "appworld" / "seeds"
ROLES = ("proposer", "solver", "feedback", "judge", "labeller")
ITEM = item(PAY, TEXT, FORBID)


def attempt(
    repeat: int, difference: dict | None, outcome: str = "failed", **more: object
) -> Attempt:
    values = {
        "attempt_id": f"a{repeat}", "campaign": "c", "item_id": ITEM.item_id, "solver": "s",
        "measurement": "search", "repeat": repeat, "outcome": outcome,
        "cause": None if outcome == "solved" else "wrong_state", "partial": 0.5, "calls": 9,
        "turns": 2, "distinct_apis": 4, "prompt_tokens": 1, "completion_tokens": 1,
        "cost_usd": None, "sandbox": "none", "duration_s": 1.0,
        "difference": None if difference is None else json.dumps(difference),
    }  # fmt: skip
    return Attempt.model_validate(values | more)


def turn(n: int, observation: str = "ok", error: bool = False) -> Turn:
    return Turn(
        attempt_id="a", turn=n, thought=f"Thought {n}.", action=f"act({n})",
        observation=observation, error=error,
    )  # fmt: skip


def effect(**content: object) -> dict:
    return {"app": "venmo", "table": "Transaction", "change": "added", "content": content}


@pytest.mark.parametrize("role", ROLES)
def test_each_role_has_a_prompt_whose_static_part_comes_first(role: str) -> None:
    sections = load_prompt(role)
    assert next(iter(sections)) == "system"
    assert "{{" not in sections["system"]
    assert prompt_hash(role) == prompt_hash(role)
    assert len({prompt_hash(one) for one in ROLES}) == len(ROLES)


@pytest.mark.parametrize("role", ROLES)
def test_an_unknown_or_missing_placeholder_is_an_error(role: str) -> None:
    text = prompt_text(role)
    with pytest.raises(InputError, match=r"unknown placeholders.*surprise"):
        load_prompt(role, text + "\n{{surprise}}\n")
    name = re.findall(r"\{\{(\w+)\}\}", text)[-1]
    with pytest.raises(InputError, match=rf"missing.*{name}"):
        load_prompt(role, text.replace("{{" + name + "}}", ""))
    with pytest.raises(InputError, match="wants the sections"):
        load_prompt(role, text.replace("section: user", "section: usher"))


def test_the_worked_replies_can_be_parsed() -> None:
    proposer = load_prompt("proposer")["system"]
    edit = parse_edit(proposer[proposer.index("The agent always solves") :])
    compile(edit.gold, "gold", "exec")
    assert edit.gold.count("# Clause: ") == 2
    for sentence in re.findall(r"# Clause: (.*)", edit.gold):
        assert sentence in edit.instruction
    assert parse_cell(load_prompt("solver")["system"].rpartition("A turn looks like this:")[2]).code
    judge, labeller = load_prompt("judge")["system"], load_prompt("labeller")["system"]
    assert parse_verdict(judge.rpartition("For\nexample:")[2]).verdict == "valid"
    assert parse_labels(labeller[labeller.index('{"reason"') :]).labels == {"X1": True, "X2": False}


def seed_clauses() -> list[tuple[str, str]]:
    """Instruction and blocks of each seed file, as text."""
    found = []
    for path in sorted(SEEDS.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        sentences = re.findall(r"^> (.*)$", text, re.MULTILINE)
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        found.append((" ".join(sentences), "\n".join(blocks)))
    return found


def rendered_proposer_prompts() -> list[str]:
    drawn = [template.drawn(Random(1)) for template in repertoire()]
    items = [ITEM, *(item((clause.sentence, clause.block)) for clause in drawn)]
    seeds = [item(clause) for clause in seed_clauses()]
    assert len(seeds) >= 24
    items += seeds
    prompts = []
    for n, parent in enumerate(items):
        messages = proposer_prompt(
            parent, DESCRIPTION, DIRECTIONS[n % 3], "A note.", [items[n - 1], items[n - 2]]
        ).messages
        messages += repair_messages(
            Completion(text="a reply"), "NameError: name 'x' is not defined"
        )
        prompts.append("\n".join(message.content for message in messages))
    return prompts


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.id)
def test_no_label_reaches_the_proposer(feature) -> None:
    name = re.compile(rf"\b({feature.id}|{feature.name}|{feature.name.replace('_', ' ')})\b", re.I)
    for prompt in rendered_proposer_prompts():
        found = name.search(prompt)
        assert found is None, f"'{found[0]}' names a label: say it in other words"
        assert feature.holds_when.lower() not in prompt.lower()


def test_the_proposer_is_given_everything_and_its_item_last() -> None:
    other = item(TEXT)
    system, user = proposer_prompt(ITEM, DESCRIPTION, "easier", "It is too hard.", [other]).messages
    assert (system.role, user.role) == ("system", "user")
    assert items_in(section(user.content, "The item to edit")) == [
        (ITEM.instruction, ITEM.gold.strip("\n"))
    ]
    borrowed = section(user.content, "Other items of this world, to borrow ideas from")
    assert items_in(borrowed) == [(other.instruction, other.gold.strip("\n"))]
    assert section(user.content, "What attempts on it have shown") == "It is too hard."
    assert "easier" in section(user.content, "The edit")
    apis = section(user.content, "The APIs")
    assert "- venmo.create_transaction(access_token, receiver_email, amount, [description])" in apis
    assert DESCRIPTION.world_summary in user.content
    assert user.content.index("# The APIs") < user.content.index("# The item to edit")


def test_two_parents_share_all_of_the_prompt_that_a_campaign_repeats() -> None:
    prompts = [
        "\n".join(
            message.content
            for message in proposer_prompt(one, DESCRIPTION, "harder", None, []).messages
        )
        for one in (item(PAY), item(TEXT))
    ]
    shared = prompts[0].split("# Other items of this world")[0]
    assert prompts[1].startswith(shared)
    assert len(shared) > 4000


def test_values_are_not_searched_for_placeholders_or_fences() -> None:
    sly = item(('Write "{{note}}" and ```.', 'print("{{direction}}")\n# ```\n'))
    _, user = proposer_prompt(sly, DESCRIPTION, "harder", "{{item}}", []).messages
    assert items_in(section(user.content, "The item to edit")) == [
        (sly.instruction, sly.gold.strip("\n"))
    ]
    assert section(user.content, "What attempts on it have shown") == "{{item}}"


def test_a_repair_goes_on_with_the_conversation() -> None:
    spoken, asked = repair_messages(Completion(text="my reply"), "line 3: `x` is not defined")
    assert (spoken.role, spoken.content, asked.role) == ("assistant", "my reply", "user")
    assert "line 3: `x` is not defined" in asked.content
    again = ask_again(Completion(text=""), "the reply is empty")
    assert again[-2].content and "the reply is empty" in again[-1].content


def test_the_solver_is_told_its_task_and_nothing_of_the_gold() -> None:
    messages = solver_messages(briefing(ITEM.instruction), "handful")
    text = "\n".join(message.content for message in messages)
    assert ITEM.instruction in text
    assert "Ada Orr, email ada@example.com, phone number 2065550100" in text
    assert "2023-05-18T12:00:00" in text
    for block in (PAY[1], TEXT[1], "# Clause"):
        assert block not in text
    for step in ("show_app_descriptions", "show_api_descriptions", "show_api_doc", "complete_task"):
        assert step in text


@pytest.mark.parametrize("text", ["", "one\ntwo\n", "```python\nx\n```", "# The edit"])
def test_an_observation_stands_in_a_fence(text: str) -> None:
    message = observation_message(text)
    assert message.role == "user"
    bodies = [fence.body.rstrip("\n") for fence in find_fences(message.content)]
    assert bodies[0] == (text.rstrip("\n") or "(nothing was printed)")


def test_feedback_shows_distinct_failures_and_says_what_it_leaves_out() -> None:
    likes = [attempt(n, {"missing": [effect(amount=1)]}) for n in range(6)]
    rare = attempt(6, {"unexpected": [effect(amount=99)]})
    solved = attempt(7, {}, outcome="solved")
    trajectories = [(one, [turn(0)]) for one in (*likes, rare, solved)]
    text = feedback_prompt(ITEM, trajectories).messages[1].content
    assert section(text, "All attempts").count("\n- ") == 7
    full = section(text, "Attempts in full")
    assert full.count("## Attempt") == MAX_FULL_FAILURES + 1
    assert 'unexpected: added venmo.Transaction {"amount": 99}' in full
    assert "## Attempt 7: solved" in full
    assert "(3 further attempts are not shown in full.)" in full


def test_an_item_without_attempts_can_be_reported() -> None:
    assert "(none)" in feedback_prompt(ITEM, []).messages[1].content


def test_a_long_trace_is_cut_with_marks_and_errors_last() -> None:
    turns = [turn(n, "x" * 4000) for n in range(4)] + [
        turn(4, "Traceback" + "y" * 2000, error=True)
    ]
    text = trace_text(turns, max_chars=5000)
    assert len(text) < 6000
    assert text.count("characters cut ...]") == 4
    assert "y" * 2000 in text
    assert text.index("Turn 0") < text.index("Turn 4")


def test_a_very_long_trace_loses_turns_from_its_middle_and_says_so() -> None:
    text = trace_text([turn(n, "z" * 300) for n in range(200)], max_chars=4000)
    assert len(text) < 4500
    assert "### Turn 0\n" in text and "### Turn 199\n" in text
    left_out = int(re.search(r"\[\.\.\. (\d+) turns left out", text)[1])
    assert left_out + text.count("### Turn ") == 200


def test_access_tokens_are_not_shown_to_those_who_read_traces() -> None:
    token = "eyJhbGciOiJIUzI1NiIs.eyJzdWIiOiJwaG9uZSsyMDY1N.qlNT_7yWTn6Ji0Gmp-NKF0QKnJ"
    text = trace_text([turn(0, f'{{"access_token": "{token}"}}, see www.example.com/a.b.c')])
    assert token not in text and '"<token>"' in text and "www.example.com/a.b.c" in text


def test_a_short_trace_is_whole() -> None:
    text = trace_text([turn(0, "seen"), turn(1, "failed", error=True)])
    assert "cut" not in text and "left out" not in text
    assert "Saw (an error):\n    failed" in text
    assert trace_text([]) == "(the attempt has no turn)"


def test_the_judge_sees_differences_and_how_many_effects_are_not_listed() -> None:
    many = {"missing": [effect(amount=n) for n in range(MAX_EFFECTS + 5)]}
    answer = {"answer": {"expected": 12, "given": "twelve"}}
    changed = {"app": "phone", "table": "Alarm", "change": "changed", "row": 3,
               "content": {"time": "07:00"}, "before": {"time": "06:00"}}  # fmt: skip
    failures = [attempt(0, many), attempt(1, answer), attempt(2, {"unexpected": [changed]})]
    text = judge_prompt(ITEM, [*failures, attempt(3, None)]).messages[1].content
    assert "missing: 5 more effects, not listed" in text
    assert 'answer: expected 12, given "twelve"' in text
    assert 'changed phone.Alarm row 3 {"time": "07:00"}, before {"time": "06:00"}' in text
    assert "Final state: not compared." in text
    assert ITEM.instruction in text


def test_the_labeller_is_given_each_definition() -> None:
    text = labeller_prompt(ITEM, FEATURES).messages[1].content
    for feature in FEATURES:
        assert f"- {feature.id} ({feature.name}): {feature.holds_when}" in text


def test_setup_and_grading_are_shown_where_an_item_has_them() -> None:
    rich = Item.of(**(item(PAY).model_dump(exclude={"item_id"}) | {"setup": "S!", "grading": "G!"}))
    text = proposer_prompt(rich, DESCRIPTION, "harder", None, []).messages[1].content
    assert "```setup\nS!\n```" in text and "```grading\nG!\n```" in text
