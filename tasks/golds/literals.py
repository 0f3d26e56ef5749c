"""Values that stand in a gold or an instruction and should not: ids, answers, what was to be read.

Every function that takes a gold raises SyntaxError for a text that is no Python; mutate has its proposer
repair those before anything else looks at them.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.golds import stated
from tasks.golds.known_values import FINISH, NAMING_FIELDS, PAGE_ARGUMENTS, field_kind
from tasks.golds.program import read_program
from tasks.golds.syntax import parse

_FREE_NUMBERS = frozenset({0.0, 1.0, 2.0, 7.0, 10.0, 12.0, 24.0, 60.0, 100.0, 365.0})
"""Indices, shares, and how many of one unit make another."""

_SMALL_COUNT = 5
"""Whole numbers up to this one pass as counts and levels ("a pair", "lowest priority")."""

_TELLING = re.compile(
    r"[\w.+-]+@[\w-]+\.\w+"  # an address
    r"|\beyJ[\w-]{8,}"  # a signed token
    r"|\b[0-9a-fA-F]{16,}\b"  # a hash or key
    r"|\b\d{7,}\b|\b\d{3}[-. ]\d{3}[-. ]\d{4}\b"  # a phone or card number
)
_DATE = re.compile(r"\d{4}-(\d\d)(?:-(\d\d))?|^-?(\d\d)-(\d\d)")
_VOCABULARY = re.compile(r"-?[a-z]+([_-][a-z]+)*")
"""One word in lower case: an app, a field, a relation, a state."""

_UNITS = {
    "minute": (60,), "hour": (60, 3600), "day": (24, 1440, 86400), "week": (7, 168), "month": (30,),
    "year": (12, 52, 365), "dollar": (100,), "second": (1000,),
}  # fmt: skip
"""How many smaller units a stated one makes: "four minutes" states 240."""

_PLAIN_WORDS = frozenset(
    {*stated.MONTHS, *stated.DAYS}
    | set(stated.words("am pm yes no i me my you your he his she her it its we our they their"))
    | set(stated.words("a an the is are was to of for from with on in at and or"))
)
"""Words that name nobody and nothing."""


_SHORTEST_STEM = 4
"""Letters below which words are alike by chance: "Sam" is no form of "same"."""


@dataclass(frozen=True)
class _Literal:
    value: str | int | float
    argument: str | None
    """The keyword whose value it is or helps to make."""
    compared_with: frozenset[str]
    """Fields with which it is compared."""
    is_piece: bool
    """It is glue inside an f-string."""

    @property
    def is_alone(self) -> bool:
        """Neither given to an API nor compared with a field."""
        return self.argument is None and not self.compared_with


def hard_coded_literals(gold: str, instruction: str) -> list[str]:
    """Values in a gold that it should have read or worked out; empty for a legal gold.

    A literal is legal where the instruction states it in whatever form (casing, "May 18" for 2023-05-18,
    "twice" for 2, "20%" for 0.2, 19 for "7 pm"), and so are field names, lower-case words of the API's
    vocabulary, page numbers, small counts, unit factors, and a date where the instruction speaks of time
    relative to today. It is reported when it is

    - an answer that depends on no data at all;
    - a number given as `*_id` or compared with one;
    - an address, a token, a phone or card number that the instruction does not hold;
    - a text that names something (it is compared with a name or title, asked for as `query`, or has a
      capital inside or a digit) with words that the instruction does not have;
    - any other number that is not stated.

    An id of at most 5 that reaches its call through a variable is not seen: it looks like a count.

    Returns:
        The literals as Python writes them, in the order in which they stand, an answer last.
    """
    tree = parse(gold)
    sizes = _page_sizes(tree)
    found = [
        repr(one.value)
        for one in _literals(tree)
        if not (one.is_alone and one.value in sizes) and not _is_legal(one, instruction)
    ]
    answer = read_program(gold).answer()
    if answer is not None and not answer.sources and _answer_is_told(tree):
        found.append(f"answer={_answer_text(tree)}")
    return list(dict.fromkeys(found))


def _page_sizes(tree: ast.Module) -> set[object]:
    """How many rows the program asks for at once; it compares pages with that number."""
    return {
        node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword)
        and node.arg in PAGE_ARGUMENTS
        and isinstance(node.value, ast.Constant)
    }


def _answer_calls(tree: ast.Module) -> list[ast.expr]:
    return [
        keyword.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == FINISH[1]
        for keyword in node.keywords
        if keyword.arg == "answer"
    ]


def _answer_is_told(tree: ast.Module) -> bool:
    """False for `answer=None`, which is no answer."""
    return any(not (isinstance(a, ast.Constant) and a.value is None) for a in _answer_calls(tree))


def _answer_text(tree: ast.Module) -> str:
    return ast.unparse(_answer_calls(tree)[-1])


def _literals(tree: ast.Module) -> Iterator[_Literal]:
    """The texts and numbers of a program that are no field names, in order."""
    skipped = _structural(tree)
    yield from _visit(tree, None, frozenset(), False, skipped)


def _structural(tree: ast.Module) -> set[int]:
    """Constants that name fields or attributes, are alone as a statement, or are answers."""
    found: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
            found.add(id(node.slice))
        elif isinstance(node, ast.Dict):
            found.update(id(key) for key in node.keys if key is not None)
        elif isinstance(node, ast.Expr):
            found.add(id(node.value))
        elif isinstance(node, ast.Call):
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if name in ("get", "pop", "setdefault", "itemgetter"):
                found.update(id(part) for part in node.args[:1])
            elif name in ("getattr", "strftime", "strptime"):
                found.update(id(part) for part in node.args[1:])
                found.update(id(part) for part in node.args if name == "strftime")
    found.update(id(answer) for answer in _answer_calls(tree))
    return found


def _visit(
    node: ast.AST,
    argument: str | None,
    fields: frozenset[str],
    is_piece: bool,
    skipped: set[int],
) -> Iterator[_Literal]:
    if id(node) in skipped and isinstance(node, ast.Constant):
        return
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str | int | float) and not isinstance(node.value, bool):
            yield _Literal(node.value, argument, fields, is_piece)
        return
    if isinstance(node, ast.keyword):
        argument = node.arg
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        for side in sides:
            plain = isinstance(side, ast.Constant | ast.Tuple | ast.List | ast.Set)
            fields = {name for other in sides if other is not side for name in _fields_in(other)}
            found = frozenset(fields) if plain else frozenset()
            yield from _visit(side, argument, found, is_piece, skipped)
        return
    is_piece = is_piece or isinstance(node, ast.JoinedStr)
    for child in ast.iter_child_nodes(node):
        yield from _visit(child, argument, fields, is_piece, skipped)


def _fields_in(node: ast.AST) -> Iterator[str]:
    """The fields that an expression reads, those in the arguments of its calls left out."""
    key = node.slice if isinstance(node, ast.Subscript) else None
    inner = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Call):
        if getattr(node.func, "attr", "") == "get" and node.args:
            key = node.args[0]
        inner = [node.func]
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        yield key.value
    for part in inner:
        yield from _fields_in(part)


def _is_legal(literal: _Literal, instruction: str) -> bool:
    if literal.argument in PAGE_ARGUMENTS:
        return True
    names = {literal.argument or "", *literal.compared_with}
    is_id = any(name == "id" or name.endswith(("_id", "_ids")) for name in names)
    if isinstance(literal.value, str):
        return _text_is_legal(literal, names, is_id, instruction)
    number = abs(stated.as_number(literal.value) or 0.0)
    if is_id:
        return number in stated.numbers(instruction)
    small = number.is_integer() and number <= _SMALL_COUNT
    is_sum = any(field_kind(name) == "number" for name in names)
    return small or number in _FREE_NUMBERS or _derives(number, instruction, is_sum)


def _derives(number: float, instruction: str, is_sum: bool = False) -> bool:
    """A stated number in whatever form, a year, or a part of a date where the instruction speaks of time.

    Forms: itself, a share as a factor (20% more is 1.2), one more or less, a time in smaller units. What
    is a sum (`amount=37`) is no part of a date.
    """
    numbers = stated.numbers(instruction)
    if number in numbers:
        return True
    if any(number in (1 + share, round(1 - share, 9)) for share in numbers if 0 < share < 1):
        return True
    if number.is_integer() and (number + 1 in numbers or number - 1 in numbers):
        return True
    units = [
        factor for word, factors in _UNITS.items() if word in instruction for factor in factors
    ]
    if any(number == count * factor for count in numbers for factor in units):
        return True
    part_of_date = number in stated.months(instruction) or number in range(1, 60)
    is_year = number in range(1900, 2101)
    return not is_sum and stated.speaks_of_time(instruction) and (part_of_date or is_year)


def _text_is_legal(literal: _Literal, names: set[str], is_id: bool, instruction: str) -> bool:
    text = str(literal.value)
    if f" {' '.join(stated.words(text))} " in f" {' '.join(stated.words(instruction))} ":
        return not is_id or not text.isdecimal() or float(text) in stated.numbers(instruction)
    if is_id or _TELLING.search(text):
        return not is_id and all(found in instruction for found in _TELLING.findall(text))
    if date := _DATE.search(text):
        month, day = date.group(1) or date.group(3), date.group(2) or date.group(4)
        stated_day = (int(month), int(day or 0)) in stated.days(instruction)
        return stated_day or stated.speaks_of_time(instruction)
    names_something = bool(names & NAMING_FIELDS) or "query" in names
    if not names_something and _VOCABULARY.fullmatch(text.strip()):
        return True
    return all(
        _word_is_legal(word, opens, names_something and not literal.is_piece, instruction)
        for opens, word in _words_of(text)
    )


def _words_of(text: str) -> list[tuple[bool, str]]:
    """The words of a text, each with whether it opens a longer one."""
    found = re.findall(r"[^\W_]+", text)
    return [(position == 0 and len(found) > 1, word) for position, word in enumerate(found)]


def _word_is_legal(word: str, opens: bool, strict: bool, instruction: str) -> bool:
    """A word of a text: said in the instruction (also in another inflection), or plain prose."""
    if word.isdecimal():
        small = int(word) <= _SMALL_COUNT
        return small or float(word) in _FREE_NUMBERS or _derives(float(word), instruction)
    folded = word.casefold()
    if folded in _PLAIN_WORDS or any(
        _same_stem(folded, other) for other in stated.words(instruction)
    ):
        return True
    # Prose opens with a capital; a name has one where it stands.
    return not strict and (word.islower() or opens)


def _same_stem(a: str, b: str) -> bool:
    """True for inflections of one word: "roommates" and "roommate", "paid" is not "pay"."""
    stems = [re.sub(r"(ies|y|es|s|ed|ing|e)$", "", word) for word in (a, b)]
    return a == b or (stems[0] == stems[1] and len(stems[0]) >= _SHORTEST_STEM)


# Answers


def answer_in_instruction(answer: object, instruction: str) -> bool:
    """True when an open question's instruction holds its answer, so that it can be copied.

    A text is there when its words stand in the instruction in a row, a number when the instruction states it
    in digits or words; a list ("a, b") when all its parts do. None, and an alternative that the question
    offers ("Anna or Sam?"), are not in it.
    """
    parts = (
        [part.strip() for part in str(answer).split(",")] if isinstance(answer, str) else [answer]
    )
    whole = stated.as_number(answer)
    if answer is None or answer == "":
        return False
    if whole is not None:
        return abs(whole) in stated.numbers(instruction)
    return all(_part_in(str(part), instruction) for part in parts if part)


def _part_in(part: str, instruction: str) -> bool:
    wanted = " ".join(stated.words(part))
    said = " " + " ".join(stated.words(instruction)) + " "
    if not wanted or f" {wanted} " not in said:
        return False
    offered = rf" or (?:(?:the|a|an|my) )?{re.escape(wanted)} | {re.escape(wanted)} or "
    return not re.search(offered, said)
