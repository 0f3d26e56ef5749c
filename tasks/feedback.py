"""Feedback: trajectories and state differences, compressed into a short note for the next edit."""

from collections.abc import Sequence

from tasks.llm.base import LLMSpec, Request, Subject
from tasks.llm.prompting import feedback_prompt
from tasks.llm.replies import parse_note
from tasks.spool import Unit
from tasks.stage import StageRun, stage
from warehouse.records import Attempt, Item, Measurement, Note, Turn, digest_of


@stage(version="1", prompts=("feedback", "dialogue_feedback"))
async def feedback(
    run: StageRun,
    *,
    item: Item,
    attempts: Sequence[Attempt],
    turns: Sequence[Turn],
    measurement: Measurement,
    spec: LLMSpec,
    interaction: str = "code",
) -> list[str]:
    """A `Note` on an item's attempts; `turns` are theirs, in any order."""

    async def work(unit: Unit) -> None:
        trajectories = [
            (attempt, [turn for turn in turns if turn.attempt_id == attempt.attempt_id])
            for attempt in attempts
        ]
        prompt = feedback_prompt(item, trajectories, spec.context_chars, interaction)
        request = Request(
            role="feedback",
            spec=spec,
            messages=prompt.messages,
            subject=Subject(item_id=item.item_id, measurement=measurement),
            cut_chars=prompt.cut_chars,
        )
        reply = await unit.complete(run.bench.client(spec), request)
        text = parse_note(reply.text)
        unit.add(
            Note(
                note_id=digest_of([item.item_id, text]),
                campaign=run.bench.campaign,
                item_id=item.item_id,
                measurement=measurement,
                text=text,
            )
        )

    return [await run.once("notes", work)]
