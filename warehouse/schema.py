"""The tables, derived from the record classes: their DDL, and the statement that loads their rows.

Nothing here opens a database. Only what DuckDB 1.5.5 to 2.0.1 have in common is used, and neither
primary keys nor fixed-length vectors: a DuckLake has neither. A row's key is kept by the MERGE.
"""

import json
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from warehouse.records import Row

_SCALARS: dict[Any, str] = {bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE", str: "VARCHAR"}
_LISTS: dict[Any, str] = {float: "FLOAT[]", str: "VARCHAR[]", int: "BIGINT[]"}


def _sql_type(hint: Any) -> str:
    """SQL type of a field's type hint; None beside it changes nothing."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        extras = [getattr(mark, "json_schema_extra", None) or {} for mark in parts[1:]]
        return "JSON" if any(extra.get("json") for extra in extras) else _sql_type(parts[0])
    if origin in (Union, UnionType):
        kinds = {_sql_type(part) for part in parts if part is not NoneType}
        if len(kinds) == 1:
            return kinds.pop()
    elif origin is Literal:
        return "VARCHAR"
    elif origin is tuple and parts[0] in _LISTS:
        return _LISTS[parts[0]]
    elif hint in _SCALARS:
        return _SCALARS[hint]
    raise TypeError(f"no column type for {hint!r}: add it to warehouse/schema.py")


def _hints(record: type[Row]) -> dict[str, Any]:
    hints = get_type_hints(record, include_extras=True)
    return {name: hints[name] for name in record.model_fields}


@cache
def column_types(record: type[Row]) -> dict[str, str]:
    """SQL type of each column of a record's table, in the order of the fields."""
    return {name: _sql_type(hint) for name, hint in _hints(record).items()}


def create_table(record: type[Row]) -> str:
    """The statement that makes a record's table where it is not there yet."""
    nullable = {name for name, hint in _hints(record).items() if NoneType in get_args(hint)}
    columns = ", ".join(
        f'"{name}" {kind}{"" if name in nullable else " NOT NULL"}'
        for name, kind in column_types(record).items()
    )
    return f'CREATE TABLE IF NOT EXISTS "{record.table}" ({columns})'


def structure(record: type[Row]) -> str:
    """What from_json_strict has to be told to read a JSON array of a record's rows.

    JSON columns are read as text here and cast afterwards: read as JSON, a document that crosses as
    a string would become a JSON string with a document inside.
    """
    kinds = {
        name: [kind.removesuffix("[]")] if kind.endswith("[]") else kind.replace("JSON", "VARCHAR")
        for name, kind in column_types(record).items()
    }
    return json.dumps([kinds])


@cache
def merge_statement(record: type[Row]) -> str:
    """The statement that loads a JSON array of rows, its one parameter, into a record's table.

    A row replaces the one with the same key. The array must hold a key once: which of two would win
    is not defined. `from_json_strict`, since `from_json` turns what it cannot read into NULL.
    """
    columns = {f'"{name}"': kind for name, kind in column_types(record).items()}
    key = [f'"{name}"' for name in record.key]
    chosen = ", ".join(
        f"r.{name}::JSON AS {name}" if kind == "JSON" else f"r.{name} AS {name}"
        for name, kind in columns.items()
    )
    rows = f"SELECT unnest(from_json_strict(?::JSON, '{structure(record)}')) AS r"
    matched = " AND ".join(f"old.{name} = new.{name}" for name in key)
    changed = ", ".join(f"{name} = new.{name}" for name in columns if name not in key)
    update = f"WHEN MATCHED THEN UPDATE SET {changed} " if changed else ""
    return (
        f'MERGE INTO "{record.table}" AS old USING (SELECT {chosen} FROM ({rows})) AS new '
        f"ON {matched} {update}WHEN NOT MATCHED THEN INSERT ({', '.join(columns)}) "
        f"VALUES ({', '.join(f'new.{name}' for name in columns)})"
    )


def rows_as_json(rows: list[Row]) -> str:
    """The JSON array that `merge_statement` takes, for rows of one table."""
    return f"[{','.join(row.model_dump_json() for row in rows)}]"
