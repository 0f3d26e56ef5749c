"""The recording of what was played by hand: prompts answered by somebody who read nothing else, replayed
through the `file` endpoint on the real simulator."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tasks.errors import AttemptCause, ProviderError
from tasks.llm.replies import parse_cell, parse_edit, parse_note, parse_verdict
from tests.by_hand.playing import REPLIES, Table, attempt_cases, edit_cases, recorded_table
from warehouse.records import DIRECTIONS

SAMPLED_EDITS, SAMPLED_ATTEMPTS = ["mostplayedsong-harder-harder"], ["partyguests"]
"""What is played here, with the edit that it builds on; `make endurance` plays all."""

AGAIN = (
    "no longer what the kept replies answer. If only its wording changed, run `python -m tests.by_hand "
    "rename edits` and `... rename attempts`: the replies are played in their order and take their requests' "
    "new names. If it asks for something else now, have it played anew: `python -m tests.by_hand play edits "
    "FOLDER`, and `keep` when all is answered."
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def table(
    tmp_path_factory: pytest.TempPathFactory, simulator_state: Path
) -> AsyncIterator[Table]:
    """One simulator for all."""
    async with recorded_table(tmp_path_factory.mktemp("by_hand"), simulator_state) as table:
        yield table


def kept(role: str) -> list[Path]:
    """The kept replies of a role."""
    return sorted(REPLIES.glob(f"*-{role}-*.reply.md"))


@pytest.mark.asyncio(loop_scope="module")
async def test_recorded_edits_verify(table: Table) -> None:
    try:
        edits = await table.edits(SAMPLED_EDITS)
    except ProviderError as error:
        pytest.fail(f"{error}: the proposer's prompt, or what it is made from, is {AGAIN}")
    assert [str(one) for one in edits if one.step.rejection is not None] == []


@pytest.mark.asyncio(loop_scope="module")
async def test_recorded_attempts_end_with_an_outcome(table: Table) -> None:
    """None ends by a limit or for want of an action."""
    try:
        attempts = await table.attempts(SAMPLED_ATTEMPTS)
    except ProviderError as error:
        pytest.fail(f"{error}: the solver's prompt, or what it was shown, is {AGAIN}")
    causes = {one.cause for one in attempts}
    assert causes <= {None, AttemptCause.WRONG_STATE, AttemptCause.WRONG_ANSWER}, causes
    assert all(one.calls > 0 for one in attempts)


def test_the_recording_is_as_large_as_it_should_be() -> None:
    cases = edit_cases().values()
    assert len(kept("proposer")) >= len(cases) >= 30
    assert len({case.parent for case in cases}) >= 8
    assert {case.direction for case in cases} == set(DIRECTIONS)
    assert len(attempt_cases()) >= 10
    assert len(kept("feedback")) >= 10 and len(kept("judge")) >= 10


def test_every_kept_reply_can_be_read() -> None:
    """Whatever the requests' names are by now."""
    for path in kept("proposer"):
        edit = parse_edit(path.read_text(encoding="utf-8"))
        compile(edit.gold, path.name, "exec")
        assert edit.gold.count("# Clause: ") >= 1, path.name
    assert all(parse_cell(path.read_text(encoding="utf-8")).code for path in kept("solver"))
    for path in kept("feedback"):
        assert 20 <= len(parse_note(path.read_text(encoding="utf-8")).split()) <= 140, path.name
    assert {parse_verdict(path.read_text(encoding="utf-8")).verdict for path in kept("judge")}
