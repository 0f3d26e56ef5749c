"""The offline model on the real engine, asked over sockets: the same tables as in process."""

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.toy.running import Toy
from tests.wire.comparing import answered, expected

MAIN = "from flows.cli import main; main()"
SIMULATORS = Path(".turtle") / "simulators"
SIZE = {"seeds = 8": "seeds = 2", "steps = 4": "steps = 4", "repeats = 10": "repeats = 3"}


def prepared(state: Path, environment: dict[str, str], checkout: Path) -> Toy:
    """A state folder with the simulators that set-up has made, and the shipped offline plan, smaller."""
    (state / "simulators").symlink_to(checkout / SIMULATORS)
    text = (checkout / "deployments" / "plans" / "offline.toml").read_text()
    for shipped, smaller in SIZE.items():
        assert shipped in text
        text = text.replace(shipped, smaller)
    (state / "plan.toml").write_text(text)
    return Toy(state, environment, checkout, "tests.wire.campaign", timeout_s=3600)


@pytest.fixture(scope="module")
def in_process(
    tmp_path_factory: pytest.TempPathFactory, prefect_environment: dict[str, str], checkout: Path
) -> Toy:
    """The campaign as a user runs it."""
    made = prepared(tmp_path_factory.mktemp("in_process"), prefect_environment, checkout)
    command = [sys.executable, "-c", MAIN, "evolve", str(made.state / "plan.toml")]
    subprocess.run(
        [*command, "--state", str(made.state)],
        cwd=checkout,
        env=prefect_environment,
        check=True,
        timeout=3600,
    )
    return made


@pytest.mark.parametrize("kind", ["openai", "gemini"])
def test_the_tables_on_appworld_are_the_same_as_in_process(
    tmp_path: Path,
    in_process: Toy,
    kind: str,
    prefect_environment: dict[str, str],
    checkout: Path,
) -> None:
    campaign = prepared(tmp_path, prefect_environment, checkout)
    counted = campaign.run(kind, "--plan", str(tmp_path / "plan.toml"))
    assert campaign.findings() == in_process.findings()
    replies = answered(campaign.tables())
    assert replies == answered(expected(in_process, kind))
    assert campaign.units().keys() == in_process.units().keys()
    rows = {name: len(found) for name, found in campaign.findings().items() if found}
    print(f"{kind}: {counted['fates']}, {len(replies)} replies; equal rows: {rows}")
    assert Counter(counted["fates"])["reply"] >= len(replies) - 1, "the embedder is in this process"
