"""What happens: a campaign's kept variants are attempted afresh, by stages that the search is made of too."""

from prefect import flow

from flows.campaign import open_campaign
from flows.evolve import together
from flows.progress import Progress
from flows.settings import Settings
from flows.stored import ended_units
from tasks.canary import canary
from tasks.confirmation import confirm as conclude
from tasks.llm.base import LLMSpec
from tasks.plan import Plan
from tasks.score import score
from tasks.solve import solve
from tasks.suites.base import Description, Suite
from tasks.workbench import Loaded, Workbench
from warehouse.records import Attempt, Item, Score, Seed, Selection, Verdict, World

ATTEMPTS = 40
"""Fresh attempts on a kept variant, unless another number is asked for."""

KINDS = ("seeds", "steps", "selections", "verdicts")
"""Kinds of units in which a campaign's kept variants and its world stand."""


@flow(name="confirm", flow_run_name="{plan.suite}-{edition}")
async def confirm(
    plan: Plan,
    edition: str,
    settings: Settings,
    attempts: int = ATTEMPTS,
    solver: LLMSpec | None = None,
) -> str:
    """Attempts each kept variant of a campaign that has ended anew; returns the campaign's name.

    `solver` is asked, or the plan's own where None. Run again, it goes on where it was; with more attempts
    it adds the missing ones. Raises InputError where the campaign is missing or has not ended.
    """
    await confirmed(plan, edition, settings, attempts, solver or plan.solver)
    return plan.campaign(edition)


async def confirmed(
    plan: Plan,
    edition: str,
    settings: Settings,
    attempts: int,
    solver: LLMSpec,
    suite: Suite | None = None,
) -> None:
    """A confirmation, top to bottom; `suite` as in `open_campaign`."""
    units = ended_units(plan.campaign(edition), settings)
    async with (
        open_campaign(plan, edition, settings, solver, suite) as bench,
        Progress(bench) as progress,
    ):
        search = bench.load(tuple(unit for unit in units if unit.split("/")[0] in KINDS))
        world = Description.model_validate_json(search.one(World).description)
        items = {item.item_id: item for item in search.all(Item)}
        kept = kept_variants(search)

        for one in kept[:1]:
            await canary(bench, items[one.item_id], {"solver": solver}, world.interaction)
        progress.say(f"confirming {len(kept)} variants, {attempts} attempts each")
        fresh = await together(
            attempted(bench, items[one.item_id], world, solver, attempts) for one in kept
        )
        clusters = {seed.item_id: seed.cluster or seed.item_id for seed in search.all(Seed)}
        await conclude(
            bench, clusters=[clusters[one.root] for one in kept], scores=fresh, solver=solver
        )


def kept_variants(search: Loaded) -> list[Selection]:
    """The selected variants that every judge asked found valid, in the order of their selection."""
    verdicts = search.all(Verdict)
    judged = {verdict.item_id for verdict in verdicts}
    refused = {verdict.item_id for verdict in verdicts if verdict.verdict != "valid"}
    return [one for one in search.all(Selection) if one.item_id in judged - refused]


async def attempted(
    bench: Workbench, item: Item, world: Description, solver: LLMSpec, attempts: int
) -> Score:
    """A variant's score in fresh attempts."""
    solved = await solve(
        bench,
        about=item.item_id,
        item=item,
        solver=solver,
        measurement="confirmation",
        repeats=attempts,
        limits=bench.plan.limits,
        interaction=world.interaction,
        simulator=f"{world.suite} {world.version}",
        user=bench.plan.party if world.interaction == "dialogue" else None,
    )
    scored = await score(
        bench,
        about=item.item_id,
        item_id=item.item_id,
        solver=solver,
        attempts=solved.all(Attempt),
        measurement="confirmation",
        completion=bench.plan.completion,
        length_weight=bench.plan.length_weight,
    )
    return scored.one(Score)
