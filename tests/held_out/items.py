"""Held-out items: every family on the worlds of several supervisors."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.held_out.families import Family, filled, read_families
from tests.held_out.mutants import Mutant, make_mutants
from tests.held_out.world import PREAMBLE, STARTS

World = dict[str, list]


@dataclass(frozen=True)
class HeldOutItem:
    """An item and the programs that are tried on it, the gold first."""

    name: str
    app: str
    """The app of its family's file."""
    start: str
    """The seed in whose state it starts."""
    instruction: str
    mutants: tuple[Mutant, ...]

    def crossing(self) -> dict[str, Any]:
        """The item as it crosses to the simulator."""
        return {
            "item_id": self.name,
            "start": self.start,
            "setup": None,
            "instruction": self.instruction,
            "gold": PREAMBLE + self.mutants[0].program,
            "grading": None,
        }


def make_items(worlds: dict[str, World], each: int) -> Iterator[HeldOutItem]:
    """`each` items of every family, on the worlds of as many supervisors in turn."""
    supervisors = list(STARTS)
    for place, family in enumerate(read_families()):
        for turn in range(each):
            supervisor = supervisors[(place + turn) % len(supervisors)]
            yield make_item(family, supervisor, worlds[supervisor])


def make_item(family: Family, supervisor: str, world: World) -> HeldOutItem:
    """An item of a family: draws what fills its gaps from a supervisor's world, the same every time.

    Raises:
        ValueError: the world holds too little for the family.
    """
    rng = Random(f"{family.name} {supervisor}")
    values: dict[str, Any] = {}
    others: dict[str, Any] = {}
    taken: list[Any] = []
    for gap, source in family.draw.items():
        choices = world[source] if isinstance(source, str) else source
        free = [value for value in choices if value not in taken]
        if len(free) < 2:
            raise ValueError(f"{family.name}: the world of {supervisor} holds too little {source}")
        values[gap], others[gap] = rng.sample(free, 2)
        taken += [values[gap], others[gap]] if isinstance(source, str) else []
    return HeldOutItem(
        name=f"{family.app}-{family.name}-{supervisor}".lower(),
        app=family.app,
        start=STARTS[supervisor],
        instruction=filled(family.instruction, values, literal=False),
        mutants=tuple(make_mutants(family, values, others)),
    )
