"""The dry run: what a campaign is expected to ask and to cost, beside what it has spent so far."""

from rich.console import Console
from rich.table import Table

from flows.publish import console
from flows.requirements import require
from flows.settings import Settings
from flows.suites import suite_of
from tasks.forecast import Expected, Means, assumed, forecast, measured
from tasks.llm.endpoints import Endpoint, read_endpoints
from tasks.llm.ledger import read_ledger
from tasks.llm.prices import Prices
from tasks.plan import Plan, roles_in
from tasks.room import require_room
from tasks.suites.base import Description
from warehouse.marts import read
from warehouse.records import Item, LlmCall

COLUMNS = ("role", "llm_id", "calls", "prompt tokens", "completion tokens", "US$")


async def show(plan: Plan, edition: str, settings: Settings) -> None:
    """Prints expected and spent calls, tokens and cost by role; asks no model.

    Starts the suite's simulator, to see its seeds. Raises InputError as a campaign's start does.
    """
    require(plan, edition, settings)
    endpoints = read_endpoints(settings.endpoints)
    campaign = plan.campaign(edition)
    seeds, world = await _seeds(plan, settings)
    require_room(seeds, world, plan.specs)
    roles = roles_in(world.interaction)
    means = _means(plan, campaign, endpoints, settings, assumed(plan, seeds, world))
    expected = forecast(
        plan, len(seeds), means, {role: _prices(plan, role, endpoints) for role in roles}
    )
    spent = read_ledger(settings.spool / campaign)
    out = console()
    _print(out, f"expected of {campaign}", [_cells(one) for one in expected])
    out.print(_assumptions(plan, len(seeds), means))
    if spent:
        _print(out, "spent so far", [_spent(role, spent) for role in roles])
        out.print(
            f"spent: ${sum(row.cost_usd or 0.0 for row in spent):.2f} where the price is known"
        )


async def _seeds(plan: Plan, settings: Settings) -> tuple[list[Item], Description]:
    suite = suite_of(plan.suite, settings)
    try:
        await suite.fingerprint()
        seeds = [seed.item for seed in await suite.seeds(plan.split)]
        return seeds[: plan.seeds], await suite.describe()
    finally:
        await suite.aclose()


def _means(
    plan: Plan,
    campaign: str,
    endpoints: dict[str, Endpoint],
    settings: Settings,
    otherwise: Means,
) -> Means:
    """Those of the largest other campaign of the suite that was simulated if this one is."""
    if not settings.warehouse.exists():
        return otherwise
    simulated = not any(endpoints[plan.spec(role).endpoint].remote for role in otherwise.by_role)
    of_suite = read(settings.warehouse, "campaigns", suite=plan.suite)["campaign"].to_list()
    rows = [
        row
        for row in read(settings.warehouse, "progress", simulated=simulated).iter_rows(named=True)
        if row["campaign"] in of_suite and row["campaign"] != campaign and row["attempts"]
    ]
    if not rows:
        return otherwise
    largest = max(rows, key=lambda row: (row["attempts"], row["campaign"]))
    costs = read(settings.warehouse, "cost_per_kept", campaign=largest["campaign"])
    return measured(largest, {row["role"]: row for row in costs.iter_rows(named=True)}, otherwise)


def _prices(plan: Plan, role: str, endpoints: dict[str, Endpoint]) -> Prices | None:
    spec = plan.spec(role)
    return endpoints[spec.endpoint].prices.get(spec.llm_id)


def _assumptions(plan: Plan, seeds: int, means: Means) -> str:
    spread = ", ".join(
        f"{role} {means.by_role[role].calls:.3g}" for role in means.by_role if role != "embedder"
    )
    return (
        f"{means.source}. {seeds} seeds, {plan.repeats} attempts each; {means.accepted_share:.0%} of edits "
        f"become variants, {means.selected_share:.0%} of these are judged, {means.kept_share:.0%} of those "
        f"kept; calls for an edit, attempt, note, verdict, item: {spread}; nothing cached"
    )


def _cells(one: Expected) -> tuple[str, ...]:
    counts = (one.calls, one.prompt_tokens, one.completion_tokens)
    return (one.role, one.llm_id, *(f"{count:,}" for count in counts), _dollars(one.cost_usd))


def _spent(role: str, rows: list[LlmCall]) -> tuple[str, ...]:
    own = [row for row in rows if row.role == role]
    costs = [row.cost_usd for row in own if row.cause is None]
    return (
        role,
        ", ".join(sorted({row.llm_id for row in own})),
        f"{len(own):,}",
        f"{sum(row.prompt_tokens or 0 for row in own):,}",
        f"{sum(row.completion_tokens or 0 for row in own):,}",
        _dollars(None if None in costs else sum(cost or 0.0 for cost in costs)),
    )


def _dollars(cost_usd: float | None) -> str:
    return "unknown" if cost_usd is None else f"{cost_usd:,.2f}"


def _print(out: Console, title: str, rows: list[tuple[str, ...]]) -> None:
    table = Table(*COLUMNS, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    costs = [row[-1] for row in rows]
    known = [float(cost.replace(",", "")) for cost in costs if cost != "unknown"]
    total = f"{sum(known):,.2f}" + (" + unknown" if "unknown" in costs else "")
    table.add_row("all", "", "", "", "", total)
    out.print(table)
