"""Why an attempt failed, R1-R6 of labels.toml, from its state difference and how it ended.

A missing and an unexpected effect on one table, both of one kind (rows added, removed or changed), are one
thing done wrongly and make a pair; what is left over was not done, or done unasked. The likest are paired
first: changes of one row, then rows that share most of their references and content.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks.errors import AttemptCause
from tasks.golds import stated
from tasks.labels import definitions
from tasks.suites.base import AnswerDifference, Difference, Effect
from warehouse.records import Attempt

FAILURE_REASONS = tuple(one.id for one in definitions.REASONS)
"""R1-R6."""

_COMPLETED = frozenset({AttemptCause.WRONG_STATE, AttemptCause.WRONG_ANSWER})
"""Causes of an attempt that declared the item complete; every other one ended before that."""

_NOT_GIVEN = frozenset({"", "none", "null", "<<not_given>>"})
_CENT = 0.005
"""Sums of money closer than this are equal."""


def failure_reasons(
    attempt: Attempt, difference: Difference | None, last_observation_error: bool
) -> frozenset[str]:
    """The reasons that hold for a failed attempt; empty for one that is solved or unscored.

    Args:
        attempt: the attempt; its cause says how it ended.
        difference: what separates its final state from the gold's; None counts as no difference known.
        last_observation_error: the last thing it saw was an error of an API or of its own code.
    """
    if attempt.outcome != "failed":
        return frozenset()
    completed = attempt.cause in _COMPLETED
    found: set[str] = set()
    if difference is not None:
        found |= _state_reasons(difference)
        if difference.answer is not None:
            found.add(_answer_reason(difference.answer))
    # R5: the work stopped at an error. After a completion an error came too late to matter.
    if last_observation_error and not completed:
        found.add("R5")
    # R6: any limit, giving up, or doing nothing: the item was not declared complete.
    if not completed:
        found.add("R6")
    return frozenset(found)


def _state_reasons(difference: Difference) -> set[str]:
    pairs, missing, unexpected = _pair(difference.missing, difference.unexpected)
    primary = [pair for pair in pairs if not _is_consequence(pair, pairs, missing, unexpected)]
    found = {"R1" if pair.other_entity else "R2" for pair in primary}
    # R4: something was done that no missing effect explains.
    if unexpected:
        found.add("R4")
    # R3: something is missing, and nothing wrong was done, here or elsewhere.
    if missing and not found:
        found.add("R3")
    return found


def _answer_reason(answer: AnswerDifference) -> str:
    """R6 for an answer that is absent or ill-formed, R2 for a wrong or uncalled-for one.

    Ill-formed is a text where a number is due, and a right text with more around it.
    """
    given, expected = str(answer.given).strip().casefold(), answer.expected
    if given in _NOT_GIVEN:
        return "R6"
    if stated.as_number(expected) is not None:
        return "R2" if stated.as_number(answer.given) is not None else "R6"
    if expected is None:
        return "R2"
    wanted = " ".join(stated.words(str(expected)))
    return "R6" if wanted and f" {wanted} " in f" {' '.join(stated.words(given))} " else "R2"


@dataclass(frozen=True)
class _Pair:
    missing: Effect
    unexpected: Effect

    @property
    def other_entity(self) -> bool:
        """R1: another row was changed or removed, or what was added points elsewhere."""
        if self.missing.change != "added":
            return self.missing.row != self.unexpected.row
        return any(
            self.missing.content.get(name) != self.unexpected.content.get(name)
            for name in {*self.missing.references, *self.unexpected.references}
        )

    @property
    def likeness(self) -> tuple[int, int, int]:
        """Higher is liker: the same row, then shared references, then shared content."""
        same_row = self.missing.row is not None and self.missing.row == self.unexpected.row
        references = {*self.missing.references, *self.unexpected.references}
        return int(same_row), self._shared(references), self._shared({*self.missing.content})

    def _shared(self, names: set[str]) -> int:
        ours, theirs = self.missing.content, self.unexpected.content
        return sum(n in ours and n in theirs and ours[n] == theirs[n] for n in names)


def _pair(
    missing: Sequence[Effect], unexpected: Sequence[Effect]
) -> tuple[list[_Pair], list[Effect], list[Effect]]:
    """Pairs of one table and one kind of change, likest first, and what is left over of both."""
    possible = [
        (_Pair(lacking, extra), m, u)
        for m, lacking in enumerate(missing)
        for u, extra in enumerate(unexpected)
        if (lacking.app, lacking.table, lacking.change) == (extra.app, extra.table, extra.change)
    ]
    pairs, used_missing, used_unexpected = [], set(), set()
    for pair, m, u in sorted(possible, key=lambda one: one[0].likeness, reverse=True):
        if m not in used_missing and u not in used_unexpected:
            pairs.append(pair)
            used_missing.add(m)
            used_unexpected.add(u)
    return (
        pairs,
        [effect for m, effect in enumerate(missing) if m not in used_missing],
        [effect for u, effect in enumerate(unexpected) if u not in used_unexpected],
    )


def _is_consequence(
    pair: _Pair, pairs: Sequence[_Pair], missing: Sequence[Effect], unexpected: Sequence[Effect]
) -> bool:
    """True for a running total that is off only because other effects are.

    A payment left out leaves its payer's balance different too; that balance was not set wrongly. So a pair
    on one row that differs in numbers alone is no reason of its own when the gap is what the other
    effects of some table add up to: their number, or the sum of one of their fields.
    """
    ours, theirs = pair.missing, pair.unexpected
    if ours.change != "changed" or ours.row != theirs.row or {*ours.content} != {*theirs.content}:
        return False
    fields = [name for name in ours.content if ours.content[name] != theirs.content[name]]
    gaps = [_gap(ours.content[name], theirs.content[name]) for name in fields]
    others = [one for one in pairs if one.missing.change != "changed"]
    sums = _sums(
        [*missing, *(one.missing for one in others)],
        [*unexpected, *(one.unexpected for one in others)],
    )
    return bool(gaps) and all(
        gap is not None and any(abs(gap - total) < _CENT for total in sums) for gap in gaps
    )


def _gap(ours: Any, theirs: Any) -> float | None:
    """Distance of two numbers; None where one of them is none."""
    numbers = [one for one in (ours, theirs) if isinstance(one, int | float)]
    is_number = len(numbers) == 2 and not any(isinstance(one, bool) for one in numbers)
    return abs(numbers[0] - numbers[1]) if is_number else None


def _sums(missing: Sequence[Effect], unexpected: Sequence[Effect]) -> set[float]:
    """By how much rows added or removed differ, table by table: in number and in each number field."""
    totals: dict[tuple[str, str, str], float] = {}
    for sign, effects in ((1, missing), (-1, unexpected)):
        for effect in effects:
            if effect.change == "changed":
                continue
            values = effect.content or effect.before
            for name, value in {**values, "": 1}.items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    key = (effect.app, effect.table, name)
                    totals[key] = totals.get(key, 0.0) + sign * value
    return {abs(total) for total in totals.values() if total}
