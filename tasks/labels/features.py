"""Which features of labels.toml an item has, as far as code decides.

An item's features are read from its instruction, its gold and the trace of the gold's run. A feature that
code cannot decide is left out of the result; the judge adds it. Code decides

- F1, F2, F3, F4, F6, F7 always (of a gold that is a list of actions, F4, F6, F7 only where the trace
  shows them);
- F5 when the gold or an API's argument (`overdue=True`) selects or ranks, and when nothing does; left out
  when all that selects is a search or a relation (`relationship="roommate"`);
- F8 when a mention matches two or more rows of one list that the gold read; else left out;
- F9 when no clause forbids anything, or one does and the gold keeps something out; left out when a clause
  forbids and the gold shows no sign of it;
- F10 when somebody is called by a relation and none of those who stand in it is named; else left out.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from tasks.golds import stated
from tasks.golds.api_trace import (
    WorkCall,
    answer_of,
    flows,
    is_of_the_world,
    rows,
    scalars,
    work_calls,
)
from tasks.golds.known_values import PAGE_ARGUMENTS
from tasks.golds.operations import Shown, operations
from tasks.golds.program import Program, read_program
from tasks.labels import definitions
from tasks.suites.base import Call

JUDGED_FEATURES = tuple(one for one in definitions.FEATURES if one.by != "code")
"""The features in which a judge has a say."""

MANY = 3
"""Entities from which on an API's repeated use is an iteration."""

_FORBIDS = re.compile(
    r"\b(do(es)? not|don['’]?t|never|except|exclud\w+|leave out|without|other than|apart from|unless|avoid|"
    r"must not|should not|shouldn['’]?t|skip|leave\b.{0,60}\b(alone|untouched|as (it|they) (is|are)))\b",
    re.IGNORECASE,
)
RELATIONS = frozenset(
    stated.words(
        "roommate flatmate housemate coworker colleague manager boss friend neighbor neighbour "
        "landlord sibling brother sister parent mother father mom mum dad son daughter child kid "
        "husband wife spouse partner girlfriend boyfriend fiance fiancee cousin uncle aunt nephew "
        "niece grandmother grandfather grandparent teammate classmate mentor"
    )
)
"""Words by which somebody is named without a name."""

_PLURALS = {"children": "child", "wives": "wife"}
_NAME_FIELDS = ("first_name", "last_name", "name", "title")
_CAPITALISED = re.compile(r"[A-Z][\w'’-]*(?:\s+[A-Z][\w'’-]*)*")
_QUOTED = re.compile(r"[\"“']([^\"”']{2,80})[\"”']")


def features(
    instruction: str, gold: str, calls: Sequence[Call], interaction: str = "code"
) -> dict[str, bool]:
    """The features F1-F10 that code decides, by id; those left to the judge are left out.

    Args:
        instruction: the item's text.
        gold: its gold; a Python program when `interaction` is "code".
        calls: the trace of the gold's run, outputs included, secrets blanked.
        interaction: how the suite is acted in: "code", "tools" or "dialogue".

    Raises:
        SyntaxError: `interaction` is "code" and the gold is no Python.
    """
    program = read_program(gold) if interaction == "code" else None
    work = work_calls(calls)
    shown = operations(instruction, program, work, answer_of(calls))
    links = links_of(instruction, program, work)
    found = {
        "F1": bool(links),
        "F2": any(_crosses(work[one], work[other]) for one, other in links),
        "F3": _iterates(work),
    }
    for feature in ("F4", "F6", "F7"):
        has = any(feature in one.features for one in shown)
        if has or program is not None:
            found[feature] = has
    undecided = {
        "F5": _chooses(program, shown, work),
        "F8": True if ambiguous_mentions(instruction, work) else None,
        "F9": _excludes(instruction, shown),
        "F10": _is_indirect(instruction, work),
    }
    return found | {name: value for name, value in undecided.items() if value is not None}


def links_of(
    instruction: str, program: Program | None, work: Sequence[WorkCall]
) -> set[tuple[int, int]]:
    """Pairs of work calls of which the first one's output feeds the second, by trace and by text.

    What the instruction or the program itself says was not taken from an output.
    """
    said = f" {' '.join(stated.words(instruction))} "
    named = {
        value
        for call in work
        for _, value in scalars(call.arguments)
        if isinstance(value, str) and f" {' '.join(stated.words(value))} " in said
    }
    own = program.literals if program else frozenset()
    feeds = program.feeds() if program else ()
    return flows(work, named | own | stated.numbers(instruction), feeds)


def forbids(instruction: str) -> bool:
    """True when a clause of the instruction forbids or excepts something."""
    return bool(_FORBIDS.search(instruction))


def ambiguous_mentions(instruction: str, work: Sequence[WorkCall]) -> list[str]:
    """Names in the instruction that match two or more different rows of one API's output.

    A mention is a run of capitalised words or a quoted text. It matches a row when all its words stand in
    the row's name or title; so "Sam" matches two contacts where "Sam Lee" matches one. A single row that
    is called exactly so is what is meant; and a text that the gold writes is no mention.
    """
    written = {value for call in work if call.wrote for _, value in scalars(call.arguments)}
    tables: dict[tuple[Any, str], dict[str, set[str]]] = defaultdict(dict)
    for call in work:
        for row in () if call.wrote else rows(call.output):
            name = " ".join(str(row[field]) for field in _NAME_FIELDS if row.get(field))
            if name:
                fields = ",".join(sorted(row))
                tables[(call.api, fields)][_identity(row)] = set(stated.words(name))
    return sorted(
        mention
        for mention in _mentions(instruction) - written
        if (wanted := set(stated.words(mention)))
        and any(_is_ambiguous(wanted, list(table.values())) for table in tables.values())
    )


def _mentions(instruction: str) -> set[str]:
    """Capitalised runs and quoted texts. The word that opens a sentence has its capital from there."""
    text = re.sub(r"['’]s\b", "", instruction)
    found = {*_QUOTED.findall(text)}
    for run in _CAPITALISED.finditer(text):
        before = text[: run.start()].rstrip()
        opens = not before or before.endswith((".", "!", "?", ":"))
        spoken = run.group().split()
        found.add(" ".join(spoken[1:] if opens else spoken).strip("'’"))
    return {one for one in found if one.casefold() not in (*stated.MONTHS, *stated.DAYS, "i")}


def _is_ambiguous(wanted: set[str], names: Sequence[set[str]]) -> bool:
    exact = sum(wanted == name for name in names)
    return exact != 1 and sum(wanted <= name for name in names) > 1


def _identity(row: Mapping[str, Any]) -> str:
    """What tells a row from others: its own id or address, else all that it holds."""
    for field in ("id", "email"):
        if row.get(field):
            return str(row[field])
    ids = [name for name in row if name.endswith("_id")]
    return str(row[ids[0]]) if ids else str(sorted(row.items()))


def _crosses(earlier: WorkCall, later: WorkCall) -> bool:
    within = is_of_the_world(earlier.api) and is_of_the_world(later.api)
    return within and earlier.api[0] != later.api[0]


def _iterates(work: Sequence[WorkCall]) -> bool:
    """F3: some argument of one API takes three or more values. Pages are one call already."""
    values: dict[tuple[Any, str], set[str]] = defaultdict(set)
    for call in work:
        for name, value in call.arguments.items():
            values[(call.api, name)].add(repr(value))
    return any(len(taken) >= MANY for taken in values.values())


def _chooses(
    program: Program | None, shown: Sequence[Shown], work: Sequence[WorkCall]
) -> bool | None:
    if any("F5" in one.features for one in shown):
        return True
    asks_api = any(
        isinstance(call.output, list)
        and not call.wrote
        and any(not name.endswith("_id") for name in set(call.arguments) - PAGE_ARGUMENTS)
        for call in work
    )
    return None if asks_api or program is None else False


def _excludes(instruction: str, shown: Sequence[Shown]) -> bool | None:
    if not forbids(instruction):
        return False
    return True if any(one.excludes for one in shown) else None


def _relation(word: str) -> str | None:
    word = _PLURALS.get(word, word)
    return next((form for form in (word, word.removesuffix("s")) if form in RELATIONS), None)


def _is_indirect(instruction: str, work: Sequence[WorkCall]) -> bool | None:
    """F10: a relation is named, and nobody of whom the gold read that they stand in it."""
    spoken = stated.words(re.sub(r"['’]s\b", " ", instruction))
    holders: dict[str, list[set[str]]] = defaultdict(list)
    for call in work:
        for row in rows(call.output):
            relations = row.get("relationships") or row.get("relationship") or ()
            name = set(stated.words(str(row.get("first_name") or row.get("name") or "")))
            for relation in [relations] if isinstance(relations, str) else relations:
                holders[_relation(str(relation).casefold()) or str(relation)].append(name)
    for relation in {found for word in spoken if (found := _relation(word))}:
        names = [name for name in holders[relation] if name]
        if any(name & set(spoken) for name in names):
            continue
        if names or not _is_named_beside(relation, instruction):
            return True
    return None


def _is_named_beside(relation: str, instruction: str) -> bool:
    """True for "my roommate Sam" and "Sam, my roommate"."""
    return bool(
        re.search(rf"(?i:\b{relation}s?),?\s+[A-Z]\w+", instruction)
        or re.search(rf"[A-Z]\w+,\s+(?i:(my|his|her|their|the)\s+(\w+\s+)?{relation})", instruction)
    )
