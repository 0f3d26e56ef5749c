"""An export read and run by stock τ-bench: a replay of each gold scores 1.0."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tasks.exports.base import Delivery, KeptVariant
from tasks.exports.tau2 import write_tau2
from tasks.suites.tau_bench import TauSuite

pytestmark = pytest.mark.asyncio(loop_scope="module")

STOCK = Path(__file__).with_name("stock_replay.py")


async def test_stock_tau_bench_plays_an_export_to_the_end(
    telecom: TauSuite, checkout: Path, tmp_path: Path
) -> None:
    seeds = (await telecom.seeds("base"))[:8]
    kept = tuple(KeptVariant(seed.item, 2) for seed in seeds)
    told = await write_tau2(Delivery("tau-telecom-x-1", telecom, kept, False), tmp_path)
    assert told.startswith("8 items")
    python = checkout / ".turtle" / "simulators" / "tau_bench" / "venv" / "bin" / "python"
    tasks = tmp_path / "tau2" / "domains" / "telecom" / "tasks.json"
    command = [python, STOCK, tasks]
    env = {"PATH": os.defpath, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=env)
    assert ran.returncode == 0, ran.stderr[-2000:]
    rewards = json.loads(ran.stdout.splitlines()[-1])
    assert set(rewards) == {f"task_{one.item.item_id}" for one in kept}
    assert set(rewards.values()) == {1.0}
