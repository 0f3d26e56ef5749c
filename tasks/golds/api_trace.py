"""What a gold's trace shows: the calls that do the work, and which value went from one to another.

Left out as no work of the item's own: logging in, reading the documentation, declaring the item complete,
calls that failed; and pages of one list are one call.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.golds.known_values import (
    AUTH_APIS,
    CLOCK,
    DOCS_APP,
    FINISH,
    PAGE_ARGUMENTS,
    PROFILE_APP,
    Api,
)
from tasks.suites.base import Call
from warehouse.records import canonical

SECRET = "<secret>"
_SHORTEST_TEXT = 3
"""Shorter texts meet by chance."""


@dataclass(frozen=True)
class WorkCall:
    """A call of the item's own work; the pages of one list together."""

    api: Api
    arguments: dict[str, Any]
    """Without page numbers and tokens."""
    output: Any
    wrote: bool


def work_calls(calls: Sequence[Call]) -> list[WorkCall]:
    """The calls that do the item's work, in order; a list read in pages stands where its first page was."""
    work: list[WorkCall] = []
    lists: dict[str, int] = {}
    for call in calls:
        api = (call.app, call.api)
        if not call.ok or call.app == DOCS_APP or call.api in AUTH_APIS or api == FINISH:
            continue
        arguments = {
            name: value
            for name, value in call.arguments.items()
            if name not in PAGE_ARGUMENTS and not name.endswith("access_token")
        }
        if "page_index" in call.arguments:
            place = lists.setdefault(canonical([api, arguments]), len(work))
            if place < len(work):
                first = work[place]
                output = [*_as_rows(first.output), *_as_rows(call.output)]
                work[place] = WorkCall(api, arguments, output, first.wrote or call.wrote)
                continue
        work.append(WorkCall(api, arguments, call.output, call.wrote))
    return work


def answer_of(calls: Sequence[Call]) -> Any:
    """The answer that the trace gave; None where it gave none."""
    answers = [call.arguments.get("answer") for call in calls if (call.app, call.api) == FINISH]
    return answers[-1] if answers else None


def is_of_the_world(api: Api) -> bool:
    """False for what only tells who asks, and when: every solver is told that beforehand."""
    return api[0] != PROFILE_APP and api != CLOCK


def apis_of(work: Sequence[WorkCall]) -> set[Api]:
    """The different APIs of the world's apps that were used."""
    return {call.api for call in work if is_of_the_world(call.api)}


def scalars(value: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar of a JSON value, with the field in which it stands ("" outside of any)."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from scalars(part, name)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from scalars(part, key)
    else:
        yield key, value


def rows(value: Any) -> Iterator[dict[str, Any]]:
    """Every JSON object in a value, the outer ones first."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list | tuple):
        for part in value:
            yield from rows(part)


def flows(
    work: Sequence[WorkCall], stated: set[Any], feeds: Iterable[tuple[Api, Api]] = ()
) -> set[tuple[int, int]]:
    """Pairs (i, j), i < j, of calls such that the output of i feeds an argument of j.

    A value links two calls when it stands in the one's output and in the other's arguments and could not
    have come from elsewhere: it is no boolean, no empty or very short text, no secret and not `stated`;
    whole numbers (counts, ids) link only under one field name (`song_id`, also from `song_ids` or `id`). What
    a call merely repeats of its own arguments is not its output.

    `feeds` are the pairs of APIs that the program's text links. They show values that were altered on their
    way, and they go before: where the text says what feeds an API, a value that happens to stand in another
    output too (one search finds what the next one looks for) links nothing.
    """
    known = set(feeds)
    explained = {api for _, api in known}
    outputs = [_links(call.output) - _links(call.arguments) for call in work]
    found: set[tuple[int, int]] = set()
    for later, call in enumerate(work):
        wanted = {link for link in _links(call.arguments) if link[1] not in stated}
        if call.api in explained:
            wanted = set()
        for earlier in range(later):
            pair = (work[earlier].api, call.api)
            if pair in known or wanted & outputs[earlier]:
                found.add((earlier, later))
    return found


def depth(size: int, links: set[tuple[int, int]]) -> int:
    """Number of calls in the longest chain in which each feeds the next: 1 without links, 0 without calls."""
    longest = [1] * size
    for earlier, later in sorted(links, key=lambda link: link[1]):
        longest[later] = max(longest[later], longest[earlier] + 1)
    return max(longest, default=0)


def _as_rows(output: Any) -> list[Any]:
    if output is None:
        return []
    return output if isinstance(output, list) else [output]


def _links(value: Any) -> set[tuple[str, Any]]:
    """The scalars of a value that can show where they came from: (field or "", value)."""
    found: set[tuple[str, Any]] = set()
    for key, scalar in scalars(value):
        if isinstance(scalar, bool) or scalar is None or scalar == SECRET:
            continue
        if isinstance(scalar, int) or (isinstance(scalar, float) and scalar.is_integer()):
            # A small number alone says nothing; as song_id 7 it does.
            if key == "id" or key.endswith(("_id", "_ids")):
                found.add((key.removesuffix("s"), int(scalar)))
        elif isinstance(scalar, float) or len(scalar.strip()) >= _SHORTEST_TEXT:
            found.add(("", scalar))
    return found
