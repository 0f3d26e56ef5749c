"""A campaign's workbench: what a flow builds at its start and puts away at its end."""

import asyncio
import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import partial
from pathlib import Path

from flows.settings import Settings
from flows.suites import suite_of
from tasks.errors import InputError, SimulatorError
from tasks.llm.accounted import AccountedClient
from tasks.llm.base import LLMClient, LLMSpec
from tasks.llm.endpoints import Endpoint, clients, read_endpoints
from tasks.llm.governor import Governor
from tasks.llm.ledger import Ledger, read_ledger
from tasks.llm.prices import Prices
from tasks.llm.replay import Recording, ReplayClient
from tasks.plan import ROLES, Plan, plan_of
from tasks.spool import Spool, read_unit
from tasks.suites.base import SANDBOX_LEVELS, Suite
from tasks.workbench import Workbench
from warehouse.records import Item, Row
from warehouse.store import Loader, delete_campaign

MANIFEST = "manifest.json"
"""Names the units of a campaign that has ended. Beside it lies one `confirmed-<solver>.json` a confirmation,
so that one with another number of attempts replaces the earlier one of the same solver."""


def require(plan: Plan, edition: str, settings: Settings) -> None:
    """Raises InputError where a plan cannot run here: unknown suite or endpoint, too little disk.

    The edition becomes part of folder names.
    """
    if not re.fullmatch(r"[A-Za-z0-9._]+(-[A-Za-z0-9._]+)*", edition):
        raise InputError(f"edition {edition!r}: letters, digits, dots and inner dashes only")
    suite_of(plan.suite, settings)
    require_data(plan, settings)
    known = read_endpoints(settings.endpoints)
    for role in ROLES:
        endpoint = getattr(plan, role).endpoint
        if endpoint not in known:
            raise InputError(
                f"plan: {role}.endpoint = {endpoint} is not in {settings.endpoints}; "
                f"there are: {', '.join(sorted(known))}"
            )
    if settings.budget_usd is not None and settings.replay is None:
        _require_prices(plan, known, settings)
    _require_room(settings)


async def require_sandbox(suite: str, settings: Settings) -> None:
    """Raises InputError where model-written code of the suite would run behind less than settings want."""
    level = settings.require_sandbox
    if level is None:
        return
    async with aclosing(suite_of(suite, settings)) as asked:
        try:
            offered = (await asked.describe()).sandbox
        except SimulatorError as error:
            raise InputError(f"--require-sandbox {level}: {error}") from error
    if SANDBOX_LEVELS.index(offered) < SANDBOX_LEVELS.index(level):
        raise InputError(
            f"--require-sandbox {level}: suite {suite} offers {offered} here, which is less; "
            "turtle doctor says what is missing"
        )


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
        _write_plan(settings.spool / name / "plan.json", plan, edition)
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
        _settle(bench, solver, settings)


def stored_plan(campaign: str, settings: Settings) -> tuple[Plan, str]:
    """The plan and edition of a campaign that was started here. Raises InputError where there is none."""
    path = settings.spool / campaign / "plan.json"
    if not path.exists():
        known = ", ".join(sorted(p.name for p in settings.spool.glob("*"))) or "none yet"
        raise InputError(f"campaign {campaign}: not found in {settings.spool}; there are: {known}")
    stored = json.loads(path.read_text(encoding="utf-8"))
    return plan_of(stored["plan"], origin=f"plan {path}"), stored["edition"]


def spent_usd(campaign: str, settings: Settings) -> float:
    """The most that a campaign can have cost so far, in US dollars; 0 before it has begun."""
    return sum(call.most_usd or 0.0 for call in read_ledger(settings.spool / campaign))


def ended_units(campaign: str, settings: Settings) -> list[str]:
    """The units of a campaign that has ended. Raises InputError where it is missing or unfinished."""
    stored_plan(campaign, settings)
    units = _manifest(settings.spool / campaign)
    if units is None:
        raise InputError(f"campaign {campaign}: has not ended; first: turtle resume {campaign}")
    return units


def delete(campaign: str, settings: Settings) -> None:
    """Deletes a campaign: its rows, its receipts and, last, its spool. Raises InputError as above."""
    stored_plan(campaign, settings)
    with Spool(settings.spool, campaign).locked():
        if settings.warehouse.exists():
            delete_campaign(settings.warehouse, campaign)
        shutil.rmtree(settings.receipts / campaign, ignore_errors=True)
        shutil.rmtree(settings.spool / campaign)


def spooled_rows(settings: Settings) -> Iterator[Row]:
    """Every row of every campaign in the spool, for a rebuild of the warehouse.

    Of a finished campaign the units of its manifest count; a later version of a stage may have left older
    ones behind.
    """
    for folder in sorted(path for path in settings.spool.glob("*") if path.is_dir()):
        spool = Spool(settings.spool, folder.name)
        units = _manifest(folder)
        yield from _rows(spool, spool.units() if units is None else units)
        yield from read_ledger(folder)


def _rows(spool: Spool, units: Iterator[str] | list[str]) -> Iterator[Row]:
    for unit in units:
        yield from (record for record in read_unit(spool.path(unit)) if isinstance(record, Row))


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


def _settle(bench: Workbench, solver: LLMSpec | None, settings: Settings) -> None:
    """Writes the run's manifest; where the spool holds older units, loads the campaign anew without them.

    A search that came to something else than before has other variants: what confirmed the old ones goes.
    """
    folder = bench.spool.folder
    units = json.dumps(sorted(bench.loaded))
    manifest = folder / (MANIFEST if solver is None else f"confirmed-{solver.spec_id}.json")
    if solver is None and not (manifest.exists() and manifest.read_text("utf-8").strip() == units):
        for confirmed in folder.glob("confirmed-*.json"):
            confirmed.unlink()
    _write(manifest, units)
    whole = _manifest(folder) or []
    if set(bench.spool.units()) != set(whole):
        delete_campaign(settings.warehouse, bench.campaign)
        with Loader(settings.warehouse, settings.publish_every_s) as loader:
            loader.put(list(_rows(bench.spool, whole)))
            loader.put(read_ledger(bench.spool.folder))
            loader.flush()


def require_data(plan: Plan, settings: Settings) -> None:
    """The plan says which data, the settings where it lies: neither goes without the other."""
    if plan.data == "official" and settings.appworld_root is None:
        raise InputError(
            'plan: data = "official": say where it lies with --appworld-root DIR '
            "(get it with: appworld download data --root DIR)"
        )
    if plan.data is None and settings.appworld_root is not None:
        raise InputError(
            "--appworld-root: this campaign stands on the small world, not on official data; leave it out"
        )


def _require_prices(plan: Plan, known: dict[str, Endpoint], settings: Settings) -> None:
    for role in ROLES:
        spec = getattr(plan, role)
        prices = known[spec.endpoint].prices.get(spec.llm_id, Prices())
        free = not known[spec.endpoint].remote
        if not free and (prices.input is None or (prices.output is None and role != "embedder")):
            raise InputError(
                f"--budget-usd: the price of {spec.llm_id} ({role}) is not known; give input and output "
                f'in {settings.endpoints} under [{spec.endpoint}.prices."{spec.llm_id}"], 0 for a server '
                "of your own"
            )


def _manifest(folder: Path) -> list[str] | None:
    """The units of a campaign's folder that count; None before its search has ended for the first time."""
    if not (folder / MANIFEST).exists():
        return None
    manifests = [folder / MANIFEST, *folder.glob("confirmed-*.json")]
    return sorted({unit for path in manifests for unit in json.loads(path.read_text("utf-8"))})


def _require_room(settings: Settings) -> None:
    there = next(folder for folder in (settings.state, *settings.state.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    if free < settings.min_free_bytes:
        raise InputError(
            f"disk: {free // 10**6} MB free in {settings.state}, a campaign wants "
            f"{settings.min_free_bytes // 10**6} MB; make room and run the same command again"
        )


def _write_plan(path: Path, plan: Plan, edition: str) -> None:
    if not path.exists():
        _write(
            path, json.dumps({"plan": plan.model_dump(mode="json"), "edition": edition}, indent=2)
        )


def _write(path: Path, text: str) -> None:
    part = path.with_suffix(".tmp")
    part.write_text(text + "\n", encoding="utf-8")
    os.replace(part, path)
