"""What a schedule starts: a campaign of its own each time, and its tables in the UI."""

from prefect import flow
from prefect.client.orchestration import get_client
from prefect.runtime import flow_run

from flows.artifacts import show_tables
from flows.evolve import evolve
from flows.settings import Settings
from tasks.plan import Plan


@flow(name="nightly", flow_run_name="nightly-{plan.suite}")
async def nightly(plan: Plan, edition: str | None = None, settings: Settings | None = None) -> str:
    """Runs a plan's campaign and shows its tables; returns the campaign's name.

    Args:
        plan: what to evolve and how; the server refuses one that is not valid.
        edition: name of this run of the unchanged plan; None is the time at which the run began, in UTC, so
            that a run tried again goes on with its own campaign and the next night's begins another.
        settings: paths and limits of the machine; None for the worker's own checkout.

    Raises what `evolve` raises; and ValueError where a check of the warehouse finds rows.
    """
    settings = settings or Settings()
    campaign = await evolve(plan, edition or await _first_started(), settings)
    failed = await show_tables(campaign, settings)
    if failed:
        raise ValueError(
            f"campaign {campaign}: checks of the warehouse failed: {', '.join(failed)}"
        )
    return campaign


async def _first_started() -> str:
    """When this flow run was first running: Prefect keeps that when a run is tried again."""
    async with get_client() as client:
        run = await client.read_flow_run(flow_run.id)
    return f"{run.start_time:%Y%m%dT%H%M%S}"
