"""Campaigns as they lie in the spool: their plans, the units that count, and what becomes of them."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from flows.settings import Settings
from tasks.errors import InputError
from tasks.llm.base import LLMSpec
from tasks.llm.ledger import read_ledger
from tasks.plan import Plan, plan_of
from tasks.spool import Spool
from tasks.workbench import Workbench
from warehouse.records import Row
from warehouse.store import Loader, delete_campaign

MANIFEST = "manifest.json"
"""Names the units of a campaign that has ended. Beside it lies one `confirmed-<solver>.json` a confirmation,
so that one with another number of attempts replaces the earlier one of the same solver."""


def write_plan(path: Path, plan: Plan, edition: str) -> None:
    """Writes down what a campaign is, unless that was done."""
    if not path.exists():
        _write(
            path, json.dumps({"plan": plan.model_dump(mode="json"), "edition": edition}, indent=2)
        )


def stored_plan(campaign: str, settings: Settings) -> tuple[Plan, str]:
    """The plan and edition of a campaign that was started here. Raises InputError where there is none."""
    path = settings.spool / campaign / "plan.json"
    if not path.exists():
        known = ", ".join(sorted(p.name for p in settings.spool.glob("*"))) or "none yet"
        raise InputError(f"campaign {campaign}: not found in {settings.spool}; there are: {known}")
    stored = json.loads(path.read_text(encoding="utf-8"))
    return plan_of(stored["plan"], origin=f"plan {path}"), stored["edition"]


def resumable_plan(campaign: str, settings: Settings) -> tuple[Plan, str]:
    """As `stored_plan`, of a campaign that can be gone on with. Raises InputError for any other."""
    plan, edition = stored_plan(campaign, settings)
    if plan.campaign(edition) != campaign:
        raise InputError(
            f"campaign {campaign}: an earlier release began it, whose plans said less; its tables can be "
            "read and rebuilt, but it is not gone on with; begin another: turtle evolve"
        )
    return plan, edition


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


def counted_units(campaign: str, settings: Settings) -> list[str]:
    """The units of a campaign that count: those of its manifests, or all before it has ended.

    A later version of a stage may have left older ones behind.
    """
    spool = Spool(settings.spool, campaign)
    units = _manifest(spool.folder)
    return list(spool.units()) if units is None else units


def unconfirmed(suite: str, solver: LLMSpec, settings: Settings) -> list[str]:
    """Names of the suite's campaigns that have ended and that this solver has not confirmed, in order.

    The crippled arms of a comparison are left out: they show what the search adds, nobody uses what they
    kept, and the comparison has confirmed them. So are an earlier release's that cannot be gone on with.
    """
    ended = [path.parent for path in sorted(settings.spool.glob(f"*/{MANIFEST}"))]
    left = [folder.name for folder in ended if not _confirmed(folder, solver).exists()]
    plans = {name: stored_plan(name, settings) for name in left}
    return [
        name
        for name, (plan, edition) in plans.items()
        if (plan.suite, plan.search.arm, plan.campaign(edition)) == (suite, "full", name)
    ]


def delete(campaign: str, settings: Settings) -> None:
    """Deletes a campaign: its rows, its receipts and, last, its spool. Raises InputError as above."""
    stored_plan(campaign, settings)
    spool = Spool(settings.spool, campaign)
    with spool.locked(), spool.alone():
        if settings.warehouse.exists():
            delete_campaign(settings.warehouse, campaign)
        shutil.rmtree(settings.receipts / campaign, ignore_errors=True)
        shutil.rmtree(spool.folder)


@dataclass(frozen=True)
class Pruned:
    """What a pruning took away."""

    files: int
    bytes: int
    """Net of the packs that it made."""


def prune(campaign: str, settings: Settings, pack: bool = False) -> Pruned:
    """Deletes what counts no more in a campaign that has ended: units that no run came to any more, such as
    those of a stage's earlier version, and what was begun and never finished.

    `pack` makes one compressed file a kind of what is left, and deletes Prefect's receipts, which the next
    run makes again. Nothing goes that a rerun, a confirmation, a replay or a rebuild would need.

    A confirmation that was interrupted is unfinished too: its attempts go. Raises InputError where the
    campaign is missing, unfinished or in use.
    """
    ended_units(campaign, settings)  # or a folder would be made for a campaign that is none
    spool = Spool(settings.spool, campaign)
    with spool.locked(), spool.alone():
        before = _size(spool.folder, settings.receipts / campaign)
        for end in ("part", "claim"):
            for path in spool.folder.glob(f"*/*.{end}"):
                path.unlink()
        spool.files.delete(set(spool.units()).difference(ended_units(campaign, settings)))
        if pack:
            spool.files.pack()
            shutil.rmtree(settings.receipts / campaign, ignore_errors=True)
        after = _size(spool.folder, settings.receipts / campaign)
    return Pruned(before.files - after.files, before.bytes - after.bytes)


def at_rest(days: float, settings: Settings) -> list[str]:
    """Names of the campaigns that have ended and that no run has ended in for so many days, in order."""
    since = time.time() - days * 24 * 3600
    ended = [path.parent for path in sorted(settings.spool.glob(f"*/{MANIFEST}"))]
    return [one.name for one in ended if max(p.stat().st_mtime for p in _manifests(one)) < since]


def _size(*folders: Path) -> Pruned:
    files = (path for folder in folders for path in folder.rglob("*") if path.is_file())
    sizes = [path.stat().st_size for path in files]
    return Pruned(len(sizes), sum(sizes))


def spooled_rows(settings: Settings) -> Iterator[Row]:
    """Every row of every campaign in the spool that counts, for a rebuild of the warehouse."""
    for folder in sorted(path for path in settings.spool.glob("*") if path.is_dir()):
        spool = Spool(settings.spool, folder.name)
        yield from _rows(spool, counted_units(folder.name, settings))
        yield from read_ledger(folder)


def settle(bench: Workbench, solver: LLMSpec | None, settings: Settings) -> None:
    """Writes the run's manifest; where the spool holds older units, loads the campaign anew without them.

    A search that came to something else than before has other variants: what confirmed the old ones goes.
    """
    folder = bench.spool.folder
    units = json.dumps(sorted(bench.loaded))
    manifest = folder / MANIFEST if solver is None else _confirmed(folder, solver)
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


def _rows(spool: Spool, units: list[str]) -> Iterator[Row]:
    for unit in units:
        yield from (record for record in spool.read(unit) if isinstance(record, Row))


def _confirmed(folder: Path, solver: LLMSpec) -> Path:
    return folder / f"confirmed-{solver.spec_id}.json"


def _manifest(folder: Path) -> list[str] | None:
    """The units of a campaign's folder that count; None before its search has ended for the first time."""
    if not (folder / MANIFEST).exists():
        return None
    return sorted(
        {unit for path in _manifests(folder) for unit in json.loads(path.read_text("utf-8"))}
    )


def _manifests(folder: Path) -> list[Path]:
    return [folder / MANIFEST, *folder.glob("confirmed-*.json")]


def _write(path: Path, text: str) -> None:
    part = path.with_suffix(".tmp")
    part.write_text(text + "\n", encoding="utf-8")
    os.replace(part, path)
