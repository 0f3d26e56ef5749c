"""Each mart against small rows worked out by hand, and the rules that every SQL file keeps."""

import re
import shutil
import tomllib
from collections import Counter
from pathlib import Path

import duckdb
import polars as pl
import pytest

from tests.sound_campaign import SOUND, loaded
from tests.warehouse_rows import (
    CAMPAIGN,
    attempt,
    campaign,
    embedding,
    gold_calls,
    item,
    kept,
    label,
    llm_call,
    replication,
    score,
    seed,
    step,
)
from warehouse import marts
from warehouse.records import TABLES, Row, canonical
from warehouse.store import WarehouseError
from warehouse.views import SQL_FOLDER, SqlFile, ordered_views, read_folder

EVERY_FILE = [file for folder in ("staging", "marts", "checks") for file in read_folder(folder)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "warehouse.duckdb"


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return loaded(tmp_path_factory.mktemp("sound") / "warehouse.duckdb", SOUND)


def rows_of(path: Path, name: str, columns: str, **filters: str) -> list[tuple]:
    return sorted(marts.read(path, name, **filters).select(columns.split()).rows())


def test_difficulty_takes_code_over_judge_and_never_the_author(sound: Path) -> None:
    assert rows_of(sound, "difficulty", "item_set items labelled share_1 share_2 share_3") == [
        ("evolved", 1, 1, 0.0, 0.0, 1.0),
        ("original", 2, 2, 0.5, 0.5, 0.0),
    ]
    assert rows_of(sound, "difficulty", "item_set mean_difficulty") == [
        ("evolved", 3.0),
        ("original", 1.5),
    ]


def test_a_feature_holds_when_code_or_judge_says_so(sound: Path) -> None:
    columns = "feature original_labelled original_items original_share evolved_share growth"
    rows = {row[0]: row[1:] for row in marts.read(sound, "features").select(columns.split()).rows()}

    assert rows["F1"] == (2, 1, 0.5, 1.0, 1.0)
    assert rows["F2"] == (1, 1, 1.0, None, None)
    assert rows["F10"] == (0, 0, None, None, None)
    assert list(rows) == [f"F{number}" for number in range(1, 11)]


def test_feature_failure_counts_the_failed_attempts_of_a_cell(sound: Path) -> None:
    grid = marts.read(sound, "feature_failure", item_set="evolved", measurement="search")
    covered = grid.filter(pl.col("covered")).select("feature", "reason", "failed_attempts").rows()

    assert covered == [("F1", "R2", 2)]
    assert grid.height == 60


def test_coverage_is_compared_at_the_smaller_number_of_failures(sound: Path) -> None:
    columns = "item_set cells covered failed_attempts rarefied_to rarefied_covered"
    evolved, original = rows_of(sound, "feature_failure_coverage", columns)

    # evolved: 2 of 5 failed attempts are in the one covered cell; a draw of 1 meets it 2 times in 5
    assert evolved[:5] == ("evolved", 60, 1, 5, 1)
    assert evolved[5] == pytest.approx(0.4)
    assert original == ("original", 60, 0, 1, 1, 0.0)


def test_app_pairs_are_those_of_apps_seen_in_either_set(sound: Path) -> None:
    assert rows_of(sound, "app_pairs", "item_set app_a app_b items covered") == [
        ("evolved", "phone", "venmo", 1, True),
        ("original", "phone", "venmo", 0, False),
    ]


def test_apps_per_item_counts_an_item_that_needs_none(sound: Path) -> None:
    assert rows_of(sound, "apps_per_item", "item_set apps items share") == [
        ("evolved", 2, 1, 1.0),
        ("original", 0, 1, 0.5),
        ("original", 1, 1, 0.5),
    ]


def test_completion_histogram_keeps_never_and_always_apart(path: Path) -> None:
    rates = {"a": (0, 50), "b": (1, 50), "c": (5, 10), "d": (49, 50), "e": (50, 50)}
    loaded(
        path,
        [seed(name, position) for position, name in enumerate([*rates, "unscored"])],
        [score(name, *counts) for name, counts in rates.items()],
        score("unscored", 0, 0, unscored=10),
    )

    histogram = marts.read(path, "completion_histogram", item_set="original")

    assert histogram["items"].to_list() == [1, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1]
    assert histogram["bin"].to_list() == pytest.approx([n / 10 for n in range(11)])
    first = histogram.row(0, named=True)
    assert (first["scored_items"], first["never_share"], first["always_share"]) == (5, 0.2, 0.2)
    assert first["mean_completion_rate"] == pytest.approx(0.5)


def test_farthest_pairs_compare_a_variant_with_its_own_root(path: Path) -> None:
    loaded(
        path,
        [item(name) for name in ("s0", "s1", "near", "far", "blank")],
        seed("s0", 0),
        seed("s1", 1),
        *(kept(name, "s0") for name in ("near", "far", "blank")),
        embedding("s0", 1.0, 0.0),
        embedding("s1", -1.0, 0.0),
        embedding("near", 3.0, 0.0),
        embedding("far", 0.0, 0.5),
        embedding("blank", 0.0, 0.0),
        embedding("near", 1.0, 0.0, 0.0, embedder="other"),
    )

    pairs = marts.read(path, "farthest_pairs")

    columns = ["item_id", "root", "distance", "rank", "embedder"]
    assert pairs.select(columns).rows() == [
        ("far", "s0", 1.0, 1, "toy"),
        ("near", "s0", 0.0, 2, "toy"),
        ("blank", "s0", None, 3, "toy"),
    ]
    assert pairs["instruction"][0] == "Do far." and pairs["root_instruction"][0] == "Do s0."


def test_parents_evolved_is_a_funnel_of_seeds(path: Path) -> None:
    loaded(
        path,
        [seed(f"s{n}", n) for n in range(5)],
        step(0, "s0", "kept"),
        step(1, "s0", "other"),
        step(2, "s1", "vague"),
        step(3, "s2", "never solved"),
        step(4, "s3", None),
        [score(name, 5, 10) for name in ("kept", "other", "vague")],
        score("never solved", 0, 10),
        *(score(name, solved, 10) for name, solved in (("s0", 4), ("s1", 1), ("s4", 0))),
        kept("kept", "s0"),
        kept("other", "s0"),
        kept("vague", "s1", verdict="vague"),
    )

    columns = "offered solvable searched surviving selected evolved evolved_share"
    assert rows_of(path, "parents_evolved", columns) == [(5, 2, 4, 2, 2, 1, 0.2)]


def test_harm_beside_a_reward_and_failures_of_the_user_are_counted(path: Path) -> None:
    harm = '{"missing":[],"unexpected":[{"row":"L1001"}],"answer":null}'
    less = '{"missing":[{"row":"L1001"}],"unexpected":[],"answer":null}'
    verdict = kept("talk", "s0")[1]
    loaded(
        path,
        [seed("s0", 0)],
        attempt("talk", 0, "solved"),
        attempt("talk", 1, "solved", difference=harm),
        attempt("talk", 2, "solved", difference=less),
        attempt("talk", 3, "failed", difference=harm),
        attempt("talk", 4, "failed", difference=None),
        attempt("talk", 5, "unscored"),
        attempt("talk", 6, "solved", difference=None),
        verdict.model_copy(update={"user_failures": (4,)}),
        verdict.model_copy(update={"judge": "judge1", "user_failures": (4, 3)}),
    )
    columns = "solved compared collateral unlike_gold collateral_share failed user_failures"
    assert rows_of(path, "reward_doubts", columns) == [(4, 3, 1, 2, 1 / 3, 2, 2)]


def test_what_was_not_compared_is_not_called_harmless(path: Path) -> None:
    loaded(path, [seed("s0", 0)], attempt("s0", 0, "solved", difference=None))
    columns = "solved compared collateral unlike_gold collateral_share"
    assert rows_of(path, "reward_doubts", columns) == [(1, 0, None, None, None)]


def test_nobody_is_blamed_where_no_judge_was_asked_whose_failures_they_are(path: Path) -> None:
    loaded(path, [seed("s0", 0)], attempt("code", 0, "failed"), kept("code", "s0"))
    assert rows_of(path, "reward_doubts", "collateral_share failed user_failures") == [
        (None, 1, None)
    ]


def test_kept_variants_are_listed_with_what_is_known(path: Path) -> None:
    loaded(
        path,
        [seed("s0", 0)],
        [score("near", 5, 10), score("far", 4, 10), score("vague", 5, 10)],
        kept("near", "s0"),
        kept("far", "s0"),
        kept("vague", "s0", verdict="vague"),
        label("near", "difficulty", 3),
        gold_calls("near", "venmo", "phone", "venmo", "supervisor"),
    )

    columns = "item_id root solved scored difficulty apps"
    assert rows_of(path, "kept", columns) == [
        ("far", "s0", 4, 10, None, None),
        ("near", "s0", 5, 10, 3, 2),
    ]


def test_an_item_without_a_valid_verdict_of_every_judge_is_not_kept(path: Path) -> None:
    second = kept("split", "s0")[1].model_copy(update={"judge": "judge1", "verdict": "vague"})
    loaded(path, kept("yes", "s0"), kept("mute", "s0", verdict=None), kept("split", "s0"), [second])

    assert rows_of(path, "item_sets", "item_id item_set") == [("yes", "evolved")]


def test_progress(sound: Path) -> None:
    row = marts.read(sound, "progress").row(0, named=True)

    assert row == {
        "campaign": CAMPAIGN,
        "simulated": True,
        "seeds": 2,
        "planned_steps": 4,
        "steps": 4,
        "accepted": 2,
        "rejected": 2,
        "attempts": 28,
        "solved": 14,
        "unscored": 1,
        "llm_calls": 4,
        "cost_usd": 1.75,
        "unpriced_calls": 0,
        "selected": 2,
        "kept": 1,
    }


def test_planned_steps_count_for_each_seed_where_the_plan_says_so(path: Path) -> None:
    by_seed = campaign(plan='{"steps":500,"steps_scope":"seed"}')
    silent = campaign("silent", plan="{}")
    loaded(path, by_seed, silent, seed("s0", 0), seed("s1", 1), seed("s2", 2))

    assert rows_of(path, "progress", "campaign planned_steps kept") == [
        ("silent", None, 0),
        (CAMPAIGN, 1500, 0),
    ]


def test_cost_per_kept_by_role(sound: Path) -> None:
    columns = "role llm_calls failed_calls prompt_tokens cost_usd kept cost_usd_per_kept"
    assert rows_of(sound, "cost_per_kept", columns) == [
        ("all", 4, 1, 157, 1.75, 1, 1.75),
        ("judge", 2, 1, 7, 1.0, 1, 1.0),
        ("solver", 2, 0, 150, 0.75, 1, 0.75),
    ]


def test_a_cost_with_an_unknown_price_is_unknown_and_no_kept_variant_has_no_cost(
    path: Path,
) -> None:
    loaded(path, llm_call("c0"), llm_call("c1", cost_usd=None), llm_call("c2", role="judge"))

    assert rows_of(path, "cost_per_kept", "role cost_usd kept cost_usd_per_kept") == [
        ("all", None, 0, None),
        ("judge", 0.5, 0, None),
        ("solver", None, 0, None),
    ]


def test_rejections_are_shares_of_the_edits_in_a_direction(sound: Path) -> None:
    assert rows_of(sound, "rejections", "rejection direction steps share") == [
        ("hard_coded", "easier", 1, 0.5),
        ("padded", "harder", 1, 0.5),
    ]


def test_infrastructure_failures_are_not_those_of_solvers(sound: Path) -> None:
    assert rows_of(sound, "infrastructure_failures", "source cause failures share") == [
        ("attempt", "SimulatorError", 1, 1 / 28),
        ("llm_call", "ProviderError", 1, 0.25),
    ]


def test_confirmation_shows_search_and_fresh_attempts_side_by_side(sound: Path) -> None:
    columns = "item_id root same_solver search_solved search_c fresh_solved fresh_c difficulty"
    assert rows_of(sound, "confirmation", columns) == [("v0", "s0", True, 5, 0.5, 2, 0.5, 3)]


def test_confirmations_are_rows_of_their_own_in_every_estimate(sound: Path, path: Path) -> None:
    shutil.copyfile(sound, path)
    loaded(path, score("v0", 4, 4, measurement="confirmation", solver="another"))

    columns = "item_set measurement solver bin items"
    histogram = marts.read(path, "completion_histogram").filter(pl.col("items") > 0)
    evolved = histogram.filter(pl.col("item_set") == "evolved").select(columns.split()).rows()
    assert sorted(evolved) == [
        ("evolved", "confirmation", "another", 1.0, 1),
        ("evolved", "confirmation", "solver0", 0.5, 1),
        ("evolved", "search", "solver0", 0.5, 1),
    ]
    assert set(marts.read(path, "feature_failure")["measurement"]) == {"search"}


def test_replication_names_the_solver(sound: Path) -> None:
    columns = "llm_id kept confirmed in_band rate"
    assert rows_of(sound, "replication", columns) == [("toy", 1, 1, 1, 1.0)]


def test_arms_of_one_plan_are_one_comparison(path: Path) -> None:
    def plan(arm: str, rng_seed: int, steps: int = 4) -> str:
        return canonical({"rng_seed": rng_seed, "search": {"arm": arm, "w": 1}, "steps": steps})

    loaded(
        path,
        [campaign(arm, plan=plan(arm, n)) for n, arm in enumerate(("iid", "full"))],
        campaign("longer", plan=plan("full", 0, steps=9)),
        [attempt("s0", n, "solved", campaign=c) for c in ("iid", "full", "longer") for n in (0, 1)],
        [attempt("v0", 0, "failed", campaign=c) for c in ("iid", "full")],
        [score("s0", 2, 2, campaign=c) for c in ("iid", "full")],
        [seed("s0", campaign=c) for c in ("iid", "full")],
        attempt("v0", 0, "solved", campaign="full", measurement="confirmation", attempt_id="f"),
        replication("full", in_band=0),
        kept("v0", "s0", campaign="full"),
    )

    columns = "arm rng_seed seeds variants search_attempts kept confirmed in_band"
    arms = marts.read(path, "arms")
    assert sorted(arms.filter(pl.col("campaign") != "longer").select(columns.split()).rows()) == [
        ("full", 1, 1, 1, 3, 1, 1, 0),
        ("iid", 0, 1, 1, 3, 0, None, None),
    ]
    by_campaign = dict(arms.select("campaign", "comparison").rows())
    assert by_campaign["iid"] == by_campaign["full"] != by_campaign["longer"]


def test_equal_work_of_two_campaigns_is_paid_for_by_both(path: Path) -> None:
    """Found by a comparison: its arms attempt equal seeds, so their units, and calls, have equal names."""
    loaded(path, llm_call("c0"), llm_call("c0", campaign="other"))

    assert rows_of(path, "cost_per_kept", "campaign role llm_calls") == [
        ("other", "all", 1),
        ("other", "solver", 1),
        (CAMPAIGN, "all", 1),
        (CAMPAIGN, "solver", 1),
    ]


@pytest.mark.parametrize("record", TABLES, ids=lambda record: record.table)
def test_rows_of_a_campaign_have_it_in_their_key(record: type[Row]) -> None:
    """Units, and what is named after them, are named alike in every campaign that does equal work."""
    assert "campaign" in record.key or "campaign" not in record.model_fields


def test_campaigns_are_kept_apart(path: Path) -> None:
    loaded(
        path,
        seed("s0"),
        seed("s0", campaign="other"),
        label("s0", "difficulty", 1),
        label("s0", "difficulty", 3, campaign="other"),
    )

    assert rows_of(path, "difficulty", "campaign mean_difficulty") == [
        ("other", 3.0),
        (CAMPAIGN, 1.0),
    ]


@pytest.mark.parametrize("file", ordered_views(), ids=lambda file: file.name)
def test_a_view_has_one_row_for_each_value_of_its_grain(sound: Path, file: SqlFile) -> None:
    grain = re.search(r"^grain: (.+)$", file.header, re.MULTILINE).group(1).split(", ")
    frame = marts.read(sound, file.name)

    assert not frame.is_empty(), f"the sound rows give {file.name} nothing to show: extend them"
    assert Counter(frame.select(grain).rows()).most_common(1)[0][1] == 1


@pytest.mark.parametrize("file", EVERY_FILE, ids=lambda file: file.name)
def test_every_sql_file_opens_with_its_header(file: SqlFile) -> None:
    is_check = (SQL_FOLDER / "checks" / f"{file.name}.sql").exists()
    expected = ["incident"] if is_check else ["question", "grain", "units"]
    found = re.findall(r"^(\w+): \S", file.header, re.MULTILINE)

    assert found[: len(expected)] == expected, f"sql file {file.name} needs the lines {expected}"


@pytest.mark.parametrize("file", read_folder("marts"), ids=lambda file: file.name)
def test_a_mart_has_a_campaign_and_plain_types(sound: Path, file: SqlFile) -> None:
    schema = marts.read(sound, file.name).schema

    assert schema["campaign"] == pl.String
    assert set(schema.values()) <= {pl.String(), pl.Int64(), pl.Float64(), pl.Boolean()}


def test_an_empty_warehouse_gives_empty_frames_with_the_same_types(sound: Path, path: Path) -> None:
    loaded(path)
    for view in ordered_views():
        assert marts.read(path, view.name).schema == marts.read(sound, view.name).schema


def test_the_header_is_the_comment_of_the_view(sound: Path) -> None:
    _, rows = marts.query(
        sound, "SELECT view_name, comment FROM duckdb_views() WHERE schema_name = 'analysis'"
    )

    assert dict(rows) == {view.name: view.header for view in ordered_views()}


def test_views_work_in_a_file_that_is_attached_under_another_name(sound: Path) -> None:
    connection = duckdb.connect()
    connection.execute(f"ATTACH '{sound}' AS other (READ_ONLY)")
    for view in ordered_views():
        connection.execute(f"SELECT count(*) FROM other.analysis.{view.name}")
    connection.close()


def test_names_of_features_and_reasons_are_those_of_the_label_file(sound: Path) -> None:
    labels = tomllib.loads(
        (SQL_FOLDER.parent / "tasks" / "labels" / "labels.toml").read_text("utf-8")
    )

    features = [(entry["id"], entry["name"]) for entry in labels["feature"]]
    reasons = [(entry["id"], entry["name"]) for entry in labels["failure_reason"]]
    assert rows_of(sound, "feature_names", "feature feature_name") == sorted(features)
    assert rows_of(sound, "reason_names", "reason reason_name") == sorted(reasons)


def test_read_filters_and_knows_tables(sound: Path) -> None:
    assert marts.read(sound, "seeds", position=1)["item_id"].to_list() == ["s1"]
    assert marts.read(sound, "items", expects_answer=True).is_empty()


def test_reading_what_is_not_there_is_one_clear_line(sound: Path, tmp_path: Path) -> None:
    with pytest.raises(WarehouseError, match="no mart or table is named 'difficulties'"):
        marts.read(sound, "difficulties")
    with pytest.raises(WarehouseError, match=r"no warehouse at .*absent\.duckdb"):
        marts.read(tmp_path / "absent.duckdb", "difficulty")
    for statement in ("SELECT nothing FROM seeds", "SELEKT 1", "DELETE FROM seeds"):
        with pytest.raises(WarehouseError) as caught:
            marts.query(sound, statement)
        assert "\n" not in str(caught.value)


def test_query_gives_columns_and_rows(sound: Path) -> None:
    assert marts.query(sound, "SELECT item_id, position FROM seeds ORDER BY position") == (
        ["item_id", "position"],
        [("s0", 0), ("s1", 1)],
    )
