"""A suite without a sandbox of its own is refused where one is required."""

import subprocess
import sys
from pathlib import Path

from tests.toy.__main__ import ENDPOINTS

ROLES = ("proposer", "solver", "feedback", "judge", "labeller", "embedder")


def test_a_suite_that_offers_less_is_refused_in_one_line(
    prefect_environment: dict[str, str], checkout: Path, tmp_path: Path
) -> None:
    (tmp_path / "endpoints.toml").write_text(ENDPOINTS.format(latency_s=0, concurrency=8))
    roles = "".join(f'[{role}]\nendpoint = "toy"\nllm_id = "toy"\n' for role in ROLES)
    (tmp_path / "plan.toml").write_text(f'suite = "toy"\nsteps = 1\n{roles}')
    command = [sys.executable, "-m", "tests.toy.cli", str(tmp_path / "journal.jsonl"), "evolve"]
    command += [str(tmp_path / "plan.toml"), "--endpoints", str(tmp_path / "endpoints.toml")]
    ended = subprocess.run(
        [*command, "--require-sandbox", "rlimits", "--state", str(tmp_path / "state")],
        cwd=checkout,
        env=prefect_environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 2, ended.stderr
    assert ended.stderr == (
        "turtle: --require-sandbox rlimits: suite toy offers none here, which is less; "
        "turtle doctor says what is missing\n"
    )
    assert not (tmp_path / "journal.jsonl").exists(), "a model was asked"
    assert not (tmp_path / "state" / "spool").exists()
