"""Several processes, each from a working copy of its own, drain one campaign; many of them are killed."""

import subprocess
from pathlib import Path

import pytest

from tests.toy.pool import WORKERS, drained_by, joined_states, options
from tests.toy.reruns import kill_after
from tests.toy.running import Toy


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> list[Path]:
    """Clones of what is committed."""
    folders = [tmp_path_factory.mktemp(f"copy{n}") / "turtle" for n in range(WORKERS)]
    for folder in folders:
        subprocess.run(["git", "clone", "--quiet", str(checkout), str(folder)], check=True)
    return folders


def test_six_kills_of_three_processes_from_three_clones(
    copies: list[Path], undisturbed: Toy, tmp_path: Path
) -> None:
    drained_by(joined_states(undisturbed, tmp_path, copies), undisturbed, kills=6, latency_s=1.0)


def test_who_joined_ends_what_a_killed_process_began(
    copies: list[Path], undisturbed: Toy, tmp_path: Path
) -> None:
    lead, joined, _ = joined_states(undisturbed, tmp_path, copies)
    leading = lead.start(*options(0.3))
    assert kill_after(leading, lead, 5), leading.communicate()
    joined.run(*options(0.3), "--joins")
    asked = len(lead.journal())
    lead.run(*options(0.3))
    assert len(lead.journal()) == asked, "something was made again"
    assert lead.findings() == undisturbed.findings()
    assert not (joined.state / "warehouse").exists()
