"""Broken replies handed to the stages: each is recorded for what it is, and nothing else happens."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tasks.errors import AttemptCause, Rejection
from tasks.feedback import feedback
from tasks.judge import judge
from tasks.label import label
from tasks.llm.base import Completion, LLMSpec, Message, Request, Tokens
from tasks.llm.replies import MAX_NOTE_CHARS, VERDICT_SCHEMA, labels_schema
from tasks.mutate import mutate
from tasks.plan import SolverLimits
from tasks.solve import solve
from tasks.verify import verify
from tasks.workbench import Workbench
from tests.broken_replies import (
    ACCEPTED_EDITS,
    BROKEN_LABELS,
    BROKEN_VERDICTS,
    IDLE_CELLS,
    ODD_NOTES,
    REJECTED_EDITS,
    edit,
)
from tests.stage_work import work_of, workbench
from tests.toy.suite import ToySuite, toy_seeds
from warehouse.marts import query
from warehouse.records import Attempt, Decision, Edit, Item, Label, Note, Row, Step, Verdict
from warehouse.store import Loader

SPEC = LLMSpec(endpoint="toy", llm_id="toy")
PARENT = toy_seeds()[0].item
SUITE = ToySuite()
WORLD = asyncio.run(SUITE.describe())
ROWS: list[Row] = []
"""What the stages of this file's tests have recorded so far."""


class Saying:
    """A model that says one thing, whatever it is asked."""

    simulated = True

    def __init__(self, said: str | Completion) -> None:
        made = said if isinstance(said, Completion) else Completion(text=said)
        self.said = made.model_copy(update={"tokens": Tokens(prompt=1, completion=1)})
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        """The one thing."""
        self.asked.append(request)
        return self.said

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """Not asked for here."""
        raise AssertionError("no stage of these embeds")

    async def aclose(self) -> None:
        """Nothing is held."""


def saying(folder: Path, said: str | Completion) -> Workbench:
    return workbench(folder, SUITE, {"toy": Saying(said)}, ROWS.extend)


async def edited(bench: Workbench) -> tuple[Edit, Step, Item | None]:
    """A step on the parent: what mutate and verify record."""
    mutated = await work_of(
        mutate, bench, step=0, parent=PARENT, gold_calls=[], inspirations=[], note=None,
        direction="harder", world=WORLD, proposer=SPEC, repair_rounds=1,
    )  # fmt: skip
    edit = mutated.one(Edit)
    decision = Decision(
        campaign="c", step=0, island=0, parent_node=-1, inspiration_nodes=(), direction="harder",
        parent_weight=1.0,
    )  # fmt: skip
    verified = await work_of(
        verify, bench, decision=decision, root=PARENT, parent=PARENT, inspirations=[], note=None,
        edit=edit, siblings=[], simulator="toy 1",
    )  # fmt: skip
    return edit, verified.one(Step), verified.maybe(Item)


def test_the_corpus_is_large_enough() -> None:
    broken = (REJECTED_EDITS, BROKEN_VERDICTS, BROKEN_LABELS, IDLE_CELLS, ODD_NOTES)
    assert sum(map(len, broken)) >= 80


@pytest.mark.parametrize("name", REJECTED_EDITS)
async def test_a_broken_edit_is_a_step_with_its_cause(name: str, tmp_path: Path) -> None:
    said, cause = REJECTED_EDITS[name]
    bench = saying(tmp_path, said)
    _, step, item = await edited(bench)
    assert (step.rejection, step.child, item) == (cause, None, None)
    assert step.rejection_detail
    asked = bench.clients["toy"].asked
    mendable = cause in ("unparseable_reply", "gold_syntax", "gold_error", "gold_incomplete")
    assert len(asked) == (2 if mendable else 1)
    if mendable:
        shown = asked[1].messages[-1].content
        assert "could not be used" in shown and len(shown) < 5_000


async def test_an_edit_that_no_judge_could_be_shown_is_a_step_with_its_cause(
    tmp_path: Path,
) -> None:
    bench = saying(tmp_path, edit("Put 3 into each box. " * 280))
    judge = bench.plan.judge.model_copy(update={"context_chars": 8_000})
    bench.plan = bench.plan.model_copy(update={"judge": judge})
    made, step, item = await edited(bench)
    assert (step.rejection, item, made.repair_rounds) == (Rejection.TOO_LONG, None, 1)
    assert "judge.context_chars" in (step.rejection_detail or "")


@pytest.mark.parametrize("name", ACCEPTED_EDITS)
async def test_an_odd_edit_is_an_item(name: str, tmp_path: Path) -> None:
    _, step, item = await edited(saying(tmp_path, ACCEPTED_EDITS[name]))
    assert step.rejection is None, step.rejection_detail
    assert item is not None and "figs" in item.instruction and "\r" not in item.gold


@pytest.mark.parametrize("name", BROKEN_VERDICTS)
async def test_a_broken_verdict_is_recorded_as_none(name: str, tmp_path: Path) -> None:
    bench = saying(tmp_path, BROKEN_VERDICTS[name])
    judged = await work_of(judge, bench, item=PARENT, failures=[], spec=SPEC, repair_rounds=1)
    verdict = judged.one(Verdict)
    assert verdict.verdict is None and verdict.reason.startswith("no verdict could be read: ")
    asked = bench.clients["toy"].asked
    assert len(asked) == 2 and asked[0].response_schema is not None


@pytest.mark.parametrize("name", BROKEN_LABELS)
async def test_broken_labels_are_absent_and_the_code_s_own_stay(name: str, tmp_path: Path) -> None:
    bench = saying(tmp_path, BROKEN_LABELS[name])
    labelled = await work_of(
        label, bench, item=PARENT, gold_calls=[], failures=[], turns=[], spec=SPEC, repair_rounds=1
    )
    assert {row.source for row in labelled.all(Label)} == {"code"}
    assert len(bench.clients["toy"].asked) == 2


@pytest.mark.parametrize("name", ODD_NOTES)
async def test_a_note_is_kept_as_text(name: str, tmp_path: Path) -> None:
    said, kept = ODD_NOTES[name]
    noted = await work_of(
        feedback, saying(tmp_path, said), item=PARENT, attempts=[], turns=[],
        measurement="search", spec=SPEC,
    )  # fmt: skip
    assert noted.one(Note).text == kept


async def test_an_endless_note_is_cut_and_says_so(tmp_path: Path) -> None:
    noted = await work_of(
        feedback, saying(tmp_path, "on " * 9_000), item=PARENT, attempts=[], turns=[],
        measurement="search", spec=SPEC,
    )  # fmt: skip
    text = noted.one(Note).text
    assert len(text) < MAX_NOTE_CHARS + 20 and text.endswith("[cut]")


@pytest.mark.parametrize("name", IDLE_CELLS)
async def test_a_solver_that_writes_no_cell_fails_with_a_cause(name: str, tmp_path: Path) -> None:
    bench = saying(tmp_path, IDLE_CELLS[name])
    solved = await work_of(
        solve, bench, item=PARENT, solver=SPEC, measurement="search", repeats=1,
        limits=SolverLimits(), interaction="code", simulator="toy 1",
    )  # fmt: skip
    attempt = solved.one(Attempt)
    assert (attempt.outcome, attempt.cause) == ("failed", AttemptCause.NO_ACTION)
    assert attempt.turns == 3 and attempt.calls == 0


@pytest.mark.parametrize("role", ["proposer", "judge", "labeller"])
async def test_who_is_asked_again_gets_back_what_its_provider_wants_back(
    role: str, tmp_path: Path
) -> None:
    """Gemini refuses to go on with a conversation whose thought signatures are missing."""
    bench = saying(tmp_path, Completion(text="nothing of use", state={"signature": "c2ln"}))
    if role == "proposer":
        await edited(bench)
    elif role == "judge":
        await work_of(judge, bench, item=PARENT, failures=[], spec=SPEC, repair_rounds=1)
    else:
        await work_of(
            label, bench, item=PARENT, gold_calls=[], failures=[], turns=[], spec=SPEC,
            repair_rounds=1,
        )  # fmt: skip
    first, again = bench.clients["toy"].asked
    spoken = Message(role="assistant", content="nothing of use", state={"signature": "c2ln"})
    assert again.messages[: len(first.messages) + 1] == (*first.messages, spoken)


ON = "```python\napis.shelf.put(box='figs', count=1)\n```"
"""A cell that never ends an attempt."""


@pytest.mark.parametrize(
    ("limits", "cause", "turns"),
    [
        ({"max_turns": 4}, AttemptCause.TURN_LIMIT, 4),
        ({"max_calls": 3}, AttemptCause.CALL_LIMIT, 3),
        # Each reply is one token, and the last prompt another.
        ({"max_tokens": 6}, AttemptCause.TOKEN_LIMIT, 5),
        ({"max_total_observation_chars": 200}, AttemptCause.OBSERVATION_LIMIT, 10),
    ],
)
async def test_an_attempt_ends_at_its_first_ceiling(
    limits: dict[str, int], cause: AttemptCause, turns: int, tmp_path: Path
) -> None:
    bench = saying(tmp_path, ON)
    solved = await work_of(
        solve, bench, item=PARENT, solver=SPEC, measurement="search", repeats=2,
        limits=SolverLimits(**limits), interaction="code", simulator="toy 1",
    )  # fmt: skip
    attempts = solved.all(Attempt)
    assert [(one.outcome, one.cause, one.turns) for one in attempts] == [
        ("failed", cause, turns)
    ] * 2
    assert len(bench.clients["toy"].asked) == 2 * turns, "each attempt has its own ceiling"


def test_all_that_was_recorded_fits_into_a_warehouse(tmp_path: Path) -> None:
    """One file for all of them: opening a warehouse is what takes long."""
    with Loader(tmp_path / "turtle.duckdb", 5.0) as loader:
        loader.put(ROWS)
        loader.flush()
    notes = query(tmp_path / "turtle.duckdb", "SELECT text FROM notes")[1]
    assert {text for (text,) in notes} == {row.text for row in ROWS if isinstance(row, Note)}


def test_schemas_bound_what_they_ask_for() -> None:
    for schema in (VERDICT_SCHEMA, labels_schema(["F5"])):
        for field in _leaves(schema):
            assert field["type"] == "boolean" or "enum" in field or "maxLength" in field
            assert field["type"] != "number", (
                "a grammar of llama.cpp does not hold bounds of floats"
            )


def _leaves(schema: dict[str, Any]) -> list[dict[str, Any]]:
    if schema["type"] != "object":
        return [schema]
    assert schema["additionalProperties"] is False
    return [leaf for field in schema["properties"].values() for leaf in _leaves(field)]
