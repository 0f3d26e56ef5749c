"""Schedules that a real server and worker keep: an edition each night, and each campaign's confirmation."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.toy.__main__ import ENDPOINTS
from tests.toy.machine import Machine, machine_up
from tests.toy.running import Toy
from warehouse.marts import read

NIGHTS = 2
OF_SEEDS = 30
ATTEMPTS = 5
"""As many as tests/toy/prefect.yaml asks of a confirmation."""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Iterator[Machine]:
    """A machine whose two schedules were switched on, one after the other, and off again."""
    state = tmp_path_factory.mktemp("machine")
    (state / "endpoints.toml").write_text(ENDPOINTS.format(concurrency=8, latency_s=0.1))
    with machine_up(state, checkout) as made:
        made.until_completed("toy", NIGHTS)
        yield made


def table(machine: Machine, name: str, **where: Any) -> pl.DataFrame:
    return read(machine.state / "warehouse" / "turtle.duckdb", name, **where)


def test_each_night_is_an_edition_of_one_plan_with_rows_of_its_own(machine: Machine) -> None:
    campaigns = table(machine, "campaigns")
    assert campaigns.height >= NIGHTS
    assert campaigns["edition"].n_unique() == campaigns.height
    assert campaigns["plan"].n_unique() == 1
    for campaign in campaigns["campaign"]:
        attempts = table(machine, "attempts", campaign=campaign, measurement="search").height
        assert attempts > OF_SEEDS
        assert table(machine, "kept", campaign=campaign).height


def test_each_night_is_published(machine: Machine) -> None:
    shown = {one["key"]: one["data"] for one in machine.found("artifacts") if one["key"]}
    for campaign in table(machine, "campaigns")["campaign"]:
        named = campaign.lower()
        assert f"# {campaign}" in shown[f"{named}-tables"]
        kept = json.loads(shown[f"{named}-kept"])
        assert [one["item_id"] for one in kept] == list(
            table(machine, "kept", campaign=campaign)["item_id"]
        )


def test_the_week_confirms_every_night_once_by_its_own_solver(
    machine: Machine, checkout: Path
) -> None:
    journal = Toy(machine.state, {}, checkout).journal
    before = len(journal())
    machine.until_completed("toy-confirmation", 2)
    kept = table(machine, "kept").height
    fresh = table(machine, "attempts", measurement="confirmation")
    assert fresh.height == ATTEMPTS * kept
    assert Counter(role for role, _ in journal()[before:]) == {"solver": ATTEMPTS * kept}
    confirmed = table(machine, "replication")
    assert set(confirmed["campaign"]) == set(table(machine, "campaigns")["campaign"])
    assert set(confirmed["llm_id"]) == {"another"}
    search = table(machine, "attempts", measurement="search")
    assert not set(search["solver"]) & set(fresh["solver"])
