"""A campaign's workbench: what a flow builds at its start and puts away at its end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

from flows.requirements import require
from flows.settings import Settings
from flows.stored import settle, write_plan
from flows.suites import suite_of
from tasks.llm.accounted import AccountedClient
from tasks.llm.base import LLMClient, LLMSpec
from tasks.llm.endpoints import Endpoint, clients, read_endpoints
from tasks.llm.governor import Governor
from tasks.llm.ledger import Ledger
from tasks.llm.prices import Prices
from tasks.llm.replay import Recording, ReplayClient
from tasks.plan import ROLES, Plan
from tasks.spool import Spool
from tasks.suites.base import Suite
from tasks.workbench import Workbench
from warehouse.records import Item, Row
from warehouse.store import Loader


@asynccontextmanager
async def open_campaign(
    plan: Plan,
    edition: str,
    settings: Settings,
    solver: LLMSpec | None = None,
    suite: Suite | None = None,
) -> AsyncIterator[Workbench]:
    """The workbench of a campaign, held by this process until the block ends.

    `solver`: the one that a confirmation asks; None for the search itself. `suite`: a running one, which
    the caller puts away; None for one of this campaign's own. Raises InputError as `require`
    does, or when another process runs the campaign; nothing is written then. When the block ends well, the
    run's manifest is written and the warehouse holds the campaign's units and nothing else of it.
    """
    asked = plan if solver is None else plan.model_copy(update={"solver": solver})
    require(asked, edition, settings)
    name = plan.campaign(edition)
    endpoints = read_endpoints(settings.endpoints)
    items: dict[str, Item] = {}
    with Spool(settings.spool, name).locked():
        write_plan(settings.spool / name / "plan.json", plan, edition)
        with Loader(settings.warehouse, settings.publish_every_s) as loader:
            ledger = Ledger(settings.spool / name, name, sink=loader.put)
            governor = Governor(ledger, settings.budget_usd)
            accounted = partial(AccountedClient, ledger=ledger, governor=governor)
            bench = Workbench(
                campaign=name,
                plan=plan,
                edition=edition,
                spool=Spool(settings.spool, name),
                suite=suite or suite_of(plan.suite, settings),
                clients=_clients(asked, endpoints, items, settings, accounted),
                receipts=settings.receipts / name,
                sink=lambda rows: _take(rows, items, loader),
                attempt_slots=asyncio.Semaphore(settings.attempts_in_flight),
                probed=_probed(endpoints, settings),
                ledger=ledger,
            )
            try:
                yield bench
                loader.flush()
            finally:
                if suite is None:
                    await bench.suite.aclose()
                for client in bench.clients.values():
                    await client.aclose()
                ledger.close()
        settle(bench, solver, settings)


def _endpoints_of(plan: Plan) -> set[str]:
    """The endpoints that the plan uses; the keys of others need not be there."""
    return {getattr(plan, role).endpoint for role in ROLES}


def _clients(
    plan: Plan,
    endpoints: dict[str, Endpoint],
    items: dict[str, Item],
    settings: Settings,
    accounted: Callable[[LLMClient, Mapping[str, Prices]], LLMClient],
) -> dict[str, LLMClient]:
    """A client for each endpoint of the plan; in a replay each is the recording, and no key is read."""
    used = _endpoints_of(plan)
    if settings.replay is None:
        return clients(endpoints, plan.rng_seed, items.get, used, accounted)
    replay = ReplayClient(Recording(settings.replay))
    return {name: accounted(replay, endpoints[name].prices) for name in used}


def _probed(endpoints: dict[str, Endpoint], settings: Settings) -> frozenset[str]:
    if settings.replay is not None or not settings.canary:
        return frozenset()
    return frozenset(name for name, endpoint in endpoints.items() if endpoint.remote)


def _take(rows: list[Row], items: dict[str, Item], loader: Loader) -> None:
    items.update((row.item_id, row) for row in rows if isinstance(row, Item))
    loader.put(rows)
