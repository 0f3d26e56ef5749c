"""The SQL files as views: reads `sql/staging` and `sql/marts`, orders them, puts them into a file.

One select a file, named after it, in schema `analysis`. Which view needs which is read from the
references in the text (`analysis.<name>`); the leading comment lines become the view's comment, so
that a user who only has the database sees question, grain and units.
"""

import re
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import duckdb

SQL_FOLDER = Path(__file__).parents[1] / "sql"
"""Holds `staging/`, `marts/` and `checks/`."""

_REFERENCE = re.compile(r"\banalysis\.(\w+)")


@dataclass(frozen=True)
class SqlFile:
    """One select with its header."""

    name: str
    """Stem of the file: the view's name, or the check's."""
    header: str
    """The leading comment lines without their dashes."""
    select: str
    """The whole text of the file."""

    @property
    def references(self) -> set[str]:
        """Names of the views that the select reads."""
        code = re.sub(r"--.*", "", self.select)
        return set(_REFERENCE.findall(code))


def read_folder(folder: str) -> list[SqlFile]:
    """The SQL files of `staging`, `marts` or `checks`, by name."""
    return [_read(path) for path in sorted((SQL_FOLDER / folder).glob("*.sql"))]


def _read(path: Path) -> SqlFile:
    text = path.read_text(encoding="utf-8").strip()
    header = []
    for line in text.splitlines():
        if not line.startswith("--"):
            break
        header.append(line.removeprefix("--").strip())
    return SqlFile(path.stem, "\n".join(header), text)


@cache
def ordered_views() -> tuple[SqlFile, ...]:
    """Every view, each after those it reads.

    Raises ValueError where a view reads one that has no file, graphlib.CycleError on a circle.
    """
    views = {view.name: view for view in [*read_folder("staging"), *read_folder("marts")]}
    for view in views.values():
        if unknown := view.references - views.keys():
            raise ValueError(f"sql file {view.name} reads analysis.{min(unknown)}: no such file")
    order = TopologicalSorter({name: view.references for name, view in views.items()})
    return tuple(views[name] for name in order.static_order())


def refresh(connection: duckdb.DuckDBPyConnection) -> None:
    """Makes schema `analysis` hold exactly the views of the SQL files, with their comments."""
    connection.execute("CREATE SCHEMA IF NOT EXISTS analysis")
    known = {view.name for view in ordered_views()}
    there = connection.execute(
        "SELECT view_name FROM duckdb_views() WHERE schema_name = 'analysis'"
    ).fetchall()
    for (name,) in there:
        if name not in known:
            connection.execute(f'DROP VIEW analysis."{name}"')
    for view in ordered_views():
        connection.execute(f"CREATE OR REPLACE VIEW analysis.{view.name} AS {view.select}")
        comment = view.header.replace("'", "''")
        connection.execute(f"COMMENT ON VIEW analysis.{view.name} IS '{comment}'")
