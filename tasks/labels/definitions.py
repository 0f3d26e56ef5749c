"""The labels that we give, as tasks/labels/labels.toml defines them."""

import tomllib
from importlib.resources import files
from typing import Literal

from warehouse.records import Record


class Definition(Record):
    """One label."""

    id: str
    """What labels.name holds in the warehouse: "F1", "R1", "reasoning"."""
    name: str
    """For tables and people."""
    holds_when: str
    by: Literal["code", "code+judge", "judge+code"]
    """Who decides; the first one named has the greater part."""


def _read(kind: str) -> tuple[Definition, ...]:
    text = (files("tasks.labels") / "labels.toml").read_text(encoding="utf-8")
    return tuple(Definition(**entry) for entry in tomllib.loads(text)[kind])


DIFFICULTY = _read("difficulty")
"""The two parts of an item's difficulty, and their sum's level."""

FEATURES = _read("feature")
"""Features of an item, F1-F10."""

REASONS = _read("failure_reason")
"""Why an attempt failed, R1-R6."""
