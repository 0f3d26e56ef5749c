"""The files of a warehouse: the private one that is written, the published one that is read.

While one process has a DuckDB file open for writing, nobody else can open it, not even to read. So
rows are written to a private file beside the published one, and published by copy and `os.replace`:
readers keep what they opened. A lock file makes several processes take turns, a batch each; the
operating system lets go of it when its holder is killed.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from warehouse.records import TABLES
from warehouse.schema import column_types, create_table
from warehouse.views import refresh

PATIENCE_S = 30.0
"""How long a writer waits for a private file that is held open outside of our lock."""


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
def turn(path: Path) -> Iterator[None]:
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
            connection = duckdb.connect(file, config={"storage_compatibility_version": "v1.5.0"})
        except duckdb.IOException as error:
            if "Could not set lock" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            without_bar(connection)
            return connection


def without_bar(connection: duckdb.DuckDBPyConnection) -> None:
    """Has DuckDB print no progress bar, which it puts on stdout after two seconds of a statement."""
    connection.execute("SET enable_progress_bar = false")


@contextmanager
def opened(file: Path) -> Iterator[duckdb.DuckDBPyConnection]:
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


def publish(path: Path) -> None:
    """Shows readers what stands in the private file. Needs the lock."""
    private = private_path(path)
    if log_of(private).exists():  # its last writer was killed: the log holds committed rows
        with opened(private):
            pass
    _replace(private, path)


def log_of(file: Path) -> Path:
    """Where DuckDB keeps what is committed and not yet in the file."""
    return file.with_name(file.name + ".wal")


def prepare(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
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


def adopt(path: Path) -> None:
    """Makes the private file ready: tables, today's views, what a killed loader left. Needs the lock.

    A killed loader leaves a file whose log DuckDB replays. Where there is no file, it is made from
    the published one, or new.
    """
    private = private_path(path)
    if private.exists():
        require_database(private)
    else:
        log_of(private).unlink(missing_ok=True)
        if path.exists():
            _replace(path, private)
    with opened(private) as connection:
        prepare(connection, path)
