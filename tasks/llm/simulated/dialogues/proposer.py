"""The simulated proposer of dialogues: reads the prompt, edits the document, replies as a model would.

It adds one thing that the user wants, with all that belongs to it, takes one out, or exchanges one. About one
reply in four has a mistake; shown the error, it mends most of them.
"""

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

from tasks.documents import written
from tasks.llm.base import Request
from tasks.llm.rendering import fenced
from tasks.llm.simulated.dialogues.wants import Want, wants_for
from tasks.llm.simulated.dice import dice
from tasks.llm.simulated.reading import asked, documents_in, replies_so_far, section

Document = dict[str, Any]

MISTAKES: dict[str, float] = {
    "unknown_key": 0.04,
    "unknown_tool": 0.05,
    "wrong_type": 0.03,
    "wrong_basis": 0.03,
    "dangling_document": 0.02,
    "padded": 0.04,
    "copy": 0.03,
    "cut_off": 0.02,
}
"""Chance of each mistake in a reply."""

MENDED = 0.8
"""Chance that a mistake is gone after the error was shown."""


def propose_document(request: Request, rng_seed: int) -> str:
    """The proposer's reply to a first request, or to one that shows an error."""
    prompt = asked(request.messages)
    parent = documents_in(section(prompt, "The item to edit"))[0]
    round_ = replies_so_far(request.messages)
    words = (rng_seed, "proposer", prompt, request.subject.item_id, request.subject.step)
    first = _mistake(dice(*words, "mistake"))
    again = round_ > 0 and dice(*words, "mended", round_).random() >= MENDED
    mistake = first if round_ == 0 or again else None
    # A known mistake is taken out of the same edit; what else went wrong is answered by another edit.
    luck = dice(*words, "edit", 0 if first else round_)
    wish = section(prompt, "The edit").lower()
    direction = "harder" if "harder" in wish else "easier" if "easier" in wish else "sideways"
    document = _edited(parent, direction, luck)
    text = written(_spoiled(document, parent, mistake))
    reply = f"To make the item {direction}, I change one thing that the user wants.\n\n{fenced('json', text)}"
    return reply[:-120] if mistake == "cut_off" else reply


def _mistake(luck: Random) -> str | None:
    names = [*MISTAKES, None]
    return luck.choices(names, [*MISTAKES.values(), 1 - sum(MISTAKES.values())])[0]


def _edited(parent: Document, direction: str, luck: Random) -> Document:
    ways: dict[str, tuple[Callable[[Document, Random], Document | None], ...]] = {
        "harder": (_added, _exchanged),
        "easier": (_dropped, _exchanged),
        "sideways": (_exchanged, _added),
    }
    for way in (*ways[direction], _added, _dropped):
        document = way(copy.deepcopy(parent), luck)
        if document is not None:
            return document
    return parent


def _added(document: Document, luck: Random) -> Document | None:
    absent = [want for want in wants_for(document, luck) if not want.touches(document)]
    return luck.choice(absent).put_into(document) if absent else None


def _dropped(document: Document, luck: Random) -> Document | None:
    present = [want for want in wants_for(document, luck) if want.is_in(document)]
    left = [want for want in present if len(document["actions"]) > 1]
    return luck.choice(left).take_out_of(document) if left else None


def _exchanged(document: Document, luck: Random) -> Document | None:
    absent = [want for want in wants_for(document, luck) if not want.touches(document)]
    present = [want for want in wants_for(document, luck) if want.is_in(document)]
    if not absent or not present:
        return None
    new: Want = luck.choice(absent)
    return luck.choice(present).take_out_of(new.put_into(document))


def _spoiled(document: Document, parent: Document, mistake: str | None) -> Document:
    """The document with a mistake in it."""
    if mistake == "copy":
        return parent
    made = copy.deepcopy(document)
    extra = {"requestor": "assistant", "arguments": {}}
    if mistake == "unknown_key":
        made["difficulty"] = 2
    elif mistake == "unknown_tool":
        made["actions"].append(extra | {"name": "close_the_ticket"})
    elif mistake == "wrong_type":
        made["user_scenario"]["persona"] = 3
    elif mistake == "wrong_basis":
        made["reward_basis"] = ["NL_ASSERTION"]
    elif mistake == "dangling_document":
        made["required_documents"] = ["doc_that_nobody_wrote"]
    elif mistake == "padded":
        look = "check_status_bar" if "env_assertions" in made else "list_discoverable_user_tools"
        made["actions"].append(extra | {"requestor": "user", "name": look})
    return json.loads(json.dumps(made))
