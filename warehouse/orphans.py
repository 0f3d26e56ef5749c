"""Which rows go with a campaign: its own, and those of shared tables that nothing else refers to."""

import duckdb

from warehouse.records import TABLES, ApiCall, Attempt, GoldCall, Item, Spec

_ITEM_COLUMNS = ("item_id", "root", "parent", "child")
_SPEC_COLUMNS = ("solver", "spec_id", "judge", "embedder", "source")


def _mentions(columns: tuple[str, ...], of: str) -> str:
    """A select of every value that campaign tables hold in these columns, for campaigns `of` (SQL)."""
    parts = [
        f'SELECT "{column}" AS id FROM main."{record.table}" WHERE {of}'
        for record in TABLES
        if "campaign" in record.model_fields
        for column in columns
        if column in record.model_fields
    ]
    return " UNION ".join(parts)


def _delete(connection: duckdb.DuckDBPyConnection, table: str, where: str, campaign: str) -> int:
    statement = f'DELETE FROM main."{table}" WHERE {where}'
    return connection.execute(statement, {"campaign": campaign}).fetchall()[0][0]


def delete_rows(connection: duckdb.DuckDBPyConnection, campaign: str) -> int:
    """Deletes a campaign's rows and its orphans; returns how many rows went.

    Only what this campaign mentions can become an orphan: an item or spec that another process has
    just loaded and not yet mentioned stays.
    """
    mine, others = "campaign = $campaign", "campaign <> $campaign"
    gone = 0
    attempts = f"attempt_id IN (SELECT attempt_id FROM main.{Attempt.table} WHERE {mine})"
    gone += _delete(connection, ApiCall.table, attempts, campaign)
    for tables, column, columns in (
        ((Item.table, GoldCall.table), "item_id", _ITEM_COLUMNS),
        ((Spec.table,), "spec_id", _SPEC_COLUMNS),
    ):
        orphaned = (
            f"{column} IN ({_mentions(columns, mine)}) AND NOT EXISTS "
            f"(SELECT 1 FROM ({_mentions(columns, others)}) AS kept WHERE kept.id = {column})"
        )
        for table in tables:
            gone += _delete(connection, table, orphaned, campaign)
    for record in TABLES:
        if "campaign" in record.model_fields:
            gone += _delete(connection, record.table, mine, campaign)
    return gone
