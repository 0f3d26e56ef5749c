"""The simulated judge: decides from what the prompt shows, and is now and then wrong."""

import json
import re

from tasks.llm.base import Request
from tasks.llm.fences import find_fences
from tasks.llm.simulated.dice import dice
from tasks.llm.simulated.reading import asked, documents_in, items_in, section

ERROR_RATE = 0.04
"""Chance of a drawn verdict in place of the one that the rules give."""

_VAGUE = re.compile(
    r"\b(some|a few|several|appropriate|suitable|nice|etc|and so on|or so|around|roughly)\b"
)
_EFFECT = re.compile(r"^(missing|unexpected): (.*)$", re.MULTILINE)
_OF_THE_USER = re.compile(
    r"^## Attempt (\d+): failed, (?:unusable_user|out_of_scope)\b", re.MULTILINE
)
_VERDICTS = ("valid", "false_failure", "vague", "other")


def judge(request: Request, rng_seed: int) -> str:
    """The verdict as JSON, reason first."""
    prompt = asked(request.messages)
    reason, verdict = _decided(prompt)
    rng = dice(rng_seed, "judge", prompt)
    if rng.random() < ERROR_RATE:
        verdict = rng.choice([one for one in _VERDICTS if one != verdict])
        reason = "On a second reading I see it differently."
    whose = {}
    if _is_dialogue(prompt):
        failed = section(prompt, "Failed attempts")
        whose["user_failures"] = [int(number) for number in _OF_THE_USER.findall(failed)]
    return json.dumps({"reason": reason, **whose, "verdict": verdict})


def _is_dialogue(prompt: str) -> bool:
    return bool(documents_in(section(prompt, "The item")))


def _decided(prompt: str) -> tuple[str, str]:
    items = items_in(section(prompt, "The item"))
    instruction = re.sub(r'"[^"]*"', "", items[0][0]) if items else ""
    is_dialogue = _is_dialogue(prompt)
    if not is_dialogue and "complete_task" not in (items[0][1] if items else ""):
        return "The gold never declares the item complete.", "other"
    # A scenario is told in part by its persona, whose words decide nothing.
    vague = None if is_dialogue else _VAGUE.search(instruction.lower())
    if vague:
        return f"The instruction says '{vague[0]}' and leaves open which or how much.", "vague"
    failures = [
        one.body
        for one in find_fences(section(prompt, "Failed attempts"))
        if _EFFECT.search(one.body)
    ]
    if any(_differs_in_form_only(body) for body in failures):
        return (
            "What is missing and what is there differ in letter case or spaces only.",
            "false_failure",
        )
    return (
        "The instruction names what decides, and each failed attempt leaves another state.",
        "valid",
    )


def _differs_in_form_only(difference: str) -> bool:
    """Whether each missing effect has an unexpected one that reads the same but for case and spaces."""
    sides: dict[str, list[str]] = {"missing": [], "unexpected": []}
    for side, effect in _EFFECT.findall(difference):
        sides[side].append(re.sub(r"\W+", "", effect.lower()))
    return bool(sides["missing"]) and sorted(sides["missing"]) == sorted(sides["unexpected"])
