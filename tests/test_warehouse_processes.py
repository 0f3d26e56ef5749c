"""A warehouse in several processes: one reads, two load, one is killed."""

import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from tests.loading_process import ROWS_A_PUT
from tests.warehouse_rows import attempt, seed
from warehouse import marts
from warehouse.files import private_path
from warehouse.store import Loader, rebuild

ROOT = Path(__file__).parents[1]

ENVIRONMENT = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "warehouse.duckdb"


def count(path: Path, table: str, **filters: str) -> int:
    return marts.read(path, table, **filters).height


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
        'connection.execute("INSERT INTO seeds (campaign, item_id, position, name) '
        "VALUES ('killed', 's1', 0, 's1')\")\n"
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
