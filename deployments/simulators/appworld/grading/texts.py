"""What counts of a text when the states of two runs are compared. Text of `evaluation.py`, like `rows`."""

import re
from typing import Any

from grading.rows import Table

BULLET = re.compile(r"^\s*[-*•]\s+")


class Texts:
    """The text rules of an item's policy, on the names and lines of its start state.

    A rule: `{"any": bool, "exact": [plain texts], "mentions": [columns as table.field], "quotes": [plain
    texts], "lines": bool, "ordered": bool}`. A text counts whole if its column has no rule or it is one of
    `exact`; not at all under `any`. Else it counts by what it holds: its numbers, the names in the `mentions`
    columns, the `quotes` of the instruction, and, under `lines`, the lines of the column's own texts.
    `ordered` says whether the order of these in the text counts.
    """

    def __init__(self, tables: dict[str, Table], start: dict, rules: dict[str, Any]) -> None:
        """Apply `rules` of {column: rule}, with the names in `start` of {table: {id: raw row}}."""
        self._tables, self._start, self._rules = tables, start, rules
        self._values: dict[str, set[str]] = {}
        self._lines: dict[str, set[str]] = {}

    def form(self, column: str, value: Any) -> Any:
        """What of a value is compared: texts by their rule, other values whole."""
        rule = self._rules.get(column)
        if rule and rule["any"]:
            return ["any"]
        if not isinstance(value, str):
            return value
        whole = plain(value)
        if rule is None or whole in rule["exact"]:
            return whole
        found, ordered = numbers(value), rule["ordered"]
        names = {name for other in rule["mentions"] for name in self.values(other)}
        given = {*rule["quotes"], *(self.lines(column) if rule["lines"] else ())}
        return [
            "loose",
            found if ordered else sorted(found),
            placed([name for name in names if mentions(value, name)], value, ordered),
            placed([piece for piece in given if mentions(whole, piece)], whole, ordered),
        ]

    def values(self, column: str) -> set[str]:
        """Distinct texts of a column ("spotify.Song.title") in the start state; of a path its end too."""
        if column not in self._values:
            name, field = column.rsplit(".", 1)
            at = self._tables[name].fields.index(field)
            found = {raw[at] for raw in self._start[name].values() if raw[at]}
            if field == "path":
                found |= {path.rstrip("/").rsplit("/", 1)[-1] for path in found} - {""}
            self._values[column] = found
        return self._values[column]

    def lines(self, column: str) -> set[str]:
        """Distinct lines of the texts of several lines that a column holds in the start state."""
        if column not in self._lines:
            texts = [text for text in self.values(column) if isinstance(text, str)]
            self._lines[column] = {line for text in texts if "\n" in text for line in lines(text)}
        return self._lines[column]


def lines(text: str) -> set[str]:
    """The lines of a text in plain form, without bullets; the very short ones are words."""
    found = {plain(BULLET.sub("", line)) for line in text.splitlines()}
    return {line for line in found if len(line) > 2}


def placed(pieces: list[str], text: str, ordered: bool) -> list[str]:
    """Pieces of a text by their first place in it where `ordered`, else by the alphabet."""
    return sorted(pieces, key=lambda piece: (text.find(piece) if ordered else 0, piece))


def plain(text: str) -> str:
    """A text without differences of case and spacing, and without a full stop at its end."""
    return " ".join(text.casefold().split()).rstrip(".")


def numbers(text: str) -> list[float]:
    """Distinct numbers as they first stand in a text; the counters of a numbered list are not among them."""
    text = re.sub(r"(?m)^\s*\d+[.)]\s+", "", text)
    found = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)
    return list(dict.fromkeys(round(float(number.replace(",", "")), 2) for number in found))


def mentions(text: str, name: str) -> bool:
    """Whether a text holds a name as whole words, in the same case."""
    return name in text and bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))
