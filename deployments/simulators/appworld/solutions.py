"""The gold of a task of AppWorld's as one program, to be run as a cell."""

import ast

_NAME = "solution"
_OF_A_FUNCTION_ONLY = (ast.Return, ast.Yield, ast.YieldFrom, ast.Await)


def gold_of(compiled: str) -> str:
    """`compiled_solution.py` as a program: the function's body, line for line, where that does the same.

    Statements at the top are what a proposer edits and what a gold is read by. Where the body can only be
    a function's, it is kept as one and called, as `appworld verify tasks` does. Lines that hold the canary
    are left out, as stock leaves them out when it loads a task.

    Raises:
        ValueError: the text is no Python, or defines no `solution`.
    """
    lines = [line for line in compiled.split("\n") if "# Canary String: " not in line]
    text = "\n".join(lines).strip("\n") + "\n"
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"compiled_solution.py: {error}") from error
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    if _NAME not in names:
        raise ValueError("compiled_solution.py: defines no function `solution`")
    last = tree.body[-1]
    if not isinstance(last, ast.FunctionDef) or last.name != _NAME or not _is_plain(last):
        return f"{text}\n{_NAME}(apis, None)\n"
    return _flattened(text.split("\n"), last)


def _is_plain(function: ast.FunctionDef) -> bool:
    """Whether its body means the same outside of it."""
    if function.body[0].lineno == function.lineno:
        return False
    own = [node for statement in function.body for node in _outside_functions(statement)]
    of_a_function = any(isinstance(node, _OF_A_FUNCTION_ONLY) for node in own)
    return not of_a_function and not any(
        isinstance(node, ast.Nonlocal) for node in ast.walk(function)
    )


def _outside_functions(node: ast.AST) -> list[ast.AST]:
    """The node and those below it, without the insides of further functions."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return [node]
    return [node] + [
        below for child in ast.iter_child_nodes(node) for below in _outside_functions(child)
    ]


def _flattened(lines: list[str], function: ast.FunctionDef) -> str:
    """The lines before the function, then those of its body without their indentation."""
    margin = " " * function.body[0].col_offset
    inside_text = {
        number
        for node in ast.walk(function)
        if isinstance(node, ast.JoinedStr)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))
        for number in range(node.lineno + 1, node.end_lineno + 1)
    }
    first = _first_line(function.body[0])
    while _says_nothing(lines[first - 2]):  # comments that stand above the first statement
        first -= 1
    body = [
        line if number in inside_text else _moved_out(line, margin)
        for number, line in enumerate(lines[first - 1 :], start=first)
    ]
    return "\n".join([*lines[: _first_line(function) - 1], *body]).strip("\n") + "\n"


def _first_line(node: ast.stmt) -> int:
    """Number of a statement's first line, decorators included."""
    return min([node.lineno, *(part.lineno for part in getattr(node, "decorator_list", ()))])


def _says_nothing(line: str) -> bool:
    return not line.strip() or line.strip().startswith("#")


def _moved_out(line: str, margin: str) -> str:
    """A line less its margin; one that stands further out (a comment, inside brackets) at the very left."""
    return line.removeprefix(margin) if line.startswith(margin) else line.lstrip()
