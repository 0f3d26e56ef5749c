"""An item of a dialogue as one JSON document, which a proposer edits whole, and back.

An item keeps its parts as JSON texts: who calls and why in `instruction`, the start in `setup`, the right
calls of both sides in `gold`, the rest of the grade in `grading`. The document's names are τ-bench's own.
"""

import json
from collections.abc import Mapping
from typing import Any

from warehouse.records import Item

SETUP = ("initial_state", "required_documents", "user_tools")
GRADING = ("env_assertions", "communicate_info", "nl_assertions", "reward_basis")
KEYS = ("user_scenario", *SETUP, "actions", *GRADING)
"""The document's keys, in the order in which it is shown."""

REQUIRED = ("user_scenario", "actions", "reward_basis")


class DocumentFault(ValueError):
    """A document that cannot be an item; `unknown_key` tells whether for a key that nobody knows."""

    def __init__(self, message: str, unknown_key: bool = False) -> None:
        super().__init__(message)
        self.unknown_key = unknown_key


def document_of(item: Item) -> dict[str, Any]:
    """The item's document; keys of which the item holds nothing are left out."""
    parts = {
        "user_scenario": json.loads(item.instruction),
        "actions": json.loads(item.gold or "[]"),
        **json.loads(item.setup or "{}"),
        **json.loads(item.grading or "{}"),
    }
    return {key: parts[key] for key in KEYS if key in parts}


def fields_of(document: Mapping[str, Any]) -> dict[str, str]:
    """The document's parts as an item's fields. Raises DocumentFault for keys too many or too few."""
    for key in document:
        if key not in KEYS:
            raise DocumentFault(f"{key} is no key of an item; there are {', '.join(KEYS)}", True)
    for key in REQUIRED:
        if key not in document:
            raise DocumentFault(f"the document lacks {key}")
    return {
        "instruction": written(document["user_scenario"]),
        "setup": written({key: document[key] for key in SETUP if document.get(key) is not None}),
        "gold": written(document["actions"]),
        "grading": written(
            {key: document[key] for key in GRADING if document.get(key) is not None}
        ),
    }


def written(value: Any) -> str:
    """The one text of a part of an item; the simulator writes its seeds so."""
    return json.dumps(value, ensure_ascii=False, indent=1)
