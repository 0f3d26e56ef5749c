"""Who may take part in a campaign, and with how much of each endpoint."""

from pathlib import Path

import pytest

from flows.pool import divided, taken
from flows.requirements import require
from flows.settings import Settings
from tasks.errors import InputError
from tasks.llm.endpoints import Endpoint
from tasks.plan import Plan, read_plan
from tasks.spool import Spool


@pytest.fixture
def plan(checkout: Path) -> Plan:
    return read_plan(checkout / "deployments" / "plans" / "offline.toml", {})


def test_a_campaign_that_was_started_for_one_process_cannot_be_joined(tmp_path: Path) -> None:
    spool, joins = Spool(tmp_path, "c"), Settings(joins=True)
    with (
        taken(spool, Settings()),
        pytest.raises(InputError, match="not been started for several"),
        taken(spool, joins),
    ):
        pass
    with taken(spool, Settings(workers=2)):
        pass
    with (
        taken(spool, Settings()),
        pytest.raises(InputError, match="has it for itself"),
        taken(spool, joins),
    ):
        pass


def test_places_are_as_many_as_workers_and_hold_while_one_is_joined(tmp_path: Path) -> None:
    spool, joins = Spool(tmp_path, "c"), Settings(joins=True)
    with taken(spool, Settings(workers=3)) as first:
        assert (first.number, first.workers) == (0, 3)
        with pytest.raises(InputError, match="another process"), taken(spool, Settings(workers=3)):
            pass
    with taken(spool, joins) as second, taken(spool, joins) as third:
        assert {(p.number, p.workers) for p in (second, third)} == {(1, 3), (2, 3)}
        with pytest.raises(InputError, match="2 processes have joined"), taken(spool, joins):
            pass
        for workers in (1, 4):
            with (
                pytest.raises(InputError, match="have joined it"),
                taken(spool, Settings(workers=workers)),
            ):
                pass
        with taken(spool, Settings(workers=3)):
            pass
    with taken(spool, Settings(workers=4)) as first:
        assert first.workers == 4


def test_each_process_has_its_part_of_a_server_and_the_whole_of_what_is_its_own(plan: Plan) -> None:
    served = plan.model_copy(
        update={"solver": plan.solver.model_copy(update={"endpoint": "served"})}
    )
    known = {
        "served": Endpoint(name="served", kind="openai", concurrency=8),
        "offline": Endpoint(name="offline", kind="offline", concurrency=2),
        "local": Endpoint(name="local", kind="local", concurrency=1),
        "unused": Endpoint(name="unused", kind="openai", concurrency=1),
    }
    parts = {name: part.concurrency for name, part in divided(served, known, 3).items()}
    assert parts == {"served": 2, "offline": 2, "local": 1}
    assert sum([parts["served"]] * 3) <= 8
    with pytest.raises(InputError, match=r"endpoint served: concurrency = 8 .* 9 processes"):
        divided(served, known, 9)


def test_a_budget_is_kept_by_one_process_alone(plan: Plan, tmp_path: Path) -> None:
    settings = Settings(state=tmp_path / "state", workers=2, budget_usd=3.0)
    with pytest.raises(InputError, match="--budget-usd with --workers 2"):
        require(plan, "1", settings)
    assert not settings.state.exists()
