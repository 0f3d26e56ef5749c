"""A suite without a sandbox of its own is refused where one is required."""

from pathlib import Path

from tests.toy.__main__ import ENDPOINTS
from tests.toy.forked import started

ROLES = ("proposer", "solver", "feedback", "judge", "labeller", "embedder")


def test_a_suite_that_offers_less_is_refused_in_one_line(
    prefect_environment: dict[str, str], checkout: Path, tmp_path: Path
) -> None:
    (tmp_path / "endpoints.toml").write_text(ENDPOINTS.format(latency_s=0, concurrency=8))
    roles = "".join(f'[{role}]\nendpoint = "toy"\nllm_id = "toy"\n' for role in ROLES)
    (tmp_path / "plan.toml").write_text(f'suite = "toy"\nsteps = 1\n{roles}')
    command = [str(tmp_path / "journal.jsonl"), "evolve", str(tmp_path / "plan.toml")]
    command += ["--endpoints", str(tmp_path / "endpoints.toml"), "--state", str(tmp_path / "state")]
    command += ["--require-sandbox", "rlimits"]
    ended = started("tests.toy.cli", command, checkout, prefect_environment)
    _, err = ended.communicate(timeout=300)
    assert ended.returncode == 2, err
    assert err == (
        "turtle: --require-sandbox rlimits: suite toy offers none here, which is less; "
        "turtle doctor says what is missing\n"
    )
    assert not (tmp_path / "journal.jsonl").exists(), "a model was asked"
    assert not (tmp_path / "state" / "spool").exists()
