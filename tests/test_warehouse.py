"""The loader: the rows that go in come out, in any order, and are published in time."""

import random
import time
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.warehouse_rows import attempt, campaign, score, seed, step
from warehouse import marts
from warehouse.records import DIRECTIONS, TABLES, Attempt, Embedding, Row, Verdict
from warehouse.schema import column_types, create_table
from warehouse.store import Loader, rebuild


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "warehouse.duckdb"


def contents(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, in an order that does not depend on how it was loaded."""
    with duckdb.connect(path, read_only=True) as connection:
        return {
            record.table: sorted(
                connection.execute(f'SELECT * FROM "{record.table}"').fetchall(), key=repr
            )
            for record in TABLES
        }


def as_tuple(row: Row) -> tuple[Any, ...]:
    """A record as DuckDB gives it back: lists for tuples."""
    values = (getattr(row, name) for name in type(row).model_fields)
    return tuple(list(value) if isinstance(value, tuple) else value for value in values)


def count(path: Path, table: str, **filters: str) -> int:
    return marts.read(path, table, **filters).height


CHOICES = {
    "direction": DIRECTIONS,
    "measurement": ("search", "confirmation", "report"),
    "outcome": ("solved", "failed", "unscored"),
    "verdict": ("valid", "false_failure", "vague", "other"),
}
TEXT = st.text(max_size=12) | st.sampled_from(["", "NULL", "nan", "'; --", "\x00", "{}", "é😀"])
VALUES = {
    "VARCHAR": TEXT,
    "JSON": st.sampled_from(["{}", "[]", "null", '{"a":[1,{"b":"\\u0000 é"}]}', '"text"', "1e400"]),
    "BIGINT": st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3),
    "DOUBLE": st.floats(allow_nan=False, allow_infinity=False),
    "BOOLEAN": st.booleans(),
    "VARCHAR[]": st.lists(TEXT, max_size=3).map(tuple),
    "BIGINT[]": st.lists(st.integers(-5, 5), max_size=3).map(tuple),
    "FLOAT[]": st.lists(st.floats(-1e6, 1e6, width=32), max_size=4).map(tuple),
}


def rows_of(record: type[Row]) -> st.SearchStrategy[Row]:
    """Rows of one table, with values of every kind, None where it is allowed."""
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for name, kind in column_types(record).items():
        values = st.sampled_from(CHOICES[name]) if name in CHOICES else VALUES[kind]
        optional = type(None) in getattr(record.model_fields[name].annotation, "__args__", ())
        fields[name] = values | st.none() if optional else values
    return st.builds(record, **fields)


def key_of(row: Row) -> tuple[Any, ...]:
    return (type(row), *(getattr(row, name) for name in row.key))


ROWS = st.lists(st.sampled_from(TABLES).flatmap(rows_of), max_size=40, unique_by=key_of)


@settings(max_examples=10)
@given(rows=ROWS, order=st.randoms(use_true_random=False))
def test_a_rebuild_equals_a_load_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], order: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("orders")
    shuffled = order.sample(rows, len(rows)) + order.sample(rows, len(rows) // 2)
    with Loader(folder / "loaded.duckdb") as loader:
        while shuffled:
            size = order.randint(1, len(shuffled))
            loader.put(shuffled[:size])
            del shuffled[:size]
            if order.random() < 0.3:
                loader.flush()

    assert rebuild(folder / "rebuilt.duckdb", iter(rows)) == len(rows)

    loaded = contents(folder / "loaded.duckdb")
    assert loaded == contents(folder / "rebuilt.duckdb")
    for record in TABLES:
        expected = [as_tuple(row) for row in rows if type(row) is record]
        assert loaded[record.table] == sorted(expected, key=repr)


def test_a_later_row_replaces_one_with_the_same_key_in_a_batch_and_across(path: Path) -> None:
    with Loader(path) as loader:
        loader.put([seed("s0", 1), seed("s0", 2), seed("s1", 7)])
        loader.flush()
        assert marts.read(path, "seeds").sort("item_id")["position"].to_list() == [2, 7]
        loader.put([seed("s0", 3)])
        loader.put([seed("s0", 4)])

    assert marts.read(path, "seeds").sort("item_id")["position"].to_list() == [4, 7]


def test_null_stays_null(path: Path) -> None:
    unscored = attempt("s0", 0, "unscored", cost_usd=None, difference=None, prompt_tokens=None)
    with Loader(path) as loader:
        loader.put([unscored, score("s0", 0, 0), step(0, "s0", None, rejection="padded")])

    _, rows = marts.query(
        path,
        "SELECT partial IS NULL, cost_usd IS NULL, difference IS NULL, prompt_tokens IS NULL FROM attempts "
        "UNION ALL SELECT completion_rate IS NULL, mean_solved_length IS NULL, mean_partial IS NULL, "
        "bell_length_wide IS NULL FROM scores",
    )
    assert rows == [(True,) * 4] * 2
    assert marts.read(path, "steps")["child"].to_list() == [None]


def test_json_columns_are_documents_and_not_strings(path: Path) -> None:
    with Loader(path) as loader:
        loader.put([campaign(plan='{"search":{"inspirations":2}}')])

    answer = marts.query(
        path, "SELECT json_type(plan), plan ->> '$.search.inspirations' FROM campaigns"
    )
    assert answer[1] == [("OBJECT", "2")]


def test_every_record_has_a_column_type_and_its_key_is_never_null() -> None:
    for record in TABLES:
        assert set(record.key) <= column_types(record).keys()
        for name in record.key:
            assert f'"{name}" {column_types(record)[name]} NOT NULL' in create_table(record)
    assert column_types(Attempt)["difference"] == "JSON"
    assert column_types(Embedding)["vector"] == "FLOAT[]"
    assert column_types(Verdict)["verdict"] == "VARCHAR"
    assert '"verdict" VARCHAR,' in create_table(Verdict)


def test_the_file_is_readable_by_duckdb_1_5(path: Path) -> None:
    with Loader(path):
        pass

    # bytes 12-19: storage version; 2.x writes a higher one unless it is told otherwise
    assert int.from_bytes(path.read_bytes()[12:20], "little") <= 68


def test_rows_are_published_in_time_without_a_flush(path: Path) -> None:
    with Loader(path, publish_every_s=0.1) as loader:
        assert count(path, "seeds") == 0
        loader.put([seed("s0")])
        deadline = time.monotonic() + 30
        while count(path, "seeds") == 0:
            assert time.monotonic() < deadline, "the row was not published within 30 s"
            time.sleep(0.05)


def test_what_is_not_due_waits_for_a_flush(path: Path) -> None:
    with Loader(path, publish_every_s=3600) as loader:
        loader.put([seed("s0")])
        loader.flush()
        loader.put([seed("s1")])
        time.sleep(0.5)
        assert count(path, "seeds") == 1
        loader.flush()
        assert count(path, "seeds") == 2


def test_a_reader_keeps_what_it_opened(path: Path) -> None:
    with Loader(path) as loader:
        loader.put([seed(f"old {number}", number) for number in range(5000)])
    question = "SELECT count(*), sum(position), min(item_id) FROM seeds"
    with duckdb.connect(path, read_only=True) as reader:
        rebuild(path, [seed(f"new {number}", 3) for number in range(9000)])
        assert reader.execute(question).fetchall() == [(5000, 12_497_500, "old 0")]
    assert marts.query(path, question)[1] == [(9000, 27_000, "new 0")]
