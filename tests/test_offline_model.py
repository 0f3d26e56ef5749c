"""The offline model against the prompts as they are rendered, in a world of a handful of people."""

import ast
import asyncio
import random
from collections import Counter
from collections.abc import Callable

import pytest

from tasks.errors import InputError, ProviderRefused, Rejection
from tasks.llm.base import Completion, LLMSpec, Message, Request, Subject
from tasks.llm.offline import OfflineClient
from tasks.llm.prompting import (
    feedback_prompt,
    judge_prompt,
    labeller_prompt,
    observation_message,
    proposer_prompt,
    repair_messages,
    solver_messages,
)
from tasks.llm.replies import ReplyError, parse_cell, parse_edit, parse_labels, parse_verdict
from tasks.llm.simulated import mistakes
from tasks.llm.simulated.edits import add, alterations, drop, droppable, stands_alone
from tasks.llm.simulated.program import Clause, Program, take_apart
from tasks.llm.simulated.repertoire import repertoire
from tasks.llm.simulated.skills import chance, clause_strain, item_logit
from tasks.llm.simulated.slips import KINDS, slip, wrong_answer
from tests.handful import (
    ANSWER,
    COUNT,
    DESCRIPTION,
    FORBID,
    PAY,
    TEXT,
    Handful,
    briefing,
    gold_state,
    item,
)
from tests.test_prompting import attempt as attempt_row
from tests.test_prompting import effect, turn
from warehouse.records import Item

SPEC = LLMSpec(endpoint="offline", llm_id="offline")
ITEMS = (item(PAY), item(PAY, TEXT, FORBID), item(TEXT, COUNT, finish=ANSWER))
MAX_TURNS = 30


def client(rng_seed: int = 1) -> OfflineClient:
    return OfflineClient(rng_seed, {one.item_id: one for one in ITEMS}.get)


def ask(request: Request, rng_seed: int = 1) -> Completion:
    return asyncio.run(client(rng_seed).complete(request))


def solver_request(one: Item, messages: tuple[Message, ...], repeat: int) -> Request:
    turn = sum(message.role == "assistant" for message in messages)
    subject = Subject(item_id=one.item_id, measurement="search", repeat=repeat, turn=turn)
    return Request(role="solver", spec=SPEC, messages=messages, subject=subject)


def attempt(
    one: Item,
    repeat: int,
    see: Callable[[str], str] = lambda shown: shown,
    told: str | None = None,
) -> Handful:
    """One attempt; `see` changes what is observed, `told` the instruction."""
    session = Handful()
    messages = solver_messages(briefing(one.instruction if told is None else told), "handful")
    for _ in range(MAX_TURNS):
        reply = ask(solver_request(one, messages, repeat)).text
        code = parse_cell(reply).code
        if code is None:
            break
        shown = see(session.run(code))
        if session.done:
            break
        spoken = Message(role="assistant", content=reply)
        messages = (*messages, spoken, observation_message(shown))
    return session


def is_solved(session: Handful, one: Item) -> bool:
    return session.done and (sorted(session.state), session.answer) == gold_state(one)


@pytest.mark.parametrize("one", ITEMS, ids=lambda one: one.instruction[:20])
def test_the_solver_solves_and_fails_by_what_its_cells_do(one: Item) -> None:
    results = [is_solved(attempt(one, repeat), one) for repeat in range(6)]
    logit = item_logit(take_apart(one.gold, one.instruction), one.instruction)
    assert sum(results) >= 4 if logit > 3 else sum(results) <= 5


@pytest.mark.parametrize("one", ITEMS, ids=lambda one: one.instruction[:20])
def test_without_the_instruction_nothing_is_solved(one: Item) -> None:
    for repeat in range(4):
        session = attempt(one, repeat, told="")
        assert session.state == []
        assert not is_solved(session, one)


@pytest.mark.parametrize("one", ITEMS, ids=lambda one: one.instruction[:20])
def test_without_the_observations_nothing_is_solved(one: Item) -> None:
    for repeat in range(4):
        session = attempt(one, repeat, see=lambda shown: "")
        assert session.state == []
        assert not is_solved(session, one)


def test_the_password_that_is_used_is_the_one_that_was_shown() -> None:
    session = attempt(ITEMS[0], 0, see=lambda shown: shown.replace("secret", "sacred"))
    assert session.state == []


def test_a_clause_that_is_not_shown_is_not_acted_on() -> None:
    both = ITEMS[1]
    kinds = Counter(
        row[0] for repeat in range(8) for row in attempt(both, repeat, told=PAY[0]).state
    )
    assert kinds["pay"] > 0
    assert kinds["text"] == 0


def test_the_documents_are_read_before_anything_is_done() -> None:
    calls = attempt(ITEMS[0], 0).calls
    first_act = calls.index(("venmo", "create_transaction"))
    assert ("api_docs", "show_app_descriptions") in calls[:first_act]
    assert calls[:first_act].count(("api_docs", "show_api_doc")) >= 2


def test_an_item_that_is_not_known_is_not_solved() -> None:
    stranger = item(TEXT, PAY)
    session = attempt(stranger, 0)
    assert session.done
    assert session.state == []


def test_the_same_request_has_the_same_reply_whatever_the_order() -> None:
    requests = [
        solver_request(one, solver_messages(briefing(one.instruction), "handful"), repeat)
        for one in ITEMS
        for repeat in range(5)
    ]
    requests += [proposer_request(ITEMS[1], "harder", step) for step in range(10)]
    shuffled = random.Random(3).sample(requests, len(requests))

    async def all_at_once(asked: list[Request]) -> dict[str, str]:
        one_client = client()
        replies = await asyncio.gather(*map(one_client.complete, asked))
        return {request.digest(): reply.text for request, reply in zip(asked, replies, strict=True)}

    assert asyncio.run(all_at_once(requests)) == asyncio.run(all_at_once(shuffled))


def test_another_rng_seed_or_repeat_has_other_luck() -> None:
    texts = {ask(proposer_request(ITEMS[0], "harder", 1), rng_seed).text for rng_seed in range(12)}
    assert len(texts) > 6
    assert len({ask(proposer_request(ITEMS[0], "harder", step)).text for step in range(12)}) > 6


def test_tokens_are_estimated_and_cost_is_unknown() -> None:
    request = proposer_request(ITEMS[0], "harder", 1)
    reply = ask(request)
    sent = sum(len(message.content) for message in request.messages)
    assert reply.tokens.prompt == -(-sent // 4)
    assert reply.tokens.completion == -(-len(reply.text) // 4)
    assert reply.cost_usd is None


def test_what_it_does_not_play_it_refuses() -> None:
    with pytest.raises(InputError, match="embedder"):
        asyncio.run(client().embed(["x"], SPEC))
    with pytest.raises(ProviderRefused, match="embedder"):
        ask(Request(role="embedder", spec=SPEC, messages=()))


CODE = """
people = pages(apis.phone.search_contacts, access_token=login("phone"), relationship="friend")
oldest = min(people, key=lambda row: row["birthday"])
for person in people:
    if person["first_name"] != "Owen":
        apis.venmo.create_transaction(receiver_email=person["email"], amount=12, description="Tea")
apis.phone.send_text_message(phone_number=oldest["phone_number"], message=f"{oldest}")
"""


@pytest.mark.parametrize("kind", KINDS)
def test_a_slip_really_changes_the_code(kind: str) -> None:
    plain = ast.unparse(ast.parse(CODE))
    changed = {slip(CODE, kind, random.Random(n)) for n in range(20)}
    assert None not in changed and plain not in changed
    assert len(changed) >= 2
    for code in changed:
        ast.parse(code or "")


def test_a_block_without_a_place_for_a_slip_has_none() -> None:
    assert slip("x = 1", "extra", random.Random(1)) is None
    assert slip("# only a comment", "error", random.Random(1)) is None
    assert slip("not python at all", "missing", random.Random(1)) is None


def test_a_wrong_answer_is_another_answer() -> None:
    changed = wrong_answer("apis.supervisor.complete_task(answer=total)")
    assert changed is not None
    session = Handful()
    session.run(f"total = 8\n{changed}")
    assert session.answer == 9
    assert wrong_answer("apis.supervisor.complete_task()") is None


@pytest.mark.parametrize("code", ["", "for", "x = 1\n", "print('# Clause: no')\n"])
def test_any_gold_can_be_taken_apart(code: str) -> None:
    program = take_apart(code, "Do it.")
    assert [clause.sentence for clause in program.clauses] == ["Do it."]


def test_a_gold_taken_apart_is_put_together_again() -> None:
    for one in ITEMS:
        program = take_apart(one.gold, one.instruction)
        assert program.instruction == one.instruction
        assert take_apart(program.text, "") == program
        rebuilt = one.model_copy(update={"gold": program.text})
        assert gold_state(rebuilt) == gold_state(one)


def test_a_gold_without_clause_comments_is_one_block() -> None:
    bare = ITEMS[0].gold.replace("# Clause: ", "# ").replace("# Finish", "# End")
    program = take_apart(bare, "Do it.")
    assert len(program.clauses) == 1
    assert "complete_task" in program.finish
    assert "def login" not in program.clauses[0].block


def proposer_request(
    parent: Item, direction: str, step: int, note: str | None = None, round_: int = 0
) -> Request:
    messages = proposer_prompt(parent, DESCRIPTION, direction, note, [item(TEXT)]).messages
    subject = Subject(item_id=parent.item_id, step=step, round=round_)
    return Request(role="proposer", spec=SPEC, messages=messages, subject=subject)


def proposed(parent: Item, direction: str, steps: int) -> list[Program]:
    """Edits that could be parsed and compiled."""
    found = []
    for step in range(steps):
        try:
            edit = parse_edit(ask(proposer_request(parent, direction, step)).text)
            compile(edit.gold, "gold", "exec")
        except (ReplyError, SyntaxError):
            continue
        assert edit.instruction == take_apart(edit.gold, "").instruction
        found.append(take_apart(edit.gold, ""))
    return found


def test_the_proposer_follows_the_direction() -> None:
    parent = ITEMS[1]
    sizes = {
        direction: [len(program.clauses) for program in proposed(parent, direction, 60)]
        for direction in ("harder", "easier", "sideways")
    }
    mean = {direction: sum(counts) / len(counts) for direction, counts in sizes.items()}
    assert mean["harder"] > mean["sideways"] > mean["easier"]


def test_an_alteration_changes_sentence_and_block_together() -> None:
    program = take_apart(ITEMS[1].gold, "")
    changed = alterations(program, random.Random(4))
    assert len(changed) >= 4
    for other in changed:
        pairs = zip(program.clauses, other.clauses, strict=True)
        differing = [(old, new) for old, new in pairs if old != new]
        assert len(differing) == 1
        old, new = differing[0]
        assert old.sentence != new.sentence and old.block != new.block
        session = Handful()
        assert "Traceback" not in session.run(other.text)
        assert session.done


def test_a_clause_whose_result_is_used_elsewhere_is_not_dropped() -> None:
    assert droppable(take_apart(item(TEXT, COUNT, finish=ANSWER).gold, "")) == [0]
    assert droppable(take_apart(item(TEXT, COUNT, PAY, finish=ANSWER).gold, "")) == [0, 2]


def test_what_hangs_on_a_dropped_clause_goes_with_it() -> None:
    read = (
        "My coworkers have to know.",
        'workers = pages(apis.phone.search_contacts, access_token="x")',
    )
    told = ("Text them.", "for w in workers:\n    apis.phone.send_text_message(message=w)")
    program = take_apart(item(read, told, FORBID, PAY).gold, "")
    assert droppable(program) == [1, 3]
    assert [one.sentence for one in drop(program, 1).clauses] == [PAY[0]]


def test_names_that_clash_are_renamed_in_the_added_block() -> None:
    program = take_apart(ITEMS[2].gold, "")
    clause = Clause("Look.", "total = 5\nprint(total)")
    grown = add(program, clause)
    session = Handful()
    session.run(grown.text)
    assert session.answer == 8


def test_each_mistake_of_the_proposer_occurs_and_about_one_reply_in_three_has_one() -> None:
    drawn = Counter(mistakes.draw(random.Random(n)) for n in range(4000))
    assert set(drawn) == {*mistakes.WEIGHTS, None}
    assert 0.30 <= 1 - drawn[None] / 4000 <= 0.40


MISTAKEN = {
    "syntax": lambda gold: not compiles(gold),
    "unknown_api": lambda gold: compiles(gold) and "Traceback" in Handful().run(gold),
    "unknown_name": lambda gold: "NameError" in Handful().run(gold),
    "padded": lambda gold: gold.count("set_volume") == 2,
    "hard_coded": lambda gold: "owen.brandt@example.com" in gold,
    "copy": lambda gold: gold == take_apart(ITEMS[0].gold, "").text,
}


@pytest.mark.parametrize("mistake", MISTAKEN)
def test_a_mistake_is_a_real_one(mistake: str) -> None:
    parent = take_apart(ITEMS[0].gold, "")
    edited = parent.with_clauses((*parent.clauses, Clause(*TEXT)))
    rng = random.Random(5)
    spoilt = mistakes.spoil_program(edited, parent, mistake, rng)
    assert MISTAKEN[mistake](mistakes.spoil_gold(spoilt.text, mistake, rng))


def test_an_answer_is_stated_only_where_one_is_asked() -> None:
    asking, telling = take_apart(ITEMS[2].gold, ""), take_apart(ITEMS[0].gold, "")
    spoilt = mistakes.spoil_program(asking, asking, "answer_stated", random.Random(1))
    number = spoilt.finish.split("answer=")[1].rstrip(")")
    assert f"answer is {number}." in spoilt.instruction
    assert mistakes.spoil_program(telling, telling, "answer_stated", random.Random(1)) == telling


@pytest.mark.parametrize(
    ("mistake", "cause"),
    [
        ("broken_fence", Rejection.UNPARSEABLE_REPLY),
        ("cut_off", Rejection.UNPARSEABLE_REPLY),
        ("refusal", Rejection.REFUSED),
    ],
)
def test_a_mistake_of_form_breaks_the_reply(mistake: str, cause: Rejection) -> None:
    reply = f"So.\n\n```instruction\nDo it.\n```\n\n```python\n{ITEMS[0].gold}```"
    assert parse_edit(reply)
    with pytest.raises(ReplyError) as caught:
        parse_edit(mistakes.spoil_reply(reply, mistake, random.Random(1)))
    assert caught.value.cause == cause


def test_most_mistakes_are_mended_when_the_error_is_shown() -> None:
    broken = mended = 0
    for step in range(300):
        request = proposer_request(ITEMS[1], "harder", step)
        first = ask(request)
        if is_usable(first.text):
            continue
        broken += 1
        again = request.model_copy(
            update={"messages": (*request.messages, *repair_messages(first, "it does not run"))}
        )
        mended += is_usable(ask(again).text)
    assert 15 <= broken <= 60
    assert 0.6 <= mended / broken <= 0.95


def compiles(gold: str) -> bool:
    try:
        compile(gold, "gold", "exec")
    except SyntaxError:
        return False
    return True


def is_usable(reply: str) -> bool:
    try:
        return compiles(parse_edit(reply).gold)
    except ReplyError:
        return False


def test_the_repertoire_spans_all_apps_and_its_blocks_stand_alone() -> None:
    templates = repertoire()
    assert len(templates) >= 40
    assert len({template.app for template in templates}) == 9
    assert len({template.name for template in templates}) == len(templates)
    for template in templates:
        for n in range(4):
            clause = template.drawn(random.Random(n))
            assert stands_alone(clause), template.name
            assert "{{" not in clause.sentence + clause.block


def synthetic_logits(count: int) -> list[tuple[int, float]]:
    """(clauses, logit) of items made of drawn clauses."""
    found = []
    for n in range(count):
        rng = random.Random(n)
        templates = rng.sample(repertoire(), rng.choice((1, 1, 2, 2, 3, 4)))
        program = Program("", tuple(one.drawn(rng) for one in templates), "")
        found.append((len(templates), item_logit(program, program.instruction)))
    return found


def test_completion_rates_of_drawn_items_spread_over_the_whole_range() -> None:
    rates = [chance(logit) for _, logit in synthetic_logits(400)]
    always, never = sum(c > 0.95 for c in rates), sum(c < 0.05 for c in rates)
    between = len(rates) - always - never
    assert always >= 80
    assert never >= 20
    assert between >= 80


def test_difficulty_is_not_the_length() -> None:
    logits = synthetic_logits(400)
    one = [chance(logit) for size, logit in logits if size == 1]
    four = [chance(logit) for size, logit in logits if size == 4]
    assert min(one) < 0.5
    assert max(four) > 0.8
    assert clause_strain(Clause(*FORBID)) == 0


def test_the_judge_goes_by_what_it_is_shown() -> None:
    vague = item(("Send some money to a few of my friends.", PAY[1]))
    verdicts = {
        one.instruction: Counter(
            parse_verdict(ask(judge_request(one), rng_seed).text).verdict for rng_seed in range(60)
        )
        for one in (ITEMS[0], vague)
    }
    assert verdicts[ITEMS[0].instruction].most_common(1)[0][0] == "valid"
    assert verdicts[vague.instruction].most_common(1)[0][0] == "vague"
    wrong = 120 - sum(counts.most_common(1)[0][1] for counts in verdicts.values())
    assert 0 < wrong < 20


def judge_request(one: Item) -> Request:
    subject = Subject(item_id=one.item_id)
    return Request(
        role="judge", spec=SPEC, messages=judge_prompt(one, []).messages, subject=subject
    )


def test_the_labeller_answers_for_just_the_labels_it_is_asked_for() -> None:
    from tasks.labels.definitions import FEATURES

    asked = [one for one in FEATURES if one.id in ("F5", "F9", "F10")]
    request = Request(
        role="labeller", spec=SPEC, messages=labeller_prompt(ITEMS[1], asked).messages
    )
    counts = Counter()
    for rng_seed in range(30):
        labels = parse_labels(ask(request, rng_seed).text, ["F5", "F9", "F10"]).labels
        counts.update(name for name, held in labels.items() if held)
    assert counts["F9"] > 20 and counts["F10"] > 20
    assert counts["F5"] < 10


def test_the_note_is_made_from_what_the_attempts_show() -> None:
    wrong = {"unexpected": [effect(amount=99)]}
    failed = [(attempt_row(n, wrong), [turn(0)]) for n in range(3)]
    solved = [(attempt_row(3, {}, outcome="solved"), [turn(0)])]
    notes = [
        ask(
            Request(role="feedback", spec=SPEC, messages=feedback_prompt(ITEMS[0], shown).messages)
        ).text
        for shown in (failed + solved, solved)
    ]
    assert "1 of 4 attempts" in notes[0] and "added in venmo should not be there" in notes[0]
    assert "1 of 1 attempts" in notes[1] and "reliably" in notes[1]
    assert all(len(note.split()) <= 120 for note in notes)
