"""What is known of a value of a gold program without running it."""

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Api = tuple[str, str]
"""App and API name."""

DOCS_APP = "api_docs"
PROFILE_APP = "supervisor"
"""The app that tells who asks; it is no app of the world."""
CLOCK: Api = ("phone", "get_current_date_and_time")
"""Tells when it is asked. Like the profile, a solver is told that before it starts."""
FINISH: Api = (PROFILE_APP, "complete_task")
AUTH_APIS = frozenset({"login", "logout", "show_account_passwords"})
PAGE_ARGUMENTS = frozenset({"page_index", "page_limit"})
READING_PREFIXES = ("show_", "search_", "get_", "login", "logout")

Kind = Literal["ranked by date", "ranked", "date", "number", "set", "collection", "text"]
_KINDS: tuple[Kind, ...] = (
    "ranked by date", "ranked", "date", "number", "set", "collection", "text",
)  # fmt: skip
"""In the order in which they prevail when two values meet."""

DATE_FIELD = re.compile(r"(_at|_on|date|datetime|time|birthday|deadline|_expiry)$")
_NUMBER_FIELD = re.compile(
    r"(amount|balance|price|cost|fee|tax|total|count|rating|quantity|duration|share|size|num_\w+)$"
)
NAMING_FIELDS = frozenset({
    "name", "first_name", "last_name", "full_name", "title", "email", "phone_number", "account_name",
    "username", "path", "file_path", "product_name", "subject",
})  # fmt: skip
"""Fields that name a row; `row["title"] == "Trip"` looks an entity up and is no filter."""


DATE_CALLS = frozenset(
    ["datetime", "date", "timedelta", "DateTime", "pendulum", "relativedelta", "time"]
)
"""Names that make or hold dates."""


@dataclass(frozen=True)
class Operation:
    """One decision or computation, named by where it stands."""

    kind: Literal["condition", "selection", "superlative", "arithmetic", "date"]
    position: tuple[int, int]
    """Line and column, 1- and 0-based."""
    dates: bool = False
    """Dates or times are compared in it."""
    excludes: bool = False
    """It keeps what does *not* match (`!=`, `not in`, `not`, a set difference)."""
    looks_up: bool = field(default=False, compare=False)
    """It tests equality only, so that taking a single match of it is a look-up."""


@dataclass(frozen=True)
class Value:
    """What is known of a value of the program without running it."""

    sources: frozenset[Api] = frozenset()
    """The calls whose output it was made from."""
    operations: frozenset[Operation] = frozenset()
    loops: frozenset[int] = frozenset()
    """Loops over data of which it is an element or derived from one."""
    kind: Kind | None = None
    api: tuple[str | None, ...] | None = None
    """`apis` is (), `apis.venmo` ("venmo",), `apis.venmo.login` ("venmo", "login"); None is no reference."""
    function: ast.FunctionDef | ast.Lambda | None = None

    def __or__(self, other: "Value") -> "Value":
        kinds = {self.kind, other.kind}
        return Value(
            self.sources | other.sources,
            self.operations | other.operations,
            self.loops | other.loops,
            next((kind for kind in _KINDS if kind in kinds), None),
            self.api if self.api is not None else other.api,
            self.function or other.function,
        )

    @property
    def bare(self) -> "Value":
        """Its origin and operations alone."""
        return Value(self.sources, self.operations, self.loops)


NOTHING = Value()


@dataclass(frozen=True)
class Site:
    """A place of the program that calls an API."""

    api: Api
    position: tuple[int, int]
    arguments: dict[str, Value]
    control: Value
    """The tests and loops that decide whether the call happens."""


def joined(values: Iterable[Value]) -> Value:
    """All that is known of any of the values."""
    result = NOTHING
    for value in values:
        result |= value
    return result


def field_kind(name: str) -> Kind | None:
    """What the name of a field says of its values; None where it says nothing."""
    if DATE_FIELD.search(name):
        return "date"
    return "number" if _NUMBER_FIELD.search(name) else None
