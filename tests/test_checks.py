"""Each check against a planted bad row."""

import shutil
from pathlib import Path

import duckdb
import pytest

from tests.sound_campaign import SOUND, loaded
from tests.warehouse_rows import (
    CAMPAIGN,
    attempt,
    check,
    confirmation,
    embedding,
    item,
    kept,
    label,
    llm_call,
    score,
    seed,
    step,
)
from warehouse import marts
from warehouse.records import Row, Score
from warehouse.schema import column_types
from warehouse.views import read_folder


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "warehouse.duckdb"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return loaded(tmp_path_factory.mktemp("sound") / "warehouse.duckdb", SOUND)


def test_a_sound_warehouse_passes_every_check(sound: Path) -> None:
    assert marts.run_checks(sound) == []


ODD_SCORE = score("s0", 2, 2)
PLANTED: dict[str, list[Row]] = {
    "attempt_without_item": [attempt("lost", 0, "failed")],
    "cause_contradicts_outcome": [attempt("s0", 1, "solved", cause="turn_limit")],
    "unscored_counted_in_score": [score("s1", 0, 2)],
    "score_disagrees_with_attempts": [score("s0", 1, 2)],
    "kept_below_gate": [kept("v0", "s0")[0].model_copy(update={"solved": 0})],
    "selection_not_by_variance": [kept("v0", "s0")[0].model_copy(update={"solved": 6})],
    "verdict_on_unselected": [kept("s1", "s1")[1]],
    "vector_length": [embedding("v0", 1.0, 0.0).model_copy(update={"dimensions": 3})],
    "label_outside_range": [label("s0", "difficulty", 4)],
    "reason_on_unfailed_attempt": [label("s0", "R1", 1, attempt_id=f"{CAMPAIGN}/s0/0")],
    "step_accepted_without_checks": [step(0, "s0", "s1")],
    "step_neither_accepted_nor_rejected": [step(1, "s0", None, rejection=None)],
    "reply_without_tokens": [llm_call("c0", prompt_tokens=None, completion_tokens=None)],
    "not_a_number": [ODD_SCORE.model_copy(update={"bell": float("nan")})],
    "share_outside_range": [attempt("s1", 0, "failed", partial=50.0)],
    "lineage_broken": [step(1, "v0", None)],
    "measurements_mixed": [confirmation("v0", 3, 4)],
    "item_without_gold_run": [item("s2"), seed("s2", 2)],
}
"""For each check, rows that it has to find when they are loaded over the sound ones."""

PLANTED_BY_SQL = {"duplicate_keys": "INSERT INTO steps FROM steps LIMIT 1"}
"""What the loader itself never lets in."""


def test_every_check_has_a_planted_row() -> None:
    names = {check.name for check in read_folder("checks")}

    assert names == PLANTED.keys() | PLANTED_BY_SQL.keys(), "plant a bad row for each new check"


@pytest.fixture
def sound_copy(sound: Path, path: Path) -> Path:
    """The sound warehouse once more, to spoil."""
    return shutil.copyfile(sound, path)


def failing_checks(path: Path) -> dict[str, marts.CheckFailure]:
    return {failure.check: failure for failure in marts.run_checks(path)}


@pytest.mark.parametrize("name", PLANTED)
def test_a_check_finds_its_planted_row(sound_copy: Path, name: str) -> None:
    failure = failing_checks(loaded(sound_copy, PLANTED[name]))[name]

    assert failure.rows and failure.incident.startswith("incident: ")


@pytest.mark.parametrize("name", PLANTED_BY_SQL)
def test_a_check_finds_what_only_sql_can_plant(sound_copy: Path, name: str) -> None:
    with duckdb.connect(sound_copy) as connection:
        connection.execute(PLANTED_BY_SQL[name])

    assert name in failing_checks(sound_copy)


@pytest.mark.parametrize(
    ("found_in", "planted"),
    [
        ("attempts", attempt("v0", 9, "failed", attempt_id=f"{CAMPAIGN}/fresh/v0/0")),
        ("selections", kept("v0", "s0")[0].model_copy(update={"solved": 2, "scored": 4})),
        ("confirmations", confirmation("v0", 5, 10)),
        ("confirmations", confirmation("v0", 2, 4, solver="another")),
    ],
)
def test_measurements_that_mix_are_found_wherever_they_do(
    sound_copy: Path, found_in: str, planted: Row
) -> None:
    found = failing_checks(loaded(sound_copy, planted))["measurements_mixed"].rows

    assert {row[0] for row in found} == {found_in}


def test_not_a_number_is_found_in_every_column_of_scores(sound_copy: Path) -> None:
    floats = [name for name, kind in column_types(Score).items() if kind == "DOUBLE"]
    spoilt = [
        score(f"nan in {name}", 1, 2).model_copy(update={name: float("nan")}) for name in floats
    ]

    found = failing_checks(loaded(sound_copy, spoilt))["not_a_number"].rows

    assert {row[1] for row in found} == {row.item_id for row in spoilt} and len(floats) == 10


def test_a_later_twin_that_is_rejected_leaves_the_accepted_step_sound(sound_copy: Path) -> None:
    twin = step(4, "s0", None, rejection="near_copy_of_sibling")
    loaded(sound_copy, twin, check("v0", "near_copy_of_sibling", passed=False, examined="step 4"))

    assert marts.run_checks(sound_copy) == []


def test_a_failed_check_of_an_accepted_child_is_found(sound_copy: Path) -> None:
    loaded(sound_copy, check("v0", "padded", passed=False))

    assert failing_checks(sound_copy).keys() == {"step_accepted_without_checks"}
