"""What counts of a text when the states of two runs are compared. Text of `evaluation.py`, like `rows`."""

import re
from typing import Any

from grading.rows import State, Table

BULLET = re.compile(r"^\s*[-*•]\s+")


class Texts:
    """The text rules of an item's policy, on the names and lines of its start state.

    A rule: `{"any": bool, "exact": [plain texts], "mentions": [columns as table.field], "quotes": [plain
    texts], "lines": bool, "around": [lines in plain form], "ordered": bool}`. A text counts whole if its
    column has no rule or it is one of `exact`; not at all under `any`. Else it counts by what it holds: its
    numbers, the names in the `mentions` columns, the `quotes` of the instruction, and, under `lines`, the
    lines of the column's own texts. Of the lines in `around` it also counts which of the rest stands before
    and after each. `ordered` says whether the order of all in the text counts.
    """

    def __init__(self, tables: dict[str, Table], start: State, rules: dict[str, Any]) -> None:
        """Apply `rules` of {column: rule}, with the names in `start`."""
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
        names = {name for name in names if mentions(value, name)}
        quoted = {quote for quote in rule["quotes"] if mentions(whole, quote)}
        known = self.lines(column) if rule["lines"] else set()
        known = {line for line in known if mentions(whole, line)}
        kept = {line for line in rule["around"] if mentions(whole, line)}
        return [
            "loose",
            found if ordered else sorted(found),
            placed(names, value, ordered),
            placed(quoted | known, whole, ordered),
            around(value, kept, names, quoted) if rule["around"] else [],
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


def placed(pieces: set[str], text: str, ordered: bool) -> list[str]:
    """Pieces of a text by their first place in it where `ordered`, else by the alphabet."""
    return sorted(pieces, key=lambda piece: (text.find(piece) if ordered else 0, piece))


def around(text: str, kept: set[str], names: set[str], quoted: set[str]) -> list[Any]:
    """The kept lines of a text as they follow one another, and what it holds before and after each.

    The order of what stands on the same side does not count.
    """
    found: list[Any] = []
    for place, part in enumerate(split_at(text, kept)):
        if place % 2:
            found.append(plain(part))
        else:
            held = [name for name in names if mentions(part, name)]
            held_quotes = [quote for quote in quoted if mentions(plain(part), quote)]
            found.append([sorted(numbers(part)), sorted(held), sorted(held_quotes)])
    return found


def split_at(text: str, kept: set[str]) -> list[str]:
    """A text cut before and after each of its kept lines; every second part is one of them."""
    if not kept:
        return [text]
    longest_first = sorted(kept, key=lambda line: (-len(line), line))
    patterns = (r"\s+".join(map(re.escape, line.split())) for line in longest_first)
    return re.split(rf"(?i)(?<!\w)({'|'.join(patterns)})(?!\w)", text)


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
