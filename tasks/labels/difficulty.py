"""How difficult an item is, from its gold alone: what it must touch, and what must be thought of.

Blind to how solvers fared and to where the item came from. Thresholds as in labels.toml.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks.golds.api_trace import answer_of, apis_of, depth, work_calls
from tasks.golds.operations import operations
from tasks.golds.program import read_program
from tasks.labels.features import ambiguous_mentions, links_of
from tasks.suites.base import Call


@dataclass(frozen=True)
class Difficulty:
    """An item's difficulty, each part 1 (easy) to 3 (hard)."""

    interaction: int
    reasoning: int
    difficulty: int


def difficulty(
    instruction: str, gold: str, calls: Sequence[Call], interaction: str = "code"
) -> Difficulty:
    """The difficulty of an item, from its gold's trace without auth, docs and paging calls.

    Args:
        instruction: the item's text.
        gold: its gold; a Python program when `interaction` is "code". For other suites `reasoning`
            counts what the trace shows and is a lower bound.
        calls: the trace of the gold's run, outputs included.
        interaction: how the suite is acted in: "code", "tools" or "dialogue".

    Raises:
        SyntaxError: `interaction` is "code" and the gold is no Python.
    """
    program = read_program(gold) if interaction == "code" else None
    work = work_calls(calls)
    apis = apis_of(work)
    apps = {app for app, _ in apis}
    links = links_of(instruction, program, work)
    reach = interaction_level(len(apps), len(apis), depth(len(work), links))
    # F9 adds nothing of its own: what keeps something out is one of the operations already.
    count = len(operations(instruction, program, work, answer_of(calls)))
    thought = reasoning_level(count + len(ambiguous_mentions(instruction, work)))
    return Difficulty(reach, thought, total_level(reach, thought))


def interaction_level(apps: int, apis: int, dependency_depth: int) -> int:
    """1-3 from the number of apps, of distinct APIs, and of calls in the longest dependent chain."""
    if apps >= 3 or (apis >= 8 and dependency_depth >= 4):
        return 3
    return 1 if apps <= 1 and apis <= 3 else 2


def reasoning_level(count: int) -> int:
    """1-3 from the number of F4-F9 operations."""
    return 1 if count <= 1 else 2 if count <= 3 else 3


def total_level(interaction: int, reasoning: int) -> int:
    """1-3 from both levels."""
    total = interaction + reasoning
    return 1 if total <= 3 else 2 if total == 4 else 3
