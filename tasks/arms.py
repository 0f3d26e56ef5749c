"""The arms of a comparison: what a search may build on when it makes its next edit.

Each arm takes one thing away from the full evolution, and everything else is the same: seeds, direction by
the parent's completion rate, verification, solver, repeats, selection and judge. So what an arm yields
less at equal attempts is what the thing taken away was worth.
"""

from dataclasses import dataclass
from typing import Literal

ArmName = Literal["iid", "sequential", "no_notes", "full"]


@dataclass(frozen=True)
class Arm:
    """What an edit is conditioned on."""

    parent: Literal["seed", "best", "weighted"]
    """Which member of an island is edited: the seed itself, the one of best score so far, or one drawn by
    score and use."""
    inspired: bool
    """Items of other islands are shown to the proposer."""
    noted: bool
    """A note on the parent's attempts is written, and shown to the proposer."""


ARMS: dict[ArmName, Arm] = {
    "iid": Arm(parent="seed", inspired=False, noted=False),
    "sequential": Arm(parent="best", inspired=False, noted=False),
    "no_notes": Arm(parent="weighted", inspired=True, noted=False),
    "full": Arm(parent="weighted", inspired=True, noted=True),
}
"""Independent edits of the seed; edits of the best so far; evolution without notes; evolution."""
