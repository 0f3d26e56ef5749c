"""What a person reads in Prefect's UI of a campaign that a worker ran, on the toy suite."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.chromium import Browser, browsing
from tests.toy.__main__ import ENDPOINTS
from tests.toy.machine import Machine, machine_up
from warehouse.marts import read


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Iterator[Machine]:
    """A machine on which one campaign was run from its deployment."""
    state = tmp_path_factory.mktemp("machine")
    (state / "endpoints.toml").write_text(ENDPOINTS.format(concurrency=8, latency_s=0.05))
    with machine_up(state, checkout) as made:
        assert made.run().returncode == 0
        made.wait_for("Completed")
        yield made


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browsing(tmp_path_factory.mktemp("profile")) as made:
        yield made


def table(machine: Machine, name: str) -> list[dict[str, Any]]:
    return list(read(machine.state / "warehouse" / "turtle.duckdb", name).iter_rows(named=True))


def test_a_campaigns_page_names_its_stages_by_item_and_generation(
    machine: Machine, browser: Browser
) -> None:
    (campaign,) = (run for run in machine.found("flow_runs") if not run["deployment_id"])
    page = f"{machine.url}/runs/flow-run/{campaign['id']}"
    browser.open(page, "Task Runs")
    text = browser.press("Task Runs", "label ", campaign["name"], "nightly-toy")
    kept = [row["item_id"] for row in table(machine, "kept")]
    assert any(f"label {item_id} generation " in text for item_id in kept), text
    stages = machine.count("task_runs", flow_runs={"id": {"any_": [campaign["id"]]}})
    assert f"({stages} Completed)" in text, "a failed attempt or a rejected edit is a failed run"
    assert "-progress" in browser.press("Artifacts", "PROGRESS")


def test_the_artifacts_show_the_tables(machine: Machine, browser: Browser) -> None:
    (campaign,) = table(machine, "campaigns")
    shown = {one["key"]: one["id"] for one in machine.found("artifacts") if one["key"]}
    named = {key.rsplit("-", 1)[-1]: one for key, one in shown.items()}
    page = f"{machine.url}/artifacts/artifact"
    tables = browser.open(f"{page}/{named['tables']}", campaign["campaign"], "cost_per_kept")
    assert "parents_evolved" in tables and "say nothing of any language model" in tables
    kept = [row["item_id"] for row in table(machine, "kept")]
    browser.open(f"{page}/{named['kept']}", "item_id", *kept)
    assert len(browser.open(f"{machine.url}/artifacts", *shown).splitlines()) > len(shown)


def test_the_deployments_page_shows_both_schedules(machine: Machine, browser: Browser) -> None:
    text = browser.open(f"{machine.url}/deployments", "toy-confirmation", "weekly-toy")
    assert "nightly-toy" in text
