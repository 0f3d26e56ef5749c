"""A campaign's kept variants, handed to the format that writes them."""

from collections.abc import Iterator
from pathlib import Path

from flows.requirements import require_data
from flows.settings import Settings
from flows.stored import counted_units, stored_plan
from flows.suites import suite_of
from tasks.errors import InputError
from tasks.exports.appworld import write_appworld
from tasks.exports.base import Delivery, Format, KeptVariant, placed
from tasks.exports.tau2 import write_tau2
from tasks.spool import Spool
from tasks.suites.tau_bench import TAU_SUITES
from warehouse.marts import read
from warehouse.records import Item

FORMATS: dict[str, Format] = {
    "appworld": Format(("appworld",), write_appworld),
    "tau2": Format(TAU_SUITES, write_tau2),
}
"""What `turtle export --format` may name."""


async def export(
    campaign: str, form: str, folder: Path, settings: Settings, private: bool = False
) -> str:
    """Writes a campaign's kept variants into a new folder; returns a line for the user.

    Raises InputError, and leaves nothing behind, where the campaign, the format or the folder is no good or
    nothing was kept.
    """
    if form not in FORMATS:
        raise InputError(f"format {form}: unknown; there are: {', '.join(sorted(FORMATS))}")
    plan, _ = stored_plan(campaign, settings)
    if plan.suite not in FORMATS[form].suites:
        raise InputError(f"format {form}: holds no items of suite {plan.suite}")
    require_data(plan, settings)
    kept = tuple(kept_variants(campaign, settings))
    if not kept:
        raise InputError(f"campaign {campaign}: kept no variant, there is nothing to export")
    spool = Spool(settings.spool, campaign)
    units = counted_units(campaign, settings)
    attempts = tuple(unit for unit in units if unit.startswith("attempts/"))
    suite = suite_of(plan.suite, settings)
    try:
        with placed(folder) as making:
            delivery = Delivery(campaign, suite, kept, private, plan, attempts, spool)
            return await FORMATS[form].write(delivery, making)
    finally:
        await suite.aclose()


def kept_variants(campaign: str, settings: Settings) -> Iterator[KeptVariant]:
    """The variants that were selected and judged valid, by id. Raises WarehouseError without a warehouse."""
    evolved = read(settings.warehouse, "item_sets", campaign=campaign, item_set="evolved")
    rated = read(settings.warehouse, "item_labels", campaign=campaign, name="difficulty")
    difficulty = dict(rated.select("item_id", "value").iter_rows())
    for item_id in sorted(set(evolved["item_id"])):
        (row,) = read(settings.warehouse, "items", item_id=item_id).iter_rows(named=True)
        yield KeptVariant(Item(**row), difficulty.get(item_id))
