"""Families of held-out items, read from the TOML files of `families/`, one file an app.

A family is an instruction and a gold with gaps for what the world holds. Its gold is `before` (reads, and
writes that others need) and `writes`, which do not depend on one another; a loop in a write runs over
`targets`. So a program with one write less, or with the writes turned round, is known to be wrong or
right without asking anybody. A gap `{{name}}` is a text in the instruction and a literal in a program.
"""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("families")

Swap = str | list[str]


@dataclass(frozen=True)
class Family:
    """What the items of one family have in common."""

    app: str
    """The file it stands in: an app, or "several_apps"."""
    name: str
    instruction: str
    draw: dict[str, Any]
    """Gap to a list of values, or to the column of the world (`world.read_world`) that has them."""
    entity: Swap
    """What a wrong entity changes: a gap that gets another value, or a text and its replacement."""
    value: Swap
    """What a wrong value changes, likewise."""
    before: str
    writes: tuple[str, ...]
    routes: tuple[str, ...]
    """Each reaches the end state of `writes` through other calls."""
    slips: tuple[str, ...]
    """Each is wrong in a way of its own, in the place of `writes`."""
    extra: str
    """A write that nobody asked for; the gap `{{other}}` has the value of the wrong entity."""
    answer: str
    """Expression of what the gold answers; empty where nothing is asked."""


def read_families() -> list[Family]:
    """All families, by file and by place in it.

    Raises:
        ValueError: a family lacks a field, or has one that none has.
    """
    return [family for path in sorted(FOLDER.glob("*.toml")) for family in read_file(path)]


def read_file(path: Path) -> list[Family]:
    """The families of one file; `opening` stands before the gold of each."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    opening = tables.pop("opening", "")
    return [read_family(path.stem, name, opening, table) for name, table in tables.items()]


def read_family(app: str, name: str, opening: str, table: dict[str, Any]) -> Family:
    """One family from its table. Raises ValueError as `read_families` does."""
    fields = {"routes": [], "slips": [], "answer": "", "before": "", "draw": {}} | table
    fields["before"] = opening + fields["before"]
    for several in ("writes", "routes", "slips"):
        fields[several] = tuple(fields[several])
    try:
        return Family(app=app, name=name, **fields)
    except TypeError as wrong:
        raise ValueError(f"{app}.toml: {name}: {wrong}") from wrong


def filled(text: str, values: dict[str, Any], literal: bool) -> str:
    """A text with its gaps filled, by Python literals where `literal`."""

    def fill(gap: re.Match) -> str:
        value = values[gap[1]]
        return repr(value) if literal else str(value)

    return re.sub(r"\{\{(\w+)\}\}", fill, text)
