"""What a gold program does with its data: which call feeds which, and the decisions that matter.

The program is read, never run: its statements are walked once with abstract values that remember where
they come from. That shows what a trace cannot (a filter, a sum, a branch that was not taken), while the
trace shows what the text cannot (which calls wrote, how often). Only what reaches a write or the answer
counts; reading page after page does not.

The walk follows plain Python: names, containers, loops, comprehensions, the program's own functions. It
does not follow classes, `global`, or values hidden in closures; there it sees less, never more.
"""

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tasks.golds.call_sites import Calls
from tasks.golds.known_values import (
    FINISH,
    NOTHING,
    PAGE_ARGUMENTS,
    Api,
    Operation,
    Site,
    Value,
    joined,
)
from tasks.golds.syntax import ends, is_paging, page_counters, parse, position_of

_MOST_NESTED = 3
"""Loops in loops of which bodies are walked twice, so that a value may come from the round before."""


@dataclass(frozen=True)
class Program:
    """A gold program, read."""

    sites: tuple[Site, ...]
    literals: frozenset[str | int | float]
    """The texts and numbers that are written in it."""

    def feeds(self) -> set[tuple[Api, Api]]:
        """Pairs of APIs of which the first one's output feeds an argument of the second."""
        return {
            (source, site.api)
            for site in self.sites
            for name, value in site.arguments.items()
            if not name.endswith("access_token") and name not in PAGE_ARGUMENTS
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
        return joined(answers) if answers else None


def read_program(gold: str) -> Program:
    """Reads a gold's text.

    Raises:
        SyntaxError: the text is no Python, or nested without end.
    """
    tree = parse(gold)
    walk = _Walk(page_counters(tree))
    walk.run(tree.body)
    literals = frozenset(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float)
    )
    return Program(tuple(walk.sites.values()), literals)


class _Walk(Calls):
    """The walk over the statements of one program."""

    returned = NOTHING
    """What the function in which it stands has returned so far."""
    nested = 0
    """How many loops it stands in."""

    def run(self, body: Sequence[ast.stmt]) -> None:
        """Walks statements in their order; what follows an early end depends on its test."""
        outer = self.control
        for statement in body:
            self.statement = position_of(statement)
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
        test = self.test(
            node.test,
            single=self._takes_one(node.body),
            skips=bool(node.body) and isinstance(node.body[-1], ast.Continue),
        )
        before, control = self.names, self.control
        outcomes = []
        for body in (node.body, node.orelse):
            self.names, self.control = dict(before), control | test.bare
            self.run(body)
            outcomes.append(self.names)
        self.names = {
            name: joined(names[name] for names in outcomes if name in names)
            for name in {*outcomes[0], *outcomes[1]}
        }
        self.control = control
        if ends(node.body) or ends(node.orelse):
            self.control |= test.bare

    def _takes_one(self, body: Sequence[ast.stmt]) -> bool:
        """True for `if row matches: keep it; break`, the long form of a look-up."""
        return bool(self.loops) and bool(body) and isinstance(body[-1], ast.Break | ast.Return)

    def _loop(self, node: ast.For | ast.While) -> None:
        outer = self.control, self.paging, list(self.loops)
        self.paging = is_paging(node)
        element = None
        if isinstance(node, ast.For):
            element = self.value(node.iter)
            if element.sources:
                self.loops.append(id(node))
                element = replace(element, kind=None, loops=element.loops | {id(node)})
                self.control |= element.bare
        else:
            self.control |= self.test(node.test).bare
        self.nested += 1
        for _ in range(2 if self.nested <= _MOST_NESTED else 1):
            before = dict(self.names)
            if isinstance(node, ast.For) and element is not None:
                self.bind(node.target, element)
            self.run(node.body)
            for name, value in before.items():
                self.names[name] = self.names.get(name, NOTHING) | value
        self.nested -= 1
        self.control, self.paging, self.loops = outer
        self.run(node.orelse)
