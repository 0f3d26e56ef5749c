"""Rows into the warehouse: loaded while a campaign runs, rebuilt, or a campaign's taken out.

Every row is a projection of the spool, so a file that is lost or too old is made again, not mended.
"""

import os
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from warehouse.files import (
    WarehouseError,
    adopt,
    log_of,
    naming,
    opened,
    prepare,
    private_path,
    publish,
    turn,
)
from warehouse.orphans import delete_rows
from warehouse.records import Row
from warehouse.schema import merge_statement, rows_as_json

__all__ = ["Loader", "WarehouseError", "delete_campaign", "rebuild"]

BATCH_ROWS = 20_000
"""Most rows of one transaction: bounds the JSON text that a batch is turned into (about 20 MB)."""

PUBLISH_SHARE = 0.1
"""Most of the loader's time that goes into copying: a large file is published less often."""


def _merge(connection: duckdb.DuckDBPyConnection, rows: list[Row]) -> None:
    """Loads rows in one transaction; of two with the same key the later wins."""
    by_table: dict[type[Row], dict[tuple[object, ...], Row]] = {}
    for row in rows:
        key = tuple(getattr(row, column) for column in row.key)
        by_table.setdefault(type(row), {})[key] = row
    connection.begin()
    for record, latest in by_table.items():
        connection.execute(merge_statement(record), [rows_as_json(list(latest.values()))])
    connection.commit()


def _batches(rows: Iterable[Row]) -> Iterator[list[Row]]:
    batch: list[Row] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH_ROWS:
            yield batch
            batch = []
    if batch:
        yield batch


class Loader:
    """A thread that writes rows into a warehouse; safe to use from several threads.

    Rows of one `put` are published together. What the thread raises (a WarehouseError for a full
    disk or a foreign file) is raised by the next `put`, `flush` or `close`, after which nothing more
    is loaded: the rows are in the spool, the next run loads them.
    """

    def __init__(self, path: Path, publish_every_s: float = 5.0) -> None:
        """Starts the thread. Raises WarehouseError where the file is not ours to write.

        `publish_every_s`: readers see rows at most about this many seconds late, later where copying
        the file takes more than a tenth of that time.
        """
        self._path = path
        self._publish_every_s = publish_every_s
        self._changed = threading.Condition()
        self._pending: list[Row] = []
        self._accepted = self._published = self._wanted = 0
        self._closing = False
        self._failure: Exception | None = None
        with naming(path), turn(path):
            adopt(path)
            publish(path)
        self._thread = threading.Thread(target=self._run, name="warehouse loader", daemon=True)
        self._thread.start()

    def put(self, rows: Iterable[Row]) -> None:
        """Hands rows over and returns at once; a later row replaces one with the same key."""
        rows = list(rows)
        with self._changed:
            self._raise_failure()
            if self._closing:
                raise ValueError("put on a closed loader")
            self._pending += rows
            self._accepted += len(rows)
            self._changed.notify_all()

    def flush(self) -> None:
        """Returns when everything put so far is in the published file."""
        with self._changed:
            wanted = self._wanted = self._accepted
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._failure or self._published >= wanted)
            self._raise_failure()

    def close(self) -> None:
        """Publishes what was put and ends the thread. Closing twice is harmless."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        self._thread.join()
        self._raise_failure()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _raise_failure(self) -> None:
        if self._failure:
            raise self._failure

    def _run(self) -> None:
        try:
            with naming(self._path):
                self._serve()
        except Exception as failure:
            with self._changed:
                self._failure = failure
                self._changed.notify_all()

    def _serve(self) -> None:
        """Loads and publishes when it is due; before that when asked, or when a whole batch waits.

        Opening the file costs more than loading a few rows, so rows that nobody asked for gather.
        """
        due = time.monotonic()
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._urgent() or self._accepted > self._published)
                self._changed.wait_for(self._urgent, timeout=max(0.0, due - time.monotonic()))
                rows, self._pending = self._pending, []
                accepted, closing = self._accepted, self._closing
                asked = closing or self._wanted > self._published
            if rows:
                with turn(self._path), opened(private_path(self._path)) as connection:
                    for batch in _batches(rows):
                        _merge(connection, batch)
            if accepted > self._published and (asked or time.monotonic() >= due):
                cost_s = self._show(accepted)
                due = time.monotonic() + max(self._publish_every_s, cost_s / PUBLISH_SHARE)
            if closing:
                return

    def _urgent(self) -> bool:
        waits = len(self._pending) >= BATCH_ROWS
        return waits or self._closing or self._wanted > self._published

    def _show(self, loaded: int) -> float:
        """Publishes; returns the seconds it took."""
        start = time.monotonic()
        with turn(self._path):
            publish(self._path)
        with self._changed:
            self._published = loaded
            self._changed.notify_all()
        return time.monotonic() - start


def delete_campaign(path: Path, campaign: str) -> int:
    """Removes a campaign's rows, and the items, calls and specs that only it had.

    Returns the number of rows that went, 0 where the campaign is not there. Raises WarehouseError.
    """
    with naming(path), turn(path):
        adopt(path)
        with opened(private_path(path)) as connection:
            connection.begin()
            gone = delete_rows(connection, campaign)
            connection.commit()
        publish(path)
    return gone


def rebuild(path: Path, rows: Iterable[Row]) -> int:
    """Makes the warehouse anew from rows, in the order in which a later one replaces an earlier.

    Readers see the old file until the new one is whole; where `rows` raises, the old one stays.
    Returns the number of rows read. Raises WarehouseError.
    """
    private = private_path(path)
    draft = path.with_name(f"{path.stem}.rebuilding{path.suffix}")
    count = 0
    with naming(path), turn(path):
        for leftover in (draft, log_of(draft)):
            leftover.unlink(missing_ok=True)
        with opened(draft) as connection:
            prepare(connection, path)
            for batch in _batches(rows):
                _merge(connection, batch)
                count += len(batch)
        log_of(private).unlink(missing_ok=True)
        os.replace(draft, private)
        publish(path)
    return count
