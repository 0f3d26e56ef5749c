"""How able the simulated solver of dialogues is: hidden traits of tools, of pairs of families, of the item.

As in `tasks.llm.simulated.skills`, nothing of it is a length, and most traits cost nothing. The paper evolves
from the 84 of 114 telecom seeds that its solver solves; how many this one solves in ten attempts has not been
measured over all of them.
"""

import itertools
from collections.abc import Sequence
from typing import Any

from tasks.llm.simulated.dice import bent, heavy

_REACH = 2.6
_PER_TOOL = 0.55
_PER_SIDE = 0.35
_PER_PAIR = 0.12
_PER_ITEM = 1.6


def strain_of(action: dict[str, Any]) -> float:
    """How much one call of a gold costs, in logits."""
    side = action.get("requestor", "assistant")
    return _PER_TOOL * _steep("tool", action["name"]) + _PER_SIDE * _steep("side", side)


def dialogue_logit(actions: Sequence[dict[str, Any]], content: str) -> float:
    """Logit of the chance that one attempt is solved; `content` is what names the item's content."""
    names = sorted({action["name"] for action in actions})
    strain = sum(strain_of(action) for action in {one["name"]: one for one in actions}.values())
    strain += _PER_PAIR * sum(_steep("both", *pair) for pair in itertools.combinations(names, 2))
    return _REACH - strain + _PER_ITEM * bent("item", content)


def _steep(*words: object) -> float:
    value = heavy(*words)
    return value * value / 2
