"""Upgrade: a spool that an earlier release wrote, read by this one.

`units_with_calls.tar.xz` was written by the code of commit b128141 (`python -m tests.toy STATE --steps 4`):
units of version 1, which hold their calls' ledger rows; scores without a solver; a plan with fewer fields.
"""

import tarfile
from pathlib import Path

import pytest

from flows.settings import Settings
from flows.stored import prune, resumable_plan, spooled_rows, stored_plan, unconfirmed
from tasks.errors import InputError
from tasks.llm.base import LLMSpec
from tests.toy.running import tables_of
from warehouse.marts import read, run_checks
from warehouse.store import rebuild

CAMPAIGN = "toy-1f3c1b4227-1"
CALLS = {"solver": 60, "feedback": 6, "proposer": 4}
"""By the journal of the run that wrote it; judge and labeller besides."""


@pytest.fixture
def upgraded(tmp_path: Path, checkout: Path) -> Settings:
    """A state folder with the earlier release's spool, and the warehouse that this release makes of it."""
    with tarfile.open(checkout / "tests/earlier_releases/units_with_calls.tar.xz") as spool:
        spool.extractall(tmp_path / "spool")
    settings = Settings(state=tmp_path)
    rebuild(settings.warehouse, spooled_rows(settings))
    return settings


def test_an_earlier_releases_spool_makes_a_sound_warehouse(upgraded: Settings) -> None:
    assert run_checks(upgraded.warehouse) == []
    assert read(upgraded.warehouse, "kept", campaign=CAMPAIGN).height == 1
    calls = read(upgraded.warehouse, "llm_calls")
    assert set(calls["most_usd"]) == set(calls["cut_chars"]) == {None}
    for role, count in CALLS.items():
        assert calls["role"].to_list().count(role) == count
    plan, _ = stored_plan(CAMPAIGN, upgraded)
    assert set(read(upgraded.warehouse, "scores")["solver"]) == {plan.solver.spec_id}


def test_it_can_be_packed_and_is_not_mistaken_for_a_campaign_of_today(upgraded: Settings) -> None:
    before = tables_of(upgraded.warehouse)
    assert prune(CAMPAIGN, upgraded, pack=True).bytes > 0
    rebuild(upgraded.warehouse, spooled_rows(upgraded))
    assert tables_of(upgraded.warehouse) == before
    with pytest.raises(InputError, match="an earlier release began it"):
        resumable_plan(CAMPAIGN, upgraded)
    assert unconfirmed("toy", LLMSpec(endpoint="toy", llm_id="another"), upgraded) == []
