"""Slips: what a solver does wrong, as real changes of the code that it runs.

Each kind is a list of ways to change a syntax tree; which way and where is drawn. The simulator runs the
changed code and the grader decides, so a slip may turn out to change nothing, as in life.
"""

import ast
import copy
from collections.abc import Callable, Iterator
from random import Random

from tasks.llm.simulated.program import RELATIONSHIPS, calls_in, parsed, writes

KINDS = ("wrong_entity", "wrong_value", "missing", "extra", "error")
"""In the order of the failure reasons R1-R5 of labels.md; the sixth, unfinished, is no change of code."""

_FLIPS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt,
    ast.Gt: ast.LtE, ast.LtE: ast.Gt, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
_REACHING = frozenset({"access_token", "file_system_access_token", "page_index", "page_limit"})

Change = Callable[[], None]
"""Does one change in place, on the tree that it was found in."""


def slip(block: str, kind: str, rng: Random) -> str | None:
    """The block with one slip of a kind; None when the block offers no place for it."""
    tree = parsed(block)
    if tree is None or not tree.body:
        return None
    before = ast.unparse(tree)
    changes = list(_WAYS[kind](tree, rng))
    rng.shuffle(changes)
    for change in changes:
        change()
        after = ast.unparse(ast.fix_missing_locations(tree))
        if after != before:
            return after
    return None


def wrong_answer(finish: str) -> str | None:
    """The finish with another answer; None when it gives none."""
    tree = parsed(finish)
    for _, api, call in calls_in(tree) if tree else ():
        for keyword in call.keywords if api == "complete_task" else ():
            if keyword.arg == "answer":
                keyword.value = _other_value(keyword.value)
                return ast.unparse(ast.fix_missing_locations(tree))
    return None


def stumble(block: str, rng: Random) -> str:
    """A cell that raises before it has done anything: it asks an API of the block that is not there."""
    apis = [(app, api) for app, api, _ in calls_in(ast.parse(block))]
    app, api = rng.choice(apis or [("supervisor", "show_profile")])
    wrong = rng.choice((f"{api}_list", f"get_{api}", f"{api}s"))
    return f"found = apis.{app}.{wrong}()\nprint(found)"


def _wrong_entity(tree: ast.Module, rng: Random) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "relationship":
            yield _set(node, "value", ast.Constant(rng.choice(RELATIONSHIPS)))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("min", "max"):
                yield _set(node.func, "id", "max" if node.func.id == "min" else "min")
        elif isinstance(node, ast.Compare) and type(node.ops[0]) in _FLIPS:
            yield _set(node, "ops", [_FLIPS[type(node.ops[0])](), *node.ops[1:]])
        elif isinstance(node, ast.keyword) and node.arg == "reverse":
            yield _set(node, "value", ast.UnaryOp(ast.Not(), node.value))
        elif isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "0":
            yield _set(node, "slice", ast.Constant(-1))


def _wrong_value(tree: ast.Module, rng: Random) -> Iterator[Change]:
    for _, api, call in calls_in(tree):
        for keyword in call.keywords if writes(api) else ():
            name = keyword.arg or ""
            if name not in _REACHING and not name.endswith(("_id", "email", "emails", "number")):
                yield _set(keyword, "value", _other_value(keyword.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.right, ast.Constant):
            yield _set(node, "right", _other_value(node.right))


def _missing(tree: ast.Module, rng: Random) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and _writes_inside(node):
            rest = ast.Slice(lower=ast.Constant(1))
            listed = ast.Call(ast.Name("list", ast.Load()), [node.iter], [])
            yield _set(node, "iter", ast.Subscript(listed, rest, ast.Load()))
        for body in _bodies(node):
            for place, statement in enumerate(body):
                if isinstance(statement, ast.Expr) and _writes_inside(statement):
                    yield _replace(body, place, [ast.Pass()])


def _extra(tree: ast.Module, rng: Random) -> Iterator[Change]:
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and _writes_inside(node):
            yield _set(node, "test", ast.Constant(True))
        elif isinstance(node, ast.comprehension) and node.ifs:
            yield _set(node, "ifs", [])
        for body in _bodies(node):
            for place, statement in enumerate(body):
                if isinstance(statement, ast.Expr) and _adds(statement):
                    yield _replace(body, place, [statement, copy.deepcopy(statement)])


def _error(tree: ast.Module, rng: Random) -> Iterator[Change]:
    wrong = ast.parse(stumble(ast.unparse(tree), rng)).body
    yield _replace(tree.body, 0, [*wrong, tree.body[0]])


_WAYS: dict[str, Callable[[ast.Module, Random], Iterator[Change]]] = {
    "wrong_entity": _wrong_entity,
    "wrong_value": _wrong_value,
    "missing": _missing,
    "extra": _extra,
    "error": _error,
}


def _set(node: ast.AST, field: str, value: object) -> Change:
    return lambda: setattr(node, field, value)


def _replace(body: list[ast.stmt], place: int, statements: list[ast.stmt]) -> Change:
    def change() -> None:
        body[place : place + 1] = statements

    return change


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse"):
        body = getattr(node, field, None)
        if isinstance(body, list):
            yield body


def _writes_inside(node: ast.AST) -> bool:
    return any(writes(api) for _, api, _ in calls_in(node))


def _adds(node: ast.AST) -> bool:
    making = ("create_", "send_", "record_", "write_", "post_", "add_content")
    return any(api.startswith(making) for _, api, _ in calls_in(node))


def _other_value(value: ast.expr) -> ast.expr:
    """Another value of the same type: of a constant now, of anything else when it is run."""
    if isinstance(value, ast.Constant) and isinstance(value.value, bool):
        return ast.Constant(not value.value)
    if isinstance(value, ast.Constant) and isinstance(value.value, int | float):
        return ast.Constant(value.value + 1)
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return ast.Constant(_other_text(value.value))
    text = ast.unparse(value)
    source = f"(lambda v: v + 1 if isinstance(v, (int, float)) else str(v) + ' 2')({text})"
    return ast.parse(source, mode="eval").body


def _other_text(text: str) -> str:
    """Times of day move by an hour, days by one; any other text loses its first word or gains one."""
    if len(text) == 5 and text[2] == ":" and text[:2].isdigit():
        return f"{(int(text[:2]) + 1) % 24:02d}{text[2:]}"
    if len(text) == 10 and text[4] == text[7] == "-" and text[8:].isdigit():
        return f"{text[:8]}{int(text[8:]) % 28 + 1:02d}"
    first, _, rest = text.partition(" ")
    return rest or f"{first} today"
