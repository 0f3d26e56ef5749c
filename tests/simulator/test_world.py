"""The small world and its seeds: the same from the same rng_seed, rich enough, honest golds."""

import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tasks.golds.literals import answer_in_instruction, hard_coded_literals
from tests.simulator.running import build_world

APPS = (
    "amazon",
    "phone",
    "file_system",
    "spotify",
    "venmo",
    "gmail",
    "splitwise",
    "simple_note",
    "todoist",
)
WORLD_HASH = "45b8f4bc6258299136a5e8813e364c8656dc1b961732f82215450144180a3777"
"""Of every world that is built from the default rng_seed, whatever the machine and its Python."""

MORE_THAN_A_PAGE = {
    "phone": "select count(*) n from contacts group by user_id",
    "venmo": "select count(*) n from transactions group by sender_id",
    "spotify": "select count(*) n from user_library_songs group by user_id",
    "gmail": "select count(*) n from user_email_threads where incoming group by user_id",
    "simple_note": "select count(*) n from notes group by user_id",
    "file_system": "select count(*) n from files group by user_id",
}
"""Lists of one person that do not fit on a page of twenty."""


@pytest.fixture
def programs(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the builder, whose plain modules can be imported here as well."""
    folder = checkout / "deployments" / "simulators" / "appworld"
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def seeds(programs: Path) -> list[Any]:
    from seeds.record import read_seeds

    return read_seeds()


@pytest.fixture
def data(appworld_home: Path) -> Path:
    return appworld_home / "root" / "data"


def lines_until(process: subprocess.Popen[str], text: str) -> Iterator[str]:
    assert process.stderr is not None
    for line in process.stderr:
        yield line
        if text in line:
            return


def rows(data: Path, app: str, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(f"file:{data / 'base_dbs' / app}.db?mode=ro", uri=True) as connection:
        return connection.execute(query).fetchall()


def test_the_world_that_was_built_here_is_the_one_that_is_built_everywhere(
    appworld_home: Path, programs: Path
) -> None:
    """Two builds in one run, each with a process of its own: tests/endurance/test_second_world.py."""
    from world.fingerprint import world_hash

    root = appworld_home / "root"
    built = json.loads((root / "world.json").read_text())["hash"]
    assert built == world_hash(root)
    assert built == WORLD_HASH, "where the world was changed on purpose, put its new hash here"


def test_the_hash_sees_one_changed_row(data: Path, programs: Path, tmp_path: Path) -> None:
    from world.fingerprint import world_hash

    (tmp_path / "data" / "base_dbs").mkdir(parents=True)
    copy = tmp_path / "data" / "base_dbs" / "venmo.db"
    copy.write_bytes((data / "base_dbs" / "venmo.db").read_bytes())
    before = world_hash(tmp_path)
    with sqlite3.connect(copy) as connection:
        connection.execute("vacuum")
    assert world_hash(tmp_path) == before
    with sqlite3.connect(copy) as connection:
        connection.execute("update transactions set amount = amount + 1 where id = 1")
    assert world_hash(tmp_path) != before


def test_the_hash_is_of_rows_alone(programs: Path, tmp_path: Path) -> None:
    """The release of Python or SQLite and the order of writing take no part: this hash is everywhere."""
    from world.fingerprint import world_hash

    (tmp_path / "data" / "base_dbs").mkdir(parents=True)
    with sqlite3.connect(tmp_path / "data" / "base_dbs" / "notes.db") as connection:
        connection.execute("create table notes (id integer primary key, text text, at real, raw)")
        connection.execute("create virtual table notes_search using fts5 (text)")
        rows = [(2, "b 'quoted'", None, b"\0"), (1, "ä", 0.1, 7)]
        connection.executemany("insert into notes values (?, ?, ?, ?)", rows)
        connection.execute("insert into notes_search select text from notes")
    assert world_hash(tmp_path) == (
        "ef9ce467676ddedd693d13830088f6ab05e9d0db23b7eff7b24cd3c21eb72c82"
    )


@pytest.mark.endurance
def test_a_killed_build_leaves_nothing_half_made(
    appworld_python: Path, programs: Path, tmp_path: Path
) -> None:
    line = "filling phone"
    process = build_world(appworld_python, programs, tmp_path)
    assert line in list(lines_until(process, line))[-1]
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)  # its parts hold the pipe: it closes when they have ended too
    left = [path.name for path in tmp_path.iterdir()]
    assert len(left) == 1 and left[0].startswith("root.making-")


def test_nine_apps_are_filled_with_lists_longer_than_a_page(data: Path) -> None:
    for app in APPS:
        tables = rows(data, app, "select name from sqlite_master where type = 'table'")
        names = [name for (name,) in tables if not name.startswith("sqlite") and "_fts" not in name]
        assert max(rows(data, app, f'select count(*) from "{name}"')[0][0] for name in names) > 20
    for app, query in MORE_THAN_A_PAGE.items():
        assert len([size for (size,) in rows(data, app, query) if size > 20]) >= 1, app


def test_supervisors_know_whom_the_world_promises(data: Path, programs: Path) -> None:
    from world.people import SUPERVISORS

    found = rows(
        data,
        "phone",
        "select u.first_name, c.first_name, c.relationships from contacts c"
        " join users u on u.id = c.user_id",
    )
    for name in SUPERVISORS:
        contacts = [(first, json.loads(held)) for owner, first, held in found if owner == name]
        counts = {
            word: sum(word in held for _, held in contacts) for word in ("roommate", "parent")
        }
        assert counts == {"roommate": 3, "parent": 2}
        assert sum("manager" in held for _, held in contacts) == 1
        assert sum("friend" in held for _, held in contacts) >= 12
        assert any("sibling" in held for _, held in contacts)
        assert any("coworker" in held for _, held in contacts)
    nora = [first for owner, first, _ in found if owner == "Nora"]
    assert nora.count("Priya") == 2


def test_there_are_enough_seeds_of_each_difficulty(seeds: list[Any]) -> None:
    difficulties = [seed.intended_difficulty for seed in seeds]
    assert len(seeds) == 24 == len({seed.name for seed in seeds})
    assert set(difficulties) == {1, 2, 3}
    assert min(difficulties.count(difficulty) for difficulty in (1, 2, 3)) >= 5
    assert len({seed.supervisor for seed in seeds}) == 6
    assert sum(seed.expects_answer for seed in seeds) >= 4


def test_instructions_and_golds_are_made_of_the_same_clauses(seeds: list[Any], data: Path) -> None:
    for seed in seeds:
        specs = json.loads((data / "tasks" / seed.task_id / "specs.json").read_text())
        sentences = [clause.sentence for clause in seed.clauses]
        assert specs["instruction"] == seed.instruction == " ".join(sentences)
        heads = [line for line in seed.gold.splitlines() if line.startswith("# Clause: ")]
        assert heads == [f"# Clause: {sentence}" for sentence in sentences]
        assert seed.gold.splitlines()[0].startswith("passwords = ")


def test_golds_hold_no_ids_and_no_answers(seeds: list[Any], data: Path) -> None:
    for seed in seeds:
        assert hard_coded_literals(seed.gold, seed.instruction) == [], seed.name
        truth = data / "tasks" / seed.task_id / "ground_truth"
        answer = json.loads((truth / "answer.json").read_text())
        assert (answer is not None) == seed.expects_answer
        if seed.expects_answer:
            assert not answer_in_instruction(answer, seed.instruction), seed.name
            assert repr(answer) not in seed.gold


def test_seeds_are_proved_and_use_all_apps(seeds: list[Any], data: Path) -> None:
    used = {}
    for seed in seeds:
        truth = data / "tasks" / seed.task_id / "ground_truth"
        used[seed.name] = set(json.loads((truth / "required_apps.json").read_text()))
        labels = {test["label"] for test in json.loads((truth / "test_data.json").read_text())}
        assert "no_op_fail" in labels, seed.name
    assert set().union(*used.values()) == set(APPS)
    assert sum(len(apps) >= 3 for apps in used.values()) >= 5


def test_a_badly_written_seed_is_named(programs: Path, tmp_path: Path) -> None:
    from seeds.record import read_seeds

    (tmp_path / "broken.md").write_text("# broken\n\n> Do it.\n\n```python\npass\n```\n")
    with pytest.raises(ValueError, match=r"broken\.md: the line '- supervisor: ...' is missing"):
        read_seeds(tmp_path)
    (tmp_path / "broken.md").write_text("# another\n\n> Do it.\n")
    with pytest.raises(ValueError, match=r"broken\.md: wants the title"):
        read_seeds(tmp_path)
