"""What a gold program does with its data: which call feeds which, and the decisions that matter.

The program is read, never run: its statements are walked once with abstract values that remember where
they come from. That shows what a trace cannot (a filter, a sum, a branch that was not taken), while the
trace shows what the text cannot (which calls wrote, how often). Only what reaches a write or the answer
counts; reading page after page does not.

The walk follows plain Python: names, containers, loops, comprehensions, the program's own functions. It does
not follow classes, `global`, or values hidden in closures; there it sees less, never more.
"""

import ast
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

Api = tuple[str, str]
"""App and API name."""

DOCS_APP = "api_docs"
PROFILE_APP = "supervisor"
"""The app that tells who asks; it is no app of the world."""
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
NAMING_FIELDS = frozenset(
    [
        "name",
        "first_name",
        "last_name",
        "full_name",
        "title",
        "email",
        "phone_number",
        "account_name",
        "username",
        "path",
        "file_path",
        "product_name",
        "subject",
    ]
)
"""Fields that name a row; `row["title"] == "Trip"` looks an entity up and is no filter."""

_DATE_CALLS = frozenset(
    ["datetime", "date", "timedelta", "DateTime", "pendulum", "relativedelta", "time"]
)
_DATE_METHODS = frozenset(
    ["weekday", "isoweekday", "isocalendar", "total_seconds", "replace", "shift"]
)
_GROWING = frozenset(["append", "extend", "add", "update", "insert", "setdefault", "appendleft"])
_AGGREGATES = frozenset(["sum", "len", "round", "abs", "mean", "median", "fsum", "prod"])
_SUPERLATIVES = frozenset(["min", "max", "sorted", "nlargest", "nsmallest", "most_common"])
_DEPTH = 6
"""How deep the program's own functions are followed; recursion ends here."""


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


@dataclass(frozen=True)
class Program:
    """A gold program, read."""

    sites: tuple[Site, ...]

    def feeds(self) -> set[tuple[Api, Api]]:
        """Pairs of APIs of which the first one's output feeds an argument of the second."""
        return {
            (source, site.api)
            for site in self.sites
            for name, value in site.arguments.items()
            if name != "access_token" and name not in PAGE_ARGUMENTS
            for source in value.sources
            if source != site.api
        }

    def guarding(self, writes: Callable[[Api], bool]) -> frozenset[Operation]:
        """Operations that decide whether a write happens, and conditions on how it does."""
        found: set[Operation] = set()
        for site in self.sites:
            if writes(site.api):
                found |= site.control.operations
                for value in site.arguments.values():
                    found |= {one for one in value.operations if one.kind == "condition"}
        return frozenset(one for one in found if one.kind in ("condition", "selection"))

    def used(self, writes: Callable[[Api], bool]) -> frozenset[Operation]:
        """Operations on which a write or the answer depends."""
        found: frozenset[Operation] = frozenset()
        for site in self.sites:
            if writes(site.api) or (site.api == FINISH and "answer" in site.arguments):
                found |= site.control.operations
                found = found.union(*(value.operations for value in site.arguments.values()))
        return found

    def answer(self) -> Value | None:
        """What the program answers; None where it gives no answer."""
        answers = [
            site.arguments["answer"] | site.control.bare
            for site in self.sites
            if site.api == FINISH and "answer" in site.arguments
        ]
        return _joined(answers) if answers else None


def read_program(gold: str) -> Program:
    """Reads a gold's text.

    Raises:
        SyntaxError: the text is no Python; verify rejects such golds before anything else looks at them.
    """
    tree = ast.parse(gold)
    walk = _Walk(tree)
    walk.run(tree.body)
    return Program(tuple(walk.sites.values()))


def _joined(values: Iterable[Value]) -> Value:
    result = NOTHING
    for value in values:
        result |= value
    return result


def _position(node: ast.AST) -> tuple[int, int]:
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


def field_kind(name: str) -> Kind | None:
    """What the name of a field says of its values; None where it says nothing."""
    if DATE_FIELD.search(name):
        return "date"
    return "number" if _NUMBER_FIELD.search(name) else None


def _leaves(test: ast.expr, negated: bool = False) -> list[tuple[ast.expr, bool]]:
    """The single tests of a condition, each with whether it is negated as a whole."""
    if isinstance(test, ast.BoolOp):
        return [leaf for part in test.values for leaf in _leaves(part, negated)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _leaves(test.operand, not negated)
    return [(test, negated)]


def _is_paging(loop: ast.AST) -> bool:
    """True for a loop that asks for one page after the other."""
    return any(
        isinstance(node, ast.Call) and any(keyword.arg == "page_index" for keyword in node.keywords)
        for node in ast.walk(loop)
    )


def _ends(body: Sequence[ast.stmt]) -> bool:
    """True when control does not run on past the body."""
    return bool(body) and isinstance(body[-1], ast.Continue | ast.Break | ast.Return | ast.Raise)


def _names_a_row(node: ast.expr) -> bool:
    keys = [
        part.slice.value if isinstance(part, ast.Subscript) else part.args[0].value
        for part in ast.walk(node)
        if (isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant))
        or (
            isinstance(part, ast.Call)
            and isinstance(part.func, ast.Attribute)
            and part.func.attr == "get"
            and part.args
            and isinstance(part.args[0], ast.Constant)
        )
    ]
    return any(key in NAMING_FIELDS for key in keys)


class _Walk:
    """The walk over one program."""

    def __init__(self, tree: ast.Module) -> None:
        self.names: dict[str, Value] = {"apis": Value(api=())}
        self.control = NOTHING
        self.sites: dict[tuple[tuple[int, int], Api], Site] = {}
        self.returned = NOTHING
        self.loops: list[int] = []
        self.depth = 0
        self.paging = False
        self.statement = (0, 0)
        self.page_counters = {
            keyword.value.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            for keyword in node.keywords
            if keyword.arg == "page_index" and isinstance(keyword.value, ast.Name)
        }

    # Statements

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Walks statements in their order; what follows an early end depends on its test."""
        outer = self.control
        for statement in body:
            self.statement = _position(statement)
            self._run_one(statement)
        self.control = outer

    def _run_one(self, node: ast.stmt) -> None:
        match node:
            case ast.FunctionDef():
                self.names[node.name] = Value(function=node)
            case ast.Assign():
                value = self.value(node.value)
                for target in node.targets:
                    self.bind(target, value)
            case ast.AnnAssign() if node.value is not None:
                self.bind(node.target, self.value(node.value))
            case ast.AugAssign():
                self._augment(node)
            case ast.If():
                self._branch(node)
            case ast.For() | ast.While():
                self._loop(node)
            case ast.Return():
                if node.value is not None:
                    self.returned |= self.value(node.value) | self.control.bare
            case ast.With():
                for item in node.items:
                    value = self.value(item.context_expr)
                    if item.optional_vars is not None:
                        self.bind(item.optional_vars, value)
                self.run(node.body)
            case ast.Try():
                for part in (node.body, *(one.body for one in node.handlers)):
                    self.run(part)
                self.run(node.orelse)
                self.run(node.finalbody)
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.value(child)

    def bind(self, target: ast.expr, value: Value) -> None:
        """Gives a target its value; a part of a container adds to the whole."""
        value |= self.control.bare
        match target:
            case ast.Name():
                self.names[target.id] = value
            case ast.Tuple() | ast.List():
                for part in target.elts:
                    self.bind(part, replace(value, kind=None))
            case ast.Starred():
                self.bind(target.value, value)
            case ast.Subscript() | ast.Attribute():
                key = self.value(target.slice) if isinstance(target, ast.Subscript) else NOTHING
                self._grow(target.value, value.bare | key.bare)

    def _grow(self, container: ast.expr, value: Value) -> None:
        while isinstance(container, ast.Subscript | ast.Attribute | ast.Call):
            container = container.func if isinstance(container, ast.Call) else container.value
        if isinstance(container, ast.Name):
            known = self.names.get(container.id, NOTHING)
            self.names[container.id] = known | value.bare | self.control.bare

    def _augment(self, node: ast.AugAssign) -> None:
        before = self.value(node.target)
        added = self.value(node.value)
        result = self._arithmetic(node, node.op, [(node.target, before), (node.value, added)])
        if isinstance(node.target, ast.Name):
            self.bind(node.target, result)
        else:
            self._grow(node.target, result)

    def _branch(self, node: ast.If) -> None:
        test = self.test(node.test, single=self._takes_one(node.body))
        before, control = self.names, self.control
        outcomes = []
        for body in (node.body, node.orelse):
            self.names, self.control = dict(before), control | test.bare
            self.run(body)
            outcomes.append(self.names)
        self.names = {
            name: _joined(names[name] for names in outcomes if name in names)
            for name in {*outcomes[0], *outcomes[1]}
        }
        self.control = control
        if _ends(node.body) or _ends(node.orelse):
            self.control |= test.bare

    def _takes_one(self, body: Sequence[ast.stmt]) -> bool:
        """True for `if row matches: keep it; break`, the long form of a look-up."""
        return bool(self.loops) and bool(body) and isinstance(body[-1], ast.Break | ast.Return)

    def _loop(self, node: ast.For | ast.While) -> None:
        outer_control, outer_paging = self.control, self.paging
        self.paging = _is_paging(node)
        if isinstance(node, ast.For):
            over = self.value(node.iter)
            if over.sources:
                self.loops.append(id(node))
            element = replace(over, kind=None, loops=over.loops | frozenset(self.loops[-1:]))
            reason = over.bare if over.sources else NOTHING
        else:
            reason = self.test(node.test)
        self.control |= reason.bare
        for _ in range(2):
            if isinstance(node, ast.For):
                self.bind(node.target, element)
            before = dict(self.names)
            self.run(node.body)
            for name, value in before.items():
                self.names[name] = self.names.get(name, NOTHING) | value
        if isinstance(node, ast.For) and over.sources:
            self.loops.pop()
        self.control, self.paging = outer_control, outer_paging
        self.run(node.orelse)

    # Tests

    def test(self, test: ast.expr, single: bool = False, selects: bool = False) -> Value:
        """The value of a test, with one operation for each of its parts that looks at data.

        Args:
            test: the expression.
            single: at most one match is taken, so that a test of equality looks something up.
            selects: it stands in a comprehension.
        """
        result = NOTHING
        for leaf, negated in _leaves(test):
            value = self._leaf(leaf)
            if value.sources and not (self.paging and self._asks_for_more(leaf)):
                operation = self._test_operation(leaf, value, negated, selects)
                looked_up = operation.looks_up and (single or self._names_by_literal(leaf))
                if not (looked_up and operation.kind == "selection" and not operation.excludes):
                    value = replace(value, operations=value.operations | {operation})
            elif self.paging and self._asks_for_more(leaf):
                value = NOTHING
            result |= value
        return replace(result, kind=None)

    def _leaf(self, leaf: ast.expr) -> Value:
        if not isinstance(leaf, ast.Compare):
            return self.value(leaf)
        parts = [leaf.left, *leaf.comparators]
        if any(isinstance(part, ast.Constant) and part.value in (0, 1) for part in parts):
            # `len(matches) == 0` asks whether there is one; its length is no number that is used.
            parts = [_inside_len(part) for part in parts]
        return _joined(self.value(part) for part in parts)

    def _test_operation(
        self, leaf: ast.expr, value: Value, negated: bool, selects: bool
    ) -> Operation:
        operators = leaf.ops if isinstance(leaf, ast.Compare) else []
        differs = any(isinstance(one, ast.NotEq | ast.NotIn) for one in operators)
        equality = bool(operators) and all(isinstance(one, ast.Eq) for one in operators)
        contains = any(isinstance(one, ast.In) for one in operators) and _names_a_row(
            leaf.comparators[0]
        )
        return Operation(
            "selection" if selects or value.loops & set(self.loops) else "condition",
            _position(leaf),
            dates=value.kind in ("date", "ranked by date"),
            excludes=differs != negated,
            looks_up=equality or contains,
        )

    def _names_by_literal(self, leaf: ast.expr) -> bool:
        """True for `row["title"] == <no data>`."""
        if not (isinstance(leaf, ast.Compare) and len(leaf.ops) == 1):
            return False
        sides = [leaf.left, leaf.comparators[0]]
        without_data = [side for side in sides if not self.value(side).loops]
        with_data = [side for side in sides if self.value(side).loops]
        return (
            isinstance(leaf.ops[0], ast.Eq)
            and len(without_data) == 1
            and not self.value(without_data[0]).sources
            and _names_a_row(with_data[0])
        )

    @staticmethod
    def _asks_for_more(leaf: ast.expr) -> bool:
        """True for the tests that end paging: is the page empty, is it short?"""
        if isinstance(leaf, ast.Compare):
            return any(_inside_len(part) is not part for part in [leaf.left, *leaf.comparators])
        return isinstance(leaf, ast.Name)

    # Expressions

    def value(self, node: ast.AST) -> Value:
        """The abstract value of an expression."""
        match node:
            case ast.Name():
                if node.id in _DATE_CALLS and node.id not in self.names:
                    return Value(kind="date")
                return self.names.get(node.id, NOTHING)
            case ast.Constant():
                return Value(kind=_constant_kind(node.value))
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp():
                sides = [(side, self.value(side)) for side in (node.left, node.right)]
                return self._arithmetic(node, node.op, sides)
            case ast.IfExp():
                test = self.test(node.test)
                return self.value(node.body) | self.value(node.orelse) | test.bare
            case ast.Compare():
                value = self._leaf(node)
                dates = value.kind == "date" and bool(value.sources)
                return self._with(value.bare, "date", node) if dates else value.bare
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self._comprehension(node)
            case ast.Lambda():
                return Value(function=node)
            case ast.NamedExpr():
                value = self.value(node.value)
                self.bind(node.target, value)
                return value
            case ast.JoinedStr():
                return replace(self._children(node), kind="text")
            case ast.List() | ast.Tuple() | ast.Dict():
                return replace(self._children(node).bare, kind="collection")
            case ast.Set():
                return replace(self._children(node).bare, kind="set")
        return self._children(node)

    def _children(self, node: ast.AST) -> Value:
        return _joined(
            self.value(child)
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.expr | ast.keyword)
        )

    @staticmethod
    def _with(
        value: Value,
        kind: Literal["superlative", "arithmetic", "date"],
        node: ast.AST | tuple[int, int],
        dates: bool = False,
        excludes: bool = False,
    ) -> Value:
        position = node if isinstance(node, tuple) else _position(node)
        operation = Operation(kind, position, dates, excludes)
        return replace(value, operations=value.operations | {operation})

    def _attribute(self, node: ast.Attribute) -> Value:
        base = self.value(node.value)
        if base.api is not None and len(base.api) < 2:
            return Value(base.sources, base.operations, api=(*base.api, node.attr))
        return base

    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.value(node.value)
        if isinstance(node.slice, ast.Slice):
            bounds = self._children(node.slice).bare
            if base.kind in ("date", "text", "number") or not base.sources:
                return base | bounds
            return self._superlative(replace(base, kind="collection") | bounds, node, base)
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(key, str):
            return replace(base, kind=field_kind(key), api=None)
        index = self.value(node.slice).bare
        if base.kind == "date":
            return base | index
        if isinstance(key, int) or isinstance(node.slice, ast.UnaryOp):
            base = self._single(base)
            if base.kind in ("ranked", "ranked by date"):
                return self._superlative(replace(base, kind=None), node, base)
        return replace(base, kind=None) | index

    @staticmethod
    def _single(value: Value) -> Value:
        """One row of a collection: tests of equality that led to it were a look-up."""
        return replace(
            value,
            operations=frozenset(
                one
                for one in value.operations
                if not (one.kind == "selection" and one.looks_up and not one.excludes)
            ),
        )

    def _superlative(self, value: Value, node: ast.AST, ranked: Value) -> Value:
        """Marks the choice of an extreme, once: `sorted(rows)[:3]` and `sorted(rows)[0]` are one."""
        if any(one.kind == "superlative" for one in value.operations):
            return value
        return self._with(value, "superlative", node, dates=ranked.kind == "ranked by date")

    def _arithmetic(
        self, node: ast.AST, operator: ast.operator, sides: list[tuple[ast.expr, Value]]
    ) -> Value:
        """The value of `left operator right`, with an operation where numbers or dates are computed."""
        values = [value for _, value in sides]
        result, kinds = _joined(values), {value.kind for value in values}
        names = {
            part.id for side, _ in sides for part in ast.walk(side) if isinstance(part, ast.Name)
        }
        if names and names <= self.page_counters:
            return result
        if "date" in kinds and isinstance(operator, ast.Add | ast.Sub) and "text" not in kinds:
            return self._with(replace(result, kind="date"), "date", node)
        if "set" in kinds and isinstance(operator, ast.Sub | ast.BitAnd):
            kept = replace(result, kind="set")
            return self._with(kept, "superlative", node, excludes=isinstance(operator, ast.Sub))
        textual = bool(kinds & {"text", "collection", "ranked", "ranked by date", "set"})
        unclear = isinstance(operator, ast.Add) and "number" not in kinds
        if textual or unclear or isinstance(operator, ast.BitOr | ast.BitAnd | ast.BitXor):
            return result
        # One statement is one computation, however many signs it has.
        return self._with(replace(result, kind="number"), "arithmetic", self.statement)

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp
    ) -> Value:
        outer_names, outer_control = dict(self.names), self.control
        reasons, pushed = NOTHING, 0
        for generator in node.generators:
            over = self.value(generator.iter)
            self.loops.append(id(generator))
            pushed += 1
            element = replace(over, kind=None, loops=over.loops | {id(generator)})
            self.bind(generator.target, element if over.sources else over)
            for test in generator.ifs:
                reasons |= self.test(test, selects=True)
            reasons |= over.bare
        self.control |= reasons.bare
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        made = _joined(self.value(part) for part in parts)
        del self.loops[-pushed:]
        self.names, self.control = outer_names, outer_control
        kind: Kind = "set" if isinstance(node, ast.SetComp) else "collection"
        return replace(made.bare | reasons.bare, kind=kind)

    # Calls

    def _call(self, node: ast.Call) -> Value:
        function = self.value(node.func)
        if isinstance(node.func, ast.Name) and node.func.id == "getattr" and len(node.args) >= 2:
            return self._getattr(node)
        if function.api is not None and len(function.api) == 2:
            return self._api_call(node, function.api)
        if function.function is not None and not isinstance(node.func, ast.Attribute):
            return self._own_function(node, function.function)
        return self._builtin(node)

    def _getattr(self, node: ast.Call) -> Value:
        base, key = self.value(node.args[0]), node.args[1]
        if base.api is not None and len(base.api) < 2:
            name = key.value if isinstance(key, ast.Constant) else None
            return Value(api=(*base.api, name))
        return base

    def _arguments(self, node: ast.Call) -> dict[str, Value]:
        named = {str(number): self.value(part) for number, part in enumerate(node.args)}
        for keyword in node.keywords:
            value = self.value(keyword.value)
            named[keyword.arg or "**"] = value
        return named

    def _api_call(self, node: ast.Call, path: tuple[str | None, ...]) -> Value:
        arguments = self._arguments(node)
        app, name = path
        if name in AUTH_APIS or app is None or name is None:
            return NOTHING
        api, place = (app, name), (_position(node), (app, name))
        known = self.sites.get(place)
        if known is not None:
            arguments = {
                key: arguments.get(key, NOTHING) | known.arguments.get(key, NOTHING)
                for key in {*arguments, *known.arguments}
            }
        control = self.control.bare | (known.control if known else NOTHING)
        self.sites[place] = Site(api, _position(node), arguments, control)
        operations = _joined(arguments.values()).operations
        loops = _joined(arguments.values()).loops
        kind = _ranking(node)
        return Value(frozenset({api}), operations, loops, kind or "collection")

    def _own_function(self, node: ast.Call, function: ast.FunctionDef | ast.Lambda) -> Value:
        given = self._arguments(node)
        if self.depth >= _DEPTH:
            return _joined(given.values()).bare
        positions = [value for name, value in given.items() if name.isdigit()]
        saved = self.names, self.returned, self.depth, self.paging, self.statement, self.control
        self.names, self.returned, self.depth = dict(self.names), NOTHING, self.depth + 1
        self._bind_parameters(function.args, positions, given)
        if isinstance(function, ast.Lambda):
            result = self.value(function.body)
        else:
            self.run(function.body)
            result = self.returned
        self.names, self.returned, self.depth, self.paging, self.statement, self.control = saved
        return result

    def _bind_parameters(
        self, parameters: ast.arguments, positions: list[Value], given: dict[str, Value]
    ) -> None:
        names = [one.arg for one in (*parameters.posonlyargs, *parameters.args)]
        for name, default in zip(names[::-1], parameters.defaults[::-1], strict=False):
            self.names[name] = self.value(default)
        self.names.update(zip(names, positions, strict=False))
        if parameters.vararg is not None:
            self.names[parameters.vararg.arg] = _joined(positions[len(names) :])
        known = {*names, *(one.arg for one in parameters.kwonlyargs)}
        self.names.update({name: value for name, value in given.items() if name in known})
        if parameters.kwarg is not None:
            rest = (v for n, v in given.items() if n not in known and not n.isdigit())
            self.names[parameters.kwarg.arg] = _joined(rest).bare

    def _builtin(self, node: ast.Call) -> Value:
        """A call of something that the program did not write: builtins, methods, datetime."""
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        receiver = NOTHING
        if isinstance(node.func, ast.Attribute):
            receiver = self.value(node.func.value)
        arguments = [self.value(part) for part in node.args]
        arguments += [self.value(one.value) for one in node.keywords if one.arg != "key"]
        result = _joined([receiver, *arguments])
        result = replace(result, api=None, function=None)
        if name in _GROWING and isinstance(node.func, ast.Attribute):
            self._grow(node.func.value, _joined(arguments))
        if name == "sort" and isinstance(node.func, ast.Attribute):
            self._grow(node.func.value, self._ranked(node, receiver))
            return NOTHING
        if name == "filter" and len(node.args) == 2:
            return self._filtered(node, arguments[1])
        if name in ("map", "next") and node.args:
            return (
                self._mapped(node, result)
                if name == "map"
                else self._single(replace(result, kind=None))
            )
        if name in _SUPERLATIVES and (len(node.args) == 1 or isinstance(node.func, ast.Attribute)):
            return self._ranked(node, result)
        return self._computed(node, name, receiver, result)

    def _computed(self, node: ast.Call, name: str, receiver: Value, result: Value) -> Value:
        if name in _AGGREGATES:
            return self._with(replace(result, kind="number"), "arithmetic", self.statement)
        if name in ("min", "max"):
            return self._with(replace(result, kind="number"), "arithmetic", self.statement)
        if name == "get" and node.args and isinstance(node.args[0], ast.Constant):
            return replace(receiver, kind=field_kind(str(node.args[0].value)))
        if name in ("int", "float", "Decimal"):
            return replace(result, kind="number" if result.kind != "date" else "date")
        if name in ("strptime", "fromisoformat") or name in _DATE_CALLS:
            return replace(result, kind="date")
        if name in _DATE_METHODS and receiver.kind == "date":
            return self._with(result, "date", node)
        if name in ("set", "frozenset"):
            return replace(result, kind="set")
        if name == "difference" or name == "intersection":
            kept = replace(result, kind="set")
            return self._with(kept, "superlative", node, excludes=name == "difference")
        if name in ("join", "str", "strip", "title", "format") and result.kind != "date":
            return replace(result, kind="text")
        if receiver.kind == "date":
            return replace(result, kind="date")
        return result

    def _ranked(self, node: ast.Call, result: Value) -> Value:
        """sorted, min, max and their kin, by whatever key."""
        keys = [one.value for one in node.keywords if one.arg == "key"]
        by = _joined(self._applied(key, result) for key in keys)
        dates = by.kind == "date" or (not keys and result.kind == "date")
        value = replace(result | by.bare, kind=None if node.args else result.kind)
        return self._with(value, "superlative", node, dates=dates)

    def _filtered(self, node: ast.Call, rows: Value) -> Value:
        function = self.value(node.args[0]).function
        if not isinstance(function, ast.Lambda):
            return self._with(rows | self._applied(node.args[0], rows).bare, "superlative", node)
        outer = dict(self.names)
        self.loops.append(id(node))
        for parameter in function.args.args:
            self.names[parameter.arg] = replace(rows, kind=None, loops=rows.loops | {id(node)})
        reason = self.test(function.body, selects=True)
        self.loops.pop()
        self.names = outer
        return rows | reason.bare

    def _mapped(self, node: ast.Call, result: Value) -> Value:
        return result | self._applied(node.args[0], result).bare

    def _applied(self, function: ast.expr, element: Value) -> Value:
        """What a function that is handed over gives for an element."""
        known = self.value(function).function
        if not isinstance(known, ast.Lambda):
            return NOTHING
        outer = dict(self.names)
        for parameter in known.args.args:
            self.names[parameter.arg] = replace(element, kind=None)
        value = self.value(known.body)
        self.names = outer
        return value


def _inside_len(node: ast.expr) -> ast.expr:
    """What `len(...)` is asked of; anything else as it is."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        return node.args[0] if node.args else node
    return node


def _constant_kind(value: object) -> Kind | None:
    if isinstance(value, str):
        return "date" if re.match(r"\d{4}-\d\d(-\d\d)?\b", value) else "text"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else None


def _ranking(node: ast.Call) -> Kind | None:
    """ "ranked" for a call that asks the API to sort."""
    for keyword in node.keywords:
        if keyword.arg == "sort_by":
            by = keyword.value.value if isinstance(keyword.value, ast.Constant) else ""
            return "ranked by date" if DATE_FIELD.search(str(by)) else "ranked"
    return None
