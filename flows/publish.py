"""What a campaign came to: its marts printed, and the warehouse's checks run."""

import sys

from rich.console import Console
from rich.panel import Panel
from rich.table import Table

from flows.plain_text import plain
from flows.settings import JUDGES_ITSELF, Settings
from tasks.plan import Plan
from tasks.rates import mean_rates
from warehouse.marts import CheckFailure, read, run_checks

PRINTED: dict[str, tuple[str, ...]] = {
    "parents_evolved": (
        *("offered", "solvable", "searched"),
        *("surviving", "selected", "evolved"),
    ),
    "reward_doubts": (
        *("measurement", "solved", "compared", "collateral", "unlike_gold"),
        *("collateral_share", "failed", "user_failures"),
    ),
    "difficulty": ("item_set", "items", "share_1", "share_2", "share_3", "mean_difficulty"),
    "completion_histogram": ("item_set", "measurement", "bin", "items", "share"),
    "features": ("feature", "feature_name", "original_share", "evolved_share", "growth"),
    "apps_per_item": ("item_set", "apps", "items", "share"),
    "app_pairs": ("item_set", "app_a", "app_b", "items"),
    "feature_failure_coverage": ("item_set", "cells", "covered", "failed_attempts"),
    "farthest_pairs": ("rank", "item_id", "root", "distance"),
    "rejections": ("rejection", "direction", "steps", "share"),
    "cost_per_kept": (
        "role",
        "llm_calls",
        "prompt_tokens",
        "cached_share",
        "completion_tokens",
        "cost_usd",
        "kept",
        "cost_usd_per_kept",
    ),
    "infrastructure_failures": ("source", "cause", "failures"),
}
"""The marts shown at the end of a campaign, in this order, and the columns that fit on a terminal."""

CONFIRMED: dict[str, tuple[str, ...]] = {
    "confirmation": (
        "item_id",
        "llm_id",
        "search_c",
        "fresh_c",
        "fresh_scored",
        "in_band",
        "band_probability",
    ),
    "replication": ("llm_id", "kept", "confirmed", "in_band", "rate", "rate_low", "rate_high"),
}
"""The marts shown after a confirmation."""

SHOWN_ROWS = 22
"""A longer mart is cut on the terminal, and says so."""

SIMULATED = "simulated model: these numbers say nothing of any language model"

PLAIN_WIDTH = 110
"""Columns of the output where it goes to no terminal."""


def console() -> Console:
    """Standard output, wide enough for the tables also where it is a file."""
    return Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH, highlight=False)


def publish(campaign: str, settings: Settings, out: Console) -> list[CheckFailure]:
    """Prints a campaign's marts and returns the checks of the warehouse that failed.

    Every table of a campaign in which the offline model played any role says so. Raises WarehouseError
    where the warehouse cannot be read.
    """
    rows = read(settings.warehouse, "campaigns", campaign=campaign)
    simulated = bool(rows["simulated"].any())
    notes = [SIMULATED] if simulated else []
    if any(Plan.model_validate_json(plan).judges_itself for plan in rows["plan"]):
        notes.append(JUDGES_ITSELF)
    for name, columns in PRINTED.items():
        out.print(_table(name, columns, campaign, settings, notes))
    out.print(_rates(campaign, settings, simulated))
    _print_example(campaign, settings, out)
    failures = run_checks(settings.warehouse)
    for failure in failures:
        out.print(f"check {failure.check}: {len(failure.rows)} rows. {failure.incident}")
    return failures


def print_confirmation(campaign: str, settings: Settings, out: Console) -> None:
    """Prints what fresh attempts say of a campaign's kept variants."""
    rows = read(settings.warehouse, "campaigns", campaign=campaign)
    notes = [SIMULATED] if rows["simulated"].any() else []
    for name, columns in CONFIRMED.items():
        out.print(_table(name, columns, campaign, settings, notes))


def _table(
    name: str, columns: tuple[str, ...], campaign: str, settings: Settings, notes: list[str]
) -> Table:
    frame = read(settings.warehouse, name, campaign=campaign).select(columns)
    if frame.height > SHOWN_ROWS:
        more = f'{SHOWN_ROWS} of {frame.height} rows; all: turtle sql "FROM analysis.{name}"'
        notes = [*notes, more]
    table = Table(
        title=name, title_justify="left", caption="\n".join(notes) or None, min_width=len(SIMULATED)
    )
    for column in columns:
        table.add_column(column)
    for row in frame.head(SHOWN_ROWS).iter_rows():
        table.add_row(*(plain(_cell(value)) for value in row))
    return table


def _rates(campaign: str, settings: Settings, simulated: bool) -> Table:
    """Mean completion rates with intervals; items that hang together count as one in them."""
    frame = read(settings.warehouse, "completion_clusters", campaign=campaign)
    notes = [SIMULATED] if simulated else []
    notes.append("evolved items were chosen by their rates in the search")
    table = Table(
        title="mean completion rate, 95 % interval over clusters",
        title_justify="left",
        caption="\n".join(notes),
        min_width=len(SIMULATED),
    )
    for column in ("item_set", "measurement", "items", "clusters", "mean", "low", "high"):
        table.add_column(column)
    columns = ("item_set", "measurement", "cluster", "completion_rate")
    for rate in mean_rates(frame.select(columns).iter_rows()):
        found = rate.interval
        ends = [found.low, found.high] if found else [None, None]
        cells = [rate.item_set, rate.measurement, rate.items, rate.clusters, rate.mean, *ends]
        table.add_row(*map(_cell, cells))
    return table


def _print_example(campaign: str, settings: Settings, out: Console) -> None:
    """The kept variant that lies farthest from its seed, and the seed."""
    farthest = read(settings.warehouse, "farthest_pairs", campaign=campaign, rank=1)
    for row in farthest.head(1).iter_rows(named=True):
        score = read(
            settings.warehouse,
            "scores",
            campaign=campaign,
            item_id=row["item_id"],
            measurement="search",
        )
        solved, scored = score["solved"][0], score["scored"][0]
        out.print(Panel(plain(row["root_instruction"]), title="a seed", title_align="left"))
        out.print(
            Panel(
                plain(row["instruction"]),
                title=f"what it evolved into (solved {solved} of {scored} times)",
                title_align="left",
            )
        )


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
