"""The doctor with a simulator that is really installed, and with one whose world is of another checkout."""

from pathlib import Path

from flows.doctor import examine
from flows.settings import Settings


def test_an_installed_simulator_starts_and_tells_its_sandbox(simulator_state: Path) -> None:
    found = {finding.name: finding for finding in examine(Settings(state=simulator_state))}
    assert found["simulator appworld"].found.endswith("starts, opens an item and runs a cell")
    assert found["sandbox appworld"].found == "bubblewrap"
    assert [finding.line() for finding in found.values() if finding.mend] == []


def test_a_world_of_another_checkout_is_amiss(simulator_state: Path, tmp_path: Path) -> None:
    installed, copy = (state / "simulators" / "appworld" for state in (simulator_state, tmp_path))
    copy.mkdir(parents=True)
    (copy / "venv").symlink_to(installed / "venv")
    (copy / "home" / "root").mkdir(parents=True)
    (copy / "home" / "root" / "world.stamp").write_text("of another checkout")
    found = {finding.name: finding for finding in examine(Settings(state=tmp_path))}
    assert found["simulator appworld"].found == "its world is missing or of another version"
    assert found["simulator appworld"].mend == f"type: turtle setup appworld --state {tmp_path}"
