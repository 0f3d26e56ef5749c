"""The hash that says whether two worlds are the same."""

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path


def world_hash(root: Path) -> str:
    """Hashes what an item can stand on: base databases, API docs and the start states of the seeds.

    Databases enter by their rows: the bytes of an SQLite file depend on how it was written, and the text
    of `iterdump` on the patch release of Python (3.11.2 and 3.11.7 differ in virtual tables).

    Args:
        root: The engine's APPWORLD_ROOT (root/ in the simulator's folder).

    Returns:
        64 hexadecimal digits.

    Raises:
        FileNotFoundError: there is no world in `root`.
    """
    data = root / "data"
    if not data.is_dir():
        raise FileNotFoundError(f"no world in {data}; build it with build_world.py")
    digest = hashlib.sha256()
    for path in sorted((data / "base_dbs").glob("*.db")):
        digest.update(f"database {path.name}\n".encode())
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            for line in _content(connection):
                digest.update(line.encode() + b"\n")
    files = [*(data / "api_docs").rglob("*.json"), *(data / "tasks").glob("*/specs.json")]
    files += (data / "tasks").glob("*/dbs/*.jsonl")
    for path in sorted(files):
        digest.update(f"file {path.relative_to(data).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _content(connection: sqlite3.Connection) -> Iterator[str]:
    """Every table's definition and rows, in an order of their own.

    Search indexes are left out with the tables that SQLite keeps for them: they hold the rows once more, in
    a form of its release.
    """
    tables = dict(
        connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
        )
    )
    indexes = {name for name, sql in tables.items() if sql.startswith("CREATE VIRTUAL TABLE")}
    kept_for_indexes = tuple(f"{name}_" for name in indexes)
    for name in sorted(tables.keys() - indexes):
        if not name.startswith(kept_for_indexes):
            yield tables[name]
            yield from sorted(map(repr, connection.execute(f'SELECT * FROM "{name}"')))
