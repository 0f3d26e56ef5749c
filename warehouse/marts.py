"""The one place that reads the warehouse: marts as data frames, checks, and the user's own SQL.

Readers open the published file read-only, for one answer, and close it again.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from warehouse.files import WarehouseError, naming, require_database, without_bar
from warehouse.records import TABLES
from warehouse.views import ordered_views, read_folder, refresh

__all__ = ["CheckFailure", "query", "read", "refresh", "run_checks"]

_one_reader = threading.Lock()
"""DuckDB keeps one instance of a file a process: with another connection open, a new one would still
see the file that was published when that one was opened."""


@dataclass(frozen=True)
class CheckFailure:
    """A check of sql/checks that returned rows."""

    check: str
    incident: str
    """The check's header: what went wrong once, or would."""
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    """Every offending row."""


@contextmanager
def _reading(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    if not path.exists():
        raise WarehouseError(f"no warehouse at {path}: a campaign makes one (turtle evolve)")
    with _one_reader, naming(path):
        require_database(path)
        connection = duckdb.connect(path, read_only=True)
        try:
            without_bar(connection)
            yield connection
        finally:
            connection.close()


def _relation(name: str) -> str:
    """The SQL name of a view or table of ours. Raises WarehouseError for any other name."""
    if name in {view.name for view in ordered_views()}:
        return f"analysis.{name}"
    if name in {record.table for record in TABLES}:
        return f"main.{name}"
    raise WarehouseError(
        f"no mart or table is named {name!r}: see sql/marts and warehouse/records.py"
    )


def read(path: Path, name: str, /, **filters: str | int | bool) -> pl.DataFrame:
    """A mart, a staging view or a table, with DuckDB's column types, also where it has no rows.

    `filters`: columns and the value that each must equal. Raises WarehouseError.
    """
    conditions = " AND ".join(f'"{column}" = ?' for column in filters)
    statement = f"SELECT * FROM {_relation(name)}" + (f" WHERE {conditions}" if filters else "")
    with _reading(path) as connection:
        return pl.DataFrame(connection.sql(statement, params=list(filters.values())))


def query(path: Path, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Columns and rows of the user's SQL, read-only; of several statements the last.

    Raises WarehouseError with DuckDB's first line where the SQL is wrong or would write.
    """
    with _reading(path) as connection:
        answer = connection.execute(sql)
        columns = [column[0] for column in answer.description or []]
        return columns, answer.fetchall() if columns else []


def run_checks(path: Path) -> list[CheckFailure]:
    """The checks that found rows; empty when the warehouse is sound. Raises WarehouseError."""
    failures = []
    with _reading(path) as connection:
        for check in read_folder("checks"):
            answer = connection.execute(check.select)
            columns = tuple(column[0] for column in answer.description)
            if rows := tuple(answer.fetchall()):
                failures.append(CheckFailure(check.name, check.header, columns, rows))
    return failures
