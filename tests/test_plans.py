"""The plans that ship: each can be read, and says what it stands for."""

from pathlib import Path

import pytest

from flows.requirements import require
from flows.settings import Settings
from tasks.embed import embed
from tasks.errors import InputError
from tasks.plan import read_plan, spec_named
from tests.test_endpoints import written
from warehouse.records import digest_of

PROPOSER = {"proposer": spec_named("gemma/google/gemma-4-31b-it")}
GEMMA, FLASH, LITE = "google/gemma-4-31b-it", "gemini-3.6-flash", "gemini-3.1-flash-lite"


@pytest.mark.parametrize(
    ("name", "solver", "judges_itself"),
    [
        ("paper.toml", GEMMA, False),
        ("ablation-flash.toml", FLASH, True),
        ("ablation-flash-lite.toml", LITE, False),
    ],
)
def test_the_papers_plans(checkout: Path, name: str, solver: str, judges_itself: bool) -> None:
    path = checkout / "deployments" / "plans" / name
    plan = read_plan(path, PROPOSER)
    assert (plan.steps, plan.repeats, plan.seeds) == (1000, 10, None)
    assert (plan.solver.llm_id, plan.feedback.llm_id) == (solver, GEMMA)
    assert (plan.judge.llm_id, plan.labeller.llm_id) == (FLASH, FLASH)
    assert (plan.embedder.llm_id, plan.embedder.dimensions) == ("gemini-embedding-2", 768)
    assert plan.proposer.llm_id == GEMMA
    assert plan.judges_itself is judges_itself
    with pytest.raises(InputError, match=f"{name}: names no proposer .*--proposer") as raised:
        read_plan(path, {})
    assert "\n" not in str(raised.value)


def test_every_plan_names_endpoints_and_priced_models_that_the_shipped_file_shows(
    checkout: Path, tmp_path: Path
) -> None:
    shipped = (checkout / "deployments" / "endpoints.toml").read_text(encoding="utf-8")
    examples = "\n".join(
        line[1:] if line.startswith("#") and not line.startswith("# ") else line
        for line in shipped.split("\n")
    )
    written(tmp_path, examples)
    plans = sorted((checkout / "deployments" / "plans").glob("*.toml"))
    assert len(plans) >= 4
    for path in plans:
        plan = read_plan(path, PROPOSER)
        # With a budget, as the README has it: a role without an endpoint or a price is refused.
        settings = Settings(state=tmp_path, endpoints=tmp_path / "endpoints.toml", budget_usd=5.0)
        require(plan, "1", settings)


@pytest.mark.parametrize("text", ["gemini", "/x", "gemini/", ""])
def test_a_spec_that_names_no_model_is_told_in_one_line(text: str) -> None:
    with pytest.raises(InputError, match="ENDPOINT/LLM_ID"):
        spec_named(text)


def test_another_length_of_vectors_is_another_key(checkout: Path) -> None:
    plan = read_plan(checkout / "deployments" / "plans" / "paper.toml", PROPOSER)
    other = plan.embedder.model_copy(update={"dimensions": 256})
    keys = {embed.key({"items": [], "embedder": spec}) for spec in (plan.embedder, other)}
    assert len(keys) == 2
    assert plan.campaign("1") != plan.model_copy(update={"embedder": other}).campaign("1")


def test_a_plan_without_the_later_fields_keeps_the_name_that_it_had(checkout: Path) -> None:
    """A name is that of a campaign's folder: a new release must find it."""
    plan = read_plan(checkout / "deployments" / "plans" / "offline.toml", {})
    values = plan.model_dump(mode="json")
    for field in ("data", "parents", "user"):
        assert values.pop(field) is None
    assert plan.digest() == digest_of(values)
    assert plan.model_copy(update={"parents": "solvable"}).digest() != plan.digest()
