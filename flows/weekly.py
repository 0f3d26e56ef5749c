"""What a second schedule starts: what campaigns kept, attempted afresh by a solver that had no part in it."""

from prefect import flow

from flows.artifacts import show_tables
from flows.confirm import ATTEMPTS, confirm
from flows.settings import Settings
from flows.stored import stored_plan, unconfirmed
from tasks.llm.base import LLMSpec


@flow(name="weekly", flow_run_name="weekly-{suite}")
async def weekly(
    suite: str, solver: LLMSpec, attempts: int = ATTEMPTS, settings: Settings | None = None
) -> list[str]:
    """Confirms each ended campaign of a suite that this solver has not confirmed yet; returns their names.

    Args:
        suite: whose campaigns.
        solver: who attempts; best one that the campaigns were not searched with, for a suite that was tuned
            to one solver tells little of others.
        attempts: fresh ones on each kept variant.
        settings: paths and limits of the machine; None for the worker's own checkout.

    Tried again, it goes on where it was. Raises what `confirm` raises; and ValueError where a check of the
    warehouse finds rows, when all campaigns are done.
    """
    settings = settings or Settings()
    campaigns = unconfirmed(suite, solver, settings)
    failed: list[str] = []
    for campaign in campaigns:
        plan, edition = stored_plan(campaign, settings)
        await confirm(plan, edition, settings, attempts, solver)
        failed = await show_tables(campaign, settings)
    if failed:
        raise ValueError(f"checks of the warehouse failed: {', '.join(failed)}")
    return campaigns
