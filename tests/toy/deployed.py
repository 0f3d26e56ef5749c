"""The nightly and the weekly flow on the toy suite, as a worker runs them."""

import os

from prefect import flow

from flows.nightly import nightly as nightly_flow
from flows.settings import Settings
from flows.weekly import weekly as weekly_flow
from tasks.llm.base import LLMSpec
from tasks.plan import Plan
from tests.toy.registering import register


@flow(name="nightly-toy", flow_run_name="nightly-{plan.suite}")
async def nightly(plan: Plan, settings: Settings) -> str:
    """Makes the toy suite and model known to the run's process, and goes on as `flows.nightly` does."""
    register(settings.state / "journal.jsonl")
    (settings.state / "process_id").write_text(str(os.getpid()))
    return await nightly_flow.fn(plan, None, settings)


@flow(name="weekly-toy", flow_run_name="weekly-{suite}")
async def weekly(suite: str, solver: LLMSpec, attempts: int, settings: Settings) -> list[str]:
    """As above, of `flows.weekly`."""
    register(settings.state / "journal.jsonl")
    return await weekly_flow.fn(suite, solver, attempts, settings)
