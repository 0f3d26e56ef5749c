"""What happens: the arms of a search, each an ordinary campaign a rng_seed, at equal attempts."""

from collections.abc import Iterator, Sequence

from prefect import flow
from rich.console import Console
from rich.table import Table

from flows.campaign import open_campaign
from flows.confirm import ATTEMPTS, confirmed
from flows.evolve import evolved
from flows.publish import SIMULATED
from flows.settings import Settings
from flows.stored import spent_usd
from flows.suites import suite_of
from tasks.arms import ARMS
from tasks.comparison import Cell, Harvest, Kept, compared, unequal
from tasks.errors import InputError
from tasks.intervals import Interval
from tasks.plan import Plan
from warehouse.marts import read

STEPS_FOR_A_VARIANT = 20
"""So many edits an arm may need for each variant before it has to end with fewer attempts than the others."""

TOO_SMALL = "too small to compare"


@flow(name="compare", flow_run_name="{plan.suite}-{edition}")
async def compare(
    plan: Plan, edition: str, settings: Settings, rng_seeds: int, attempts: int = ATTEMPTS
) -> list[str]:
    """Runs and confirms every arm under `rng_seeds` rng_seeds, from the plan's own on.

    Returns the campaigns' names. Run again, it goes on where it was. The settings' budget is for all of
    them together. Raises InputError as `plans_of_arms` does, BudgetSpent when the next call does not fit.
    """
    plans = list(plans_of_arms(plan, rng_seeds))
    campaigns = [arm_plan.campaign(edition) for arm_plan in plans]
    suite = suite_of(plan.suite, settings)
    try:
        for arm_plan in plans:
            left = with_what_is_left(settings, campaigns, arm_plan.campaign(edition))
            async with open_campaign(arm_plan, edition, left, suite=suite) as bench:
                await evolved(bench)
            await confirmed(arm_plan, edition, left, attempts, arm_plan.solver, suite)
    finally:
        await suite.aclose()
    return campaigns


def with_what_is_left(settings: Settings, campaigns: Sequence[str], campaign: str) -> Settings:
    """The settings with the part of the common budget that the other campaigns leave to one."""
    if settings.budget_usd is None:
        return settings
    spent = sum(spent_usd(other, settings) for other in campaigns if other != campaign)
    return settings.model_copy(update={"budget_usd": max(0.0, settings.budget_usd - spent)})


def plans_of_arms(plan: Plan, rng_seeds: int) -> Iterator[Plan]:
    """The plan of each campaign, the arms of one rng_seed after one another.

    The plan's steps count as variants to attempt: rejected edits cost an arm no attempts, so that all spend
    the same. Raises InputError where the plan leaves their number open.
    """
    variants = plan.max_variants or plan.total_steps
    if not variants:
        raise InputError(
            "compare: equal attempts need a number of variants; set max_variants, or steps and seeds"
        )
    for rng_seed in range(plan.rng_seed, plan.rng_seed + rng_seeds):
        for arm in ARMS:
            yield plan.model_copy(
                update={
                    "rng_seed": rng_seed,
                    "max_variants": variants,
                    "steps": variants * STEPS_FOR_A_VARIANT,
                    "steps_scope": "campaign",
                    "search": plan.search.model_copy(update={"arm": arm}),
                }
            )


def harvests(campaigns: list[str], settings: Settings) -> list[Harvest]:
    """What confirmed campaigns came to, from the warehouse."""
    apps: dict[str, set[str]] = {}
    for item_id, app in read(settings.warehouse, "item_apps").iter_rows():
        apps.setdefault(item_id, set()).add(app)
    return [_harvest(campaign, apps, settings) for campaign in campaigns]


def _harvest(campaign: str, apps: dict[str, set[str]], settings: Settings) -> Harvest:
    (spent,) = read(settings.warehouse, "arms", campaign=campaign).iter_rows(named=True)
    fresh = read(settings.warehouse, "confirmation", campaign=campaign, same_solver=True)
    return Harvest(
        arm=spent["arm"],
        rng_seed=spent["rng_seed"],
        search_attempts=spent["search_attempts"],
        kept=tuple(
            Kept(
                solved=row["fresh_solved"],
                scored=row["fresh_scored"],
                difficulty=row["difficulty"],
                apps=frozenset(apps.get(row["item_id"], ())),
            )
            for row in fresh.iter_rows(named=True)
        ),
    )


def print_comparison(campaigns: list[str], settings: Settings, out: Console) -> None:
    """Prints the figures of every arm beside those of the full evolution."""
    found = harvests(campaigns, settings)
    left_out = unequal(found)
    spent = sorted({h.search_attempts for h in found if h.rng_seed not in left_out})
    rng_seeds = len({h.rng_seed for h in found} - left_out)
    simulated = any(
        read(settings.warehouse, "campaigns", campaign=campaign)["simulated"].any()
        for campaign in campaigns
    )
    notes = [f"{rng_seeds} rng_seeds, {_numbers(spent)} search attempts in each arm of each"]
    if left_out:
        notes.append(f"left out, attempts not equal: rng_seed {_numbers(sorted(left_out))}")
    table = Table(
        title="arms, each beside the full evolution",
        title_justify="left",
        caption="\n".join([*notes, SIMULATED] if simulated else notes),
    )
    for column in ("figure", "arm", "arm's", "full's", "difference [95 %]", "rests on"):
        table.add_column(column)
    for cell in compared(found):
        table.add_row(*_row(cell))
    out.print(table)


def _row(cell: Cell) -> tuple[str, ...]:
    difference = "-" if cell.arm == "full" else _difference(cell.difference)
    spread = cell.spread and f" [{cell.spread.low:.2f}, {cell.spread.high:.2f}]"
    value = _number(cell.value) + (spread or "")
    return cell.figure, cell.arm, value, _number(cell.full), difference, str(cell.rests_on)


def _difference(interval: Interval | None) -> str:
    if interval is None:
        return TOO_SMALL
    return f"{interval.estimate:+.2f} [{interval.low:+.2f}, {interval.high:+.2f}]"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _numbers(values: list[int]) -> str:
    return ", ".join(map(str, values)) or "no"
