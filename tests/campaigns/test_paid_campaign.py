"""A campaign of models that cost money, over a real socket: budget, ledger, keys, forecast and replay."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.toy.paid import ENDPOINTS, KEY, PLAN, VARIABLE, ran
from tests.toy.provider import ToyProvider
from tests.toy.running import Toy, ledger_of
from tests.wire.server import WireServer
from warehouse.marts import query, read, run_checks

FIRST_BUDGET_USD, SECOND_BUDGET_USD, LAST_BUDGET_USD = 0.6, 5.0, 100.0


@dataclass
class Paid:
    """The campaign, what its processes said, and what its provider billed after each."""

    toy: Toy
    stopped: str
    """Of the process that came to its budget: everything printed."""
    billed_at_stop: float
    killed: str
    resumed: str
    provider: ToyProvider


def evolve(toy: Toy, budget_usd: float, *more: str) -> tuple[str, ...]:
    """The command of every process of the campaign."""
    files = (
        "evolve",
        str(toy.state / "plan.toml"),
        "--endpoints",
        str(toy.state / "endpoints.toml"),
    )
    return (*files, "--budget-usd", str(budget_usd), *more)


@pytest.fixture(scope="module")
def paid(
    tmp_path_factory: pytest.TempPathFactory, prefect_environment: dict[str, str], checkout: Path
) -> Paid:
    """Stopped by its budget, gone on with, killed in the middle of calls, and gone on with to its end."""
    environment = prefect_environment | {VARIABLE: KEY}
    toy = Toy(tmp_path_factory.mktemp("paid"), environment, checkout)
    (toy.state / "plan.toml").write_text(PLAN)

    async def scenario() -> Paid:
        provider = ToyProvider(delay_s=0.05)
        async with WireServer(provider.answer) as server:
            (toy.state / "endpoints.toml").write_text(ENDPOINTS.format(url=server.url))
            code, stopped = await ran(toy, *evolve(toy, FIRST_BUDGET_USD))
            assert code == 3, stopped
            billed_at_stop = provider.billed_usd
            goal = provider.answered + 25
            code, killed = await ran(
                toy, *evolve(toy, SECOND_BUDGET_USD), kill_after=lambda: provider.answered >= goal
            )
            assert code == -9, killed
            assert provider.billed_usd <= SECOND_BUDGET_USD
            code, resumed = await ran(toy, *evolve(toy, LAST_BUDGET_USD))
            assert code == 0, resumed
            assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
        return Paid(toy, stopped, billed_at_stop, killed, resumed, provider)

    return asyncio.run(scenario())


def test_a_budget_stops_in_time_and_the_same_command_goes_on(paid: Paid) -> None:
    print(paid.stopped.splitlines()[-1])
    assert 0 < paid.billed_at_stop <= FIRST_BUDGET_USD
    last = paid.stopped.splitlines()[-1]
    assert last.startswith(f"turtle: the budget of ${FIRST_BUDGET_USD:.4f} is used up: $0.")
    assert "larger --budget-usd" in last and "Traceback" not in paid.stopped
    assert paid.provider.billed_usd <= LAST_BUDGET_USD
    assert "budget" not in paid.resumed


def test_the_ledger_is_the_providers_own_count(paid: Paid) -> None:
    rows = ledger_of(paid.toy)
    replies = [row for row in rows if row["cause"] is None]
    unknown = [row for row in rows if row["cause"] == "Interrupted"]
    assert {row["cause"] for row in rows} <= {None, "Interrupted"} and len(unknown) <= 4
    # A reply that was on its way at the kill is one of the unknown.
    assert len(replies) <= paid.provider.answered <= len(replies) + len(unknown)
    cost = sum(row["cost_usd"] for row in replies)
    most = sum(row["most_usd"] for row in rows)
    assert cost <= paid.provider.billed_usd + 1e-9 and paid.provider.billed_usd <= most
    if len(replies) == paid.provider.answered:
        for column, count in paid.provider.tokens.items():
            assert sum(row[column] or 0 for row in replies) == count, column
    assert run_checks(paid.toy.state / "warehouse" / "turtle.duckdb") == []


def test_cached_tokens_and_what_was_paid_stand_in_a_mart(paid: Paid) -> None:
    warehouse = paid.toy.state / "warehouse" / "turtle.duckdb"
    by_role = {row["role"]: row for row in read(warehouse, "cost_per_kept").iter_rows(named=True)}
    assert 0 < by_role["solver"]["cached_share"] < 1, "the prompt's static part does not come first"
    assert by_role["all"]["cost_usd"] == pytest.approx(
        sum(row["cost_usd"] for name, row in by_role.items() if name != "all")
    )


def stored(paid: Paid) -> Iterator[tuple[str, bytes]]:
    """Every place where something of the campaign is kept, and what stands there."""
    folders = (paid.toy.state, Path(paid.toy.environment["PREFECT_HOME"]))
    for folder in folders:
        for file in sorted(folder.rglob("*")):
            if file.is_file():
                yield str(file), file.read_bytes()
    warehouse = paid.toy.state / "warehouse" / "turtle.duckdb"
    for (table,) in query(warehouse, "SELECT table_name FROM duckdb_tables()")[1]:
        rows = query(warehouse, f'FROM main."{table}"')[1]
        yield f"table {table}", repr(rows).encode()
    for name in ("stopped", "killed", "resumed"):
        yield name, getattr(paid, name).encode()


def test_the_key_is_kept_nowhere(paid: Paid) -> None:
    places = dict(stored(paid))
    kinds = (
        "/spool/",
        "/receipts/",
        "turtle.duckdb",
        "ledger.jsonl",
        "prefect.db",
        "table llm_calls",
    )
    for kind in kinds:
        assert any(kind in place for place in places), f"{kind} was not looked at"
    for secret in (KEY, f"Bearer {KEY}", "authorization", VARIABLE):
        found = [
            place
            for place, content in places.items()
            if secret.lower().encode() in content.lower() and not allowed(place, secret)
        ]
        assert not found, f"{secret} stands in {found}"
    print(f"{len(places)} files and tables, {sum(map(len, places.values()))} bytes, no key")


def allowed(place: str, secret: str) -> bool:
    """The user's own file names the variable; Prefect's own tables have columns for blocks' headers."""
    if secret == VARIABLE:
        return place.endswith("endpoints.toml")
    return secret == "authorization" and "prefect" in Path(place).name


def test_a_recorded_campaign_is_replayed_without_network_or_key(paid: Paid, tmp_path: Path) -> None:
    (campaign,) = (paid.toy.state / "spool").iterdir()
    environment = {k: v for k, v in paid.toy.environment.items() if k != VARIABLE}
    again = Toy(tmp_path, environment, paid.toy.checkout)
    for name in ("plan.toml", "endpoints.toml"):
        (tmp_path / name).write_text((paid.toy.state / name).read_text())
    command = (
        "evolve",
        str(tmp_path / "plan.toml"),
        "--endpoints",
        str(tmp_path / "endpoints.toml"),
    )
    answered = paid.provider.answered
    code, out = asyncio.run(ran(again, *command, "--replay", str(campaign)))
    assert code == 0, out
    assert paid.provider.answered == answered
    assert again.findings() == paid.toy.findings()


def test_an_unknown_price_refuses_to_start_and_names_model_and_file(
    paid: Paid, tmp_path: Path
) -> None:
    unpriced = (paid.toy.state / "endpoints.toml").read_text().replace("toy-large", "toy-other")
    (tmp_path / "endpoints.toml").write_text(unpriced)
    again = Toy(tmp_path, paid.toy.environment, paid.toy.checkout)
    (tmp_path / "plan.toml").write_text(PLAN)
    code, out = asyncio.run(ran(again, *evolve(again, 5.0)))
    assert code == 2
    for word in ("toy-large (proposer)", str(tmp_path / "endpoints.toml"), "not known"):
        assert word in out
    assert not (tmp_path / "spool").exists()


def test_a_forecast_after_the_campaign_shows_what_was_spent(paid: Paid) -> None:
    before = paid.provider.answered
    code, out = asyncio.run(ran(paid.toy, *evolve(paid.toy, 5.0, "--dry-run")))
    print(out)
    assert code == 0, out
    assert paid.provider.answered == before
    for words in ("proposer", "labeller", "expected", "spent", "assumed"):
        assert words in out
    total = sum(row["cost_usd"] or 0 for row in ledger_of(paid.toy))
    assert f"{total:.2f}" in out


def test_a_confirmation_is_held_to_the_campaigns_budget(paid: Paid) -> None:
    (campaign,) = (paid.toy.state / "spool").iterdir()
    endpoints = str(paid.toy.state / "endpoints.toml")
    command = ("confirm", campaign.name, "--endpoints", endpoints, "--attempts", "2")
    before = ledger_of(paid.toy)
    code, out = asyncio.run(ran(paid.toy, *command, "--budget-usd", str(FIRST_BUDGET_USD)))
    assert code == 3, out
    assert f"the budget of ${FIRST_BUDGET_USD:.4f} is used up" in out.splitlines()[-1]
    assert ledger_of(paid.toy) == before


def test_json_lines_of_the_ledger_hold_no_prompt(paid: Paid) -> None:
    (campaign,) = (paid.toy.state / "spool").iterdir()
    lines = (campaign / "ledger.jsonl").read_text().splitlines()
    assert all(len(line) < 1000 and json.loads(line) for line in lines)
