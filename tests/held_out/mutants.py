"""Programs on a held-out item of which it is known, by how they were made, whether they are right.

What a program did is seen by the calls that wrote, as the simulator's log has them; the grade has no part
in it. `flaw` compares them with the gold's, so that no mutant counts that does what the gold does.
"""

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.held_out.families import Family, Swap, filled

KINDS = {
    "gold": True,
    "reordered": True,
    "other_route": True,
    "do_nothing": False,
    "missing": False,
    "extra": False,
    "wrong_entity": False,
    "wrong_value": False,
    "slip": False,
}
"""Each kind of program, and whether a fair grade lets it pass."""

LOOP = re.compile(r"in targets:")


@dataclass(frozen=True)
class Mutant:
    """A program on an item; the gold is one."""

    kind: str
    """Key of KINDS."""
    program: str
    """Complete but for the preamble of every gold."""

    @property
    def is_right(self) -> bool:
        """Whether it does what the instruction asks for."""
        return KINDS[self.kind]


def make_mutants(family: Family, values: dict[str, Any], others: dict[str, Any]) -> list[Mutant]:
    """All programs on an item: `values` fill the gaps, `others` are what a wrong program puts there."""
    values = values | {"other": others.get(named(family.entity))}
    writes = list(family.writes)

    def program(writes: list[str], values: dict[str, Any] = values, swap: Swap = "") -> str:
        text = "\n".join([family.before, *writes])
        answer = f"answer={family.answer}" if family.answer else ""
        text += f"\napis.supervisor.complete_task({answer})\n"
        if isinstance(swap, list):
            text = replaced(text, swap, family.name)
        return filled(text, values, literal=True)

    def swapped(swap: Swap) -> str:
        changed = {} if isinstance(swap, list) else {swap: others[swap]}
        return program(writes, values | changed, swap)

    return [
        Mutant("gold", program(writes)),
        Mutant("do_nothing", "apis.supervisor.complete_task()\n"),
        *(Mutant("reordered", program(turned(writes))) for _ in range(can_turn(writes))),
        *(Mutant("other_route", program([route])) for route in family.routes),
        *(Mutant("missing", program(fewer)) for fewer in one_less(writes)),
        Mutant("extra", program([*writes, family.extra])),
        Mutant("wrong_entity", swapped(family.entity)),
        Mutant("wrong_value", swapped(family.value)),
        *(Mutant("slip", program([slip])) for slip in family.slips),
    ]


def named(swap: Swap) -> str | None:
    """The gap that a swap is about; None where it is about a text."""
    return None if isinstance(swap, list) else swap


def replaced(text: str, swap: list[str], where: str) -> str:
    """A program with one text replaced. Raises ValueError where it does not stand there just once."""
    old, new = swap
    if text.count(old) != 1:
        raise ValueError(
            f"{where}: {old!r} stands {text.count(old)} times in the program, not once"
        )
    return text.replace(old, new)


def can_turn(writes: list[str]) -> bool:
    """Whether there is an order to turn round."""
    return len(writes) > 1 or any(LOOP.search(write) for write in writes)


def turned(writes: list[str]) -> list[str]:
    """The writes in the opposite order, their loops too."""
    return [LOOP.sub("in targets[::-1]:", write) for write in reversed(writes)]


def one_less(writes: list[str]) -> list[list[str]]:
    """The writes without one of them: the last, where there are several; and without a loop's last turn."""
    found = [writes[:-1]] if len(writes) > 1 else []
    shorter = [LOOP.sub("in targets[:-1]:", write) for write in writes]
    return found + ([shorter] if shorter != writes else [])


def flaw(mutant: Mutant, calls: list[dict], gold_calls: list[dict]) -> str | None:
    """What keeps a run from being what its kind says, by the calls that wrote; None where nothing does.

    `calls` are the protocol's. An API that answers the item counts as a write.
    """
    done, wanted = writing(calls), writing(gold_calls)
    done_apis, wanted_apis = (Counter(api for api, _ in writes) for writes in (done, wanted))
    if mutant.kind == "reordered":
        is_sound = done_apis == wanted_apis and done != wanted
    elif mutant.kind == "extra":
        is_sound = Counter(wanted) < Counter(done) or wanted_apis < done_apis
    elif mutant.kind == "missing":
        is_sound = done_apis < wanted_apis
    elif mutant.kind == "gold":
        is_sound = done == wanted
    elif mutant.kind == "slip":  # the order alone can be what is wrong
        is_sound = done != wanted
    else:
        is_sound = Counter(done) != Counter(wanted)
    return None if is_sound else f"writes {done}, the gold {wanted}"


def writing(calls: list[dict]) -> list[tuple[str, str]]:
    """The calls that changed the state or answered, each as API and arguments."""
    return [
        (f"{call['app']}.{call['api']}", json.dumps(call["arguments"], sort_keys=True))
        for call in calls
        if call["ok"] and (call["wrote"] or call["api"] == "complete_task")
    ]
