"""A campaign's workbench: what a flow builds at its start and puts away at its end."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial

from flows.pool import Place, divided, taken
from flows.requirements import require
from flows.settings import Settings
from flows.stored import settle, write_plan
from flows.suites import suite_of
from tasks.claims import Share
from tasks.llm.accounted import AccountedClient
from tasks.llm.base import LLMClient, LLMSpec
from tasks.llm.endpoints import Endpoint, clients, read_endpoints
from tasks.llm.governor import Governor
from tasks.llm.ledger import Ledger, read_joined, settle_joined
from tasks.llm.prices import Prices
from tasks.llm.replay import Recording, ReplayClient
from tasks.plan import Plan
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
    the caller puts away; None for one of this campaign's own. Raises InputError as `require` and `taken`
    do; nothing is written then. When the block ends well, the run's manifest is written and the warehouse
    holds the campaign's units and nothing else of it. A process that joins writes units only.
    """
    require(_asked(plan, solver), edition, settings)
    spool = Spool(settings.spool, plan.campaign(edition))
    equipped = partial(_equipped, plan, edition, settings, solver, suite)
    with taken(spool, settings) as place:
        if place.number:
            async with equipped(place, _nowhere) as bench:
                yield bench
            return
        write_plan(spool.folder / "plan.json", plan, edition)
        _settle_lost(spool)
        with Loader(settings.warehouse, settings.publish_every_s) as loader:
            async with equipped(place, loader.put) as bench:
                yield bench
                _settle_lost(spool)
                loader.put(read_joined(spool.folder))
                loader.flush()
        settle(bench, solver, settings)


@asynccontextmanager
async def _equipped(
    plan: Plan,
    edition: str,
    settings: Settings,
    solver: LLMSpec | None,
    suite: Suite | None,
    place: Place,
    put: Callable[[list[Row]], None],
) -> AsyncIterator[Workbench]:
    """A workbench whose rows go to `put`; what it opened is closed when the block ends."""
    name = plan.campaign(edition)
    items: dict[str, Item] = {}
    asked = _asked(plan, solver)
    endpoints = divided(asked, read_endpoints(settings.endpoints), place.workers)
    ledger = Ledger(settings.spool / name, name, sink=put, number=place.number)
    governor = Governor(ledger, settings.budget_usd)
    accounted = partial(AccountedClient, ledger=ledger, governor=governor)
    share = Share(settings.attempts_in_flight) if place.workers > 1 else None
    bench = Workbench(
        campaign=name,
        plan=plan,
        edition=edition,
        spool=Spool(settings.spool, name, share, settings.min_free_bytes // 2),
        suite=suite or suite_of(plan.suite, settings),
        clients=_clients(asked, endpoints, items, settings, accounted),
        receipts=settings.receipts / name,
        sink=lambda rows: _take(rows, items, put),
        attempt_slots=asyncio.Semaphore(settings.attempts_in_flight),
        probed=_probed(endpoints, settings),
        ledger=ledger,
    )
    try:
        yield bench
    finally:
        if suite is None:
            await bench.suite.aclose()
        for client in bench.clients.values():
            await client.aclose()
        ledger.close()


def _asked(plan: Plan, solver: LLMSpec | None) -> Plan:
    """The plan with the models that are asked."""
    return plan if solver is None else plan.model_copy(update={"solver": solver})


def _settle_lost(spool: Spool) -> None:
    """Settles the calls of joined processes that are gone."""
    for number in spool.gone():
        settle_joined(spool.folder, spool.campaign, number)


def _nowhere(rows: list[Row]) -> None:
    """The rows of a process that keeps no warehouse; who holds the campaign reads them in the spool."""


def _clients(
    plan: Plan,
    endpoints: dict[str, Endpoint],
    items: dict[str, Item],
    settings: Settings,
    accounted: Callable[[LLMClient, Mapping[str, Prices]], LLMClient],
) -> dict[str, LLMClient]:
    """A client for each endpoint that is used; in a replay each is the recording, and no key is read."""
    if settings.replay is None:
        return clients(endpoints, plan.rng_seed, items.get, accounted=accounted)
    replay = ReplayClient(Recording(settings.replay))
    return {name: accounted(replay, endpoint.prices) for name, endpoint in endpoints.items()}


def _probed(endpoints: dict[str, Endpoint], settings: Settings) -> frozenset[str]:
    if settings.replay is not None or not settings.canary:
        return frozenset()
    return frozenset(name for name, endpoint in endpoints.items() if endpoint.remote)


def _take(rows: list[Row], items: dict[str, Item], put: Callable[[list[Row]], None]) -> None:
    items.update((row.item_id, row) for row in rows if isinstance(row, Item))
    put(rows)
