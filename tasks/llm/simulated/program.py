"""A gold taken apart: its preamble, a block for each sentence of the instruction, and the finish.

Golds that are written clause by clause are taken apart at their `# Clause:` comments. Any other gold is one
block with the whole instruction as its sentence.
"""

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

PREAMBLE_NAMES = frozenset({"passwords", "me", "login", "pages"})
"""What the preamble of every gold defines, and every block may use."""

RELATIONSHIPS = ("roommate", "coworker", "friend", "sibling", "parent")
"""Words by which people are looked up in the phone's contacts."""

_GIVEN = frozenset(dir(builtins)) | {"apis"}
_HEAD = re.compile(r"^# (Clause: .*|Finish)[ \t]*$", re.MULTILINE)
_API = re.compile(r"\bapis\.(\w+)\.(\w+)")
_LOGIN = re.compile(r"""\blogin\(\s*["'](\w+)["']\s*\)""")
_READS = ("show_", "search_", "login", "get_", "directory_exists", "file_exists")


@dataclass(frozen=True)
class Clause:
    """One sentence and the code that does what it asks."""

    sentence: str
    block: str
    """Python text; without any statement where the sentence only forbids something."""

    @property
    def apis(self) -> list[tuple[str, str]]:
        """The (app, api) that the block names, in order, each once."""
        return list(dict.fromkeys(_API.findall(self.block)))

    @property
    def is_empty(self) -> bool:
        """True when the block does nothing."""
        tree = parsed(self.block)
        return tree is not None and not tree.body

    @property
    def defined(self) -> set[str]:
        """Names that the block binds at its top level."""
        return {name for name, context in _names(self.block) if isinstance(context, ast.Store)}

    @property
    def used(self) -> set[str]:
        """Names that the block reads."""
        return {name for name, context in _names(self.block) if isinstance(context, ast.Load)}

    @property
    def needs(self) -> set[str]:
        """Names that the block reads and has from other blocks."""
        return self.used - self.defined - PREAMBLE_NAMES - _GIVEN


@dataclass(frozen=True)
class Program:
    """A gold in parts. `text` puts it together again."""

    preamble: str
    clauses: tuple[Clause, ...]
    finish: str
    """The block that calls complete_task; empty where a gold without clauses has none at its end."""

    @property
    def own_setup(self) -> str:
        """What the preamble does beside defining `PREAMBLE_NAMES`; mostly nothing."""
        tree = parsed(self.preamble)
        nodes = [node for node in (tree.body if tree else ()) if not _binds(node) & PREAMBLE_NAMES]
        return "\n".join(ast.unparse(node) for node in nodes)

    @property
    def instruction(self) -> str:
        """The sentences, joined by one space."""
        return " ".join(clause.sentence for clause in self.clauses)

    @property
    def text(self) -> str:
        """The gold."""
        parts = [self.preamble.strip("\n") + "\n"]
        parts += [
            f"# Clause: {one.sentence}\n{_with_end(one.block.strip(chr(10)))}"
            for one in self.clauses
        ]
        return "\n".join([*parts, f"# Finish\n{self.finish.strip(chr(10))}\n"])

    @property
    def apps(self) -> list[str]:
        """The apps that the blocks call or log in to, in order, each once."""
        text = "\n".join([*(one.block for one in self.clauses), self.finish])
        found = [app for app, _ in _API.findall(text)] + _LOGIN.findall(text)
        return list(dict.fromkeys(app for app in found if app not in ("supervisor", "api_docs")))

    @property
    def logins(self) -> list[str]:
        """The apps that the blocks log in to through the preamble's `login`."""
        return list(dict.fromkeys(_LOGIN.findall("\n".join(one.block for one in self.clauses))))

    def with_clauses(self, clauses: tuple[Clause, ...]) -> "Program":
        """The program with other clauses."""
        return replace(self, clauses=clauses)


def take_apart(gold: str, instruction: str) -> Program:
    """Takes a gold apart.

    Args:
        gold: The gold's text; it may be anything, also no Python.
        instruction: The sentence of a gold without clause comments.
    """
    heads = list(_HEAD.finditer(gold))
    ends = [*(head.start() for head in heads[1:]), len(gold)]
    clauses, finish = [], ""
    for head, end in zip(heads, ends, strict=False):
        block = gold[head.end() : end].strip("\n")
        if head[1] == "Finish":
            finish = block
        else:
            clauses.append(Clause(head[1].removeprefix("Clause: ").strip(), block))
    if clauses:
        return Program(gold[: heads[0].start()].strip("\n"), tuple(clauses), finish)
    return _as_one_block(gold, instruction)


def parsed(code: str) -> ast.Module | None:
    """The syntax tree, or None when the text is no Python."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return None


def calls_in(tree: ast.AST) -> Iterator[tuple[str, str, ast.Call]]:
    """All direct calls `apis.app.api(...)` in a tree, as (app, api, node), in the walk's order."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            inner = node.func.value
            if (
                isinstance(inner, ast.Attribute)
                and isinstance(inner.value, ast.Name)
                and inner.value.id == "apis"
            ):
                yield inner.attr, node.func.attr, node


def writes(api: str) -> bool:
    """Whether an API changes the world, going by its name."""
    return not api.startswith(_READS)


def _as_one_block(gold: str, instruction: str) -> Program:
    tree = parsed(gold)
    if tree is None:
        return Program("", (Clause(instruction, gold),), "")
    lines = gold.splitlines(keepends=True)
    preamble = [node for node in tree.body if _binds(node) & PREAMBLE_NAMES]
    rest = [node for node in tree.body if node not in preamble]
    finish = [rest.pop()] if rest and "complete_task" in ast.dump(rest[-1]) else []
    head, block, end = (
        "\n".join("".join(lines[node.lineno - 1 : node.end_lineno]).rstrip("\n") for node in nodes)
        for nodes in (preamble, rest, finish)
    )
    return Program(head, (Clause(instruction, block),), end)


def _binds(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else []
    return {target.id for target in targets if isinstance(target, ast.Name)}


def _names(block: str) -> list[tuple[str, ast.expr_context]]:
    """Names with how they are used; functions' names and all parameters count as bound."""
    tree = parsed(block)
    nodes = list(ast.walk(tree)) if tree else []
    bound = [node.name for node in nodes if isinstance(node, ast.FunctionDef)]
    bound += [node.arg for node in nodes if isinstance(node, ast.arg)]
    found = [(node.id, node.ctx) for node in nodes if isinstance(node, ast.Name)]
    return found + [(name, ast.Store()) for name in bound]


def _with_end(block: str) -> str:
    return f"{block}\n" if block else ""
