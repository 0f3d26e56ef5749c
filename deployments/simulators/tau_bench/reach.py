"""Whether whoever solves an item can come by what its gold uses.

A value is known that stands in the scenario, in the policy, in a document or in what a tool says of itself;
it is found where a read returns it, of what was known or found before. Only identifiers are looked for:
amounts, dates and texts are worked out or written.
"""

import inspect
import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

from tau2.environment.environment import Environment

import quiet  # noqa: F401 - first
from domain import Domain
from items import ReadItem
from playing import Played, opened

ROUNDS = 4
"""How often what was read is read on from."""

MAX_CALLS = 3000
"""Reads tried for one item."""

_IDENTIFIER = re.compile(r"[\w.+-]+@[\w.-]+|(?=[\w-]*\d)[\w][\w/-]{2,}")
_DATE = re.compile(r"[\d/-]+")
_NAME = re.compile(r"[A-Z][\w'-]+(?: [A-Z][\w'-]+)+")


def unreachable(domain: Domain, item: ReadItem, played: Played) -> str | None:
    """The first identifier of the gold that nobody can come by, with its action; None where there is none."""
    environment = opened(domain, item)
    scenario = str(item.task.user_scenario)
    known = " ".join([scenario, environment.policy, *domain.documents.values(), _told(environment)])
    reads, read = _reads(domain, environment, scenario), []
    for n, action in enumerate(item.actions):
        for value in _identifiers(item, n):
            if _in(value, known) or any(_in(value, text) for text in read):
                continue
            if not any(_in(value, read.append(text) or text) for text in reads):
                return f"{action.name} (action {n}) uses {value}, which nothing tells"
        known += f" {played.calls[n]['output']}" if n < len(played.calls) else ""
    return None


def _identifiers(item: ReadItem, n: int) -> Iterator[str]:
    action = item.actions[n]
    for name, value in action.arguments.items():
        if action.compare_args is None or name in action.compare_args:
            for text in _texts(value):
                if _IDENTIFIER.fullmatch(text) and not _DATE.fullmatch(text):
                    yield text


def _texts(value: Any) -> Iterator[str]:
    """The texts in a value, those of a JSON text in it too."""
    if isinstance(value, str):
        try:
            inside = json.loads(value)
        except ValueError:
            inside = None
        if isinstance(inside, dict | list):
            yield from _texts(inside)
        else:
            yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def _in(value: str, text: str) -> bool:
    return value.casefold() in text.casefold()


def _told(environment: Environment) -> str:
    tools = [*environment.get_tools(), *environment.get_user_tools()]
    return " ".join(json.dumps(tool.openai_schema) for tool in tools)


def _reads(domain: Domain, environment: Environment, scenario: str) -> Iterator[str]:
    """What reads return, from the names and identifiers in the scenario on, until nothing new is left to ask.

    Reads of one argument are exhausted before those of two are tried.
    """
    functions = {name: (one, _needed(one)) for name, one in domain.reads(environment).items()}
    found = dict.fromkeys(_mentions(scenario))
    tried: set[tuple[str, tuple[str, ...]]] = set()
    for most in (1,) * ROUNDS + (2,) * ROUNDS:
        for name, (function, needed) in functions.items():
            values = itertools.product(list(found), repeat=len(needed))
            for given in values if len(needed) <= most else ():
                if (name, given) in tried or len(tried) >= MAX_CALLS * most:
                    continue
                tried.add((name, given))
                text = _asked(function, dict(zip(needed, given, strict=True)))
                found |= dict.fromkeys(_mentions(text))
                yield text


def _needed(function: Any) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [one.name for one in parameters if one.default is one.empty]


def _asked(function: Any, arguments: dict[str, str]) -> str:
    try:
        return Environment.to_json_str(function(**arguments))
    except Exception:  # most guesses are no arguments of this tool, and say so in many ways
        return ""


def _mentions(text: str) -> list[str]:
    return [*_NAME.findall(text), *_IDENTIFIER.findall(text)]
