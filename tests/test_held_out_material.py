"""The material of the held-out benchmark, as far as it can be looked at without a simulator."""

import ast
from collections import Counter

import pytest

from tests.held_out.families import Family, read_families
from tests.held_out.mutants import KINDS, Mutant, flaw, make_mutants

FAMILIES = read_families()


def mutants_of(family: Family) -> list[Mutant]:
    """A family's programs, with names for what the world would fill in."""
    listed = {gap: values for gap, values in family.draw.items() if isinstance(values, list)}
    named = {gap: [f"this {gap}", f"that {gap}"] for gap in family.draw.keys() - listed.keys()}
    choices = listed | named
    values = {gap: choices[gap][0] for gap in choices}
    return make_mutants(family, values, {gap: choices[gap][1] for gap in choices})


def test_every_app_has_its_families() -> None:
    assert set(Counter(family.app for family in FAMILIES).values()) == {5}
    assert len({family.app for family in FAMILIES}) == 10  # nine apps, and several at once


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: f"{family.app}-{family.name}")
def test_every_program_parses_and_is_unlike_the_gold(family: Family) -> None:
    gold, *others = mutants_of(family)
    for mutant in (gold, *others):
        ast.parse(mutant.program)
        assert "{{" not in mutant.program
    assert gold.program not in {mutant.program for mutant in others}
    assert {mutant.kind for mutant in others} >= KINDS.keys() - {"gold", "reordered", "missing"}


PAY, TEXT = ("venmo", "pay", {"amount": 5}), ("phone", "text", {"message": "x"})


def calls(*made: tuple[str, str, dict]) -> list[dict]:
    """Calls that wrote, as the simulator logs them."""
    return [
        {"app": app, "api": api, "arguments": arguments, "ok": True, "wrote": True}
        for app, api, arguments in made
    ]


@pytest.mark.parametrize(
    ("kind", "made", "is_sound"),
    [
        ("gold", (PAY, TEXT), True),
        ("gold", (PAY,), False),
        ("reordered", (TEXT, PAY), True),
        ("reordered", (PAY, TEXT), False),
        ("missing", (TEXT,), True),
        ("missing", (PAY, TEXT), False),
        ("extra", (PAY, TEXT, PAY), True),
        ("extra", (PAY, TEXT), False),
        ("wrong_value", (("venmo", "pay", {"amount": 6}), TEXT), True),
        ("wrong_value", (PAY, TEXT), False),
        ("wrong_entity", (TEXT, PAY), False),
        ("slip", (TEXT, PAY), True),
        ("slip", (PAY, TEXT), False),
    ],
)
def test_a_mutant_that_does_what_the_gold_does_is_told(
    kind: str, made: tuple, is_sound: bool
) -> None:
    found = flaw(Mutant(kind, ""), calls(*made), calls(PAY, TEXT))
    assert (found is None) == is_sound
