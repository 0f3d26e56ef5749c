"""The evolved items of the attack panel, read from the TOML files of this folder.

A file holds `parent` (a seed), `instruction`, `gold` (without preamble and without the closing call), and two
groups of attacks: those that reach the gold's end state by other ways and must pass, and those that
must fail. An attack is a whole `program`, or the gold with some texts replaced and some code appended.
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent
COMPLETE = "apis.supervisor.complete_task()\n"


@dataclass(frozen=True)
class EvolvedItem:
    """An item and programs that attack its grade."""

    name: str
    """Lower-case letters; the task id of stock AppWorld is this and "_1"."""
    parent: str
    """Name of the seed whose start state the item has."""
    instruction: str
    gold: str
    """Complete program, preamble and closing call included."""
    expects_answer: bool
    attacks: dict[str, str]
    """Complete programs by name, the gold and doing nothing among them."""
    passing: frozenset[str]
    """Names of the attacks that must pass; all others must fail."""


@cache
def read_items() -> tuple[EvolvedItem, ...]:
    """All items of this folder, by name."""
    return tuple(read_item(path) for path in sorted(FOLDER.glob("*.toml")))


def read_item(path: Path) -> EvolvedItem:
    """Read one file; raises ValueError when a text to replace does not stand in the gold exactly once."""
    data = tomllib.loads(path.read_text())
    attacks = {"gold": data["gold"], "do_nothing": ""}
    for name, attack in {**data["pass"], **data["fail"]}.items():
        attacks[name] = altered(data["gold"], attack, f"{path.name}: {name}")
    preamble = (FOLDER / "preamble.txt").read_text()
    programs = {name: f"{preamble}{body.strip()}\n\n{COMPLETE}" for name, body in attacks.items()}
    passing = frozenset({"gold", *data["pass"]})
    return EvolvedItem(
        path.stem, data["parent"], data["instruction"], programs["gold"], False, programs, passing
    )


def altered(gold: str, attack: dict, where: str) -> str:
    """The program of an attack, without preamble and closing call."""
    body = attack.get("program", gold)
    for old, new in attack.get("replace", []):
        if body.count(old) != 1:
            raise ValueError(
                f"{where}: {old!r} stands {body.count(old)} times in the program, not once"
            )
        body = body.replace(old, new)
    return body + attack.get("append", "")
