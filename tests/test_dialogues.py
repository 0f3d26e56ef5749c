"""Dialogues without τ-bench: attempts on a telephone in this process, documents, prompts, simulation."""

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tasks.documents import DocumentFault, document_of, fields_of, written
from tasks.errors import AttemptCause, Rejection
from tasks.exports.base import KeptVariant
from tasks.exports.tau2 import task_of
from tasks.exports.tau2_results import results_of
from tasks.forecast import assumed, forecast
from tasks.judge import judge
from tasks.llm.base import Completion, LLMSpec, Message, Request, Subject
from tasks.llm.offline import OfflineClient
from tasks.llm.prompting import (
    feedback_prompt,
    judge_prompt,
    labeller_prompt,
    load_prompt,
    proposer_prompt,
    repair_messages,
)
from tasks.llm.replay import Recording
from tasks.llm.replies import ReplyError, parse_document, parse_labels, parse_verdict
from tasks.llm.simulated.dialogues.proposer import MISTAKES
from tasks.llm.simulated.dialogues.wants import wants_for
from tasks.llm.tool_calls import tool_call
from tasks.plan import SolverLimits, roles_in
from tasks.solve import solve
from tasks.suites.base import Api, CheckReport, Description, GradeTest, Outcome, Run
from tasks.verify import document_gates, run_gates
from tests import warehouse_rows
from tests.stage_work import work_of, workbench
from tests.telephone import DOCUMENT, TelephoneSuite, telephone_item
from tests.toy.__main__ import toy_plan
from warehouse.records import ApiCall, Attempt, Edit, Item, Turn, Verdict

SPEC = LLMSpec(endpoint="offline", llm_id="offline")
USER = LLMSpec(endpoint="offline", llm_id="caller")
ITEM = telephone_item()
DESCRIPTION = Description(
    suite="telephone",
    version="1",
    world="telephone",
    interaction="dialogue",
    edits=("instruction", "setup", "gold", "grading"),
    sandbox="none",
    apis=(Api(app="lines", api="enable_roaming", description="", parameters=("line_id",)),),
    world_summary="A telephone.",
)


class Scripted:
    """A client whose replies depend on role and turn; all else is real."""

    simulated = True

    def __init__(self, says: Callable[[Request], Completion]) -> None:
        self.says = says
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        return self.says(request)

    async def aclose(self) -> None:
        """Nothing is held."""


def calling(name: str, **arguments: Any) -> Completion:
    return Completion(text="", tool_calls=(tool_call("c", name, json.dumps(arguments)),))


async def attempts(
    folder: Path, client: Any, repeats: int = 1, item: Item = ITEM, **limits: Any
) -> tuple[list[Attempt], list[Turn], list[ApiCall]]:
    bench = workbench(folder, TelephoneSuite(), {"offline": client}, lambda rows: None)
    found = await work_of(
        solve,
        bench,
        item=item,
        solver=SPEC,
        measurement="search",
        repeats=repeats,
        limits=SolverLimits(**limits),
        interaction="dialogue",
        simulator="telephone 1",
        user=USER,
    )
    return found.all(Attempt), found.all(Turn), found.all(ApiCall)


def offline(item: Item = ITEM, rng_seed: int = 1) -> OfflineClient:
    return OfflineClient(rng_seed, {item.item_id: item}.get)


async def test_the_simulated_pair_solves_what_it_is_told_and_slips_now_and_then(
    tmp_path: Path,
) -> None:
    made, turns, calls = [], [], []
    for n in range(8):
        scenario = {"instructions": f"You are Ada King, 555-100-2000, on day {n} abroad."}
        item = telephone_item(user_scenario=scenario)
        found = await attempts(tmp_path / str(n), offline(item), repeats=6, item=item)
        for kind, rows in zip((made, turns, calls), found, strict=True):
            kind += rows
    solved = [one for one in made if one.outcome == "solved"]
    assert len(made) / 4 < len(solved) < len(made)
    assert {one.cause for one in made} - {None} <= {"early_stop", "wrong_state"}
    of_one = [call.api for call in calls if call.attempt_id == solved[0].attempt_id]
    assert of_one == ["get_line_by_phone", "enable_roaming", "toggle_roaming"]
    own = [turn for turn in turns if turn.attempt_id == solved[0].attempt_id]
    assert len(own) == solved[0].turns and own[0].action.startswith("get_line_by_phone(")
    assert "L1077" in own[0].observation and "user: I have done that" in own[2].observation


async def test_both_sides_calls_stand_in_the_spool_each_conversation_once(tmp_path: Path) -> None:
    await attempts(tmp_path, offline())
    (unit,) = (tmp_path / "spool").glob("*/attempts/*.jsonl")
    entries = [json.loads(line) for line in unit.read_text().splitlines() if '"call"' in line[:9]]
    assert {entry["call"]["role"] for entry in entries} == {"solver", "user"}
    for role in ("solver", "user"):
        of_role = [entry for entry in entries if entry["call"]["role"] == role]
        assert all(len(entry["messages"]) <= 4 for entry in of_role)
        assert sum(len(entry["messages"]) for entry in of_role) <= 2 * len(of_role) + 2
    whole = list(Recording(tmp_path / "spool" / tmp_path.name).requests())
    assert all(one.messages[0].role == "system" for one in whole), "read back, both are whole"


ONE = Completion(text="Hello, I am abroad.")
STOP = Completion(text="Thank you. ###STOP###")


@pytest.mark.parametrize(
    ("solver", "user", "cause"),
    [
        (Completion(text="Done."), STOP, AttemptCause.EARLY_STOP),
        (
            Completion(text="One moment."),
            Completion(text="###TRANSFER###"),
            AttemptCause.TRANSFERRED,
        ),
        (Completion(text=""), STOP, AttemptCause.UNUSABLE_REPLY),
        (Completion(text="Please wait."), Completion(text=" "), AttemptCause.UNUSABLE_USER),
        (Completion(text="Please wait."), Completion(text="I wait."), AttemptCause.TURN_LIMIT),
        (calling("get_line_by_phone", phone_number="1"), STOP, AttemptCause.CALL_LIMIT),
    ],
)
async def test_each_end_of_an_attempt_has_its_cause(
    tmp_path: Path, solver: Completion, user: Completion, cause: AttemptCause
) -> None:
    def says(request: Request) -> Completion:
        if request.role == "solver":
            return solver
        return user if any(one.role == "assistant" for one in request.messages) else ONE

    client = Scripted(says)
    made, _, _ = await attempts(tmp_path, client, max_turns=5, max_calls=4)
    assert [(one.outcome, one.cause) for one in made] == [("failed", cause)]
    empty = [one for one in client.asked if one.role == "solver"]
    if cause == AttemptCause.UNUSABLE_REPLY:
        assert len(empty) == 3, "an empty reply is asked for again before it counts"


async def test_harm_beside_a_solved_call_is_a_wrong_state_only_where_it_fails(
    tmp_path: Path,
) -> None:
    def says(request: Request) -> Completion:
        spoken = sum(one.role == "assistant" for one in request.messages)
        if request.role == "solver":
            return Completion(text="Done.")
        return (ONE, calling("throw_away"), STOP)[spoken]

    made, _, calls = await attempts(tmp_path, Scripted(says))
    assert made[0].cause == AttemptCause.WRONG_STATE and [call.api for call in calls] == [
        "throw_away"
    ]
    assert json.loads(made[0].difference)["unexpected"]


@pytest.mark.parametrize("blanked", ["user", "tool"])
def test_a_solver_that_is_shown_nothing_solves_nothing(blanked: str) -> None:
    """With the user's words gone it gives up; without observations it never learns the line."""
    story = f"Hello. {' '.join(str(DOCUMENT['user_scenario']).split())}"
    looked = calling("get_line_by_phone", phone_number="555-100-2000")
    shown = [
        Message(role="system", content="Policy."),
        Message(role="user", content=story),
        Message(role="assistant", content="", tool_calls=looked.tool_calls),
        Message(role="tool", content='{"line_id": "L1077"}', tool_call_id="c"),
    ]
    tools = (
        {"name": "enable_roaming", "description": "", "parameters": {"required": ["line_id"]}},
    )

    def acts(messages: list[Message]) -> list[str]:
        from tasks.llm.simulated.dialogues.solver import solve_dialogue

        names = []
        for repeat in range(20):
            subject = Subject(item_id=ITEM.item_id, measurement="search", repeat=repeat)
            request = Request(
                role="solver", spec=SPEC, messages=tuple(messages), tools=tools, subject=subject
            )
            names += [call["name"] for call in solve_dialogue(request, ITEM, 1)[1]]
        return names

    assert "enable_roaming" in acts(shown)
    hidden = [
        one.model_copy(update={"content": "..."}) if one.role == blanked else one for one in shown
    ]
    assert "enable_roaming" not in acts(hidden)


def test_a_document_is_an_items_and_back() -> None:
    assert document_of(ITEM) == DOCUMENT
    assert telephone_item() == ITEM
    assert json.loads(written({"a": "é"})) == {"a": "é"}


@pytest.mark.parametrize(
    ("change", "unknown"),
    [
        (lambda one: one | {"difficulty": 3}, True),
        (lambda one: {key: one[key] for key in one if key != "actions"}, False),
        (lambda one: {key: one[key] for key in one if key != "reward_basis"}, False),
    ],
)
def test_keys_too_many_or_too_few_are_a_fault(
    change: Callable[[dict], dict], unknown: bool
) -> None:
    with pytest.raises(DocumentFault) as raised:
        fields_of(change(DOCUMENT))
    assert raised.value.unknown_key == unknown


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        ("", "empty"),
        ("I am sorry, I cannot help with this.", "refused"),
        ("Here it is, without any fence.", "no document"),
        ('```json\n{"a": 1', "not closed"),
        ('```json\n{"a": 1, "a": 2}\n```', "twice"),
        ('```json\n{"a": NaN}\n```', "NaN"),
        ("```json\n{'a': 1}\n```", "no valid JSON"),
        ("```json\n[1]\n```", "no document"),
        (f'```json\n{{"a": "{"x" * 50_000}"}}\n```', "longer than"),
    ],
)
def test_a_reply_that_is_no_document_says_why(reply: str, says: str) -> None:
    with pytest.raises(ReplyError, match=says):
        parse_document(reply)


def test_the_last_document_of_a_reply_counts() -> None:
    parsed = parse_document('A draft.\n```json\n{"a": 1}\n```\nBetter:\n```json\n{"a": 2}\n```')
    assert parsed.document == {"a": 2} and "draft" in parsed.reasoning


def test_the_worked_replies_can_be_parsed() -> None:
    proposer = load_prompt("dialogue_proposer")["system"]
    fields = fields_of(parse_document(proposer[proposer.index("The agent always") :]).document)
    assert len(json.loads(fields["gold"])) == len(json.loads(fields["grading"])["env_assertions"])
    judging = load_prompt("dialogue_judge")["system"]
    read = parse_verdict(judging[judging.index('{"reason"') :], failures=(1, 4, 7))
    assert (read.verdict, read.user_failures) == ("valid", (4,))
    labeller = load_prompt("dialogue_labeller")["system"]
    assert parse_labels(labeller[labeller.index('{"reason"') :], ["X1", "X2"]).labels["X1"]


async def test_an_exported_attempt_is_one_conversation_with_each_call_answered(
    tmp_path: Path,
) -> None:
    made, _, calls = await attempts(tmp_path, offline(), repeats=6)
    tasks = {ITEM.item_id: task_of(KeptVariant(ITEM, None))}
    units = [path.read_bytes() for path in (tmp_path / "spool").glob("*/attempts/*.jsonl")]
    found = results_of(units, tasks, toy_plan(), "telephone", "telephone 1")
    runs = {run["id"]: run for run in found["simulations"]}
    assert {one.attempt_id: float(one.outcome == "solved") for one in made} == {
        name: run["reward_info"]["reward"] for name, run in runs.items()
    }
    assert set(runs) == {one.attempt_id for one in made}
    for name, run in runs.items():
        said = run["messages"]
        assert (said[0]["role"], said[1]["role"]) == ("assistant", "user"), "a greeting, its answer"
        asked = [call["id"] for message in said for call in message.get("tool_calls", ())]
        assert asked == [message["id"] for message in said if message["role"] == "tool"]
        assert len(asked) == sum(call.attempt_id == name for call in calls)
        assert "###STOP###" in said[-1]["content"] and run["termination_reason"] == "user_stop"
    nothing = results_of(units, {}, toy_plan(), "telephone", "telephone 1")
    assert nothing["simulations"] == [], "attempts on other items stay behind"


async def judged(folder: Path, says: str) -> tuple[Verdict, str]:
    """The verdict of a judge that says this of two failures, and the prompt that it was shown."""
    failures = [
        warehouse_rows.attempt(ITEM.item_id, n, "failed", cause="early_stop") for n in (2, 5)
    ]
    turns = [
        Turn(
            attempt_id=one.attempt_id,
            turn=n,
            thought="",
            action=f'say("turn {n}")',
            observation=f"user: heard {n} of {one.repeat}",
            error=False,
        )
        for one in failures
        for n in range(6)
    ]
    client = Scripted(lambda request: Completion(text=says))
    bench = workbench(folder, TelephoneSuite(), {"offline": client}, lambda rows: None)
    given = {"item": ITEM, "failures": failures, "turns": turns, "interaction": "dialogue"}
    found = await work_of(judge, bench, **given, spec=SPEC, repair_rounds=1)
    assert len({len(one.messages) for one in client.asked}) == len(client.asked)
    return found.one(Verdict), client.asked[0].messages[1].content


async def test_the_judge_sees_how_dialogues_ended_and_marks_the_user_s_failures(
    tmp_path: Path,
) -> None:
    says = '{"reason": "The user hung up.", "user_failures": [5], "verdict": "valid"}'
    verdict, shown = await judged(tmp_path / "1", says)
    assert verdict.verdict == "valid" and verdict.user_failures == (5,)
    assert all(f"heard 5 of {repeat}" in shown for repeat in (2, 5))
    assert "heard 2 of" not in shown, "of an end the last turns are shown"


@pytest.mark.parametrize("marks", ["", '"user_failures": [3],', '"user_failures": "5",'])
async def test_a_judge_of_dialogues_that_marks_no_failure_rightly_is_asked_again(
    tmp_path: Path, marks: str
) -> None:
    verdict, _ = await judged(tmp_path, f'{{"reason": "r", {marks} "verdict": "valid"}}')
    assert verdict.verdict is None and "user_failures" in verdict.reason
    assert verdict.user_failures is None


def test_the_user_s_calls_are_forecast_where_there_is_a_user() -> None:
    plan, quiet = toy_plan(), DESCRIPTION.model_copy(update={"interaction": "code"})
    means = assumed(plan, [ITEM], DESCRIPTION)
    expected = {
        one.role: one for one in forecast(plan, 1, means, dict.fromkeys(roles_in("dialogue")))
    }
    assert list(expected)[-1] == "user" and expected["user"].llm_id == plan.party.llm_id
    attempts = (1 + means.accepted_share * plan.steps) * plan.repeats
    # A greeting, a switch, what it showed, a farewell; the agent has one call, and asks and parts.
    assert expected["user"].calls == round(4 * attempts)
    assert expected["solver"].calls == round(3 * attempts)
    assert expected["solver"].prompt_tokens > 7_500 * expected["solver"].calls, "policy and tools"
    assert "user" not in roles_in(quiet.interaction)


async def test_what_is_assumed_of_a_dialogue_is_near_what_it_takes(tmp_path: Path) -> None:
    await attempts(tmp_path, offline(), repeats=6)
    units = (tmp_path / "spool").glob("*/attempts/*.jsonl")
    made = Counter(
        json.loads(line)["call"]["role"]
        for unit in units
        for line in unit.read_text().splitlines()
        if line.startswith('{"call"')
    )
    means = assumed(toy_plan(), [ITEM], DESCRIPTION).by_role
    for role in ("solver", "user"):
        assert made[role] / 6 / 2 < means[role].calls < made[role] / 6 * 2, (role, made)


async def proposed(parent: Item, direction: str, step: int, error: str | None = None) -> str:
    prompt = proposer_prompt(parent, DESCRIPTION, direction, None, [ITEM])
    messages = prompt.messages
    if error is not None:
        first = await proposed(parent, direction, step)
        messages += repair_messages(Completion(text=first), error, "dialogue")
    request = Request(
        role="proposer",
        spec=SPEC,
        messages=messages,
        subject=Subject(item_id=parent.item_id, step=step),
    )
    return (await offline().complete(request)).text


async def test_the_simulated_proposer_edits_document_and_grade_together() -> None:
    parent = telephone_item(env_assertions=DOCUMENT["env_assertions"])
    kept = 0
    for step in range(40):
        reply = await proposed(parent, "harder", step)
        try:
            document = parse_document(reply).document
            fields_of(document)
        except (ReplyError, DocumentFault):
            continue
        added = [one for one in document["actions"] if one not in DOCUMENT["actions"]]
        if len(added) == 1 and document.get("initial_state"):
            kept += 1
            assert len(document["env_assertions"]) == 2
            reason = document["user_scenario"]["instructions"]["reason_for_call"]
            assert "You also want" in reason
    assert kept > 20 and sum(MISTAKES.values()) < 0.3


async def test_shown_its_error_the_simulated_proposer_mends_most_mistakes() -> None:
    broken = mended = 0
    for step in range(60):
        reply = await proposed(ITEM, "harder", step)
        if '"difficulty"' in reply or "close_the_ticket" in reply:
            broken += 1
            again = await proposed(ITEM, "harder", step, "that is no item")
            mended += '"difficulty"' not in again and "close_the_ticket" not in again
    assert broken and mended >= broken / 2


def test_what_a_want_puts_in_it_takes_out() -> None:
    import copy
    import random

    for want in wants_for(DOCUMENT, random.Random(1)):
        if want.touches(DOCUMENT):
            continue
        grown = want.put_into(copy.deepcopy(DOCUMENT))
        assert want.is_in(grown) and grown["actions"] != DOCUMENT["actions"]
        back = want.take_out_of(grown)
        assert back["actions"] == DOCUMENT["actions"]
        assert back["env_assertions"] == DOCUMENT["env_assertions"]
        assert back["user_scenario"] == DOCUMENT["user_scenario"]


def test_an_edit_of_a_document_changes_the_item_s_own_parts() -> None:
    fields = fields_of(DOCUMENT | {"user_tools": ["toggle_roaming"]})
    edit = Edit(
        step=1,
        parent=ITEM.item_id,
        reasoning="",
        rejection=None,
        rejection_detail=None,
        repair_rounds=0,
        **fields,
    )
    assert document_of(edit.of(ITEM))["user_tools"] == ["toggle_roaming"]
    assert edit.of(ITEM).item_id != ITEM.item_id


def test_prompts_of_dialogues_show_the_document_and_no_program() -> None:
    for prompt in (
        proposer_prompt(ITEM, DESCRIPTION, "harder", None, [ITEM]),
        feedback_prompt(ITEM, (), interaction="dialogue"),
        judge_prompt(ITEM, (), interaction="dialogue"),
        labeller_prompt(ITEM, (), interaction="dialogue"),
    ):
        text = prompt.messages[1].content
        assert '"user_scenario"' in text and "```python" not in text
        assert "complete_task" not in "".join(one.content for one in prompt.messages)


def report(gates: dict[str, str | None], error: str | None = None) -> CheckReport:
    outcome = Outcome(
        solved=True,
        partial=1.0,
        completed=True,
        tests=(GradeTest(requirement="r", passed=True),),
        difference=None,
        calls=0,
    )
    idle = outcome.model_copy(update={"solved": False})
    return CheckReport(
        gates=gates,
        gold=Run(outcome=outcome, calls=(), error=error),
        do_nothing=Run(outcome=idle, calls=()),
        suppressed=(),
        expects_answer=False,
        state_changes=True,
    )


def test_an_exported_task_has_what_the_item_has_under_the_benchmarks_names() -> None:
    item = telephone_item(user_tools=["toggle_roaming"], required_documents=["doc_1"])
    task = task_of(KeptVariant(item, 3))
    assert task["id"] == f"task_{item.item_id}" and "difficulty 3" in task["description"]["purpose"]
    assert task["user_scenario"]["instructions"] == DOCUMENT["user_scenario"]["instructions"]
    assert task["user_tools"] == ["toggle_roaming"] and task["required_documents"] == ["doc_1"]
    criteria = task["evaluation_criteria"]
    assert [one["action_id"] for one in criteria["actions"]] == [
        "enable_roaming_0",
        "toggle_roaming_1",
    ]
    assert criteria["reward_basis"] == ["ENV_ASSERTION"] and criteria["env_assertions"]


def test_a_suite_s_own_gates_come_before_the_gold_s() -> None:
    gates = list(run_gates(ITEM, report({"unknown_tool": None, "wrong_basis": "DB"})))
    assert gates[:2] == [(Rejection.UNKNOWN_TOOL, None), (Rejection.WRONG_BASIS, "DB")]
    assert gates[2][0] == Rejection.GOLD_ERROR and len(gates) > 4


def test_a_document_that_says_what_another_does_is_a_copy() -> None:
    other = telephone_item(user_tools=["toggle_roaming"])
    same = ITEM.model_copy(update={"item_id": "other", "instruction": f" {ITEM.instruction}"})
    assert next(document_gates(ITEM, same, ()))[1] is not None
    assert all(wrong is None for _, wrong in document_gates(ITEM, other, (other,)))
