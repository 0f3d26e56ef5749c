"""How much a prompt may hold, and in which order it is cut when it would hold more.

A part of a prompt has levels: its text in full, then shorter ones, each of which says what it leaves out.
A role's order says which part goes down a level next; it is gone through only as far as needed, so a
prompt that fits is never cut, and the same values always give the same prompt.
"""

from collections.abc import Callable, Mapping, Sequence

from tasks.errors import InputError
from tasks.llm.base import Message
from warehouse.records import Record

OBSERVATION_REST = 300
"""Characters that stay of a conversation's observation once it is shortened."""

SHORTENED_TO = 0.75
"""Share of the room to which a conversation is brought when it outgrows it: not turn by turn, so that the
provider's cache of its beginning holds for a while."""

NO_ROOM = " (context_chars leaves no room to ask again)"
"""What a recorded fault ends in when its reply and the error did not fit into a further request."""

_MARK = 60
"""Characters that the mark of a cut may take; what is longer by no more than that is left whole."""

_KEPT_WHOLE = 2
"""Latest observations of a conversation that are never shortened."""


class Prompt(Record):
    """What a model is sent, and how much of what it was meant to be sent is not in it."""

    messages: tuple[Message, ...]
    cut_chars: int = 0
    """Characters left out to keep within the role's `context_chars`; 0 when nothing was."""


def fit(
    levels: Mapping[str, Sequence[str]], order: Sequence[str], room: int, role: str
) -> tuple[dict[str, str], int]:
    """The parts of a prompt at the highest levels at which they fit together.

    Args:
        levels: The texts of each part, full first.
        order: Names of parts, one for each step down, first to go first; a step without a level below
            is passed over.
        room: Characters that the parts may have together.
        role: For the message.

    Returns the texts, and how many characters were left out. Raises InputError when even the lowest levels
    do not fit.
    """
    at = dict.fromkeys(levels, 0)

    def size() -> int:
        return sum(len(levels[name][n]) for name, n in at.items())

    full = size()
    for name in order:
        if size() <= room:
            break
        at[name] = min(at[name] + 1, len(levels[name]) - 1)
    if size() > room:
        raise InputError(
            f"plan: {role}.context_chars leaves {room} characters for what this prompt needs "
            f"{size()} for at the least; raise it"
        )
    return {name: levels[name][n] for name, n in at.items()}, full - size()


def continued(
    opening: Callable[[int], Prompt], room: int, rest: Sequence[Message]
) -> Prompt | None:
    """A conversation's opening and what followed it, for which the opening makes room.

    Of a reply that would take more than a quarter of the room the ends stay. `opening` renders the first
    messages within the characters that it is given, or raises InputError as `fit` does. None when even its
    lowest levels leave no room for a `rest`.
    """
    if not rest:
        return opening(room)
    shown = [_within(room // 4, message) for message in rest]
    try:
        prompt = opening(room - length(shown))
    except InputError:
        return None
    lost = length(rest) - length(shown)
    return Prompt(messages=(*prompt.messages, *shown), cut_chars=prompt.cut_chars + lost)


def _within(most: int, message: Message) -> Message:
    """A reply's ends where it is longer; what its endpoint needs to take it for the whole goes, too."""
    content = cut(message.content, most)
    if message.role != "assistant" or content == message.content:
        return message
    return message.model_copy(update={"content": content, "state": None})


def shortened(messages: tuple[Message, ...], room: int) -> Prompt:
    """A conversation whose earliest observations are shortened as soon as it is longer than `room`.

    What the supervisor asked, the replies and the latest observations stay as they are, so the result may
    still be longer than the room; whoever calls it sees that by its length.
    """
    if length(messages) <= room:
        return Prompt(messages=messages)
    found = list(messages)
    observed = [n for n, message in enumerate(messages) if n > 1 and message.role != "assistant"]
    for n in observed[:-_KEPT_WHOLE]:
        if length(found) <= room * SHORTENED_TO:
            break
        found[n] = found[n].model_copy(update={"content": cut(found[n].content, OBSERVATION_REST)})
    return Prompt(messages=tuple(found), cut_chars=length(messages) - length(found))


def length(messages: Sequence[Message]) -> int:
    """Characters of a conversation."""
    return sum(len(message.content) for message in messages)


def cut(text: str, max_chars: int) -> str:
    """The text, or its start and end with the number of characters between them that are left out."""
    if len(text) <= max_chars + _MARK:
        return text
    head = max_chars // 2
    tail = max_chars - head
    return f"{text[:head]}\n[... {len(text) - max_chars} characters cut ...]\n{text[-tail:]}"
