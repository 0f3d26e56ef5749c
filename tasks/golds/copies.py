"""Whether two golds are one told twice: their programs without names, comments and formatting.

Every function here raises SyntaxError for a text that is no Python; mutate has its proposer repair those
before anything else looks at them.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tasks.golds.syntax import parse

_LOCAL = "_"


def normalised(gold: str) -> str:
    """The program without comments, docstrings, formatting, order of keywords and choice of local names.

    Equal results mean one program written twice: local names are numbered in the order in which they
    appear.
    """
    tree = parse(gold)
    numbers: dict[str, str] = {}
    for name in _names_in_order(tree):
        numbers.setdefault(name, f"{_LOCAL}{len(numbers)}")
    return ast.dump(_Renamed(numbers).visit(tree))


@lru_cache(maxsize=4096)
def _statements(gold: str) -> Counter[str]:
    """How often each statement stands in a gold, all local names alike; compound ones by their head."""
    tree = parse(gold)
    renamed = _Renamed(dict.fromkeys(_names_in_order(tree), _LOCAL)).visit(tree)
    return Counter(_heads(renamed.body))


def similarity(a: str, b: str) -> float:
    """How much two golds have in common, 0 (no statement) to 1 (the same statements).

    Twice the shared statements over all statements of both, each with its local names blanked, so that
    renaming, reformatting and reordering leave 1. Functions that both define alike are helpers and say
    nothing of the item: they are left out. One changed literal changes one statement.
    """
    first, second = _statements(a), _statements(b)
    helpers = {text for text in first & second if text.startswith("FunctionDef")}
    total = sum(n for text, n in (first + second).items() if text not in helpers)
    shared = sum(n for text, n in (first & second).items() if text not in helpers)
    return 2 * shared / total if total else 1.0


def _heads(body: Sequence[ast.stmt]) -> Iterator[str]:
    for statement in body:
        if isinstance(statement, ast.FunctionDef):
            yield ast.dump(statement)
            continue
        inner = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
        inner += [handler.body for handler in getattr(statement, "handlers", [])]
        for name in ("body", "orelse", "finalbody", "handlers"):
            if hasattr(statement, name):
                setattr(statement, name, [])
        yield ast.dump(statement)
        for part in inner:
            yield from _heads(part)


def _names_in_order(tree: ast.Module) -> Iterator[str]:
    """The names that a program gives itself: variables, parameters, functions."""
    bound = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            bound.add(node.name)
    for node in _in_order(tree):
        name = (
            getattr(node, "id", None) or getattr(node, "arg", None) or getattr(node, "name", None)
        )
        if isinstance(node, ast.Name | ast.arg | ast.FunctionDef) and name in bound:
            yield name


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


class _Renamed(ast.NodeTransformer):
    """A tree with its local names replaced, docstrings dropped and keywords in one order."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg, node.annotation = self.names.get(node.arg, node.arg), None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name, node.returns = self.names.get(node.name, node.name), None
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        self.generic_visit(node)
        return None if isinstance(node.value, ast.Constant) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.keywords.sort(key=lambda keyword: keyword.arg or "")
        # A call of the program's own function names that function's parameters.
        if isinstance(node.func, ast.Name) and node.func.id in self.names.values():
            for keyword in node.keywords:
                keyword.arg = self.names.get(keyword.arg, keyword.arg) if keyword.arg else None
        return node
