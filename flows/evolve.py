"""What happens: one campaign, from seeds to labelled variants, top to bottom."""

import asyncio
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from prefect import flow

from flows.campaign import open_campaign
from flows.progress import Progress
from flows.settings import Settings
from tasks.arms import ARMS
from tasks.canary import canary
from tasks.embed import embed
from tasks.errors import InputError
from tasks.feedback import feedback
from tasks.ingest import ingest
from tasks.judge import judge
from tasks.label import label
from tasks.mutate import mutate
from tasks.plan import Plan
from tasks.room import require_room
from tasks.score import score
from tasks.search import Member, Move, Population, decide
from tasks.selection import select
from tasks.solve import solve
from tasks.suites.base import Description
from tasks.verify import verify, verify_seed
from tasks.workbench import Loaded, Workbench
from warehouse.records import (
    Attempt,
    Check,
    Decision,
    Edit,
    GoldCall,
    Item,
    Note,
    Score,
    Selection,
    Step,
    Turn,
    Verdict,
    World,
)

T = TypeVar("T")


@flow(name="evolve", flow_run_name="{plan.suite}-{edition}")
async def evolve(plan: Plan, edition: str, settings: Settings) -> str:
    """Evolves a suite's seeds under a plan; returns the campaign's name.

    Run again with the same plan and edition, it goes on where it was, or finds all done.
    """
    async with open_campaign(plan, edition, settings) as bench:
        await evolved(bench)
    return bench.campaign


async def evolved(bench: Workbench) -> None:
    """One campaign, top to bottom, on a workbench that is open."""
    plan = bench.plan
    async with Progress(bench) as progress:
        taken = await ingest(
            bench,
            split=plan.split,
            count=plan.seeds,
            fingerprint=await bench.suite.fingerprint(),
        )
        world = Description.model_validate_json(taken.one(World).description)
        campaign = Campaign(bench, world, progress)

        require_room(taken.all(Item), world, plan.specs)
        await canary(bench, taken.all(Item)[0], interaction=world.interaction)
        seeds = await campaign.sound(taken.all(Item))
        population = await campaign.measured(seeds)
        await campaign.search(population)

        kept = await campaign.judged(await campaign.selected(population))
        progress.say(f"{len(kept)} variants kept; embedding and labelling")
        await embed(bench, items=[*seeds, *kept], embedder=plan.embedder)
        await together(campaign.labelled(item) for item in [*seeds, *kept])


@dataclass
class Campaign:
    """The moves of one campaign; each names the stages that it is made of."""

    bench: Workbench
    world: Description
    progress: Progress

    def __post_init__(self) -> None:
        self.plan = self.bench.plan
        self.simulator = f"{self.world.suite} {self.world.version}"
        self.gold_calls: dict[str, list[GoldCall]] = {}
        self.generations: dict[str, int] = {}

    async def sound(self, offered: Sequence[Item]) -> list[Item]:
        """The seeds whose own gold stands the checks; the others stay in the tables, with the reason."""
        self.progress.say(f"checking {len(offered)} seeds")
        checked = await together(
            verify_seed(
                self.bench,
                about=item.item_id,
                item=item,
                simulator=self.simulator,
                interaction=self.world.interaction,
            )
            for item in offered
        )
        seeds = []
        for item, found in zip(offered, checked, strict=True):
            self.gold_calls[item.item_id] = found.all(GoldCall)
            self.generations[item.item_id] = 0
            if all(check.passed for check in found.all(Check)):
                seeds.append(item)
        if not seeds:
            raise InputError("no seed of the split passes its checks; see the table checks")
        return seeds

    async def measured(self, seeds: Sequence[Item]) -> Population:
        """A population of the seeds, each attempted, noted and scored.

        Where the plan's parents are the solvable ones, those that no attempt solved stay out of it.
        """
        self.progress.say(f"measuring {len(seeds)} seeds, {self.plan.repeats} attempts each")
        population = Population(self.plan)
        for item, (scored, note) in zip(
            seeds, await together(map(self.measure, seeds)), strict=True
        ):
            if scored.gate or self.plan.parents is None:
                population.add_seed(item, scored, note)
        if not population.islands:
            raise InputError(
                f'plan: parents = "solvable", but none of {len(seeds)} seeds was solved in '
                f"{self.plan.repeats} attempts; leave it out, or name an easier split or a better solver"
            )
        return population

    async def search(self, population: Population) -> None:
        """Takes the plan's steps; step k sees the results of steps up to k - W only, in step order."""
        steps = self.plan.steps
        if self.plan.steps_scope == "seed":
            steps *= population.islands
        self.progress.expect(steps)
        running: dict[int, asyncio.Task[Any]] = {}
        try:
            for step in range(steps):
                while running and not self._may_start(population, len(running)):
                    population.add(*await running.pop(min(running)))
                if not self._may_start(population, len(running)):
                    break
                move = await decide(self.bench, population, step)
                running[step] = asyncio.create_task(self.take(move))
            while running:
                population.add(*await running.pop(min(running)))
        finally:
            await _cancel(running.values())

    def _may_start(self, population: Population, running: int) -> bool:
        """Whether one more step may start: W bounds those under way, and no more variants may come of
        them than the plan has left to attempt."""
        most = self.plan.max_variants
        left = most is None or len(population.variants()) + running < most
        return left and running < self.plan.in_flight

    async def take(self, move: Move) -> tuple[Decision, Item | None, Score | None, Note | None]:
        """One step: edit, verify and, where an item came of it, attempt, note and score."""
        decision = move.decision
        edited = await mutate(
            self.bench,
            about=f"step {decision.step}",
            step=decision.step,
            parent=move.parent.item,
            gold_calls=self.gold_calls[move.parent.item.item_id],
            inspirations=move.inspirations,
            note=move.note,
            direction=decision.direction,
            world=self.world,
            proposer=self.plan.proposer,
            repair_rounds=self.plan.repair_rounds,
        )
        verified = await verify(
            self.bench,
            about=f"step {decision.step}",
            decision=decision,
            root=move.root,
            parent=move.parent.item,
            inspirations=move.inspirations,
            note=move.note,
            edit=edited.one(Edit),
            siblings=move.siblings,
            simulator=self.simulator,
            interaction=self.world.interaction,
        )
        variant = verified.maybe(Item)
        self.progress.step(verified.one(Step))
        if variant is None:
            return decision, None, None, None
        self.gold_calls[variant.item_id] = verified.all(GoldCall)
        parent = self.generations[move.parent.item.item_id]
        self.generations.setdefault(variant.item_id, parent + 1)
        return decision, variant, *await self.measure(variant)

    async def measure(self, item: Item) -> tuple[Score, Note | None]:
        """Attempts an item and reads the attempts: its score, and a note for the edits that follow.

        None for the note in an arm that goes without.
        """
        solved = await self.attempts(item)
        scored = await score(
            self.bench,
            about=self.named(item),
            item_id=item.item_id,
            solver=self.plan.solver,
            attempts=solved.all(Attempt),
            measurement="search",
            completion=self.plan.completion,
            length_weight=self.plan.length_weight,
        )
        noted = ARMS[self.plan.search.arm].noted
        return scored.one(Score), await self.note(item, solved) if noted else None

    def named(self, item: Item) -> str:
        """What runs on an item are called in Prefect's UI: its id, and how many edits it is from its seed."""
        return f"{item.item_id} generation {self.generations[item.item_id]}"

    async def note(self, item: Item, solved: Loaded) -> Note:
        """What the feedback model reads from an item's attempts."""
        noted = await feedback(
            self.bench,
            about=self.named(item),
            item=item,
            attempts=solved.all(Attempt),
            turns=solved.all(Turn),
            measurement="search",
            spec=self.plan.feedback,
            interaction=self.world.interaction,
        )
        return noted.one(Note)

    async def attempts(self, item: Item) -> Loaded:
        """The solver's attempts on an item, made once and read as often as wanted."""
        return await solve(
            self.bench,
            about=self.named(item),
            item=item,
            solver=self.plan.solver,
            measurement="search",
            repeats=self.plan.repeats,
            limits=self.plan.limits,
            interaction=self.world.interaction,
            simulator=self.simulator,
            user=self.plan.party if self.world.interaction == "dialogue" else None,
        )

    async def selected(self, population: Population) -> list[Item]:
        """The variants of highest variance, seed by seed."""
        variants = population.variants()
        chosen = await select(
            self.bench,
            roots=[population.seed(member.island).item_id for member in variants],
            scores=[member.score for member in variants],
            repeats=self.plan.repeats,
        )
        names = {selection.item_id for selection in chosen.all(Selection)}
        return _distinct(member for member in variants if member.item.item_id in names)

    async def judged(self, items: Sequence[Item]) -> list[Item]:
        """The items that the judge finds valid."""
        self.progress.say(f"judging {len(items)} selected variants")

        async def verdict(item: Item) -> Verdict:
            made = await self.attempts(item)
            failures = _failed(made.all(Attempt))
            dialogue = self.world.interaction == "dialogue"
            found = await judge(
                self.bench,
                about=self.named(item),
                item=item,
                failures=failures,
                spec=self.plan.judge,
                repair_rounds=self.plan.repair_rounds,
                interaction=self.world.interaction,
                **({"turns": _turns_of(failures, made)} if dialogue else {}),
            )
            return found.one(Verdict)

        verdicts = await together(map(verdict, items))
        return [i for i, v in zip(items, verdicts, strict=True) if v.verdict == "valid"]

    async def labelled(self, item: Item) -> None:
        """Difficulty, features and failure reasons of an item and its failed attempts."""
        made = await self.attempts(item)
        failures = _failed(made.all(Attempt))
        await label(
            self.bench,
            about=self.named(item),
            item=item,
            gold_calls=self.gold_calls[item.item_id],
            failures=failures,
            turns=_turns_of(failures, made),
            spec=self.plan.labeller,
            repair_rounds=self.plan.repair_rounds,
            interaction=self.world.interaction,
        )


async def together(moves: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """The results of moves made at once, in order; the first that raises cancels the others."""
    running = [asyncio.create_task(move) for move in moves]
    try:
        return list(await asyncio.gather(*running))
    finally:
        await _cancel(running)


async def _cancel(running: Iterable[asyncio.Task[Any]]) -> None:
    left = [one for one in running if not one.done()]
    for one in left:
        one.cancel()
    await asyncio.gather(*left, return_exceptions=True)


def _failed(attempts: Sequence[Attempt]) -> list[Attempt]:
    return [attempt for attempt in attempts if attempt.outcome == "failed"]


def _turns_of(attempts: Sequence[Attempt], made: Loaded) -> list[Turn]:
    named = {attempt.attempt_id for attempt in attempts}
    return [turn for turn in made.all(Turn) if turn.attempt_id in named]


def _distinct(members: Iterable[Member]) -> list[Item]:
    return list({member.item.item_id: member.item for member in members}.values())
