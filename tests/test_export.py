"""Exports, up to the simulator: what is refused, in one line, and that nothing half-written stays."""

import json
from pathlib import Path

import pytest

from flows.export import export, kept_variants
from flows.settings import CHECKOUT, Settings
from flows.stored import delete
from tasks.errors import InputError
from tasks.exports.base import placed
from tasks.plan import Plan, read_plan
from tests import warehouse_rows as rows
from warehouse.store import Loader


def plan_of_suite(**changes: str) -> Plan:
    return read_plan(CHECKOUT / "deployments" / "plans" / "offline.toml", changes)


def settled(state: Path, plan: Plan, *parts: object) -> tuple[str, Settings]:
    """A campaign of a plan with rows in the warehouse, as one that has ended leaves it."""
    settings, name = Settings(state=state), plan.campaign("1")
    (settings.spool / name).mkdir(parents=True)
    stored = {"plan": plan.model_dump(mode="json"), "edition": "1"}
    (settings.spool / name / "plan.json").write_text(json.dumps(stored))
    with Loader(settings.warehouse, 0.1) as loader:
        loader.put(rows.flatten(rows.campaign(name), *parts))
        loader.flush()
    return name, settings


def test_kept_are_the_valid_ones_each_with_our_difficulty(tmp_path: Path) -> None:
    plan = plan_of_suite()
    name, settings = settled(
        tmp_path,
        plan,
        [rows.item(name) for name in ("a0", "b1", "c2", "d3")],
        rows.seed("a0", campaign=plan.campaign("1")),
        *(
            rows.kept(item, "a0", verdict, plan.campaign("1"))
            for item, verdict in (("b1", "valid"), ("c2", "vague"), ("d3", "valid"))
        ),
        rows.label("b1", "difficulty", 3, campaign=plan.campaign("1")),
        rows.label("b1", "difficulty", 1, source="appworld", campaign=plan.campaign("1")),
    )
    kept = {one.item.item_id: one.difficulty for one in kept_variants(name, settings)}
    assert kept == {"b1": 3, "d3": None}
    assert next(kept_variants(name, settings)).item == rows.item("b1")


REFUSED = {
    "unknown format": ({}, "csv", "format csv: unknown; there are: appworld, tau2"),
    "another suite": ({"suite": "toy"}, "appworld", "holds no items of suite toy"),
    "another suite than tau2's": ({}, "tau2", "holds no items of suite appworld"),
    "official data not named": ({"data": "official"}, "appworld", "--appworld-root DIR"),
    "nothing kept": ({}, "appworld", "kept no variant"),
}


@pytest.mark.parametrize(("changes", "form", "told"), REFUSED.values(), ids=REFUSED)
async def test_a_refusal_is_one_line_and_leaves_nothing(
    changes: dict[str, str], form: str, told: str, tmp_path: Path
) -> None:
    name, settings = settled(tmp_path / "state", plan_of_suite(**changes))
    with pytest.raises(InputError, match=told) as raised:
        await export(name, form, tmp_path / "out", settings)
    assert "\n" not in str(raised.value)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]
    delete(name, settings)
    with pytest.raises(InputError, match="not found"):
        await export(name, "appworld", tmp_path / "out", settings)


def test_a_folder_is_placed_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "out"
    with pytest.raises(ZeroDivisionError), placed(place) as making:
        (making / "half").write_text("written")
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    place.mkdir()  # an empty one is as good as none
    with placed(place) as making:
        (making / "whole").write_text("written")
    assert [path.name for path in place.iterdir()] == ["whole"]
    with pytest.raises(InputError, match="not empty"), placed(place):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
