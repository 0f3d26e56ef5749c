"""The hash that says whether two worlds are the same."""

import hashlib
import sqlite3
from pathlib import Path


def world_hash(root: Path) -> str:
    """Hashes what an item can stand on: base databases, API docs and the start states of the seeds.

    Databases enter as SQL dumps, because the bytes of an SQLite file depend on how it was written.

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
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
            for line in connection.iterdump():
                digest.update(line.encode())
    files = [*(data / "api_docs").rglob("*.json"), *(data / "tasks").glob("*/specs.json")]
    files += (data / "tasks").glob("*/dbs/*.jsonl")
    for path in sorted(files):
        digest.update(f"file {path.relative_to(data).as_posix()}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
