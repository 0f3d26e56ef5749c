"""The operations of a gold that ask for reasoning, each with the features (F4-F7) that it shows.

One operation may show several features and counts once: a filter by date that decides who is written to is a
condition, a filter and a comparison of dates, yet one thing to think of.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks.golds import stated
from tasks.golds.api_trace import WorkCall, scalars
from tasks.golds.known_values import DATE_FIELD, FINISH, READING_PREFIXES, Api, Operation
from tasks.golds.program import Program

_ISO_DATE = re.compile(r"^\d{4}-(\d\d)-(\d\d)")
_PLACE = re.compile(r"(^|_)(ids?|path|email\w*|phone_number|query|relationship|name|sort_by)$")
"""Arguments of a reading call that say where or for whom to look."""


@dataclass(frozen=True)
class Shown:
    """One operation of a gold with what it shows."""

    features: frozenset[str]
    """Of F4, F5, F6, F7."""
    excludes: bool
    """It keeps what does not match."""


def operations(
    instruction: str, program: Program | None, work: Sequence[WorkCall], answer: Any
) -> list[Shown]:
    """The operations on which a write or the answer depends.

    Args:
        instruction: the item's text.
        program: the gold read as a program; None where the gold is a list of actions.
        work: the gold's calls, from `work_calls`.
        answer: what the gold answered; None for nothing.

    Returns:
        What the program's text shows; one for each API that was asked for a part of its list only (F5,
        and F7 where it compares dates); and one more where only the trace shows that a number was worked
        out (F6: it is written or answered and stands nowhere before) or a date (F7: it is written and
        neither stated nor read).
    """
    shown = _of_program(program, work) if program is not None else []
    shown += _of_narrowed_lists(work)
    features = {feature for one in shown for feature in one.features}
    if "F6" not in features and _computes_number(instruction, work, answer):
        shown.append(Shown(frozenset({"F6"}), False))
    if "F7" not in features and _computes_date(instruction, work):
        shown.append(Shown(frozenset({"F7"}), False))
    return shown


def _of_program(program: Program, work: Sequence[WorkCall]) -> list[Shown]:
    wrote = {call.api for call in work if call.wrote}
    called = {call.api for call in work}

    def writes(api: Api) -> bool:
        """The trace says so; of a call that was never made, its name."""
        if api in called or api == FINISH:
            return api in wrote
        return not api[1].startswith(READING_PREFIXES)

    guarding = program.guarding(writes)
    found = []
    for one in sorted(program.used(writes), key=lambda one: (one.position, one.kind)):
        features = _features_of(one, one in guarding)
        if features:
            found.append(Shown(features, one.excludes))
    return found


def _features_of(one: Operation, guards_write: bool) -> frozenset[str]:
    features = {"selection": {"F5"}, "superlative": {"F5"}, "arithmetic": {"F6"}, "date": {"F7"}}
    found = set(features.get(one.kind, ()))
    if guards_write:
        found.add("F4")
    if one.dates:
        found.add("F7")
    return frozenset(found)


def _computes_number(instruction: str, work: Sequence[WorkCall], answer: Any) -> bool:
    """F6 by value. 0 and 1 are left out: switches and defaults."""
    known = stated.numbers(instruction) | {0.0, 1.0}
    for call in work:
        if call.wrote:
            for name, value in scalars(call.arguments):
                is_reference = name == "id" or name.endswith(("_id", "_ids"))
                number = None if isinstance(value, str) else stated.as_number(value)
                if number is not None and not is_reference and abs(number) not in known:
                    return True
        known |= _numbers_in(call.output)
    number = stated.as_number(answer)
    return number is not None and abs(number) not in known


def _numbers_in(output: Any) -> set[float]:
    """The numbers that an output holds, also those inside of texts; parts of dates are none."""
    found: set[float] = set()
    for _, value in scalars(output):
        number = stated.as_number(value)
        if number is not None:
            found.add(abs(number))
        elif isinstance(value, str) and not _ISO_DATE.match(value):
            found |= stated.numbers(value)
    return found


def _of_narrowed_lists(work: Sequence[WorkCall]) -> list[Shown]:
    """One operation for each API that was asked for those rows only that are so and so.

    What only says where to look or whom to look for (ids, paths, addresses, a search text, a relation) is no
    filter.
    """
    narrowed: dict[Api, set[str]] = {}
    for call in work:
        if not call.wrote and any(isinstance(part, list) for part in _parts(call.output)):
            narrowing = {name for name, value in call.arguments.items() if value is not None}
            narrowing = {name for name in narrowing if not _PLACE.search(name)}
            if narrowing:
                narrowed.setdefault(call.api, set()).update(narrowing)
    return [
        Shown(frozenset({"F5", "F7"} if any(map(DATE_FIELD.search, names)) else {"F5"}), False)
        for names in narrowed.values()
    ]


def _parts(output: Any) -> list[Any]:
    return [output, *output.values()] if isinstance(output, dict) else [output]


def _computes_date(instruction: str, work: Sequence[WorkCall]) -> bool:
    """F7 by value: a date is written that was neither stated nor read."""
    read: set[str] = set()
    for call in work:
        for _, value in scalars(call.arguments):
            date = _ISO_DATE.match(value) if isinstance(value, str) else None
            if call.wrote and date and date.group() not in read:
                month, day = int(date.group(1)), int(date.group(2))
                if (month, day) not in stated.days(instruction):
                    return True
        read |= {str(value)[:10] for _, value in scalars(call.output)}
    return False
