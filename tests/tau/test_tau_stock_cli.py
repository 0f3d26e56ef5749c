"""An export in stock τ-bench's hands: `check-data`, `run`, `view` and `evaluate-trajs` take it."""

import json
from pathlib import Path

import pytest

from tasks.exports.base import Delivery, KeptVariant
from tasks.exports.tau2 import write_tau2
from tasks.llm.base import LLMSpec
from tasks.llm.offline import OfflineClient
from tasks.plan import SolverLimits
from tasks.solve import solve
from tasks.suites.base import SuiteSeed
from tasks.suites.tau_bench import TauSuite
from tests.stage_work import work_of, workbench
from tests.tau.stock import GoldPlayers, StockTau, models, packaged_tau, stock_tau
from tests.wire.server import WireServer
from warehouse.records import Attempt

pytestmark = pytest.mark.asyncio(loop_scope="module")

REPEATS = 3


async def attempted(suite: TauSuite, seeds: list[SuiteSeed], folder: Path) -> list[Attempt]:
    """The offline pair's attempts; their units stay in the folder's spool."""
    golds = {seed.item.item_id: seed.item for seed in seeds}
    bench = workbench(folder, suite, {"offline": OfflineClient(1, golds.get)}, lambda rows: None)
    made = []
    for seed in seeds:
        found = await work_of(
            solve,
            bench,
            item=seed.item,
            solver=LLMSpec(endpoint="offline", llm_id="offline"),
            measurement="search",
            repeats=REPEATS,
            limits=SolverLimits(),
            interaction="dialogue",
            simulator="tau",
            user=LLMSpec(endpoint="offline", llm_id="caller"),
        )
        made += found.all(Attempt)
    return made


async def test_stock_tau_takes_an_export_and_replays_its_golds(
    suite: TauSuite, checkout: Path, tmp_path: Path
) -> None:
    seeds = (await suite.seeds("base"))[:4]
    state, export = tmp_path / "x-1", tmp_path / "export"
    made = await attempted(suite, seeds, state)
    spool = workbench(state, suite, {}, lambda rows: None).spool
    units = tuple(unit for unit in spool.units() if unit.startswith("attempts/"))
    spool.files.pack()  # as those of a campaign at rest are
    assert len(units) == len(made) == len(seeds) * REPEATS
    kept = tuple(KeptVariant(seed.item, 2) for seed in seeds)
    export.mkdir()
    plan = workbench(state, suite, {}, lambda rows: None).plan
    told = await write_tau2(Delivery("x-1", suite, kept, False, plan, units, spool), export)
    assert told.startswith("4 items")

    venv = checkout / ".turtle" / "simulators" / "tau_bench" / "venv"
    tau = stock_tau(venv, suite.name, export, tmp_path)
    with_export = packaged_tau(venv, export, tmp_path / "package", tau.env)
    checked = await with_export.run("check-data")
    assert f"Data directory: {tmp_path}/package/tau2/data" in checked
    assert "Data directory exists" in checked
    await replays_golds(tau, suite.name, export, tmp_path)
    results = export / "simulations" / "x-1" / "results.json"
    await opens_attempts(tau, results, len(made))
    await grades_attempts_alike(tau, results, made, tmp_path)


async def replays_golds(tau: StockTau, suite: str, export: Path, folder: Path) -> None:
    """`tau2 run` on the exported tasks, the golds played: each scores 1.0."""
    place = export / "tau2" / "domains"
    if suite == "tau-telecom":
        tasks = json.loads((place / "telecom" / "tasks.json").read_text())
        domain = ("--domain", "telecom", "--task-split-name", "evolved")
    else:
        files = sorted((place / "banking_knowledge" / "tasks").glob("task_*.json"))
        tasks = [json.loads(path.read_text()) for path in files]
        domain = ("--domain", "banking_knowledge")
    async with WireServer(GoldPlayers(tasks)) as server:
        saved = ("--results-dir", folder, "--save-to", "golds")
        await tau.run("run", *domain, *models(server.url), *saved)
    rewards = {
        run["task_id"]: run["reward_info"]["reward"]
        for run in json.loads((folder / "golds.json").read_text())["simulations"]
    }
    assert rewards == {task["id"]: 1.0 for task in tasks}


async def opens_attempts(tau: StockTau, results: Path, count: int) -> None:
    """`tau2 view`: the file, the metrics, the first attempt with its task, no note, the end."""
    menu = "1\n1\n2\n3\n1\n\n5\n"
    printed = await tau.run("view", "--file", results, said=menu)
    assert f"Loaded {count} simulations" in printed and "Error loading" not in printed
    assert "Average Cost per Conversation" in printed and "Termination Reason" in printed


async def grades_attempts_alike(
    tau: StockTau, results: Path, made: list[Attempt], folder: Path
) -> None:
    """`tau2 evaluate-trajs` comes to the rewards that we recorded."""
    await tau.run("evaluate-trajs", results, "--output-dir", folder / "anew")
    (written,) = (folder / "anew").iterdir()
    anew = {
        run["id"]: run["reward_info"]["reward"]
        for run in json.loads(written.read_text())["simulations"]
    }
    assert anew == {one.attempt_id: float(one.outcome == "solved") for one in made}
    assert set(anew.values()) == {0.0, 1.0}, "both kinds are there"
