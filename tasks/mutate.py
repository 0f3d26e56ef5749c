"""Mutate: a proposer edits an item; what cannot be read or run goes back to it once, with the error."""

from collections.abc import Mapping, Sequence
from functools import partial

from tasks.documents import DocumentFault, fields_of
from tasks.errors import Rejection, SimulatorError
from tasks.golds.copies import normalised
from tasks.llm.base import LLMSpec, Message, Request, Subject
from tasks.llm.context import NO_ROOM, continued
from tasks.llm.prompting import proposer_prompt, repair_messages
from tasks.llm.replies import ReplyError, parse_document, parse_edit
from tasks.room import lacks_room
from tasks.spool import Unit
from tasks.stage import StageRun, stage
from tasks.suites.base import CheckReport, Description
from warehouse.records import Direction, Edit, GoldCall, Item, Note

SURVEY_S = 600.0
"""Deadline of looking around a parent's start: it takes a second, on a machine that may be loaded."""


@stage(version="2", prompts=("proposer", "dialogue_proposer"))
async def mutate(
    run: StageRun,
    *,
    step: int,
    parent: Item,
    gold_calls: Sequence[GoldCall],
    inspirations: Sequence[Item],
    note: Note | None,
    direction: Direction,
    world: Description,
    proposer: LLMSpec,
    repair_rounds: int,
) -> list[str]:
    """One edit of `parent`: an `Edit`, with the cause of its rejection where it came to nothing.

    A reply that cannot be parsed, or a gold that does not compile, raises or does not complete, is shown
    to the proposer with the error, `repair_rounds` times at most and as far as there is room. `gold_calls`
    are the parent's.
    """

    async def work(unit: Unit) -> None:
        survey = await _survey(run, parent, world)
        opening = partial(
            proposer_prompt,
            parent,
            world,
            direction,
            note and note.text,
            inspirations,
            gold_calls,
            survey,
        )
        prompt = opening(proposer.context_chars)
        rest: tuple[Message, ...] = ()
        specs = run.bench.plan.specs | {"proposer": proposer}
        for asked in range(repair_rounds + 1):
            subject = Subject(item_id=parent.item_id, step=step, round=asked)
            request = Request(
                role="proposer",
                spec=proposer,
                messages=prompt.messages,
                subject=subject,
                cut_chars=prompt.cut_chars,
            )
            reply = await unit.complete(run.bench.client(proposer), request)
            edit = await _edit(run, step, parent, world, specs, reply.text, asked)
            if edit.rejection in (None, Rejection.REFUSED) or asked == repair_rounds:
                break
            wrong = edit.rejection_detail or edit.rejection
            rest += repair_messages(reply, wrong, world.interaction)
            longer = continued(opening, proposer.context_chars, rest)
            if longer is None:
                edit = edit.model_copy(update={"rejection_detail": f"{wrong}{NO_ROOM}"})
                break
            prompt = longer
        unit.add(edit)

    return [await run.once("edits", work)]


async def _survey(run: StageRun, parent: Item, world: Description) -> str | None:
    """What the parent's start shows; None where the suite has no way to look around."""
    if world.survey is None:
        return None
    async with run.bench.attempt_slots:
        session = await run.bench.suite.open(parent, rng_seed=0)
        try:
            shown = await session.act(world.survey, SURVEY_S)
        finally:
            await session.close()
    if shown.error:
        raise SimulatorError(f"the survey of start {parent.start} failed: {shown.text[-300:]}")
    return shown.text


async def _edit(
    run: StageRun,
    step: int,
    parent: Item,
    world: Description,
    specs: Mapping[str, LLMSpec],
    reply: str,
    asked: int,
) -> Edit:
    """Reads a reply and tries its gold once."""
    read = {"step": step, "parent": parent.item_id, "repair_rounds": asked}
    try:
        fields = READERS[world.interaction](reply)
    except ReplyError as error:
        return Edit(
            **read,
            reasoning="",
            instruction=None,
            gold=None,
            rejection=error.cause,
            rejection_detail=str(error),
        )
    edit = Edit(**read, **fields, rejection=None, rejection_detail=None)
    fault = (
        (_syntax_fault(edit.gold) if world.interaction == "code" else None)
        or _length_fault(edit.of(parent), world, specs)
        or _run_fault(await run.bench.suite.check(edit.of(parent), gold_only=True))
    )
    if fault is None:
        return edit
    return edit.model_copy(update={"rejection": fault[0], "rejection_detail": fault[1]})


def _code_edit(reply: str) -> dict[str, str]:
    parsed = parse_edit(reply)
    return {
        "reasoning": parsed.reasoning,
        "instruction": parsed.instruction,
        "gold": parsed.gold,
    }


def _document_edit(reply: str) -> dict[str, str]:
    parsed = parse_document(reply)
    try:
        return {"reasoning": parsed.reasoning, **fields_of(parsed.document)}
    except DocumentFault as fault:
        cause = Rejection.UNKNOWN_KEY if fault.unknown_key else Rejection.UNPARSEABLE_REPLY
        raise ReplyError(cause, str(fault)) from fault


READERS = {"code": _code_edit, "dialogue": _document_edit}
"""How a proposer's reply becomes an edit's fields, by how the suite is acted in."""


def _syntax_fault(gold: str) -> tuple[Rejection, str] | None:
    try:
        compile(gold, "gold", "exec")
        # Text that compiles may still be nested deeper than verify's reading of golds goes.
        normalised(gold)
    except (SyntaxError, ValueError, RecursionError) as error:
        return Rejection.GOLD_SYNTAX, f"the gold does not compile: {error}"
    return None


def _length_fault(
    item: Item, world: Description, specs: Mapping[str, LLMSpec]
) -> tuple[Rejection, str] | None:
    lack = lacks_room(item, world, specs)
    if lack is None:
        return None
    return Rejection.TOO_LONG, f"instruction and gold are too long together: {lack}"


def _run_fault(report: CheckReport) -> tuple[Rejection, str] | None:
    for cause, wrong in report.gates.items():
        if wrong is not None:
            return Rejection(cause), wrong
    gold = report.gold
    if gold.error is not None:
        return Rejection.GOLD_ERROR, gold.error
    if not gold.outcome.completed:
        return Rejection.GOLD_INCOMPLETE, "the gold ran through but never called complete_task"
    return None
