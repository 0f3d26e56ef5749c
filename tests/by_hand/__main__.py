"""Plays, keeps and renames: `python -m tests.by_hand play|keep|rename edits|attempts [FOLDER]`.

- `play`: requests appear in FOLDER as the cases come to them, and the command waits for the replies. Stopped
  and started again, it goes on with those that are there.
- `keep`: plays a FOLDER whose requests are all answered and keeps its replies as the recording.
- `rename`: after a change of a prompt's wording, plays the kept replies in their order and gives them the
  names of the requests that they answer now. Their writers saw the older wording; `prompts.json` says which.

Each prints what the cases came to.
"""

import argparse
import asyncio
import json
import tempfile
from pathlib import Path

from tasks.llm.by_file import FileClient
from tasks.llm.prompting import prompt_hash
from tasks.suites.appworld import AppWorldSuite
from tests.by_hand.keeping import InOrder, Keeping
from tests.by_hand.playing import REPLIES, Table, attempt_cases, edit_cases

CHECKOUT = Path(__file__).resolve().parents[2]
PROMPTS = Path(__file__).with_name("prompts.json")
"""Hash of each role's prompt file as the writers of the kept replies saw it."""


async def play(how: str, what: str, folder: Path, state: Path) -> None:
    """Plays all cases of a kind."""
    suite = AppWorldSuite(CHECKOUT / ".turtle")
    table = Table(state, suite)
    table.client = {
        "play": lambda: FileClient(folder),
        "keep": lambda: Keeping(REPLIES, table.case_of, FileClient(folder, answered_only=True)),
        "rename": lambda: Keeping(REPLIES, table.case_of, InOrder(REPLIES, table.case_of)),
    }[how]()
    try:
        if what == "attempts":
            for attempt in await table.attempts(attempt_cases()):
                print(
                    attempt.item_id, attempt.outcome, attempt.cause or "", f"{attempt.turns} turns"
                )
        else:
            for one in await table.edits(list(edit_cases())):
                print(one)
    finally:
        await suite.aclose()
    if how == "keep":
        role = "solver" if what == "attempts" else "proposer"
        seen = json.loads(PROMPTS.read_text("utf-8")) if PROMPTS.exists() else {}
        PROMPTS.write_text(json.dumps(seen | {role: prompt_hash(role)}, indent=2) + "\n", "utf-8")


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser()
    parser.add_argument("how", choices=("play", "keep", "rename"))
    parser.add_argument("what", choices=("edits", "attempts"))
    parser.add_argument("folder", type=Path, nargs="?", default=Path("requests"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as state:
        asyncio.run(play(arguments.how, arguments.what, arguments.folder, Path(state)))


if __name__ == "__main__":
    main()
