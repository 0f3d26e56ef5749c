"""How able the simulated solver is: the chance that it solves an item, from hidden traits.

An item's strain adds up over its clauses, each by the APIs that it calls, the shape of its code and the
wording of its sentence; pairs of apps that meet in one item strain it further, and so does the item itself.
All of these are heavy-tailed, so that most items cost nothing and some cost all; none of them is a
length: a long item of familiar parts is easy, and one sentence can be hopeless.

Constants and traits are set, by trying a few hundred, so that our 24 AppWorld seeds measure like the paper's
originals (68.9 % solved in all of 10 attempts, 12.3 % in none): 68 % and 14 % are expected, and campaigns of
rng_seed 1, 2, 3 get 16, 16, 16 and 2, 3, 3 of the 24. Other wordings of the seeds move single items.
"""

import ast
import itertools
import math
import re

from tasks.llm.simulated.dice import bent, heavy
from tasks.llm.simulated.program import Clause, Program, parsed

_REACH = 8.4
"""Logit of an item without any strain."""
_PER_API = 0.314
_PER_SHAPE = 0.392
_PER_WORDING = 0.616
_PER_PAIR = 0.672
_PER_ITEM = 1.26

_SHAPES = (
    ast.For,
    ast.While,
    ast.If,
    ast.Compare,
    ast.BinOp,
    ast.Subscript,
    ast.Lambda,
    ast.JoinedStr,
)


def clause_strain(clause: Clause) -> float:
    """How much one clause costs, in logits; 0 where nothing has to be done."""
    tree = parsed(clause.block)
    if tree is None or not tree.body:
        return 0.0
    shapes = {type(node).__name__ for node in ast.walk(tree) if isinstance(node, _SHAPES)}
    words = re.sub(r"[^a-z]+", " ", clause.sentence.lower()).strip()
    return (
        _PER_API * sum(_steep(heavy("api", *api)) for api in clause.apis)
        + _PER_SHAPE * sum(_steep(heavy("shape", shape)) for shape in shapes)
        + _PER_WORDING * _steep(heavy("wording", words))
    )


def item_logit(program: Program, content: str) -> float:
    """Logit of the chance that one attempt is solved.

    Args:
        program: The item's gold in parts.
        content: What names the item's content (its instruction); its own trait hangs on it.
    """
    strain = sum(clause_strain(clause) for clause in program.clauses)
    pairs = itertools.combinations(sorted(program.apps), 2)
    strain += _PER_PAIR * sum(_steep(heavy("pair", *pair)) / 2 for pair in pairs)
    return _REACH - strain + _PER_ITEM * bent("item", content)


def chance(logit: float) -> float:
    """The chance (0-1) of a logit."""
    return 1 / (1 + math.exp(-logit)) if logit >= 0 else math.exp(logit) / (1 + math.exp(logit))


def _steep(trait: float) -> float:
    """Small traits matter less, large ones more, than they would by themselves."""
    return trait * trait / 2
