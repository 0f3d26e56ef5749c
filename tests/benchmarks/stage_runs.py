"""Runs one stage that does nothing, many times: `python -m tests.benchmarks.stage_runs FOLDER COUNT`.

Prints one JSON object: seconds of this process's CPU that the runs took, its start left out.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from prefect import flow

from tasks.spool import Unit
from tasks.stage import StageRun, stage
from tests.stage_work import workbench
from tests.toy.suite import ToySuite

AT_ONCE = 16


@stage(version="1")
async def nothing(run: StageRun, *, number: int) -> list[str]:
    """Writes an empty unit."""

    async def work(_: Unit) -> None: ...

    return [await run.once("nothing", work)]


@flow
async def many(folder: Path, count: int) -> None:
    """Runs the stage `count` times, some at once."""
    bench = workbench(folder, ToySuite(), {}, lambda _: None)
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> None:
        async with slots:
            await nothing(bench, about=str(number), number=number)

    await asyncio.gather(*(one(number) for number in range(count)))


def main() -> None:
    """See the module's docstring."""
    folder, count = Path(sys.argv[1]), int(sys.argv[2])
    asyncio.run(many(folder / "warm", 10))
    began = time.process_time()
    asyncio.run(many(folder / "measured", count))
    print(json.dumps({"cpu_s": time.process_time() - began}))


if __name__ == "__main__":
    main()
