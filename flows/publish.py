"""What a campaign came to: its marts printed, and the warehouse's checks run."""

from rich.console import Console
from rich.table import Table

from flows.settings import Settings
from warehouse.marts import CheckFailure, read, run_checks

PRINTED = (
    "parents_evolved",
    "difficulty",
    "completion_histogram",
    "features",
    "apps_per_item",
    "app_pairs",
    "feature_failure",
    "farthest_pairs",
    "rejections",
    "cost_per_kept",
    "infrastructure_failures",
)
"""The marts shown at the end of a campaign, in this order."""

SHOWN_ROWS = 12
"""A longer mart is cut on the terminal, and says so."""

SIMULATED = "simulated model: these numbers say nothing of any language model"


def publish(campaign: str, settings: Settings, console: Console) -> list[CheckFailure]:
    """Prints a campaign's marts and returns the checks of the warehouse that failed.

    Every table of a campaign in which the offline model played any role says so. Raises WarehouseError
    where the warehouse cannot be read.
    """
    simulated = bool(read(settings.warehouse, "campaigns", campaign=campaign)["simulated"].any())
    for name in PRINTED:
        console.print(_table(name, campaign, settings, simulated))
    failures = run_checks(settings.warehouse)
    for failure in failures:
        console.print(
            f"[red]check {failure.check}: {len(failure.rows)} rows[/red] {failure.incident}"
        )
    return failures


def _table(name: str, campaign: str, settings: Settings, simulated: bool) -> Table:
    frame = read(settings.warehouse, name, campaign=campaign).drop("campaign")
    caption = [SIMULATED] if simulated else []
    if frame.height > SHOWN_ROWS:
        caption.append(
            f'{SHOWN_ROWS} of {frame.height} rows; all: turtle sql "FROM analysis.{name}"'
        )
    table = Table(title=name, caption="\n".join(caption) or None, title_justify="left")
    for column in frame.columns:
        table.add_column(column)
    for row in frame.head(SHOWN_ROWS).iter_rows():
        table.add_row(*map(_cell, row))
    return table


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
