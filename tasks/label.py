"""Label: difficulty and features of an item, failure reasons of its failed attempts.

What code can decide, code decides (source "code"); the features that need judgement are the labeller
model's, and its rows stand beside the code's, never over them. Definitions: tasks/labels/labels.toml.
"""

import json
from collections.abc import Sequence
from functools import partial

from tasks.labels.difficulty import difficulty
from tasks.labels.failure_reasons import FAILURE_REASONS, failure_reasons
from tasks.labels.features import JUDGED_FEATURES, features
from tasks.llm.base import LLMSpec, Message, Request, Subject
from tasks.llm.context import continued
from tasks.llm.prompting import ask_again, labeller_prompt
from tasks.llm.replies import ReplyError, labels_schema, parse_labels
from tasks.spool import Unit
from tasks.stage import StageRun, stage
from tasks.suites.base import Call, Difference
from warehouse.records import Attempt, GoldCall, Item, Label, Turn


@stage(version="2", prompts=("labeller", "dialogue_labeller"))
async def label(
    run: StageRun,
    *,
    item: Item,
    gold_calls: Sequence[GoldCall],
    failures: Sequence[Attempt],
    turns: Sequence[Turn],
    spec: LLMSpec,
    repair_rounds: int,
    interaction: str = "code",
) -> list[str]:
    """The `Label` rows of one item and of its failed attempts.

    `turns` are the failed attempts' turns. Where the labeller gives no readable reply within the repair
    rounds, its labels are absent.
    """

    async def work(unit: Unit) -> None:
        campaign = run.bench.campaign
        judged = await _judged(run, unit, item, spec, repair_rounds, interaction)
        unit.add(*_of_item(campaign, item, gold_calls, interaction))
        unit.add(
            *(_label(campaign, item, name, holds, spec.spec_id) for name, holds in judged.items())
        )
        for attempt in failures:
            unit.add(*_of_attempt(campaign, item, attempt, turns))

    return [await run.once("labels", work)]


def _of_item(
    campaign: str, item: Item, gold_calls: Sequence[GoldCall], interaction: str = "code"
) -> list[Label]:
    """Difficulty with its two parts, and each feature that code can decide; none without a gold to read."""
    if item.gold is None:
        return []
    calls = [_call(row) for row in gold_calls]
    measured = difficulty(item.instruction, item.gold, calls, interaction)
    values = {
        "interaction": measured.interaction,
        "reasoning": measured.reasoning,
        "difficulty": measured.difficulty,
    } | features(item.instruction, item.gold, calls, interaction)
    return [_label(campaign, item, name, value, "code") for name, value in values.items()]


def _of_attempt(campaign: str, item: Item, attempt: Attempt, turns: Sequence[Turn]) -> list[Label]:
    """Each failure reason of a failed attempt, those that do not hold as 0."""
    own = [turn for turn in turns if turn.attempt_id == attempt.attempt_id]
    difference = (
        None if attempt.difference is None else Difference.model_validate_json(attempt.difference)
    )
    holding = failure_reasons(attempt, difference, bool(own) and own[-1].error)
    return [
        _label(campaign, item, name, name in holding, "code", attempt.attempt_id)
        for name in FAILURE_REASONS
    ]


async def _judged(
    run: StageRun, unit: Unit, item: Item, spec: LLMSpec, repair_rounds: int, interaction: str
) -> dict[str, bool]:
    """The labeller's answers by feature id; empty when none could be read."""
    opening = partial(labeller_prompt, item, JUDGED_FEATURES, interaction=interaction)
    rest: tuple[Message, ...] = ()
    ids = [definition.id for definition in JUDGED_FEATURES]
    for asked in range(repair_rounds + 1):
        prompt = continued(opening, spec.context_chars, rest)
        if prompt is None:
            break
        request = Request(
            role="labeller",
            spec=spec,
            messages=prompt.messages,
            response_schema=labels_schema(ids),
            subject=Subject(item_id=item.item_id, round=asked),
            cut_chars=prompt.cut_chars,
        )
        reply = await unit.complete(run.bench.client(spec), request)
        try:
            return parse_labels(reply.text, ids).labels
        except ReplyError as error:
            rest += ask_again(reply, str(error))
    return {}


def _label(
    campaign: str, item: Item, name: str, value: int, source: str, attempt_id: str = ""
) -> Label:
    return Label(
        campaign=campaign,
        item_id=item.item_id,
        attempt_id=attempt_id,
        name=name,
        value=int(value),
        source=source,
    )


def _call(row: GoldCall) -> Call:
    return Call(
        n=row.n,
        app=row.app,
        api=row.api,
        ok=row.ok,
        wrote=row.wrote,
        arguments=json.loads(row.arguments),
        output=None if row.output is None else json.loads(row.output),
    )
