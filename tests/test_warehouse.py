"""The loader: rows in, the same rows out, whatever the order, whoever is killed, whoever reads."""

import fcntl
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.loading_process import ROWS_A_PUT
from tests.warehouse_rows import (
    api_call,
    attempt,
    campaign,
    gold_calls,
    item,
    kept,
    llm_call,
    score,
    seed,
    spec,
    step,
)
from warehouse import marts
from warehouse.records import DIRECTIONS, TABLES, Attempt, Embedding, Row, Seed, Verdict
from warehouse.schema import column_types, create_table
from warehouse.store import Loader, WarehouseError, delete_campaign, private_path, rebuild

ROOT = Path(__file__).parents[1]

ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}


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


# --- what goes in comes out -----------------------------------------------------------------------

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


@settings(max_examples=12)
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
    assert '"verdict" VARCHAR)' in create_table(Verdict)


def test_the_file_is_readable_by_duckdb_1_5(path: Path) -> None:
    with Loader(path):
        pass

    # bytes 12-19: storage version; 2.x writes a higher one unless it is told otherwise
    assert int.from_bytes(path.read_bytes()[12:20], "little") <= 68


# --- publishing -----------------------------------------------------------------------------------


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


READER = """
import sys, time
from pathlib import Path
from warehouse.marts import query
path = Path(sys.argv[1])
print("reading", flush=True)
while (seen := query(path, "SELECT count(*), count(DISTINCT item_id) FROM attempts")[1][0])[0] < 800:
    print(*seen, flush=True)
print(*seen)
"""


def test_a_second_process_reads_while_the_first_publishes(path: Path) -> None:
    with Loader(path, publish_every_s=0.0) as loader:
        reader = subprocess.Popen(
            [sys.executable, "-c", READER, path],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=ENVIRONMENT,
        )
        assert reader.stdout.readline() == "reading\n"
        for number in range(200):
            loader.put([attempt(f"item {number}", repeat, "solved") for repeat in range(4)])
            time.sleep(0.01)
        loader.flush()
        output, errors = reader.communicate(timeout=120)

    assert reader.returncode == 0, errors
    seen = [tuple(map(int, line.split())) for line in output.splitlines()]
    assert seen == sorted(seen) and seen[-1] == (800, 200)
    assert len(set(seen)) > 2, "the reader saw no campaign in progress"
    assert all(rows == 4 * items for rows, items in seen), "a put was published in part"


# --- several processes, and the end of one --------------------------------------------------------


def start_loading(path: Path, name: str, puts: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tests.loading_process", path, name, str(puts)],
        stdout=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        cwd=ROOT,
    )


def test_two_processes_load_one_warehouse_and_nothing_is_lost(path: Path) -> None:
    processes = [start_loading(path, name, 100) for name in ("left", "right")]

    assert [process.wait(timeout=240) for process in processes] == [0, 0]
    for process in processes:
        process.stdout.close()
    for name in ("left", "right"):
        assert count(path, "seeds", campaign=name) == 100
        assert count(path, "attempts", campaign=name) == 100 * (ROWS_A_PUT - 1)


def test_a_loader_waits_while_another_has_its_turn(path: Path) -> None:
    with Loader(path, publish_every_s=0.0) as loader:
        with path.with_name(path.name + ".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            loader.put([seed("s0")])
            time.sleep(0.5)
            with duckdb.connect(private_path(path), read_only=True) as private:
                assert private.execute("SELECT count(*) FROM seeds").fetchall() == [(0,)]
        loader.flush()
        assert count(path, "seeds") == 1


def published_until_killed(process: subprocess.Popen[str], flushes: int, delay_s: float) -> int:
    """Kills a loading process some time after a number of flushes; how many seeds it had published."""
    published = 0
    for _ in range(flushes + 1):
        line = process.stdout.readline()
        published = int(line) if line[0].isdigit() else 0
    time.sleep(delay_s)
    process.kill()
    rest = process.communicate()[0].split()
    return max([published, *map(int, rest)])


@pytest.mark.parametrize("rng_seed", range(4))
def test_a_killed_loader_leaves_a_readable_file_and_the_next_goes_on(
    path: Path, rng_seed: int
) -> None:
    rng = random.Random(rng_seed)
    process = start_loading(path, "killed", 100_000)
    published = published_until_killed(process, rng.randint(0, 2), rng.uniform(0, 0.3))

    found = count(path, "seeds")
    assert found >= published
    assert count(path, "attempts") == found * (ROWS_A_PUT - 1), "a put was published in part"

    with Loader(path) as loader:
        loader.put([seed("after", campaign="next")])
    assert count(path, "seeds", campaign="killed") >= found
    assert count(path, "seeds", campaign="next") == 1


@pytest.fixture
def killed_in_a_batch(path: Path) -> Path:
    """A warehouse whose last writer was killed between its commit and the checkpoint."""
    with Loader(path) as loader:
        loader.put([seed("s0")])
    code = (
        "import duckdb, os, signal, sys\n"
        "connection = duckdb.connect(sys.argv[1])\n"
        "connection.execute(\"INSERT INTO seeds VALUES ('killed', 's1', 0, 's1', NULL)\")\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    child = subprocess.run([sys.executable, "-c", code, private_path(path)])
    assert child.returncode == -signal.SIGKILL
    assert private_path(path).with_suffix(".duckdb.wal").exists()
    return path


def test_what_a_killed_loader_committed_is_published_by_the_next(killed_in_a_batch: Path) -> None:
    with Loader(killed_in_a_batch) as loader:
        loader.put([seed("s2")])

    assert sorted(marts.read(killed_in_a_batch, "seeds")["item_id"]) == ["s0", "s1", "s2"]


def test_a_rebuild_takes_nothing_from_a_killed_loader(killed_in_a_batch: Path) -> None:
    rebuild(killed_in_a_batch, [seed("s2")])
    with Loader(killed_in_a_batch) as loader:
        loader.put([seed("s3")])

    assert sorted(marts.read(killed_in_a_batch, "seeds")["item_id"]) == ["s2", "s3"]


@pytest.mark.parametrize("lost", ["private", "published"])
def test_a_lost_file_is_made_again_from_the_other(path: Path, lost: str) -> None:
    with Loader(path) as loader:
        loader.put([seed("s0")])
    (private_path(path) if lost == "private" else path).unlink()

    with Loader(path) as loader:
        loader.put([seed("s1")])

    assert count(path, "seeds") == 2


# --- trouble --------------------------------------------------------------------------------------


def test_a_failure_of_the_thread_reaches_the_caller_every_time(path: Path) -> None:
    loader = Loader(path)
    private_path(path).write_text("No database any more. " * 100)
    loader.put([seed("s0")])

    with pytest.raises(WarehouseError, match=r"warehouse .*duckdb: .*not a valid DuckDB"):
        loader.flush()
    with pytest.raises(WarehouseError):
        loader.put([seed("s1")])
    with pytest.raises(WarehouseError):
        loader.close()
    assert count(path, "seeds") == 0


def test_a_value_that_does_not_fit_is_an_error_and_its_batch_is_not_loaded(path: Path) -> None:
    loader = Loader(path)
    loader.put([item("s0"), seed("s0", 2**70)])

    with pytest.raises(WarehouseError, match="1180591620717411303424") as caught:
        loader.close()
    assert "\n" not in str(caught.value)
    with Loader(path) as loader:
        loader.put([seed("s1")])
    assert (count(path, "items"), count(path, "seeds")) == (0, 1)


def test_put_after_close_is_an_error_and_closing_twice_is_not(path: Path) -> None:
    loader = Loader(path)
    loader.close()
    loader.close()

    with pytest.raises(ValueError, match="closed"):
        loader.put([seed("s0")])


@pytest.mark.parametrize("text", ["", "Notes of a user, who gave the wrong path.\n" * 50])
def test_a_file_that_is_no_database_is_left_alone(path: Path, text: str) -> None:
    path.write_text(text)

    for touch in (Loader, lambda path: rebuild(path, []), lambda path: delete_campaign(path, "c")):
        with pytest.raises(WarehouseError, match="is not a DuckDB database"):
            touch(path)
    with pytest.raises(WarehouseError, match="is not a DuckDB database"):
        marts.query(path, "SELECT 1")
    assert path.read_text() == text
    assert list(path.parent.iterdir()) == [path]


def test_a_file_of_another_version_says_how_to_go_on(path: Path) -> None:
    with duckdb.connect(path) as connection:
        connection.execute("CREATE TABLE seeds (campaign VARCHAR, item_id VARCHAR)")

    with pytest.raises(WarehouseError, match="seeds was made by another version; delete"):
        Loader(path)


def test_a_full_disk_is_one_line_and_the_published_file_stays(path: Path) -> None:
    with Loader(path) as loader:
        loader.put([seed("s0")])
    before = path.read_bytes()
    code = (
        "import sys\nfrom pathlib import Path\nfrom tests.warehouse_rows import embedding\n"
        "from warehouse.store import Loader, WarehouseError\n"
        "loader = Loader(Path(sys.argv[1]))\n"
        "rows = [embedding(f'{n}', *(n + i / 7 for i in range(500))) for n in range(4000)]\n"
        "try:\n    loader.put(rows)\n    loader.flush()\n"
        "except WarehouseError as error:\n    print(error)\n    sys.exit(2)\n"
    )

    def limit() -> None:
        size = max(path.stat().st_size, private_path(path).stat().st_size) + 500_000
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    child = subprocess.run(
        [sys.executable, "-c", code, path],
        capture_output=True,
        text=True,
        env=ENVIRONMENT,
        cwd=ROOT,
        preexec_fn=limit,
    )

    assert child.returncode == 2, child.stderr
    assert child.stdout.count("\n") == 1 and "make room" in child.stdout
    assert path.read_bytes() == before
    with Loader(path) as loader:
        loader.put([seed("s1")])
    assert (count(path, "seeds"), count(path, "embeddings")) == (2, 0)


# --- rebuilding and deleting ----------------------------------------------------------------------


def test_a_rebuild_replaces_the_file_whole_or_not_at_all(path: Path) -> None:
    with Loader(path) as loader:
        loader.put([seed("old")])

    def rows_that_break() -> Iterator[Row]:
        yield seed("new")
        raise RuntimeError("the spool could not be read")

    with pytest.raises(RuntimeError, match="spool"):
        rebuild(path, rows_that_break())
    assert marts.read(path, "seeds")["item_id"].to_list() == ["old"]

    assert rebuild(path, [seed("new", 0), seed("new", 1)]) == 2
    assert marts.read(path, "seeds")["position"].to_list() == [1]
    with Loader(path) as loader:
        loader.put([seed("newer")])
    assert sorted(marts.read(path, "seeds")["item_id"]) == ["new", "newer"]


def test_a_rebuild_of_many_rows_crosses_batches(path: Path) -> None:
    rows = (seed(f"item {number % 25_000}", number) for number in range(50_000))

    assert rebuild(path, rows) == 50_000

    _, [(found, lowest)] = marts.query(path, "SELECT count(*), min(position) FROM seeds")
    assert (found, lowest) == (25_000, 25_000)


def campaign_rows(name: str, own_item: str) -> list[Row]:
    """A campaign that shares an item and a spec with others and has an item and a spec of its own."""
    tried = attempt(own_item, 0, "failed", name, solver=f"solver of {name}")
    shared = attempt("shared", 0, "solved", name)
    return [
        campaign(name),
        spec(),
        spec(f"solver of {name}"),
        item("shared"),
        item(own_item),
        *gold_calls("shared", "phone"),
        *gold_calls(own_item, "phone", "venmo"),
        seed("shared", 0, name),
        step(0, "shared", own_item, name),
        tried,
        shared,
        api_call(tried.attempt_id),
        api_call(shared.attempt_id),
        score(own_item, 0, 1, name),
        *kept(own_item, "shared", campaign=name),
        llm_call(f"call of {name}", campaign=name),
    ]


def test_deleting_a_campaign_leaves_what_the_others_need(path: Path, tmp_path: Path) -> None:
    stays, goes = campaign_rows("stays", "own"), campaign_rows("goes", "its")
    with Loader(path) as loader:
        loader.put([*stays, *goes])
    rebuild(tmp_path / "expected.duckdb", stays)

    gone = delete_campaign(path, "goes")

    assert contents(path) == contents(tmp_path / "expected.duckdb")
    assert gone == len(goes) - len([spec(), item("shared"), *gold_calls("shared", "phone")])
    assert delete_campaign(path, "goes") == 0
    with Loader(path) as loader:
        loader.put([seed("s9", campaign="later")])
    assert count(path, "campaigns", campaign="goes") == 0


def test_deleting_spares_items_that_no_campaign_mentions_yet(path: Path) -> None:
    with Loader(path) as loader:
        loader.put([item("just loaded by another process"), *campaign_rows("goes", "its")])

    delete_campaign(path, "goes")

    assert marts.read(path, "items")["item_id"].to_list() == ["just loaded by another process"]


def test_seed_positions_are_ints_in_data_frames_of_empty_tables(path: Path) -> None:
    with Loader(path):
        pass

    frame = marts.read(path, Seed.table)
    assert frame.is_empty() and frame.schema["position"].is_integer()
