"""Campaigns whose model calls are noted in a journal, each run in a process of its own."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.toy.forked import Process, started
from warehouse.marts import query, read
from warehouse.records import CIRCUMSTANCE, TABLES


@dataclass
class Toy:
    """A state folder with a campaign in it, on the toy suite unless said otherwise, and how to run it."""

    state: Path
    environment: dict[str, str]
    checkout: Path
    program: str = "tests.toy"
    """Module that runs the campaign: `python -m PROGRAM STATE [arguments]`."""
    timeout_s: float = 300
    from_nothing: bool = False
    """Whether its processes import for themselves, as a user's do."""

    def start(self, *arguments: str) -> Process:
        """Starts the campaign, or goes on with it, in a new process."""
        line = [str(self.state), *arguments]
        return started(self.program, line, self.checkout, self.environment, self.from_nothing)

    def run(self, *arguments: str) -> dict[str, Any]:
        """Runs it to its end; returns what the process printed."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=self.timeout_s)
        assert process.returncode == 0, err
        return json.loads(out.splitlines()[-1])

    def journal(self) -> list[tuple[str, str]]:
        """(role, request and subject) of each model call that was answered."""
        path = self.state / "journal.jsonl"
        lines = path.read_text().splitlines() if path.exists() else []
        calls = [json.loads(line) for line in lines]
        return [(role, json.dumps([prompt, subject])) for role, prompt, subject in calls]

    def units(self) -> dict[str, tuple[int, int]]:
        """Finished units with inode and time of change: equal means untouched."""
        found = sorted((self.state / "spool").glob("*/*/*.jsonl"))
        return {
            f"{path.parent.name}/{path.stem}": (path.stat().st_ino, path.stat().st_mtime_ns)
            for path in found
        }

    def tables(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every table, sorted, without the columns that tell of circumstances."""
        return tables_of(self.state / "warehouse" / "turtle.duckdb")

    def findings(self) -> dict[str, list[tuple[Any, ...]]]:
        """Every table but the ledger, which tells what was paid, also for calls that came to nothing."""
        return {name: rows for name, rows in self.tables().items() if name != "llm_calls"}


def ledger_of(toy: Toy) -> list[dict[str, Any]]:
    """Every try of a call that the warehouse knows of."""
    return list(read(toy.state / "warehouse" / "turtle.duckdb", "llm_calls").iter_rows(named=True))


def tables_of(warehouse: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every table of a warehouse, sorted, without the columns that tell of circumstances."""
    content = {}
    for record in TABLES:
        columns = [
            f'"{name}"'
            for name, field in record.model_fields.items()
            if field.json_schema_extra != CIRCUMSTANCE
        ]
        _, rows = query(warehouse, f"SELECT {', '.join(columns)} FROM main.{record.table}")
        content[record.table] = sorted(rows, key=repr)
    return content
