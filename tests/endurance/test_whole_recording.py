"""All that was played by hand, replayed on the real engine: requests and replies fit word for word."""

from pathlib import Path

from tasks.errors import AttemptCause
from tests.by_hand.playing import attempt_cases, edit_cases, recorded_table


async def test_all_that_was_played_by_hand(tmp_path: Path, checkout: Path) -> None:
    """At least half of the proposed golds verify, and attempts end in an outcome."""
    async with recorded_table(tmp_path, checkout / ".turtle") as table:
        edits = await table.edits(list(edit_cases()))
        attempts = await table.attempts(attempt_cases())
    print("\n".join(map(str, edits)))
    verified = [one for one in edits if one.step.rejection is None]
    at_once = [one for one in verified if one.edit.repair_rounds == 0]
    solved = [one for one in attempts if one.outcome == "solved"]
    print(
        f"{len(verified)} of {len(edits)} proposed golds verify, {len(at_once)} at the first try; "
        f"{len(solved)} of {len(attempts)} attempts solve their item"
    )
    assert len(edits) == len(edit_cases()) and len(verified) >= len(edits) / 2
    assert {one.cause for one in attempts} <= {
        None,
        AttemptCause.WRONG_STATE,
        AttemptCause.WRONG_ANSWER,
    }
