"""A telecom dialogue against stock τ-bench's own runner, CPU by CPU in one process; forty open at once."""

import json
import os
import subprocess
from pathlib import Path

from tasks.suites.installation import ensure_simulator

PROGRAM = Path(__file__).with_name("tau_in_process.py")


def test_a_dialogue_costs_no_more_than_stock_and_forty_fit_in_memory(checkout: Path) -> None:
    made = ensure_simulator("tau_bench", checkout / ".turtle", print)
    command = [made.python, PROGRAM, checkout]
    env = {"PATH": os.defpath, "HOME": str(made.user)}
    ran = subprocess.run(command, capture_output=True, text=True, check=True, env=env, timeout=900)
    found = json.loads(ran.stdout.splitlines()[-1])
    print(found)
    assert found["ratio"] >= 1.0 and found["rss_mb"] <= 600
