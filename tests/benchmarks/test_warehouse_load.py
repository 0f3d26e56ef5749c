"""How fast rows get into the warehouse, against the plain way of DuckDB's Python client."""

import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from tests.warehouse_rows import attempt
from warehouse.marts import query
from warehouse.records import Attempt
from warehouse.schema import column_types, create_table
from warehouse.store import Loader

BATCH, BATCHES = 1_000, 40
PLAIN_ROWS = 400
"""executemany manages about a hundred rows a second: a few suffice."""


def core_seconds(work: Callable[[], None]) -> float:
    """Processor time of all threads: other load on the machine does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def load(path: Path, batches: list[list[Attempt]]) -> None:
    """Our way: everything is published when it ends."""
    with Loader(path) as loader:
        for batch in batches:
            loader.put(batch)


def executemany(path: Path, rows: list[Attempt]) -> None:
    """The plain way: a primary key, and one upsert a row."""
    columns = list(column_types(Attempt))
    updates = ", ".join(f"{name} = excluded.{name}" for name in columns if name != "attempt_id")
    with duckdb.connect(path) as connection:
        connection.execute(create_table(Attempt))
        connection.execute("ALTER TABLE attempts ADD PRIMARY KEY (attempt_id)")
        connection.executemany(
            f"INSERT INTO attempts VALUES ({', '.join('?' * len(columns))}) "
            f"ON CONFLICT (attempt_id) DO UPDATE SET {updates}",
            [[getattr(row, name) for name in columns] for row in rows],
        )


def test_rows_a_second_of_thousand_row_batches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batches = [
        [attempt(f"item {number}", repeat, "failed") for repeat in range(BATCH)]
        for number in range(BATCHES)
    ]
    path = tmp_path / "warehouse.duckdb"

    first_s = core_seconds(lambda: load(path, batches))
    again_s = core_seconds(lambda: load(path, batches))
    plain_s = core_seconds(lambda: executemany(tmp_path / "plain.duckdb", batches[0][:PLAIN_ROWS]))

    rows = BATCH * BATCHES
    assert query(path, "SELECT count(*) FROM attempts")[1] == [(rows,)]
    first, again, plain = rows / first_s, rows / again_s, PLAIN_ROWS / plain_s
    with capsys.disabled():
        print(
            f"\nwarehouse, rows per core-second: {first:,.0f} loaded and published, {again:,.0f} "
            f"replaced; executemany {plain:,.0f}: ratio {first / plain:,.0f}x"
        )
    assert first >= 20_000
