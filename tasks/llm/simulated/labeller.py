"""The simulated labeller: rules of thumb on instruction and gold, and now and then wrong."""

import json
import re
from collections.abc import Callable

from tasks.llm.base import Request
from tasks.llm.simulated.dice import dice
from tasks.llm.simulated.reading import asked, items_in, section

ERROR_RATE = 0.05
"""Chance, for each label, of the other answer than the rule's."""

_ASKED = re.compile(r"^- (\w+) \((\w+)\): ", re.MULTILINE)
_CHOOSING = re.compile(
    r"\b(only|more than|less than|at most|at least|before|after|\w+est|first|last|most|least)\b"
)
_FORBIDDING = re.compile(r"\b(do not|don't|never|unless|except|leave|nobody|nothing)\b")
_DESCRIBED = re.compile(
    r"\b(roommate|coworker|sibling|friend|parent|manager|whoever|the one|whichever|the \w+est)s?\b"
)
_FIRST_NAME = re.compile(r"(?<=[a-z] )[A-Z][a-z]+\b(?! [A-Z])")

_RULES: dict[str, Callable[[str, str], bool]] = {
    "F5": lambda text, gold: bool(
        _CHOOSING.search(text.lower()) or "max(" in gold or "min(" in gold
    ),
    "F8": lambda text, gold: bool(_FIRST_NAME.search(text)) and "first_name" in gold,
    "F9": lambda text, gold: bool(_FORBIDDING.search(text.lower())),
    "F10": lambda text, gold: bool(_DESCRIBED.search(text.lower())),
}
"""What stands for the definitions, which only a language model can apply. Other labels don't hold."""


def label(request: Request, rng_seed: int) -> str:
    """The labels as JSON, reason first."""
    prompt = asked(request.messages)
    items = items_in(section(prompt, "The item"))
    text, gold = items[0] if items else ("", "")
    labels = {}
    for name, _ in _ASKED.findall(section(prompt, "The labels")):
        held = name in _RULES and _RULES[name](text, gold)
        wrong = dice(rng_seed, "labeller", name, prompt).random() < ERROR_RATE
        labels[name] = held != wrong
    holding = [name for name, held in labels.items() if held]
    return json.dumps({"reason": f"By rule of thumb: {holding or 'none'}.", "labels": labels})
