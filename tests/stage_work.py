"""A stage's work without Prefect around it, on a workbench in a test's own folder."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tasks.llm.base import LLMClient
from tasks.llm.ledger import Ledger
from tasks.spool import Spool
from tasks.stage import Stage, StageRun
from tasks.suites.base import Suite
from tasks.workbench import Loaded, Workbench
from tests.toy.__main__ import toy_plan
from warehouse.records import Row


def workbench(
    folder: Path, suite: Suite, clients: dict[str, LLMClient], sink: Callable[[list[Row]], None]
) -> Workbench:
    """A workbench whose campaign is named after the folder."""
    return Workbench(
        campaign=folder.name,
        plan=toy_plan(),
        edition="1",
        spool=Spool(folder / "spool", folder.name),
        suite=suite,
        clients=clients,
        receipts=folder / "receipts",
        sink=sink,
        attempt_slots=asyncio.Semaphore(16),
        probed=frozenset(),
        ledger=Ledger(folder / "spool" / folder.name, folder.name),
    )


async def work_of(stage: Stage, bench: Workbench, **inputs: Any) -> Loaded:
    """What the stage comes to on these inputs."""
    units = await stage.__wrapped__(StageRun(bench, stage, inputs), **inputs)
    return bench.load(tuple(units))
