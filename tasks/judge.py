"""Judge: drops false failures and vague items among the selected variants."""

from collections.abc import Sequence
from functools import partial

from tasks.llm.base import LLMSpec, Message, Request, Subject
from tasks.llm.context import NO_ROOM, continued
from tasks.llm.prompting import ask_again, judge_prompt
from tasks.llm.replies import (
    DIALOGUE_VERDICT_SCHEMA,
    VERDICT_SCHEMA,
    ReplyError,
    VerdictReply,
    parse_verdict,
)
from tasks.spool import Unit
from tasks.stage import StageRun, stage
from warehouse.records import Attempt, Item, Turn, Verdict


@stage(version="2", prompts=("judge", "dialogue_judge"))
async def judge(
    run: StageRun,
    *,
    item: Item,
    failures: Sequence[Attempt],
    spec: LLMSpec,
    repair_rounds: int,
    interaction: str = "code",
    turns: Sequence[Turn] = (),
) -> list[str]:
    """A `Verdict` on an item from its instruction, gold and failed attempts.

    Of a dialogue the failures' `turns` are given too: the judge sees how each ended, and says which of them
    are the simulated user's.
    A reply that cannot be read is asked for again `repair_rounds` times, as far as there is room; after
    that the verdict is None with the fault as its reason, and the item is not kept.
    """

    asks_whose = interaction == "dialogue"
    numbers = [failure.repeat for failure in failures] if asks_whose else None
    schema = DIALOGUE_VERDICT_SCHEMA if asks_whose else VERDICT_SCHEMA

    async def work(unit: Unit) -> None:
        opening = partial(judge_prompt, item, failures, interaction=interaction, turns=turns)
        rest: tuple[Message, ...] = ()
        parsed: VerdictReply | None = None
        reason = ""
        for asked in range(repair_rounds + 1):
            prompt = continued(opening, spec.context_chars, rest)
            if prompt is None:
                reason += NO_ROOM
                break
            subject = Subject(item_id=item.item_id, round=asked)
            request = Request(
                role="judge",
                spec=spec,
                messages=prompt.messages,
                response_schema=schema,
                subject=subject,
                cut_chars=prompt.cut_chars,
            )
            reply = await unit.complete(run.bench.client(spec), request)
            try:
                parsed = parse_verdict(reply.text, numbers)
            except ReplyError as error:
                reason = f"no verdict could be read: {error}"
                rest += ask_again(reply, str(error))
            else:
                reason = parsed.reason
                break
        unit.add(
            Verdict(
                campaign=run.bench.campaign,
                item_id=item.item_id,
                judge=spec.spec_id,
                reason=reason,
                verdict=parsed and parsed.verdict,
                user_failures=parsed and parsed.user_failures,
            )
        )

    return [await run.once("verdicts", work)]
