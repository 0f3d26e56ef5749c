"""Verify: what an edit must show before any solver is paid for. Each gate on each item is a row.

The gates stand in the order in which they are tried: what costs nothing first, then what the simulator's
`check` tells. The first that fails ends the examination and is the step's cause of rejection.
"""

from collections.abc import Iterator, Sequence

from tasks.documents import document_of
from tasks.errors import Rejection
from tasks.golds.copies import similarity
from tasks.golds.literals import answer_in_instruction, hard_coded_literals
from tasks.spool import Unit
from tasks.stage import StageRun, stage
from tasks.suites.base import CheckReport, Run
from warehouse.records import Check, Decision, Edit, GoldCall, Item, Note, Step, canonical

NEAR_COPY = 0.99
"""Golds at least this similar (0-1, names and formatting apart) are one item told twice."""

Gate = tuple[Rejection, str | None]
"""A gate and what is wrong; None when it is passed."""


@stage(version="1")
async def verify(
    run: StageRun,
    *,
    decision: Decision,
    root: Item,
    parent: Item,
    inspirations: Sequence[Item],
    note: Note | None,
    edit: Edit,
    siblings: Sequence[Item],
    simulator: str,
    interaction: str = "code",
) -> list[str]:
    """Examines one step's edit: a `Step`, and where there was an item to examine, its `Check` rows.

    An accepted edit also gives its `Item` and the `GoldCall` rows of its gold. `siblings` are the other
    items of its island; `simulator` names the engine's version.
    """

    async def work(unit: Unit) -> None:
        cause, detail, child = edit.rejection, edit.rejection_detail, None
        if cause is None:
            item = edit.of(parent)
            gates, report = await examine(run, item, parent, siblings, interaction)
            unit.add(*_checks(run.bench.campaign, item, f"step {decision.step}", gates))
            cause, detail = gates[-1] if gates[-1][1] is not None else (None, None)
            if cause is None and report is not None:
                child = item
                unit.add(item, *gold_call_rows(item, report))
        unit.add(
            Step(
                campaign=run.bench.campaign,
                step=decision.step,
                root=root.item_id,
                parent=parent.item_id,
                inspirations=tuple(item.item_id for item in inspirations),
                direction=decision.direction,
                note_id=note.note_id if note else None,
                child=child.item_id if child else None,
                rejection=cause,
                rejection_detail=detail,
                repair_rounds=edit.repair_rounds,
            )
        )

    return [await run.once("steps", work)]


@stage(version="1")
async def verify_seed(run: StageRun, *, item: Item, simulator: str, interaction: str) -> list[str]:
    """Examines a seed by the gates that need no parent: its `Check` and `GoldCall` rows.

    Whether each of its writes is needed is not asked: a seed is its suite's to answer for.
    """

    async def work(unit: Unit) -> None:
        gates, report = await examine(run, item, None, (), interaction)
        unit.add(*_checks(run.bench.campaign, item, "seed", gates))
        if report is not None:
            unit.add(*gold_call_rows(item, report))

    return [await run.once("seed_checks", work)]


async def examine(
    run: StageRun, item: Item, parent: Item | None, siblings: Sequence[Item], interaction: str
) -> tuple[list[Gate], CheckReport | None]:
    """The gates tried, the last one failed or all passed, and the simulator's report if it was asked."""
    gates: list[Gate] = []
    for gate in TEXT_GATES[interaction](item, parent, siblings):
        gates.append(gate)
        if gate[1] is not None:
            return gates, None
    report = await run.bench.suite.check(item, writes=parent is not None)
    for gate in run_gates(item, report):
        gates.append(gate)
        if gate[1] is not None:
            break
    return gates, report


def text_gates(item: Item, parent: Item | None, siblings: Sequence[Item]) -> Iterator[Gate]:
    """The gates that read the item's text only."""
    if parent is not None:
        yield Rejection.NEAR_COPY_OF_PARENT, _near_copy(item, (parent,))
    yield Rejection.NEAR_COPY_OF_SIBLING, _near_copy(item, siblings)
    if item.gold is not None:
        literals = hard_coded_literals(item.gold, item.instruction)
        yield Rejection.HARD_CODED, f"the gold holds {', '.join(literals)}" if literals else None


def document_gates(item: Item, parent: Item | None, siblings: Sequence[Item]) -> Iterator[Gate]:
    """The gates that read a dialogue's document only: whether it says anything that another does not."""

    def copied(others: Sequence[Item]) -> str | None:
        same = (one for one in others if document_of(one) == document_of(item))
        return next((f"hardly differs from item {one.item_id}" for one in same), None)

    if parent is not None:
        yield Rejection.NEAR_COPY_OF_PARENT, copied((parent,))
    yield Rejection.NEAR_COPY_OF_SIBLING, copied(siblings)


TEXT_GATES = {"code": text_gates, "dialogue": document_gates}
"""The gates that need no simulator, by how it is acted in."""


def run_gates(item: Item, report: CheckReport) -> Iterator[Gate]:
    """The gates that read what the simulator found; of a seed without a gold, one."""
    yield from ((Rejection(cause), wrong) for cause, wrong in report.gates.items())
    gold = report.gold
    solved_idly = report.do_nothing is not None and report.do_nothing.outcome.solved
    fault = "completing at once solves the item" if solved_idly else None
    idly = (Rejection.DO_NOTHING_PASSES, fault)
    if gold is None:
        yield idly
        return
    yield Rejection.GOLD_ERROR, gold.error
    yield (
        Rejection.GOLD_INCOMPLETE,
        None if gold.outcome.completed else "complete_task was not called",
    )
    failed = [test.requirement for test in gold.outcome.tests if not test.passed]
    yield (
        Rejection.GOLD_FAILS_OWN_GRADE,
        None if gold.outcome.solved else f"failed: {'; '.join(failed)}",
    )
    effect = report.state_changes or report.expects_answer
    yield Rejection.NO_EFFECT, None if effect else "the gold changes nothing and gives no answer"
    yield idly
    if report.suppressed is not None:
        padding = [
            f"{s.app}.{s.api} (call {s.call})" for s in report.suppressed if s.run.outcome.solved
        ]
        detail = f"the grade does not change without {', '.join(padding)}"
        yield Rejection.PADDED, detail if padding else None
    answer = _answer(gold)
    told = report.expects_answer and answer_in_instruction(answer, item.instruction)
    yield Rejection.ANSWER_IN_INSTRUCTION, f"the instruction says {answer!r}" if told else None


def _near_copy(item: Item, others: Sequence[Item]) -> str | None:
    for other in others:
        same_words = item.instruction.casefold().split() == other.instruction.casefold().split()
        golds = [one.gold for one in (item, other) if one.gold is not None]
        if same_words or (len(golds) == 2 and similarity(*golds) >= NEAR_COPY):
            return f"hardly differs from item {other.item_id}"
    return None


def _answer(gold: Run) -> object:
    """What the gold's last completion gave as answer; None where it gave none."""
    for call in reversed(gold.calls):
        if call.api == "complete_task":
            return call.arguments.get("answer")
    return None


def _checks(campaign: str, item: Item, examined: str, gates: Sequence[Gate]) -> list[Check]:
    return [
        Check(
            campaign=campaign,
            item_id=item.item_id,
            examined=examined,
            check=str(name),
            passed=detail is None,
            detail=detail,
        )
        for name, detail in gates
    ]


def gold_call_rows(item: Item, report: CheckReport) -> list[GoldCall]:
    """The rows of the calls that the item's gold made in a check; none for a seed without a gold."""
    calls = () if report.gold is None else report.gold.calls
    return [
        GoldCall(
            item_id=item.item_id,
            n=call.n,
            app=call.app,
            api=call.api,
            ok=call.ok,
            wrote=call.wrote,
            arguments=canonical(call.arguments),
            output=None if call.output is None else canonical(call.output),
        )
        for call in calls
    ]
