"""Gold checks and dialogues of the τ suites against stock τ-bench, CPU by CPU in one process."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tasks.suites.installation import ensure_simulator
from tasks.suites.tau_bench import TAU_SUITES

PROGRAM = Path(__file__).with_name("tau_in_process.py")


@pytest.mark.parametrize("suite", TAU_SUITES)
def test_a_check_and_a_dialogue_cost_no_more_than_stock_and_forty_fit_in_memory(
    checkout: Path, suite: str
) -> None:
    made = ensure_simulator("tau_bench", checkout / ".turtle", print)
    command = [made.python, PROGRAM, checkout, suite]
    env = {"PATH": os.defpath, "HOME": str(made.user)}
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=900)
    assert ran.returncode == 0, ran.stderr[-2000:]
    found = json.loads(ran.stdout.splitlines()[-1])
    print(suite, found)
    assert found["check_ratio"] >= 1.0 and found["dialogue_ratio"] >= 1.0
    assert found["rss_mb"] <= 600
    assert found["indexes"] == (suite == "tau-banking-bm25")
