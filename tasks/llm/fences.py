"""Fenced blocks in a reply, found line by line as Markdown has them, and as models write them."""

import re
from dataclasses import dataclass

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[ \t]*([^`\n]*?)[ \t]*$")


@dataclass(frozen=True)
class Fence:
    """One fenced block."""

    label: str
    """First word of the info string in lower case, without punctuation around it; "" without one."""
    body: str
    """What stands between the fences, line ends included."""
    start: int
    """Offset of the opening fence in the text."""
    end: int
    """Offset behind the closing fence; the text's length when it is not closed."""
    closed: bool
    nests: bool
    """True when other fences stand in it (a reply wrapped in one more fence)."""


@dataclass
class _Open:
    mark: str
    label: str
    start: int
    body_start: int
    nests: bool = False


def find_fences(text: str) -> list[Fence]:
    """All fences in order of their opening, nested ones beside those that hold them.

    A fence ends at a bare fence of its own character that is at least as long. Inside an open fence a
    *labelled* one of at least its length opens a nested fence; a bare shorter one is part of the body.
    """
    found: list[Fence] = []
    stack: list[_Open] = []
    offset = 0
    for line in text.splitlines(keepends=True):
        match = _FENCE.match(line.rstrip("\n"))
        if match:
            mark, label = match[1], _label_of(match[2])
            if stack and not match[2] and _closes(mark, stack[-1].mark):
                found.append(_closed(text, stack.pop(), offset, offset + len(line)))
            elif not stack or (match[2] and _may_nest(mark, stack[-1])):
                if stack:
                    stack[-1].nests = True
                stack.append(_Open(mark, label, offset, offset + len(line)))
        offset += len(line)
    for rest in stack:
        body = text[rest.body_start :]
        found.append(Fence(rest.label, body, rest.start, len(text), False, rest.nests))
    return sorted(found, key=lambda one: one.start)


def outside_of(text: str, fences: list[Fence]) -> str:
    """The text without its fences, pieces stripped and joined by a blank line."""
    pieces, at = [], 0
    for one in fences:
        if one.start >= at:
            pieces.append(text[at : one.start].strip())
            at = one.end
    pieces.append(text[at:].strip())
    return "\n\n".join(piece for piece in pieces if piece)


def _label_of(info: str) -> str:
    words = info.lower().split()
    return re.sub(r"^\W+|\W+$", "", words[0]) if words else ""


def _closes(mark: str, opened: str) -> bool:
    return mark[0] == opened[0] and len(mark) >= len(opened)


def _may_nest(mark: str, opened: _Open) -> bool:
    """Code holds no fences of its own; a wrapper (markdown, text or unlabelled) may."""
    return mark != opened.mark or opened.label in ("", "markdown", "md", "text", "reply")


def _closed(text: str, opened: _Open, body_end: int, end: int) -> Fence:
    body = text[opened.body_start : body_end]
    return Fence(opened.label, body, opened.start, end, True, opened.nests)
