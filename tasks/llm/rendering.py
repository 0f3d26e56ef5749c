"""Records as text for a prompt: items, APIs, attempts, differences."""

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from tasks.suites.base import Api, Difference, Effect
from warehouse.records import Attempt, Item

MAX_EFFECTS = 20
"""Effects listed of one side of a difference; how many more there are is said."""


def fenced(label: str, text: str) -> str:
    """The text in a fence that is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{label}\n{text}\n{fence}"


def item_text(item: Item) -> str:
    """Instruction and gold, and setup and grading where the item has its own, each in a fence."""
    parts = [fenced("instruction", item.instruction)]
    if item.gold is None:
        parts.append("The suite ships this item without its gold.")
    else:
        parts.append(fenced("python", item.gold.strip("\n")))
    if item.setup is not None:
        parts.append(f"Setup:\n\n{fenced('setup', item.setup)}")
    if item.grading is not None:
        parts.append(f"Grading:\n\n{fenced('grading', item.grading)}")
    return "\n\n".join(parts)


def api_list(apis: Sequence[Api], in_full: Collection[str] | None = None) -> str:
    """The APIs grouped by app, a line each: required parameters, optional ones in brackets, result.

    Of the apps that are not in `in_full` (None: all are) only the APIs' names are given, and it says so.
    """
    by_app: dict[str, list[Api]] = {}
    for api in apis:
        by_app.setdefault(api.app, []).append(api)
    return "\n\n".join(
        f"## {app}\n\n"
        + (
            "\n".join(f"- {_signature(api)}" for api in by_app[app])
            if in_full is None or app in in_full
            else f"(without parameters) {', '.join(api.api for api in by_app[app])}"
        )
        for app in by_app
    )


def attempt_line(attempt: Attempt) -> str:
    """How an attempt ended, in one line."""
    cause = f", {attempt.cause}" if attempt.cause else ""
    partial = "" if attempt.partial is None else f", {attempt.partial:.0%} of its tests passed"
    return (
        f"Attempt {attempt.repeat}: {attempt.outcome}{cause}{partial}, "
        f"{attempt.turns} turns, {attempt.calls} API calls"
    )


def difference_of(attempt: Attempt) -> str:
    """An attempt's final state against the gold's."""
    if attempt.difference is None:
        return "Final state: not compared."
    difference = Difference.model_validate_json(attempt.difference)
    return f"Final state against the right one:\n\n{fenced('text', difference_text(difference))}"


def difference_text(difference: Difference) -> str:
    """A difference of final states in lines, one an effect, at most `MAX_EFFECTS` a side."""
    lines = []
    for side, effects in (("missing", difference.missing), ("unexpected", difference.unexpected)):
        lines += [f"{side}: {_effect_text(effect)}" for effect in effects[:MAX_EFFECTS]]
        if len(effects) > MAX_EFFECTS:
            lines.append(f"{side}: {len(effects) - MAX_EFFECTS} more effects, not listed")
    if difference.answer is not None:
        lines.append(
            f"answer: expected {_compact(difference.answer.expected)}, "
            f"given {_compact(difference.answer.given)}"
        )
    return "\n".join(lines) or "no difference"


def _signature(api: Api) -> str:
    def named(name: str) -> str:
        return f"{name}={'|'.join(api.values[name])}" if name in api.values else name

    optional = [named(name) for name in api.parameters if name not in api.required]
    inside = [", ".join(map(named, api.required)), f"[{', '.join(optional)}]" if optional else ""]
    returns = f" -> {api.returns}" if api.returns else ""
    return f"{api.app}.{api.api}({', '.join(part for part in inside if part)}){returns}"


def _effect_text(effect: Effect) -> str:
    row = "" if effect.row is None else f" row {_compact(effect.row)}"
    before = f", before {_compact(effect.before)}" if effect.change == "changed" else ""
    content = effect.before if effect.change == "removed" else effect.content
    return f"{effect.change} {effect.app}.{effect.table}{row} {_compact(content)}{before}"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
