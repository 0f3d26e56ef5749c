"""Questions to the syntax of a gold program that need no data flow."""

import ast
import re
from collections.abc import Sequence

from tasks.golds.known_values import DATE_FIELD, NAMING_FIELDS, Kind

_MOST_NESTED = 120
"""Levels of syntax. A gold has some twenty; far beyond, walking the tree would exhaust Python's stack."""


def parse(gold: str) -> ast.Module:
    """The syntax tree of a gold.

    Raises:
        SyntaxError: the text is no Python, or nested more deeply than anybody writes.
    """
    try:
        tree = ast.parse(gold)
    except (RecursionError, MemoryError, ValueError) as error:
        raise SyntaxError(f"the gold cannot be read: {error}") from error
    level: list[ast.AST] = [tree]
    for _ in range(_MOST_NESTED):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise SyntaxError(f"the gold is nested more than {_MOST_NESTED} levels deep")
    return tree


def position_of(node: ast.AST) -> tuple[int, int]:
    """Line and column, 1- and 0-based."""
    return (getattr(node, "lineno", 0), getattr(node, "col_offset", 0))


def leaves(test: ast.expr, negated: bool = False) -> list[tuple[ast.expr, bool]]:
    """The single tests of a condition, each with whether it is negated as a whole."""
    if isinstance(test, ast.BoolOp):
        return [leaf for part in test.values for leaf in leaves(part, negated)]
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return leaves(test.operand, not negated)
    return [(test, negated)]


def is_paging(loop: ast.For | ast.While) -> bool:
    """True for a loop that asks for one page after the other, itself and not in a loop within."""
    inside: list[ast.AST] = [*loop.body]
    while inside:
        node = inside.pop()
        if isinstance(node, ast.For | ast.While):
            continue
        if isinstance(node, ast.Call) and any(one.arg == "page_index" for one in node.keywords):
            return True
        inside += ast.iter_child_nodes(node)
    return False


def page_counters(tree: ast.AST) -> set[str]:
    """The variables that are given as page numbers."""
    return {
        keyword.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "page_index" and isinstance(keyword.value, ast.Name)
    }


def ends(body: Sequence[ast.stmt]) -> bool:
    """True when control does not run on past the body."""
    return bool(body) and isinstance(body[-1], ast.Continue | ast.Break | ast.Return | ast.Raise)


def names_a_row(node: ast.expr) -> bool:
    """True for an expression that reads a field by which rows are named."""
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


def inside_len(node: ast.expr) -> ast.expr:
    """What `len(...)` is asked of; anything else as it is."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
        return node.args[0] if node.args else node
    return node


def constant_kind(value: object) -> Kind | None:
    """The kind of a literal; None for booleans and None."""
    if isinstance(value, str):
        return "date" if re.match(r"\d{4}-\d\d(-\d\d)?\b", value) else "text"
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else None


def ranking(node: ast.Call) -> Kind | None:
    """ "ranked" for a call that asks the API to sort."""
    for keyword in node.keywords:
        if keyword.arg == "sort_by":
            by = keyword.value.value if isinstance(keyword.value, ast.Constant) else ""
            return "ranked by date" if DATE_FIELD.search(str(by)) else "ranked"
    return None
