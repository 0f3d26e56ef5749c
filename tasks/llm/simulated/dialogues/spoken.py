"""How the simulated parties of a dialogue understand each other: a call of a tool, written in a sentence.

A real model asks in its own words; this one writes the call into its message, and the simulated user, who
knows its scenario only, does what it reads there and has a tool for.
"""

import json
import re
from typing import Any

DONE = "Everything is done."
TRANSFERRED = "I am transferring you to a human agent now."
SORRY = "I am sorry, I cannot find what I need to help you."

_CALL = re.compile(r"`(\w+)\(")


def please(name: str, arguments: dict[str, Any]) -> str:
    """A message that asks the other side to call one of its tools."""
    return (
        f"Please do this on your side, and tell me what you see: `{name}({json.dumps(arguments)})`"
    )


def asked_for(text: str) -> tuple[str, dict[str, Any]] | None:
    """The call that a message asks for; None where it asks for none."""
    match = _CALL.search(text)
    if match is None:
        return None
    try:
        arguments, _ = json.JSONDecoder().raw_decode(text, match.end())
    except ValueError:
        return None
    return (match[1], arguments) if isinstance(arguments, dict) else None
