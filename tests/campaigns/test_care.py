"""Care of what is kept: copies that go on elsewhere, and units that count no more."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.settings import Settings
from flows.stored import prune, spooled_rows
from tasks.errors import InputError
from tests.toy.reruns import kill_after
from tests.toy.running import Toy, tables_of
from warehouse.store import rebuild


def rebuilt(state: Path) -> dict[str, list[tuple[Any, ...]]]:
    """The tables of a warehouse made anew from a state's spool alone."""
    settings = Settings(state=state)
    rebuild(settings.warehouse, spooled_rows(settings))
    return tables_of(settings.warehouse)


def campaign_of(state: Path) -> str:
    (folder,) = (state / "spool").iterdir()
    return folder.name


@pytest.fixture
def copied(undisturbed: Toy, tmp_path: Path) -> Toy:
    """The finished campaign as a backup has it: its spool, and nothing else."""
    shutil.copytree(undisturbed.state / "spool", tmp_path / "state" / "spool")
    return Toy(tmp_path / "state", undisturbed.environment, undisturbed.checkout)


def test_a_spool_copied_while_its_campaign_runs_goes_on_elsewhere(
    toy: Callable[[str], Toy], undisturbed: Toy
) -> None:
    here, there = toy("here"), toy("there")
    process = here.start("--latency-s", "0.05")
    assert kill_after(process, here, 40)
    shutil.copytree(here.state / "spool", there.state / "spool")
    shutil.rmtree(here.state / "spool")
    done = len(list(there.state.glob("spool/*/*/*.jsonl")))
    assert done
    there.run()
    assert there.findings() == undisturbed.findings()
    assert len(there.journal()) <= len(undisturbed.journal()) - len(here.journal()) + 8


def test_what_an_earlier_version_of_a_stage_left_is_pruned_and_nothing_else(
    copied: Toy, undisturbed: Toy
) -> None:
    copied.run("--bump", "feedback")
    settings, campaign = Settings(state=copied.state), campaign_of(copied.state)
    before, tables, asked = copied.units(), copied.tables(), len(copied.journal())
    (copied.state / "spool" / campaign / "notes" / "left.part").write_text("{}\n")
    gone = prune(campaign, settings)
    after = copied.units()
    assert after.items() < before.items(), "a unit that counts was touched"
    assert {name.split("/")[0] for name in before.keys() - after.keys()} == {"notes"}
    assert gone.files == len(before) - len(after) + 1 and gone.bytes > 1000
    assert rebuilt(copied.state) == tables
    assert copied.findings() == undisturbed.findings()
    copied.run("--bump", "feedback")
    assert len(copied.journal()) == asked, "something pruned was needed"
    assert prune(campaign, settings).files == 0


def test_an_unfinished_campaign_is_not_pruned(copied: Toy) -> None:
    campaign = campaign_of(copied.state)
    (copied.state / "spool" / campaign / "manifest.json").unlink()
    with pytest.raises(InputError, match="has not ended"):
        prune(campaign, Settings(state=copied.state))
