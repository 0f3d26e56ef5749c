"""The one place that opens DuckDB files for writing.

While one process has a DuckDB file open for writing, nobody else can open it, not even to read. So
rows are written to a private file beside the published one, and published by copy and `os.replace`:
readers keep what they opened. A lock file makes several processes take turns, a batch each; the
operating system lets go of it when its holder is killed.

Every row is a projection of the spool, so a file that is lost or too old is made again, not mended.
"""

import fcntl
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import duckdb

from warehouse.orphans import delete_rows
from warehouse.records import TABLES, Row
from warehouse.schema import column_types, create_table, merge_statement, rows_as_json
from warehouse.views import refresh

BATCH_ROWS = 20_000
"""Most rows of one transaction: bounds the JSON text that a batch is turned into (about 20 MB)."""

PATIENCE_S = 30.0
"""How long a loader waits for a private file that is held open outside of our lock."""

PUBLISH_SHARE = 0.1
"""Most of the loader's time that goes into copying: a large file is published less often."""


class WarehouseError(Exception):
    """The warehouse cannot be used. The message is one line: which file, what, what to do."""


def private_path(path: Path) -> Path:
    """The file that loaders write, beside the published one."""
    return path.with_name(f"{path.stem}.loading{path.suffix}")


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turns what DuckDB and the file system raise into a WarehouseError that names the file."""
    try:
        yield
    except (duckdb.Error, OSError) as error:
        what = str(error).partition("\n")[0]
        full = "No space left" in what or "File too large" in what
        advice = "; make room and run the same command again" if full else ""
        raise WarehouseError(f"warehouse {path}: {what}{advice}") from error


def require_database(path: Path) -> None:
    """Raises WarehouseError where a file is not a DuckDB database, whatever its name says."""
    with path.open("rb") as file:
        head = file.read(12)
    if head[8:] != b"DUCK":
        raise WarehouseError(f"{path} is not a DuckDB database: move it away or name another file")


@contextmanager
def _turn(path: Path) -> Iterator[None]:
    """Holds the lock of a warehouse; waits for as long as another loader has it.

    An own file, as POSIX locks on the database itself fall when any of this process's handles on it
    is closed, and copying it closes one.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        require_database(path)  # before anything is written beside a file that is not ours
    with path.with_name(path.name + ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _connect(file: Path) -> duckdb.DuckDBPyConnection:
    """Opens for writing; waits for somebody who looks into the file by hand.

    The storage version is that of DuckDB 1.5, so that 1.5 reads what 2.x wrote.
    """
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return duckdb.connect(file, config={"storage_compatibility_version": "v1.5.0"})
        except duckdb.IOException as error:
            if "Could not set lock" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


@contextmanager
def _open(file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """A writing connection; when it ends, all is in the file itself and nothing in a log beside it."""
    connection = _connect(file)
    try:
        yield connection
        connection.execute("CHECKPOINT")
    finally:
        connection.close()


def _replace(source: Path, target: Path) -> None:
    """Copies a closed database so that the target is the old one or the new one, never a part."""
    part = target.with_name(target.name + ".part")
    shutil.copyfile(source, part)
    with part.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(part, target)


def _publish(path: Path) -> None:
    """Shows readers what stands in the private file. Needs the lock."""
    private = private_path(path)
    if _log(private).exists():  # its last writer was killed: the log holds committed rows
        with _open(private):
            pass
    _replace(private, path)


def _log(file: Path) -> Path:
    """Where DuckDB keeps what is committed and not yet in the file."""
    return file.with_name(file.name + ".wal")


def _prepare(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Makes tables and views; raises WarehouseError where a table has other columns than its record.

    One transaction: each statement on its own would wait for the disk.
    """
    connection.begin()
    for record in TABLES:
        connection.execute(create_table(record))
    found: dict[str, dict[str, str]] = {}
    for table, column, kind in connection.execute(
        "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE schema_name = 'main'"
    ).fetchall():
        found.setdefault(table, {})[column] = kind
    for record in TABLES:
        if found[record.table] != column_types(record):
            raise WarehouseError(
                f"{path}: table {record.table} was made by another version; delete {path} and "
                f"{private_path(path)}, they are made again from the spool"
            )
    refresh(connection)
    connection.commit()


def _adopt(path: Path) -> None:
    """Gives the warehouse its private and its published file. Needs the lock.

    A killed loader leaves a private file whose log DuckDB replays. Where there is none, it is made
    from the published file, or new.
    """
    private = private_path(path)
    if private.exists():
        require_database(private)
    else:
        _log(private).unlink(missing_ok=True)
        if path.exists():
            _replace(path, private)
    with _open(private) as connection:
        _prepare(connection, path)
    if not path.exists():
        _publish(path)


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
        with naming(path), _turn(path):
            _adopt(path)
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
        """Loads what is pending, all of it in one go, and publishes when it is due or asked for."""
        loaded, due = 0, time.monotonic()
        while True:
            with self._changed:
                idle_s = max(0.0, due - time.monotonic()) if loaded > self._published else None
                self._changed.wait_for(self._has_work, timeout=idle_s)
                rows, self._pending = self._pending, []
                accepted, asked = self._accepted, self._wanted > self._published
                closing = self._closing
            if rows:
                with _turn(self._path), _open(private_path(self._path)) as connection:
                    for batch in _batches(rows):
                        _merge(connection, batch)
                loaded = accepted
            if loaded > self._published and (asked or closing or time.monotonic() >= due):
                cost_s = self._show(loaded)
                due = time.monotonic() + max(self._publish_every_s, cost_s / PUBLISH_SHARE)
            if closing:
                return

    def _has_work(self) -> bool:
        return bool(self._pending) or self._closing or self._wanted > self._published

    def _show(self, loaded: int) -> float:
        """Publishes; returns the seconds it took."""
        start = time.monotonic()
        with _turn(self._path):
            _publish(self._path)
        with self._changed:
            self._published = loaded
            self._changed.notify_all()
        return time.monotonic() - start


def _change(path: Path, change: Callable[[duckdb.DuckDBPyConnection], int]) -> int:
    """Applies a change to the private file in one transaction and publishes it."""
    with naming(path), _turn(path):
        _adopt(path)
        with _open(private_path(path)) as connection:
            connection.begin()
            changed = change(connection)
            connection.commit()
        _publish(path)
    return changed


def delete_campaign(path: Path, campaign: str) -> int:
    """Removes a campaign's rows, and the items, calls and specs that only it had.

    Returns the number of rows that went, 0 where the campaign is not there. Raises WarehouseError.
    """
    return _change(path, lambda connection: delete_rows(connection, campaign))


def rebuild(path: Path, rows: Iterable[Row]) -> int:
    """Makes the warehouse anew from rows, in the order in which a later one replaces an earlier.

    Readers see the old file until the new one is whole; where `rows` raises, the old one stays.
    Returns the number of rows read. Raises WarehouseError.
    """
    private = private_path(path)
    draft = path.with_name(f"{path.stem}.rebuilding{path.suffix}")
    count = 0
    with naming(path), _turn(path):
        for leftover in (draft, _log(draft)):
            leftover.unlink(missing_ok=True)
        with _open(draft) as connection:
            _prepare(connection, path)
            for batch in _batches(rows):
                _merge(connection, batch)
                count += len(batch)
        _log(private).unlink(missing_ok=True)
        os.replace(draft, private)
        _publish(path)
    return count
