"""The ledger of a campaign: every try of every call, announced before it is sent, settled when it ended.

`<spool>/<campaign>/ledger.jsonl` is append-only and belongs to the process that holds the campaign; one that
joins has `ledger-<number>.jsonl`. A try is written down before anything is sent, so that a process that is
killed leaves no call unknown: the next one with its ledger finds it announced and never settled, and settles
it as "Interrupted", with the most that it can have cost. Tables are made from settled tries (`read_ledger`),
in units that finished and in units that never did.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from tasks.errors import SpoolError
from tasks.json_lines import JsonLines, whole_lines
from tasks.llm.base import LLMSpec, Subject
from warehouse.records import LlmCall

LEDGER = "ledger.jsonl"
"""The file's name in the campaign's folder; a joined process has its number in it."""

INTERRUPTED = "Interrupted"
"""Cause of a try in whose middle the process ended."""


class Ledger:
    """One process's open ledger of a campaign; used from its event loop only."""

    def __init__(
        self,
        folder: Path,
        campaign: str,
        sink: Callable[[list[LlmCall]], None] = lambda rows: None,
        number: int = 0,
    ) -> None:
        """Takes the file up, and settles what an earlier process left open.

        Args:
            folder: The campaign's, in the spool.
            campaign: Its name.
            sink: Takes settled rows to the warehouse, those of earlier processes at once.
            number: The process's among those that drain the campaign; 0 holds it.
        """
        path = _path(folder, number)
        lines = whole_lines(path)
        settled, opened = _tries(path, lines)
        self._file = JsonLines(path, lines)
        self._campaign = campaign
        self._number = number
        self._sink = sink
        self._tries: Counter[str] = Counter()
        self.cost_usd = 0.0
        """What is known to have been spent, in US dollars, by earlier processes too."""
        self.most_usd = 0.0
        """The most that can have been spent."""
        self.unpriced = 0
        """Replies whose cost is unknown."""
        self.unsure = 0
        """Tries that may have been billed we do not know how much."""
        for row in (*settled, *opened):
            self._tries[_asker(row)] += 1
        others = (_tries(other, whole_lines(other)) for other in _paths(folder) if other != path)
        for row in chain(settled, *chain.from_iterable(others)):
            self._count(row)
        sink(settled)
        for row in opened:
            self.settle(row.model_copy(update={"cause": INTERRUPTED}))

    def announce(
        self,
        role: str,
        spec: LLMSpec,
        prompt_hash: str,
        subject: Subject,
        unit: str | None,
        most_usd: float | None,
        cut_chars: int,
    ) -> LlmCall:
        """Writes down that a try is about to be sent; returns its row, to be settled. Raises SpoolError."""
        row = LlmCall(
            call_id="",
            campaign=self._campaign,
            unit=unit,
            role=role,
            item_id=subject.item_id,
            step=subject.step,
            repeat=subject.repeat,
            turn=subject.turn,
            spec_id=spec.spec_id,
            endpoint=spec.endpoint,
            llm_id=spec.llm_id,
            prompt_hash=prompt_hash,
            finish_reason=None,
            prompt_tokens=None,
            cached_tokens=None,
            completion_tokens=None,
            reasoning_tokens=None,
            cut_chars=cut_chars,
            cost_usd=None,
            most_usd=most_usd,
            cause=None,
            latency_s=0.0,
        )
        asker = _asker(row)
        of_joined = f"{self._number}." if self._number else ""
        row = row.model_copy(update={"call_id": f"{asker}/{of_joined}{self._tries[asker]}"})
        self._tries[asker] += 1
        self._file.append({"try": row.model_dump(mode="json")})
        return row

    def settle(self, row: LlmCall) -> None:
        """Writes down how a try ended. Raises SpoolError."""
        ended = {name: getattr(row, name) for name in _ENDED}
        self._file.append({"ended": row.call_id, "row": ended})
        self._count(row)
        self._sink([row])

    def close(self) -> None:
        """Ends the ledger; a try that is under way stays open."""
        self._file.close()

    def _count(self, row: LlmCall) -> None:
        self.cost_usd += row.cost_usd or 0.0
        self.most_usd += row.most_usd or 0.0
        self.unpriced += row.cause is None and row.cost_usd is None
        self.unsure += row.cost_usd is None and row.most_usd not in (None, 0)


_ENDED = (
    "finish_reason", "prompt_tokens", "cached_tokens", "completion_tokens", "reasoning_tokens",
    "cost_usd", "most_usd", "cause", "latency_s",
)  # fmt: skip
"""The columns that are known only when a try has ended."""


def read_ledger(folder: Path) -> list[LlmCall]:
    """The settled tries of a campaign, of all its processes, also while it runs. Raises SpoolError."""
    return _settled(_paths(folder))


def read_joined(folder: Path) -> list[LlmCall]:
    """The settled tries of those that joined, by number and as they ended. Raises SpoolError."""
    return _settled(path for path in _paths(folder) if path.name != LEDGER)


def settle_joined(folder: Path, campaign: str, number: int) -> None:
    """Settles what a joined process left open that is gone. Raises SpoolError."""
    if _path(folder, number).exists():
        Ledger(folder, campaign, number=number).close()


def _settled(paths: Iterable[Path]) -> list[LlmCall]:
    return [row for path in paths for row in _tries(path, whole_lines(path))[0]]


def _path(folder: Path, number: int) -> Path:
    return folder / (LEDGER if number == 0 else f"ledger-{number}.jsonl")


def _paths(folder: Path) -> list[Path]:
    """The ledgers of a campaign, first that of the process that holds it."""
    return sorted(folder.glob("ledger*.jsonl"), key=lambda path: (path.name != LEDGER, path.name))


def _tries(path: Path, lines: list[bytes]) -> tuple[list[LlmCall], list[LlmCall]]:
    """The tries that ended, in the order in which they did, and those that did not."""
    opened: dict[str, dict[str, Any]] = {}
    settled = []
    try:
        for entry in map(json.loads, lines):
            if "try" in entry:
                opened[entry["try"]["call_id"]] = entry["try"]
            else:
                settled.append(LlmCall.model_validate(opened.pop(entry["ended"]) | entry["row"]))
        return settled, [LlmCall.model_validate(row) for row in opened.values()]
    except (KeyError, ValueError) as error:
        raise SpoolError(
            f"ledger {path}: not readable ({type(error).__name__}: {error})"
        ) from error


def _asker(row: LlmCall) -> str:
    """What makes the tries that are counted together: one after the other, whatever the timing."""
    return row.unit or f"{row.role}/{row.prompt_hash}"
