"""The weekly confirmation of what campaigns kept, by a solver that had no part in them."""

import json
import os
from pathlib import Path

import yaml

from tasks.llm.base import LLMSpec
from tasks.plan import plan_of
from tests.toy.forked import started
from tests.toy.running import Toy
from warehouse.marts import read


def weekly(toy: Toy, llm_id: str) -> list[str]:
    """Names of the campaigns that the flow confirmed."""
    done = started("tests.toy.weekly", [str(toy.state), llm_id], toy.checkout, toy.environment)
    out, err = done.communicate(timeout=300)
    assert done.returncode == 0, err
    return json.loads(out.splitlines()[-1])


def test_each_campaign_is_confirmed_once_by_each_solver(finished: Toy) -> None:
    (campaign,) = os.listdir(finished.state / "spool")
    before = len(finished.journal())
    assert weekly(finished, "another") == [campaign]
    asked = len(finished.journal()) - before
    warehouse = finished.state / "warehouse" / "turtle.duckdb"
    kept = read(warehouse, "kept", campaign=campaign).height
    assert kept and asked == 5 * kept
    fresh = read(warehouse, "attempts", campaign=campaign, measurement="confirmation")
    assert fresh.height == asked
    assert weekly(finished, "another") == []
    assert len(finished.journal()) == before + asked
    assert weekly(finished, "a third") == [campaign]


def test_every_shipped_deployment_has_a_flow_and_parameters_that_it_takes(checkout: Path) -> None:
    shipped = yaml.safe_load((checkout / "deployments" / "prefect.yaml").read_text())["deployments"]
    assert len({one["name"] for one in shipped}) == len(shipped)
    for one in shipped:
        assert not any(schedule["active"] for schedule in one["schedules"]), one["name"]
        parameters = one["parameters"]
        if "plan" in parameters:
            assert plan_of(parameters["plan"], origin=one["name"]).suite == one["name"]
        else:
            LLMSpec.model_validate(parameters["solver"])
            assert one["name"] == f"{parameters['suite']}-confirmation"
