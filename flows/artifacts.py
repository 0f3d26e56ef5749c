"""What Prefect's UI shows of a campaign: tables of numbers and ids, never a text of an item.

Instructions and golds may derive from a suite whose licence forbids them in the clear, and the server's
database is nobody's archive.
"""

import re

from prefect.artifacts import acreate_markdown_artifact, acreate_table_artifact

from flows.publish import CONFIRMED, PRINTED, SIMULATED
from flows.settings import Settings
from warehouse.marts import read, run_checks

SHOWN_ROWS = 30
"""Rows of a mart in the summary; the warehouse has all."""

KEPT = ("item_id", "solved", "scored", "mean_solved_length", "difficulty", "apps", "root")
"""Columns of the table of kept variants; the page cuts the last one."""


def key_of(campaign: str, what: str) -> str:
    """Key of an artifact; Prefect allows lower-case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", f"{campaign}-{what}".lower())


async def show_tables(campaign: str, settings: Settings) -> list[str]:
    """Makes the summary and the table of kept variants; returns the names of checks that failed.

    Raises WarehouseError where the warehouse cannot be read.
    """
    failures = run_checks(settings.warehouse)
    await acreate_markdown_artifact(
        _summary(campaign, settings, [failure.check for failure in failures]),
        key=key_of(campaign, "tables"),
        description=f"What campaign {campaign} came to",
    )
    kept = read(settings.warehouse, "kept", campaign=campaign).select(KEPT)
    await acreate_table_artifact(
        kept.to_dicts(),
        key=key_of(campaign, "kept"),
        description=f"Variants that campaign {campaign} keeps",
    )
    return [failure.check for failure in failures]


def _summary(campaign: str, settings: Settings, failed: list[str]) -> str:
    """The printed marts as Markdown; those of a confirmation once there is one."""
    simulated = bool(read(settings.warehouse, "campaigns", campaign=campaign)["simulated"].any())
    parts = [f"# {campaign}"]
    if simulated:
        parts.append(f"*{SIMULATED}*")
    parts += [f"**Check failed: {name}**" for name in failed]
    for name, columns in (PRINTED | CONFIRMED).items():
        rows = read(settings.warehouse, name, campaign=campaign).select(columns).head(SHOWN_ROWS)
        if name in PRINTED or rows.height:
            parts += [f"## {name}", _markdown(columns, rows.rows())]
    return "\n\n".join(parts)


def _markdown(columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if isinstance(value, float) else str(value).replace("|", "/")
