"""The three suites on an official checkout's data: read from there, and said so in every row."""

import json
from pathlib import Path

import pytest

from tasks.suites.tau_bench import TAU_SUITES, TauSuite
from tests.tau.scripted import played
from tests.tau_checkout import checkout_of_packages

pytestmark = pytest.mark.asyncio(loop_scope="module")

CHANGED = "A sentence that only the checkout has."


@pytest.mark.parametrize("name", TAU_SUITES)
async def test_a_checkout_of_equal_data_gives_equal_seeds_and_says_where_they_come_from(
    name: str, checkout: Path, tmp_path: Path
) -> None:
    state = checkout / ".turtle"
    venv = state / "simulators" / "tau_bench" / "venv"
    root = checkout_of_packages(tmp_path / "tau2-bench", venv)
    packaged, official = TauSuite(name, state), TauSuite(name, state, root=root)
    try:
        described = await official.describe()
        assert described.version == f"{(await packaged.describe()).version} data of tau2 1.0.1"
        seeds = await official.seeds("base")
        assert seeds == await packaged.seeds("base")
        assert await official.fingerprint() != await packaged.fingerprint()
        (outcome, ended, _) = await played(official, seeds[0].item, json.loads(seeds[0].item.gold))
        assert outcome.solved and ended.cause == "user_stopped"
    finally:
        await packaged.aclose()
        await official.aclose()


@pytest.mark.parametrize("name", ["tau-telecom", "tau-banking-golden"])
async def test_what_differs_in_the_checkout_is_what_counts(
    name: str, checkout: Path, tmp_path: Path
) -> None:
    state = checkout / ".turtle"
    venv = state / "simulators" / "tau_bench" / "venv"
    root = checkout_of_packages(tmp_path / "tau2-bench", venv, version="1.0.9")
    domains = root / "data" / "tau2" / "domains"
    prompts = domains / "banking_knowledge" / "prompts" / "required_docs.md"
    policy = domains / "telecom" / "main_policy.md" if name == "tau-telecom" else prompts
    before = await _first_policy(TauSuite(name, state, root=root))
    policy.write_text(f"{CHANGED}\n{policy.read_text(encoding='utf-8')}", encoding="utf-8")
    after = await _first_policy(TauSuite(name, state, root=root))
    assert CHANGED not in before and CHANGED in after


async def _first_policy(suite: TauSuite) -> str:
    """What the solver is shown first on the first seed."""
    try:
        session = await suite.open((await suite.seeds("base"))[0].item, rng_seed=0)
        said = {"kind": "reply", "role": "user", "text": "Hello.", "tool_calls": []}
        asked = await session.act(said, 60.0)
        return asked.messages[0].content
    finally:
        await suite.aclose()
