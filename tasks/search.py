"""The search: a population with an island for each seed, and what to edit next.

AlphaEvolve-style and gradient-free. Every decision is drawn from `random.Random` over the plan's rng_seed
and the step, from a population that holds the results of steps up to k - W only, in step order (design.md
D6): timing never enters. A decision names nodes, not items, and is logged in the spool before it is acted
on, so a killed search goes on as it was.
"""

import random
from dataclasses import dataclass

from tasks.arms import ARMS
from tasks.plan import Plan
from tasks.spool import Unit
from tasks.workbench import Workbench
from warehouse.records import Decision, Direction, Item, Note, Score


@dataclass(frozen=True)
class Member:
    """An item of the population with what was measured of it."""

    node: int
    """-1 - island for a seed, the step's number for a variant."""
    island: int
    """0-based number of the root seed among those searched."""
    item: Item
    score: Score
    note: Note | None


@dataclass(frozen=True)
class Move:
    """A decision with the items that it names, as they were when it was taken."""

    decision: Decision
    root: Item
    parent: Member
    note: Note | None
    """The parent's note, where the arm shows it."""
    inspirations: tuple[Item, ...]
    siblings: tuple[Item, ...]
    """The other items of the parent's island."""


class Population:
    """All members so far. Seeds first, then the results of steps, strictly in step order."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._arm = ARMS[plan.search.arm]
        self._members: dict[int, Member] = {}
        self._parent_of_node: dict[int, int] = {}
        self._children: dict[int, int] = {}
        self.islands = 0

    def add_seed(self, item: Item, score: Score, note: Note | None) -> None:
        """Opens an island with a measured seed."""
        node = -1 - self.islands
        self._members[node] = Member(node, self.islands, item, score, note)
        self.islands += 1

    def add(
        self, decision: Decision, item: Item | None, score: Score | None, note: Note | None
    ) -> None:
        """Takes in what a step came to; item and score are None for a rejected edit."""
        if item is None or score is None or self._holds(decision.island, item):
            return
        self._members[decision.step] = Member(decision.step, decision.island, item, score, note)

    def announce(self, decision: Decision) -> None:
        """Counts a decision that is under way, so that the next ones spread over other parents."""
        self._parent_of_node[decision.step] = decision.parent_node
        self._children[decision.parent_node] = self._children.get(decision.parent_node, 0) + 1

    def member(self, node: int) -> Member:
        """The member at a node; where a step yielded none, the nearest ancestor that is one."""
        while node not in self._members:
            node = self._parent_of_node[node]
        return self._members[node]

    def move(self, decision: Decision) -> Move:
        """Looks up what a decision names. Do it before the population grows on."""
        parent = self.member(decision.parent_node)
        return Move(
            decision=decision,
            root=self.seed(decision.island),
            parent=parent,
            note=parent.note if self._arm.noted else None,
            inspirations=tuple(self.member(node).item for node in decision.inspiration_nodes),
            siblings=tuple(
                member.item for member in self.island(decision.island) if member != parent
            ),
        )

    def island(self, number: int) -> list[Member]:
        """Members of one island: the seed first, then variants in step order."""
        return [member for member in self._members.values() if member.island == number]

    def seed(self, number: int) -> Item:
        """The seed of an island."""
        return self._members[-1 - number].item

    def variants(self) -> list[Member]:
        """All members that are no seeds, in step order."""
        return [member for member in self._members.values() if member.node >= 0]

    def _holds(self, island: int, item: Item) -> bool:
        return any(member.item.item_id == item.item_id for member in self.island(island))

    def choose(self, campaign: str, step: int) -> Decision:
        """Draws the next edit: island in turn, parent by weight, inspirations from other islands.

        What the arm withholds is not drawn.
        """
        rng = random.Random(f"{self._plan.rng_seed}/{step}")
        number = step % self.islands
        members = self.island(number)
        weights = self.weights(members)
        parent = rng.choices(members, weights)[0]
        return Decision(
            campaign=campaign,
            step=step,
            island=number,
            parent_node=parent.node,
            inspiration_nodes=tuple(self._inspirations(rng, number) if self._arm.inspired else ()),
            direction=direction(self._plan, parent.score),
            parent_weight=weights[members.index(parent)] / sum(weights),
        )

    def weights(self, members: list[Member]) -> list[float]:
        """Weights by which the arm draws a parent among an island's members, the seed first."""
        if self._arm.parent == "weighted":
            return self._by_score_and_use(members)
        chosen = members[0] if self._arm.parent == "seed" else self._best(members)
        return [float(member is chosen) for member in members]

    def _best(self, members: list[Member]) -> Member:
        """The member of highest score above the gate; of equals the latest, so that the line goes on.

        The seed where no member was solved.
        """
        above = [member for member in members if member.score.gate]
        return max(above or members[:1], key=lambda m: (self._fitness(m), m.node))

    def _fitness(self, member: Member) -> float:
        return getattr(member.score, self._plan.score) or 0.0

    def _by_score_and_use(self, members: list[Member]) -> list[float]:
        """(share of the island's best score + exploration)^2 / (1 + children).

        A member below the gate takes a small fixed share: it may be a parent, at low weight.
        """
        policy = self._plan.search
        fitness = [self._fitness(member) for member in members]
        best = max((f for f, m in zip(fitness, members, strict=True) if m.score.gate), default=0.0)
        return [
            (
                (f / best if m.score.gate and best > 0 else policy.below_gate_weight)
                + policy.exploration
            )
            ** 2
            / (1 + self._children.get(m.node, 0))
            for f, m in zip(fitness, members, strict=True)
        ]

    def _inspirations(self, rng: random.Random, number: int) -> list[int]:
        """Nodes from distinct other islands, each drawn by weight there."""
        others = [island for island in range(self.islands) if island != number]
        chosen = rng.sample(others, min(self._plan.search.inspirations, len(others)))
        drawn = []
        for island in chosen:
            members = self.island(island)
            drawn.append(rng.choices(members, self.weights(members))[0].node)
        return drawn


async def decide(bench: Workbench, population: Population, step: int) -> Move:
    """The step's move: by the decision in the log, or by a new one, logged before it is returned."""

    async def work(unit: Unit) -> None:
        unit.add(population.choose(bench.campaign, step))

    unit = await bench.spool.once("decisions", f"{step:06d}", work)
    decision = bench.load((unit,)).one(Decision)
    population.announce(decision)
    return population.move(decision)


def direction(plan: Plan, score: Score) -> Direction:
    """Where to move the parent: towards a completion rate in the middle (design.md D6a).

    An unmeasured parent (no scored attempt) is moved sideways.
    """
    c = score.completion_rate
    if c is None:
        return "sideways"
    if c > plan.search.harder_above:
        return "harder"
    return "easier" if c < plan.search.easier_below else "sideways"
