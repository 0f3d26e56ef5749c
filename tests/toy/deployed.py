"""The nightly flow on the toy suite, as a worker runs it."""

import os

from prefect import flow

from flows.nightly import nightly as nightly_flow
from flows.settings import Settings
from tasks.plan import Plan
from tests.toy.registering import register


@flow(name="nightly-toy")
async def nightly(plan: Plan, settings: Settings) -> str:
    """Makes the toy suite and model known to the run's process, and goes on as `flows.nightly` does."""
    register(settings.state / "journal.jsonl")
    (settings.state / "process_id").write_text(str(os.getpid()))
    return await nightly_flow.fn(plan, None, settings)
