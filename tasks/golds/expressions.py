"""The abstract value of each expression of a gold program; see tasks.golds.program.py."""

import ast
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Literal

from tasks.golds.known_values import (
    DATE_CALLS,
    NOTHING,
    Api,
    Kind,
    Operation,
    Site,
    Value,
    field_kind,
    joined,
)
from tasks.golds.syntax import constant_kind, inside_len, leaves, names_a_row, position_of


class Expressions(ABC):
    """Tests, computations, parts and comprehensions. What calls and statements do stands in subclasses.

    Attributes:
        names: the value of each variable where the walk stands.
        control: tests and loops that decide whether the walk comes here.
        sites: the API calls met so far, by position and API.
        loops: the loops over data around where the walk stands, outermost first.
        paging: it stands in a loop that reads page after page.
        statement: position of the statement it is in.
        page_counters: variables that count pages.
    """

    def __init__(self, page_counters: set[str]) -> None:
        self.names: dict[str, Value] = {"apis": Value(api=())}
        self.control = NOTHING
        self.sites: dict[tuple[tuple[int, int], Api], Site] = {}
        self.loops: list[int] = []
        self.paging = False
        self.statement = (0, 0)
        self.page_counters = page_counters

    @abstractmethod
    def call(self, node: ast.Call) -> Value:
        """The value of a call."""

    @abstractmethod
    def bind(self, target: ast.expr, value: Value) -> None:
        """Gives a target its value."""

    # Tests

    def test(
        self, test: ast.expr, single: bool = False, selects: bool = False, skips: bool = False
    ) -> Value:
        """The value of a test, with one operation for each of its parts that looks at data.

        Args:
            test: the expression.
            single: at most one match is taken, so that a test of equality looks something up.
            selects: it stands in a comprehension.
            skips: what passes it is left out (`if ...: continue`).
        """
        result = NOTHING
        for leaf, negated in leaves(test, negated=skips):
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
            parts = [inside_len(part) for part in parts]
        return joined(self.value(part) for part in parts)

    def _test_operation(
        self, leaf: ast.expr, value: Value, negated: bool, selects: bool
    ) -> Operation:
        operators = leaf.ops if isinstance(leaf, ast.Compare) else []
        differs = any(isinstance(one, ast.NotEq | ast.NotIn) for one in operators)
        orders = any(isinstance(one, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for one in operators)
        equality = bool(operators) and all(isinstance(one, ast.Eq) for one in operators)
        contains = any(isinstance(one, ast.In) for one in operators) and isinstance(
            leaf.left, ast.Constant
        )
        of_elements = selects or bool(value.loops & set(self.loops))
        return Operation(
            "selection" if of_elements else "condition",
            position_of(leaf),
            dates=value.kind in ("date", "ranked by date"),
            excludes=of_elements and not orders and differs != negated,
            looks_up=equality or contains or isinstance(leaf, ast.Subscript),
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
            and names_a_row(with_data[0])
        )

    @staticmethod
    def _asks_for_more(leaf: ast.expr) -> bool:
        """True for the tests that end paging: is the page empty, is it short?"""
        if isinstance(leaf, ast.Compare):
            return any(inside_len(part) is not part for part in [leaf.left, *leaf.comparators])
        return isinstance(leaf, ast.Name)

    # Expressions

    def value(self, node: ast.AST) -> Value:
        """The abstract value of an expression."""
        match node:
            case ast.Name():
                if node.id in DATE_CALLS and node.id not in self.names:
                    return Value(kind="date")
                return self.names.get(node.id, NOTHING)
            case ast.Constant():
                return Value(kind=constant_kind(node.value))
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Call():
                return self.call(node)
            case ast.BinOp():
                sides = [(side, self.value(side)) for side in (node.left, node.right)]
                return self._arithmetic(node, node.op, sides)
            case ast.IfExp():
                test = self.test(node.test)
                return self.value(node.body) | self.value(node.orelse) | test.bare
            case ast.Compare():
                value = self._leaf(node)
                dates = value.kind == "date" and bool(value.sources)
                return replace(value.bare, kind="date" if dates else None)
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
        return joined(
            self.value(child)
            for child in ast.iter_child_nodes(node)
            if isinstance(child, ast.expr | ast.keyword)
        )

    @staticmethod
    def _with(
        value: Value,
        kind: Literal["selection", "superlative", "arithmetic", "date"],
        node: ast.AST | tuple[int, int],
        dates: bool = False,
        excludes: bool = False,
    ) -> Value:
        position = node if isinstance(node, tuple) else position_of(node)
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
        result, kinds = joined(values), {value.kind for value in values}
        names = {
            part.id for side, _ in sides for part in ast.walk(side) if isinstance(part, ast.Name)
        }
        if names and names <= self.page_counters:
            return result
        if "date" in kinds and "text" not in kinds:
            return self._with(replace(result, kind="date"), "date", self.statement)
        if "set" in kinds and isinstance(operator, ast.Sub | ast.BitAnd):
            kept = replace(result, kind="set")
            return self._with(kept, "selection", node, excludes=isinstance(operator, ast.Sub))
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
        # `sum(row["rating"] > 3 for row in rows)` filters too.
        tested = isinstance(parts[0], ast.Compare)
        made = joined(self.test(p, selects=True) if tested else self.value(p) for p in parts)
        del self.loops[-pushed:]
        self.names, self.control = outer_names, outer_control
        kind: Kind = "set" if isinstance(node, ast.SetComp) else "collection"
        return replace(made.bare | reasons.bare, kind=kind)
