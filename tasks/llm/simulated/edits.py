"""Edits that the simulated proposer makes, each on sentence and block together."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from tasks.llm.simulated.program import (
    PREAMBLE_NAMES,
    RELATIONSHIPS,
    Clause,
    Program,
    calls_in,
    parsed,
    writes,
)

_TEXTS = (
    "As agreed", "For last week", "With thanks", "Just in time", "Round two", "For the weekend",
    "From all of us", "Do not forget", "One more time", "For the record",
)  # fmt: skip


def add(program: Program, clause: Clause) -> Program:
    """The program with one more clause at its end.

    Names that the new block binds and the finish uses are given new names first.
    """
    taken = Clause("", program.finish).used
    clashing = clause.defined & taken - PREAMBLE_NAMES
    added = replace(clause, block=_renamed(clause.block, clashing, taken)) if clashing else clause
    return program.with_clauses((*program.clauses, added))


def droppable(program: Program) -> list[int]:
    """Places of the clauses that can go: nobody else uses their names, and something is left to do.

    A sentence that only forbids something goes with the clause before it, never alone: the block
    that keeps to it would stay.
    """
    return [
        at
        for at, clause in enumerate(program.clauses)
        if not clause.is_empty
        and not clause.defined & _needed(program, at)
        and ("answer=" in program.finish or any(map(_writes, drop(program, at).clauses)))
    ]


def drop(program: Program, at: int) -> Program:
    """The program without one clause, what only forbids behind it, and what was only read for it."""
    end = at + 1
    while end < len(program.clauses) and program.clauses[end].is_empty:
        end += 1
    rest = program.with_clauses(program.clauses[:at] + program.clauses[end:])
    for n, one in enumerate(rest.clauses):
        if not one.is_empty and not _writes(one) and not one.defined & _needed(rest, n):
            return drop(rest, n)
    return rest


def _needed(program: Program, at: int) -> set[str]:
    """Names that the finish and the other clauses take from elsewhere."""
    others = [one.needs for n, one in enumerate(program.clauses) if n != at]
    return Clause("", program.finish).needs.union(*others)


def _writes(clause: Clause) -> bool:
    return any(writes(api) for _, api in clause.apis)


def stands_alone(clause: Clause) -> bool:
    """Whether a block does something, and uses nothing but the preamble and its own names."""
    return not clause.needs and parsed(clause.block) is not None and not clause.is_empty


def skeleton(clause: Clause) -> str:
    """The sentence without its numbers, quotes and relationships: what two draws of it share."""
    text = re.sub(r'"[^"]*"|[\d.,:$]+', "_", clause.sentence.lower())
    return re.sub(rf"\b({'|'.join(RELATIONSHIPS)})s?\b", "_", text)


def alterations(program: Program, rng: Random) -> list[Program]:
    """All ways to alter one parameter in sentence and block together, with drawn new values."""
    found = []
    for at, clause in enumerate(program.clauses):
        for changed in (*_numbers(clause, rng), *_texts(clause, rng), *_people(clause, rng)):
            clauses = (*program.clauses[:at], changed, *program.clauses[at + 1 :])
            found.append(program.with_clauses(clauses))
    return found


def _numbers(clause: Clause, rng: Random) -> Iterator[Clause]:
    """Numbers that stand once in the sentence and as a constant in the block; not those of dates."""
    for number in dict.fromkeys(
        re.findall(r"(?<![\w:.,-])\$?(\d+)(?![\w:-]|[.,]\d)", clause.sentence)
    ):
        if int(number) > 999 or clause.sentence.count(number) != 1:
            continue
        spots = [node for node in _constants(clause.block) if node.value == int(number)]
        if len(spots) == 1 and not isinstance(spots[0].value, bool):
            other = str(max(1, int(number) + rng.choice((-3, -2, -1, 1, 2, 3, 5))))
            sentence = clause.sentence.replace(number, other)
            if other != number:
                yield Clause(sentence, _spliced(clause.block, spots[0], other))


def _texts(clause: Clause, rng: Random) -> Iterator[Clause]:
    """Quoted texts of the sentence that the block writes somewhere, never those it looks up by."""
    for text in dict.fromkeys(re.findall(r'"([^"]+)"', clause.sentence)):
        spots = [node for node in _constants(clause.block) if node.value == text]
        written = _written_constants(clause.block)
        if len(spots) == 1 and (spots[0].lineno, spots[0].col_offset) in written:
            other = rng.choice([one for one in _TEXTS if one != text])
            sentence = clause.sentence.replace(f'"{text}"', f'"{other}"')
            yield Clause(sentence, _spliced(clause.block, spots[0], f'"{other}"'))


def _people(clause: Clause, rng: Random) -> Iterator[Clause]:
    """The relationship of those whom the clause is about."""
    for name in RELATIONSHIPS:
        spots = [node for node in _constants(clause.block) if node.value == name]
        if len(spots) == 1 and re.search(rf"\b{name}s?\b", clause.sentence):
            other = rng.choice([one for one in RELATIONSHIPS if one != name])
            sentence = re.sub(rf"\b{name}(s?)\b", rf"{other}\1", clause.sentence)
            yield Clause(sentence, _spliced(clause.block, spots[0], f'"{other}"'))


def _constants(block: str) -> list[ast.Constant]:
    """Constants that are tokens of their own (pieces of f-strings have no place in the text)."""
    tree = parsed(block)
    if tree is None:
        return []
    inside = {
        id(piece)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for piece in ast.walk(node)
    }
    return [
        node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in inside
    ]


def _written_constants(block: str) -> set[tuple[int, int]]:
    tree = parsed(block)
    return {
        (keyword.value.lineno, keyword.value.col_offset)
        for _, api, call in (calls_in(tree) if tree else ())
        if writes(api)
        for keyword in call.keywords
        if isinstance(keyword.value, ast.Constant)
    }


def _spliced(block: str, node: ast.Constant, source: str) -> str:
    """The block with other source text in place of one constant that stands on one line."""
    lines = block.splitlines(keepends=True)
    line = lines[node.lineno - 1].encode()
    changed = line[: node.col_offset] + source.encode() + line[node.end_col_offset :]
    lines[node.lineno - 1] = changed.decode()
    return "".join(lines)


class _Renamer(ast.NodeTransformer):
    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.Name(self.names.get(node.id, node.id), node.ctx)


def _renamed(block: str, clashing: set[str], taken: set[str]) -> str:
    names = {}
    for name in sorted(clashing):
        number = 2
        while f"{name}_{number}" in taken:
            number += 1
        names[name] = f"{name}_{number}"
    return ast.unparse(ast.fix_missing_locations(_Renamer(names).visit(ast.parse(block))))
