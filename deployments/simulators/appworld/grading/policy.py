"""How the runs of one item are compared, decided once from the gold's run and the instruction.

An instruction rarely fixes everything that a gold does. A text that the instruction quotes, or that the
start state holds, is compared whole. Other texts are the gold's own wording: only what it had to take from
elsewhere counts (numbers, names, what the instruction quotes, lines of texts that were there), and a text
that the gold leaves empty may be anything. Its order in the text counts only if the instruction speaks of
an order, and its place among the lines that an old text had only if it speaks of a place; a payment card
or delivery address likewise.

What stays under-specified: a gold that picks one of several equal people, items or ways to pay. Only an
instruction that says which can repair that.
"""

import re
from typing import Any

from grading.changes import Changes, Policy
from grading.texts import lines, mentions, plain

TEXT_FIELDS = {
    *("description", "comment", "message", "subject", "body", "title", "content", "text"),
    *("question", "answer", "name", "label", "file_content", "receipt_file_content"),
}
NAME_COLUMNS = (
    *("admin.MainUser.first_name", "admin.MainUser.last_name", "admin.MainUser.email"),
    *("spotify.Song.title", "spotify.Album.title", "spotify.Artist.name", "spotify.Playlist.title"),
    *("amazon.Product.name", "amazon.Seller.name", "splitwise.Group.name", "gmail.Email.subject"),
    *("simple_note.Note.title", "todoist.Project.name", "todoist.Section.name"),
    *("todoist.Task.title", "todoist.Label.name", "file_system.File.path"),
)
CHOICES = (
    # Fields and tables that show the choice; words of which the instruction has one if it is asked for.
    (
        {"payment_card_id", "payment_card_digits", "admin.PaymentCard"},
        ("card", "cards"),
        "supervisor.PaymentCard.card_name",
    ),
    ({"address_id", "address_text"}, ("address",), "supervisor.Address.name"),
)
ORDER_WORDS = (
    *("alphabetical", "alphabetically", "sorted", "ordered by", "in order of", "in the order of"),
    "in this order",
)
_TIMES = (
    r"(?:day|week|weekend|month|quarter|year|hour|\d+|january|february|march|april|may|june|july|august"
    r"|september|october|november|december)"
)
PLACE_WORDS = re.compile(
    r"\b(?:(?:at|on|to) (?:the |its |their )?(?:very )?(?:top|bottom|end|beginning|start)\b"
    rf"(?! of (?:the |this |that |last |next |each |every )?{_TIMES}\b)"
    r"|(?:first|last|top|bottom) (?:line|entry)\b|(?:before|after) the line\b"
    r"|append\w*|prepend\w*"
    r"|(?:above|below) (?:it|them|(?:\w+ ){0,2}(?:line|entry|heading|text|lines|entries)))\b"
)
"""Speaks of a place in a text; not of a time of the year, nor of a number above another."""
ORDER_COLUMNS = [
    "todoist.Task.order_index",
    "todoist.SubTask.order_index",
    "todoist.Section.order_index",
]


def make_policy(changes: Changes, instruction: str, requests: list[dict[str, Any]]) -> Policy:
    """Policy of an item from its gold's changes (under OPEN_POLICY) and the requests the gold made."""
    asked_order = any("order_index" in request["data"] for request in requests)
    return {
        "ignored": [*([] if asked_order else ORDER_COLUMNS), *open_choices(changes, instruction)],
        "notifications": touched_notifications(changes),
        "texts": text_rules(changes, instruction),
    }


def open_choices(changes: Changes, instruction: str) -> list[str]:
    """Tables and columns that show a choice which the instruction leaves open."""
    found: set[str] = set()
    for traces, words, names in CHOICES:
        known = {*words, *(name.casefold() for name in changes.texts.values(names))}
        if any(mentions(plain(instruction), word) for word in known):
            continue
        columns = {f"{name}.{f}" for name, table in changes.tables.items() for f in table.fields}
        found |= {column for column in columns if column.rsplit(".", 1)[1] in traces}
        found |= traces & changes.tables.keys()
    return sorted(found)


def touched_notifications(changes: Changes) -> list[str]:
    """Notification tables in which the gold changed or removed rows of the start state."""
    return [
        name
        for name in changes.tables
        if name.endswith(".Notification")
        and any(changes.end[name].get(row) != raw for row, raw in changes.start[name].items())
    ]


def text_rules(changes: Changes, instruction: str) -> dict[str, dict[str, Any]]:
    """A rule for each text column that the gold wrote, by what its texts stand on."""
    written: dict[str, list[str]] = {}
    kept: set[str] = set()
    for key, content in changes.new.items():
        for field in TEXT_FIELDS & content.keys():
            if changes.tables[key[0]].kinds[field] != "JSON":
                column = f"{key[0]}.{field}"
                written.setdefault(column, []).append(content[field] or "")
                if key in changes.gone:
                    kept.add(column)
    known = start_texts(changes)
    ordered = any(mentions(plain(instruction), words) for words in ORDER_WORDS)
    has_place = bool(PLACE_WORDS.search(plain(instruction)))
    rules = {}
    for column, texts in written.items():
        free = [text for text in texts if not is_given(text, instruction, known)]
        rules[column] = {
            "any": column not in kept and not any(texts),
            "exact": sorted({plain(text) for text in texts if text not in free}),
            "mentions": [
                name for name in NAME_COLUMNS if names_one_of(changes.texts.values(name), free)
            ],
            "quotes": [
                quote
                for quote in quotes(instruction)
                if any(mentions(plain(t), quote) for t in free)
            ],
            "lines": any(lines(text) & changes.texts.lines(column) for text in free),
            "around": sorted(lines_gone(changes, column)) if has_place else [],
            "ordered": ordered,
        }
    return rules


def lines_gone(changes: Changes, column: str) -> set[str]:
    """The lines of the texts of a column that the gold changed or removed, as they were."""
    name, field = column.rsplit(".", 1)
    texts = [content[field] or "" for key, content in changes.gone.items() if key[0] == name]
    return {line for text in texts for line in lines(text)}


def start_texts(changes: Changes) -> set[str]:
    """Every text of the start state, in plain form."""
    found: set[str] = set()
    for name in changes.tables:
        for row in changes.start.scan(name):
            found.update(value for value in row if isinstance(value, str))
    return {plain(text) for text in found}


def is_given(text: str, instruction: str, known: set[str]) -> bool:
    """Whether a text stands in the instruction or in the start state; the empty text does."""
    whole = plain(text)
    return not whole or whole in known or mentions(plain(instruction), whole)


def quotes(instruction: str) -> list[str]:
    """What the instruction puts in quotation marks, in plain form."""
    found = re.findall(r'"([^"]+)"|“([^”]+)”', instruction)
    return sorted({plain(straight or curly) for straight, curly in found} - {""})


def names_one_of(names: set[str], texts: list[str]) -> bool:
    """Whether one of the texts mentions one of the names; names of one or two letters are words."""
    return any(len(name) > 2 and mentions(text, name) for text in texts for name in names)
