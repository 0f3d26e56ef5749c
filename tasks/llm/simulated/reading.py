"""What the simulated models read out of their prompts: the same text that an LLM would get."""

import json
from typing import Any

from tasks.llm.base import Message
from tasks.llm.fences import find_fences


def section(text: str, heading: str) -> str:
    """What stands under a first-level heading, up to the next one outside of fences; "" without it."""
    fences = [(one.start, one.end) for one in find_fences(text)]
    lines, offset, within = [], 0, False
    for line in text.splitlines(keepends=True):
        fenced = any(start <= offset < end for start, end in fences)
        if line.startswith("# ") and not fenced:
            within = line.strip() == f"# {heading}"
        elif within:
            lines.append(line)
        offset += len(line)
    return "".join(lines).strip()


def items_in(text: str) -> list[tuple[str, str]]:
    """(instruction, gold) of the items in a text, in order; of a dialogue's, the scenario and the calls."""
    documents = documents_in(text)
    if documents:
        return [(json.dumps(one["user_scenario"]), json.dumps(one["actions"])) for one in documents]
    bodies = {"instruction": [], "python": []}
    for one in find_fences(text):
        bodies.get(one.label, []).append(one.body.removesuffix("\n"))
    return list(zip(bodies["instruction"], bodies["python"], strict=False))


def documents_in(text: str) -> list[dict[str, Any]]:
    """The items of dialogues in a text, in order, each as its document."""
    bodies = (one.body for one in find_fences(text) if one.label == "json")
    found = (_parsed(body) for body in bodies)
    return [one for one in found if isinstance(one, dict) and "user_scenario" in one]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def asked(messages: tuple[Message, ...]) -> str:
    """The first message that isn't static."""
    return next((message.content for message in messages if message.role == "user"), "")


def replies_so_far(messages: tuple[Message, ...]) -> int:
    """How often the model has answered in this conversation."""
    return sum(message.role == "assistant" for message in messages)
