"""What a stage works with: the campaign's spool, its simulator, its models, and how much runs at once."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tasks.errors import InputError
from tasks.llm.base import LLMClient, LLMSpec
from tasks.llm.ledger import Ledger
from tasks.plan import Plan
from tasks.spool import Spool, of_type
from tasks.suites.base import Suite
from warehouse.records import Record, Row

R = TypeVar("R", bound=Record)


@dataclass
class Counts:
    """What the user is told while a campaign runs; nothing depends on it."""

    attempts: int = 0
    """Attempts made by this process."""
    accepted: int = 0
    rejected: int = 0


@dataclass
class Workbench:
    """The equipment of one campaign in one process. Holds clients, so it never enters a key or a log."""

    campaign: str
    plan: Plan
    edition: str
    spool: Spool
    suite: Suite
    clients: dict[str, LLMClient]
    """By endpoint name."""
    receipts: Path
    """Prefect's result store for this campaign."""
    sink: Callable[[list[Row]], None]
    """Takes loaded rows to the warehouse; called from the event loop, must not block."""
    attempt_slots: asyncio.Semaphore
    """How many attempts may hold a simulator session at once."""
    probed: frozenset[str]
    """Endpoints whose models the canary tries."""
    ledger: Ledger
    """What the campaign's calls took and cost, those of earlier processes too."""
    counts: Counts = field(default_factory=Counts)
    loaded: set[str] = field(default_factory=set)
    """Names of the units that this run came to; at its end they are the campaign."""

    def client(self, spec: LLMSpec) -> LLMClient:
        """The client of a spec's endpoint. Raises InputError for an endpoint nobody configured."""
        if spec.endpoint not in self.clients:
            known = ", ".join(sorted(self.clients))
            raise InputError(
                f"endpoint {spec.endpoint}: not configured; deployments/endpoints.toml knows {known}"
            )
        return self.clients[spec.endpoint]

    def load(self, units: tuple[str, ...]) -> "Loaded":
        """Reads finished units and sends their rows on to the warehouse."""
        records = []
        for unit in units:
            records += self.spool.read(unit)
            self.loaded.add(unit)
        self.sink([record for record in records if isinstance(record, Row)])
        return Loaded(records)


class Loaded:
    """The records that a stage came to."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records

    def all(self, kind: type[R]) -> list[R]:
        """The records of one class, in the order written."""
        return of_type(self._records, kind)

    def one(self, kind: type[R]) -> R:
        """The one record of a class. Raises ValueError when there is not exactly one."""
        (record,) = self.all(kind)
        return record

    def maybe(self, kind: type[R]) -> R | None:
        """The one record of a class, or None where there is none."""
        found = self.all(kind)
        return found[0] if found else None
