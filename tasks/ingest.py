"""Ingest: what the suite says of its world, and its seeds as items."""

from tasks.errors import InputError
from tasks.plan import Plan
from tasks.spool import Unit
from tasks.stage import StageRun, stage
from tasks.suites.base import SuiteSeed
from warehouse.records import Campaign, Label, Record, Seed, Spec, World, canonical


@stage(version="2")
async def ingest(run: StageRun, *, split: str, count: int | None, fingerprint: str) -> list[str]:
    """Takes a campaign's seeds in: `Campaign`, its `Spec` rows, `World`, an `Item` and a `Seed` each.

    `fingerprint` is the suite's own: another world or simulator makes the seeds anew. `count` is how many
    of the split's seeds take part, from the first on; None for all. Raises InputError when there are
    fewer.
    """

    async def work(unit: Unit) -> None:
        description = await run.bench.suite.describe()
        offered = await run.bench.suite.seeds(split)
        if count is not None and len(offered) < count:
            raise InputError(f"plan: seeds = {count}, but split {split} has only {len(offered)}")
        unit.add(World(description=canonical(description.model_dump(mode="json"))))
        unit.add(_campaign(run, description.world, description.version, description.sandbox))
        unit.add(*_specs(run.bench.plan))
        for position, seed in enumerate(offered[:count]):
            unit.add(*_rows(run.bench.campaign, position, seed))

    return [await run.once("seeds", work)]


def _campaign(run: StageRun, world: str, version: str, sandbox: str) -> Campaign:
    bench = run.bench
    return Campaign(
        campaign=bench.campaign,
        suite=bench.plan.suite,
        plan_hash=bench.plan.digest(),
        plan=canonical(bench.plan.model_dump(mode="json")),
        edition=bench.edition,
        world=world,
        simulator_version=version,
        sandbox=sandbox,
        simulated=any(bench.client(spec).simulated for spec in bench.plan.specs.values()),
    )


def _specs(plan: Plan) -> list[Spec]:
    """The models of the plan, one row a role."""
    return [
        Spec(
            spec_id=spec.spec_id,
            role=role,
            endpoint=spec.endpoint,
            llm_id=spec.llm_id,
            sampling=canonical(spec.sampling.model_dump(mode="json")),
        )
        for role, spec in plan.specs.items()
    ]


def _rows(campaign: str, position: int, seed: SuiteSeed) -> list[Record]:
    """An item, its seed row and, where the author gave one, the intended difficulty as a label."""
    item = seed.item
    rows: list[Record] = [
        item,
        Seed(
            campaign=campaign,
            item_id=item.item_id,
            position=position,
            name=seed.name,
            intended_difficulty=seed.intended_difficulty,
            cluster=seed.cluster,
        ),
    ]
    if seed.intended_difficulty is not None:
        rows.append(
            Label(
                campaign=campaign,
                item_id=item.item_id,
                attempt_id="",
                name="difficulty",
                value=seed.intended_difficulty,
                source=seed.difficulty_source,
            )
        )
    return rows
