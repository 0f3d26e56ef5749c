"""The small world once more, from nothing: the same rows as the one that set-up built."""

import json
from pathlib import Path

from tests.simulator.running import build_world

BUILD_S = 900
"""A build takes about a minute on a free machine."""


def test_two_builds_have_one_hash(checkout: Path, tmp_path: Path) -> None:
    installed = checkout / ".turtle" / "simulators" / "appworld"
    programs = checkout / "deployments" / "simulators" / "appworld"
    process = build_world(installed / "venv" / "bin" / "python", programs, tmp_path)
    _, progress = process.communicate(timeout=BUILD_S)
    assert process.returncode == 0, progress
    first, second = (
        json.loads((home / "root" / "world.json").read_text())["hash"]
        for home in (installed / "home", tmp_path)
    )
    assert first == second
    assert [path.name for path in tmp_path.iterdir()] == ["root"]
