"""Care of what is kept: copies that go on elsewhere, and units that count no more."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.settings import Settings
from flows.stored import at_rest, prune, spooled_rows
from tasks.errors import InputError
from tasks.llm.replay import Recording
from tasks.spool import Spool
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


def test_a_packed_campaign_is_taken_up_rebuilt_and_replayed_as_before(
    copied: Toy, undisturbed: Toy
) -> None:
    settings, campaign = Settings(state=copied.state), campaign_of(copied.state)
    units, folder = Spool(settings.spool, campaign).units(), settings.spool / campaign
    replies = list(Recording(folder).requests())
    packed = prune(campaign, settings, pack=True)
    assert not list(folder.glob("*/*")) and packed.bytes > 0
    assert len(list(folder.glob("*.zip"))) == len({unit.split("/")[0] for unit in units})
    assert Spool(settings.spool, campaign).units() == units
    assert list(Recording(folder).requests()) == replies
    copied.run()
    assert copied.journal() == [], "a packed unit was made again"
    assert copied.tables() == undisturbed.tables()
    assert not list(folder.glob("*/*.jsonl"))
    assert rebuilt(copied.state) == undisturbed.tables()


def test_campaigns_are_at_rest_by_the_last_run_that_ended(copied: Toy) -> None:
    settings, campaign = Settings(state=copied.state), campaign_of(copied.state)
    folder, now = settings.spool / campaign, time.time()
    assert at_rest(1, settings) == []
    os.utime(folder / "manifest.json", (now, now - 2 * 24 * 3600))
    assert at_rest(1, settings) == [campaign] and at_rest(3, settings) == []
    (folder / "confirmed-0.json").write_text("[]\n")
    assert at_rest(1, settings) == []
