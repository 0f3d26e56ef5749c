"""Commands on what is kept: spool, warehouse, exports."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter
from cyclopts.validators import Number
from rich.console import Console
from rich.table import Table

from flows.commands.options import STATE, AppworldRoot, State, Tau2Root, absolute
from flows.plain_text import plain
from flows.settings import Settings
from tasks.errors import InputError


def sql(
    query: str,
    *,
    format: Annotated[
        Literal["table", "json"], Parameter(help="json: one object a line.")
    ] = "table",
    state: State = STATE,
) -> None:
    """Ask the warehouse, also while a campaign runs: turtle sql "FROM analysis.difficulty".

    Tables: warehouse/records.py. Marts: sql/marts, in schema analysis.
    """
    from warehouse import marts

    columns, rows = marts.query(Settings(state=state.absolute()).warehouse, query)
    if format == "json":
        for row in rows:
            print(json.dumps(dict(zip(columns, row, strict=True)), default=str))
        return
    _print_rows(columns, rows)


def tables(campaign: str, *, state: State = STATE) -> None:
    """Print a campaign's tables again."""
    from flows.publish import console, publish
    from flows.stored import stored_plan

    settings = Settings(state=state.absolute())
    stored_plan(campaign, settings)
    if publish(campaign, settings, console()):
        sys.exit(1)


def export(
    folder: Path,
    campaign: str,
    *,
    format: Annotated[str, Parameter(help="Form to write in: appworld or tau2.")],
    private: Annotated[
        bool,
        Parameter(help="Write in clear what may be published only encrypted, beside the bundle."),
    ] = False,
    appworld_root: AppworldRoot = None,
    tau2_root: Tau2Root = None,
    state: State = STATE,
) -> None:
    """Write a campaign's kept variants into FOLDER, as their own suite reads them."""
    from flows.export import export as write

    roots = {"appworld_root": absolute(appworld_root), "tau2_root": absolute(tau2_root)}
    settings = Settings(state=state.absolute(), **roots)
    told = asyncio.run(write(campaign, format, folder.absolute(), settings, private))
    print(f"{folder}: {told}")


def delete(campaign: str, *, state: State = STATE) -> None:
    """Delete a campaign: its attempts, edits, receipts and rows. This cannot be undone."""
    from flows import stored

    stored.delete(campaign, Settings(state=state.absolute()))
    print(f"deleted {campaign}")


def prune(
    campaign: Annotated[
        str | None, Parameter(help="One that has ended; without it, say --older-than.")
    ] = None,
    *,
    older_than: Annotated[
        float | None,
        Parameter(
            help="All campaigns that ended so many days ago or more.", validator=Number(gte=0)
        ),
    ] = None,
    pack: Annotated[
        bool, Parameter(negative="", help="Pack what is left into one compressed file a kind.")
    ] = False,
    state: State = STATE,
) -> None:
    """Delete what counts no more in campaigns that have ended: units of earlier versions, unfinished ones.

    Tables stay as they are, and nothing goes that a rerun needs. What was paid stays in the ledger. Finish a
    confirmation that was interrupted first: its attempts would go.
    """
    from flows import stored

    settings = Settings(state=state.absolute())
    if (campaign is None) == (older_than is None):
        raise InputError("prune: name a campaign or --older-than DAYS, one of the two")
    names = [campaign] if older_than is None else stored.at_rest(older_than, settings)
    for name in names:
        pruned = stored.prune(name, settings, pack)
        print(f"{name}: {pruned.files} files, {pruned.bytes / 1e6:.1f} MB less")


def rebuild(*, state: State = STATE) -> None:
    """Make the warehouse anew from the spool, which alone is the truth."""
    from flows.stored import spooled_rows
    from warehouse.store import rebuild as rebuild_warehouse

    settings = Settings(state=state.absolute())
    count = rebuild_warehouse(settings.warehouse, spooled_rows(settings))
    print(f"{settings.warehouse}: {count} rows")


def _print_rows(columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    table = Table(*columns)
    for row in rows:
        table.add_row(*(plain("NULL" if value is None else value) for value in row))
    Console(soft_wrap=True).print(table)
