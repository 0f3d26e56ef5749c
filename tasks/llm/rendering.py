"""Records as text for a prompt: items, APIs, attempts, differences."""

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from tasks.documents import document_of, written
from tasks.suites.base import Api, Difference, Effect
from warehouse.records import Attempt, Item

MAX_EFFECTS = 20
"""Effects listed of one side of a difference; how many more there are is said."""


def fenced(label: str, text: str) -> str:
    """The text in a fence that is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{label}\n{text}\n{fence}"


def item_text(item: Item, interaction: str = "code") -> str:
    """Instruction and gold, and setup and grading where the item has its own, each in a fence.

    An item of a dialogue is one JSON document.
    """
    if interaction == "dialogue":
        return fenced("json", written(document_of(item)))
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


def api_list(
    apis: Sequence[Api],
    in_full: Collection[str] | None = None,
    named: Collection[str] | None = None,
) -> str:
    """The APIs grouped by app, a line each: required parameters, optional ones in brackets, result.

    `in_full` holds apps, and single APIs as `app.api` (None: all); of the others only the names are given,
    or, of apps that are not in `named` (None: all are), their number alone. It says so.
    """
    by_app: dict[str, list[Api]] = {}
    for api in apis:
        by_app.setdefault(api.app, []).append(api)
    parts, left_out = [], []
    for app, own in by_app.items():
        told = [api for api in own if in_full is None or {app, f"{app}.{api.api}"} & set(in_full)]
        if not told and named is not None and app not in named:
            left_out.append(f"{len(own)} APIs of {app}")
            continue
        lines = [f"- {_signature(api)}" for api in told]
        if rest := [api.api for api in own if api not in told]:
            lines.append(f"(without parameters) {', '.join(rest)}")
        parts.append(f"## {app}\n\n" + "\n".join(lines))
    if left_out:
        parts.append(f"(left out: {', '.join(left_out)}; do not use them)")
    return "\n\n".join(parts)


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
