"""A warehouse's files: trouble with them, rebuilding, and deleting a campaign."""

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

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
from warehouse.files import opened, private_path
from warehouse.records import TABLES, Row, Seed
from warehouse.store import Loader, WarehouseError, delete_campaign, rebuild

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


def count(path: Path, table: str, **filters: str) -> int:
    return marts.read(path, table, **filters).height


def test_a_slow_statement_prints_no_bar(path: Path) -> None:
    """DuckDB's own bar would stand in the middle of a table, or of what another program reads."""
    asked = "SELECT current_setting('enable_progress_bar')"
    rebuild(path, [seed("s0")])
    with opened(path) as connection:
        assert connection.execute(asked).fetchall() == [(False,)]
    assert marts.query(path, asked)[1] == [(False,)]


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
    before = contents(path)
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
    assert contents(path) == before
    with Loader(path) as loader:
        loader.put([seed("s1")])
    assert (count(path, "seeds"), count(path, "embeddings")) == (2, 0)


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
