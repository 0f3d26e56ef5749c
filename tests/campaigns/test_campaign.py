"""A whole campaign on the toy suite: what stands in the warehouse, and what the user is told."""

import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from flows.settings import Settings
from flows.stored import spooled_rows
from tests.toy.__main__ import ENDPOINTS
from tests.toy.forked import Process, started
from tests.toy.running import Toy, ledger_of, tables_of
from warehouse.marts import query, read, run_checks
from warehouse.store import rebuild

PLAN = """
suite = "toy"
steps = 8
in_flight = 4
""" + "\n".join(
    f'[{role}]\nendpoint = "toy"\nllm_id = "toy"'
    for role in ("proposer", "solver", "feedback", "judge", "labeller", "embedder")
)


def test_the_warehouse_holds_the_campaign_and_passes_its_checks(undisturbed: Toy) -> None:
    warehouse = undisturbed.state / "warehouse" / "turtle.duckdb"
    assert run_checks(warehouse) == []
    (parents,) = read(warehouse, "parents_evolved").iter_rows(named=True)
    assert (parents["offered"], parents["searched"]) == (3, 3)
    assert 0 < parents["evolved"] <= parents["selected"] <= parents["surviving"]
    for mart in ("difficulty", "completion_histogram", "features", "farthest_pairs", "rejections"):
        assert read(warehouse, mart).height > 0, mart
    seeds = read(warehouse, "seeds").sort("position")
    assert seeds["cluster"].to_list() == ["pomes", "pomes", None]
    said = read(warehouse, "labels", source="appworld").sort("value")
    assert said.select("name", "value").rows() == [("difficulty", n) for n in (1, 2, 3)]
    assert set(read(warehouse, "completion_clusters")["cluster"]) <= {"pomes", seeds["item_id"][2]}


def test_seeds_that_nobody_solved_are_not_edited_where_the_plan_says_so(
    toy: Callable[[str], Toy],
) -> None:
    """One attempt each: the dice of the toy model solve two of the three."""
    campaign = toy("solvable")
    campaign.run("--steps", "3", "--repeats", "1", "--parents", "solvable")
    warehouse = campaign.state / "warehouse" / "turtle.duckdb"
    (parents,) = read(warehouse, "parents_evolved").iter_rows(named=True)
    assert (parents["offered"], parents["solvable"], parents["searched"]) == (3, 2, 2)
    seeds = set(read(warehouse, "seeds")["item_id"])
    (unsolved,) = seeds & set(read(warehouse, "scores", gate=False)["item_id"])
    assert set(read(warehouse, "steps")["root"]) == seeds - {unsolved}
    assert unsolved in set(read(warehouse, "labels")["item_id"]), "it stays in the tables"


def test_a_slow_and_a_fast_campaign_are_the_same(
    toy: Callable[[str], Toy], undisturbed: Toy
) -> None:
    slow = toy("slow")
    slow.run("--latency-s", "0.03", "--concurrency", "3")
    assert slow.tables() == undisturbed.tables()


def test_a_simulator_that_dies_is_started_again_and_costs_nobody_an_attempt(
    toy: Callable[[str], Toy], undisturbed: Toy
) -> None:
    campaign = toy("dying")
    campaign.run("--simulator-dies-at", "7")
    assert campaign.tables() == undisturbed.tables()


def test_a_provider_that_fails_ends_the_run_and_the_next_one_goes_on(
    toy: Callable[[str], Toy], undisturbed: Toy
) -> None:
    campaign = toy("refused")
    process = campaign.start("--provider-fails-at", "40")
    _, err = process.communicate(timeout=120)
    assert process.returncode != 0
    assert "ProviderRefused" in err
    paid = len(campaign.journal())
    campaign.run()
    assert len(campaign.journal()) - paid <= len(undisturbed.journal()) - paid + 8
    tables, expected = campaign.tables(), undisturbed.tables()
    assert tables["attempts"] == expected["attempts"]
    causes = Counter(row["cause"] for row in ledger_of(campaign))
    assert causes["ProviderRefused"] == 1, "the failed call is a row"
    assert causes[None] + causes["Cancelled"] >= len(campaign.journal()), "a paid call is no row"


def test_the_warehouse_is_rebuilt_from_the_spool_row_for_row(
    undisturbed: Toy, tmp_path: Path
) -> None:
    rebuild(tmp_path / "again.duckdb", spooled_rows(Settings(state=undisturbed.state)))
    assert tables_of(tmp_path / "again.duckdb") == undisturbed.tables()


def test_other_processes_read_while_a_campaign_runs(toy: Callable[[str], Toy]) -> None:
    campaign = toy("read")
    process = campaign.start("--latency-s", "0.05")
    seen: set[int] = set()
    warehouse = campaign.state / "warehouse" / "turtle.duckdb"
    while process.poll() is None:
        if warehouse.exists():
            seen.add(query(warehouse, "SELECT count(*) FROM attempts")[1][0][0])
        time.sleep(0.1)
    assert process.communicate() and process.returncode == 0
    assert len(seen) >= 3, seen


@pytest.fixture
def command(
    tmp_path: Path, prefect_environment: dict[str, str], checkout: Path
) -> Callable[..., Process]:
    """Starts the console script, the toy suite known to it."""
    (tmp_path / "plan.toml").write_text(PLAN)

    def start(*arguments: str, latency_s: float = 0.0) -> Process:
        endpoints = tmp_path / "endpoints.toml"
        endpoints.write_text(ENDPOINTS.format(latency_s=latency_s, concurrency=8))
        journal = tmp_path / "journal.jsonl"
        line = [str(journal), *arguments, "--state", str(tmp_path / "state")]
        if arguments[0] in ("evolve", "resume"):
            line += ["--endpoints", str(endpoints)]
        return started("tests.toy.cli", line, checkout, prefect_environment)

    return start


def test_ctrl_c_says_how_to_go_on_and_going_on_ends_with_the_tables(
    command: Callable[..., Process], tmp_path: Path
) -> None:
    first = command("evolve", str(tmp_path / "plan.toml"), latency_s=0.2)
    while not (tmp_path / "journal.jsonl").exists():
        assert first.poll() is None, first.communicate()
        time.sleep(0.05)
    time.sleep(1)
    first.send_signal(signal.SIGINT)
    _, err = first.communicate(timeout=60)
    assert first.returncode == 130
    advice = err.strip().splitlines()[-1]
    assert "Go on with: turtle resume toy-" in advice
    assert "Traceback" not in err
    campaign = advice.split()[-1]

    second = command("resume", campaign)
    out, err = second.communicate(timeout=120)
    assert second.returncode == 0, err
    for words in ("difficulty", "completion_histogram", "simulated model", "evolved into"):
        assert words in out

    for arguments, words in (
        (("tables", campaign), "difficulty"),
        (("sql", "SELECT count(*) AS n FROM steps", "--format", "json"), '{"n": 8}'),
        (("rebuild",), "rows"),
        (("delete", campaign), f"deleted {campaign}"),
    ):
        out, err = command(*arguments).communicate(timeout=120)
        assert words in out, err
    assert not list((tmp_path / "state" / "spool").iterdir())
    assert tables_of(tmp_path / "state" / "warehouse" / "turtle.duckdb")["attempts"] == []


def test_an_unknown_split_is_one_line(command: Callable[..., Process], tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text('split = "wobble"\n' + PLAN)
    ended = command("evolve", str(tmp_path / "plan.toml"))
    _, err = ended.communicate(timeout=120)
    assert ended.returncode == 2
    assert err.strip().splitlines()[-1].startswith("turtle: suite toy: no split wobble")
