"""Trials of the generated grade: every program of held-out items in the real simulator, and a table."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.held_out.items import HeldOutItem
from tests.held_out.mutants import KINDS, Mutant, flaw
from tests.held_out.world import PREAMBLE
from tests.simulator.running import RunningSimulator, cell, result

TIMEOUT_S = 300


@dataclass(frozen=True)
class Trial:
    """One program's run and its grade."""

    item: HeldOutItem
    mutant: Mutant
    solved: bool
    """The grade."""
    difference: dict[str, Any]
    """What the grade blames, as the protocol's Difference."""
    flaw: str | None
    """What keeps the program from being what its kind says; None where nothing does."""

    @property
    def is_false_accept(self) -> bool:
        """Whether a wrong program passed."""
        return self.solved and not self.mutant.is_right

    @property
    def is_false_reject(self) -> bool:
        """Whether a right program failed."""
        return self.mutant.is_right and not self.solved


def try_items(simulator: RunningSimulator, items: Iterable[HeldOutItem]) -> Iterator[Trial]:
    """All programs of each item, each in a session of its own; those of one item run at once."""
    for item in items:
        opening = {"item": item.crossing(), "rng_seed": 0}
        first = simulator.ask("open", **opening)["session"]  # makes the item
        rest = simulator.ask_all([("open", opening)] * (len(item.mutants) - 1))
        sessions = [first, *(result(answer)["session"] for answer in rest)]
        acts = [
            ("act", {"session": session, "action": cell(PREAMBLE + mutant.program)})
            for session, mutant in zip(sessions, item.mutants, strict=True)
        ]
        acts = [(method, params | {"timeout_s": TIMEOUT_S}) for method, params in acts]
        seen = [result(answer) for answer in simulator.ask_all(acts)]
        ends = simulator.ask_all([("finish", {"session": session}) for session in sessions])
        yield from judged(item, seen, [result(answer) for answer in ends])


def judged(item: HeldOutItem, seen: list[dict], outcomes: list[dict]) -> Iterator[Trial]:
    """The trials of an item from the observations and the grades of its programs."""
    gold_calls = seen[0]["calls"]
    for mutant, run, outcome in zip(item.mutants, seen, outcomes, strict=True):
        wrong = run["text"] if run["error"] else flaw(mutant, run["calls"], gold_calls)
        yield Trial(item, mutant, outcome["solved"], outcome["difference"], wrong)


def misses(trials: Iterable[Trial]) -> list[str]:
    """Every trial that was graded wrong, or whose program is not what it should be, in one line each."""
    found = []
    for trial in trials:
        name = f"{trial.item.name} {trial.mutant.kind}"
        if trial.flaw is not None:
            found.append(f"{name}: flawed mutant: {trial.flaw}")
        elif trial.is_false_accept or trial.is_false_reject:
            miss = "false accept" if trial.is_false_accept else "false reject"
            found.append(f"{name}: {miss}: {trial.difference}")
    return found


def table(trials: list[Trial]) -> str:
    """False accepts and false rejects by kind of program and by app, as shares of what could be so."""
    lines = []
    for title, key, order in (
        ("program", lambda trial: trial.mutant.kind, list(KINDS)),
        ("app", lambda trial: trial.item.app, sorted({trial.item.app for trial in trials})),
        ("", lambda trial: "all", ["all"]),
    ):
        lines.append(
            f"{title:<14}{'items':>6}{'wrong':>7}{'accepted':>16}{'right':>8}{'rejected':>16}"
        )
        lines += [line(name, rows) for name, rows in grouped(trials, key, order)]
        lines.append("")
    return "\n".join(lines)


def grouped(
    trials: list[Trial], key: Callable[[Trial], str], order: list[str]
) -> Iterator[tuple[str, list[Trial]]]:
    """The trials by key, in the order given."""
    groups: dict[str, list[Trial]] = defaultdict(list)
    for trial in trials:
        groups[key(trial)].append(trial)
    return ((name, groups[name]) for name in order if groups[name])


def line(name: str, trials: list[Trial]) -> str:
    """One line of the table."""
    right = sum(trial.mutant.is_right for trial in trials)
    wrong = len(trials) - right
    items = len({trial.item.name for trial in trials})
    accepted = share(sum(trial.is_false_accept for trial in trials), wrong)
    rejected = share(sum(trial.is_false_reject for trial in trials), right)
    return f"{name:<14}{items:>6}{wrong:>7}{accepted:>16}{right:>8}{rejected:>16}"


def share(count: int, total: int) -> str:
    """A count and its share of a total; a dash where there is no total."""
    return f"{count} ({count / total:.2%})" if total else "-"
