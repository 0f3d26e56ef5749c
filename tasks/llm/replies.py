"""What models reply, parsed: edits, cells, verdicts, labels.

A reply is untrusted text. It may lack fences or nest them, carry wrong labels, be cut off, refuse, or hold
characters that are no text. Each parser returns its object or raises `ReplyError`; `parse_cell` never
raises, because what a solver replies is data whatever it is. A reply's problem is told in one line
that can be shown to the model.
"""

import json
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, get_args

from tasks.errors import Rejection, TurtleError
from tasks.llm.fences import Fence, find_fences, outside_of
from warehouse.records import Record, VerdictName

MAX_REPLY_CHARS = 200_000
MAX_INSTRUCTION_CHARS = 6_000
MAX_GOLD_CHARS = 40_000
MAX_CELL_CHARS = 40_000
MAX_REASON_CHARS = 4_000
MAX_NOTE_CHARS = 4_000
"""Longer reasoning and notes are cut with a mark; longer instructions, golds and JSON replies are errors."""

VERDICT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": MAX_REASON_CHARS},
        "verdict": {"type": "string", "enum": list(get_args(VerdictName))},
    },
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}
"""JSON schema of a judge's reply; reason first, so that the verdict follows from it."""

DIALOGUE_VERDICT_SCHEMA: dict[str, Any] = VERDICT_SCHEMA | {
    "properties": {
        "reason": VERDICT_SCHEMA["properties"]["reason"],
        "user_failures": {"type": "array", "items": {"type": "integer"}},
        "verdict": VERDICT_SCHEMA["properties"]["verdict"],
    },
    "required": ["reason", "user_failures", "verdict"],
}
"""JSON schema of a judge's reply on a dialogue: it also numbers the attempts that the user failed."""

_PYTHON_LABELS = frozenset(
    {"python", "py", "python3", "ipython", "gold", "code", "tool_code", "repl"}
)
_INSTRUCTION_LABELS = frozenset({"instruction", "instructions", "task", "text", "txt", "plaintext"})
_REFUSAL = re.compile(
    r"\b(?:I['\u2019]m sorry|I am sorry|I apologi[sz]e|I can(?:['\u2019]|no|\s+no)t|I won['\u2019]t|"
    r"I will not|unable to)\b"
    r".{0,80}\b(?:help|assist|comply|do that|fulfil|provide|continue|with (?:this|that))",
    re.IGNORECASE | re.DOTALL,
)


_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Marks that make a line read otherwise than it runs. Text of right-to-left scripts needs none of them."""


class ReplyError(TurtleError):
    """A reply cannot be used. Whoever asked may show the message and ask again, or record the cause."""

    def __init__(self, cause: Rejection | str, message: str) -> None:
        super().__init__(message)
        self.cause = cause
        """A `Rejection` for a proposer's reply; "unparseable_reply" or "refused" for the others."""
        self.message = message


class Edit(Record):
    """A proposer's reply."""

    reasoning: str
    """The text outside of the fences, at most `MAX_REASON_CHARS`."""
    instruction: str
    gold: str


class DocumentReply(Record):
    """A proposer's new item of a dialogue; whether it is one is for others to say."""

    reasoning: str
    document: dict[str, Any]


class Cell(Record):
    """A solver's reply."""

    thought: str
    code: str | None
    """None when the reply holds no code cell."""


class VerdictReply(Record):
    """A judge's reply."""

    reason: str
    verdict: VerdictName
    user_failures: tuple[int, ...] | None = None
    """Repeats of failed attempts that are the simulated user's; None where that was not asked."""


class LabelReply(Record):
    """A labeller's reply."""

    reason: str
    labels: dict[str, bool]


def parse_edit(text: str) -> Edit:
    """A proposer's reply, whatever else stands around its two fences.

    Of several fences with one label the last counts: models draft, then give the whole. Whether the
    gold is Python is not asked here (`Rejection.GOLD_SYNTAX` is found by verify).

    Raises:
        ReplyError: REFUSED, or UNPARSEABLE_REPLY with what is missing.
    """
    clean = _checked(text)
    fences = find_fences(clean)
    instruction, gold = _instruction_and_gold(fences)
    if instruction is None and gold is None and _REFUSAL.search(clean[:600]):
        raise ReplyError(Rejection.REFUSED, f"the model refused: {_cut(clean.strip(), 200)}")
    for name, label, fence, limit in (
        ("instruction", "instruction", instruction, MAX_INSTRUCTION_CHARS),
        ("gold", "python", gold, MAX_GOLD_CHARS),
    ):
        if fence is None or not fence.body.strip():
            raise _unparseable(
                f"the reply has no {name}: put all of it in a fence labelled `{label}`"
            )
        if not fence.closed:
            raise _unparseable(f"the fence of the {name} is not closed: the reply seems cut off")
        if len(fence.body) > limit:
            raise _unparseable(f"the {name} is longer than {limit} characters")
    return Edit(
        reasoning=_cut(outside_of(clean, fences), MAX_REASON_CHARS),
        instruction=instruction.body.strip(),
        gold=gold.body.strip("\n") + "\n",
    )


def parse_document(text: str) -> DocumentReply:
    """A proposer's reply that holds an item as one JSON document; the last fence that is an object counts.

    Raises:
        ReplyError: the reply is refused, cut off, too long, or holds no such fence.
    """
    clean = _checked(text)
    fences = find_fences(clean)
    fence = _last(fences, lambda one: one.body.lstrip().startswith("{"))
    if fence is None:
        if _REFUSAL.search(clean[:600]):
            raise ReplyError(Rejection.REFUSED, f"the model refused: {_cut(clean.strip(), 200)}")
        raise _unparseable("the reply has no document: put all of it in a fence labelled `json`")
    if not fence.closed:
        raise _unparseable("the fence of the document is not closed: the reply seems cut off")
    if len(fence.body) > MAX_GOLD_CHARS:
        raise _unparseable(f"the document is longer than {MAX_GOLD_CHARS} characters")
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    try:
        document = decoder.decode(fence.body)
    except (ValueError, RecursionError) as error:
        raise _unparseable(f"the document is no valid JSON: {_cut(str(error), 120)}") from error
    return DocumentReply(
        reasoning=_cut(outside_of(clean, fences), MAX_REASON_CHARS), document=document
    )


def parse_cell(text: str) -> Cell:
    """A solver's reply: the first code cell counts, what follows it was not yet seen by anybody.

    A cell whose fence is not closed counts too (the reply was stopped at the closing fence). A reply that is
    code without any fence has no cell. Characters that are no text become U+FFFD.
    """
    clean = _as_text(text)
    fences = find_fences(clean)
    codes = [one for one in fences if one.label in _PYTHON_LABELS or not one.label]
    first = next((one for one in codes if one.body.strip()), None)
    thought = outside_of(clean, fences) if first is None else clean[: first.start].strip()
    if first is None or len(first.body) > MAX_CELL_CHARS:
        return Cell(thought=_cut(thought, MAX_REASON_CHARS), code=None)
    return Cell(thought=_cut(thought, MAX_REASON_CHARS), code=first.body.strip("\n"))


def parse_verdict(text: str, failures: Collection[int] | None = None) -> VerdictReply:
    """A judge's reply.

    Args:
        text: The reply.
        failures: Of a dialogue, the repeats of its failed attempts. None does not ask whose they are.

    Raises:
        ReplyError: no JSON object with a verdict of the list, or numbers of no failed attempt.
    """
    found = _object_with("verdict", text)
    verdict = found["verdict"]
    name = re.sub(r"[\s-]+", "_", verdict.strip().lower()) if isinstance(verdict, str) else verdict
    if name not in get_args(VerdictName):
        allowed = ", ".join(get_args(VerdictName))
        raise _unparseable(f'"verdict" is {_cut(repr(verdict), 60)}; it must be one of {allowed}')
    blamed = None if failures is None else _user_failures(found, failures)
    return VerdictReply(reason=_reason_of(found), verdict=name, user_failures=blamed)


def parse_labels(text: str, ids: Sequence[str] | None = None) -> LabelReply:
    """A labeller's reply.

    Args:
        text: The reply.
        ids: The labels that were asked for: all of them must be there, and no other. None asks nothing.

    Raises:
        ReplyError: no JSON object with labels, a value that is not true or false, or other ids.
    """
    found = _object_with("labels", text)
    labels = found["labels"]
    if not isinstance(labels, dict) or not all(isinstance(held, bool) for held in labels.values()):
        raise _unparseable('"labels" must be an object of ids with true or false')
    if ids is not None and set(labels) != set(ids):
        raise _unparseable(
            f'"labels" must have exactly {sorted(ids)}, has {_cut(str(sorted(labels)), 200)}'
        )
    return LabelReply(reason=_reason_of(found), labels=labels)


def parse_note(text: str) -> str:
    """A feedback's reply as text that any file and table can hold; "" where there is none. Never raises."""
    return _cut(_as_text(text).strip(), MAX_NOTE_CHARS)


def labels_schema(ids: Sequence[str]) -> dict[str, Any]:
    """JSON schema of a labeller's reply for these labels."""
    return {
        "type": "object",
        "properties": {
            "reason": {"type": "string", "maxLength": MAX_REASON_CHARS},
            "labels": {
                "type": "object",
                "properties": {one: {"type": "boolean"} for one in ids},
                "required": list(ids),
                "additionalProperties": False,
            },
        },
        "required": ["reason", "labels"],
        "additionalProperties": False,
    }


def _instruction_and_gold(fences: list[Fence]) -> tuple[Fence | None, Fence | None]:
    """The last fence of each label; where labels are wrong or absent, told apart by what they hold."""
    instruction = _last(fences, lambda one: one.label in _INSTRUCTION_LABELS)
    gold = _last(fences, lambda one: one.label in _PYTHON_LABELS)
    others = [one for one in fences if one not in (instruction, gold) and not one.nests]
    if gold is None:
        gold = _last(others, lambda one: "apis." in one.body)
        if gold is None and instruction is not None and "apis.supervisor." in instruction.body:
            gold, instruction = instruction, None
    if instruction is None:
        instruction = _last(others, lambda one: one is not gold and "apis." not in one.body)
    return instruction, gold


def _last(fences: list[Fence], wanted: Callable[[Fence], bool]) -> Fence | None:
    return next((one for one in reversed(fences) if not one.nests and wanted(one)), None)


def _object_with(key: str, text: str) -> dict[str, Any]:
    """The last JSON object in the reply that has the key.

    Raises:
        ReplyError: there is none, or the one that looks like it is no valid JSON; NaN, infinities and
            repeated keys are not valid.
    """
    clean = _checked(text)
    decoder = json.JSONDecoder(object_pairs_hook=_without_repeats, parse_constant=_no_constant)
    problem, found, at = "the reply holds no JSON object", None, clean.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(clean, at)
        except (ValueError, RecursionError) as error:
            problem, end = f"the reply's JSON is not valid: {_cut(str(error), 120)}", at + 1
        else:
            problem = problem if found else f'the reply\'s JSON object has no "{key}"'
            found = value if key in value else found
        at = clean.find("{", end)
    if found is None:
        cause = Rejection.REFUSED if _REFUSAL.search(clean[:600]) else Rejection.UNPARSEABLE_REPLY
        raise ReplyError(cause, problem)
    return found


def _user_failures(found: dict[str, Any], failures: Collection[int]) -> tuple[int, ...]:
    named = found.get("user_failures")
    if not isinstance(named, list) or not all(type(one) is int for one in named):
        raise _unparseable('"user_failures" must be there, a list of numbers of attempts')
    strange = [one for one in named if one not in failures]
    if strange:
        raise _unparseable(
            f'"user_failures" has {strange[0]}, which is no failed attempt\'s number'
        )
    return tuple(sorted(set(named)))


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _reason_of(found: dict[str, Any]) -> str:
    reason = found.get("reason")
    if not isinstance(reason, str) or not reason.strip():
        raise _unparseable('"reason" must be there, a text of at least one word')
    return _cut(_as_text(reason.strip()), MAX_REASON_CHARS)


def _checked(text: str) -> str:
    """The reply with one kind of line end. Raises where it is empty, too long, or no text."""
    if not text.strip():
        raise _unparseable("the reply is empty")
    if len(text) > MAX_REPLY_CHARS:
        raise _unparseable(f"the reply is longer than {MAX_REPLY_CHARS} characters")
    clean = text.replace("\r\n", "\n").replace("\r", "\n")
    if clean != _as_text(clean):
        raise _unparseable("the reply holds NUL or a lone surrogate, which is no text")
    if _TURNING.search(clean):
        raise _unparseable(
            "the reply holds invisible characters that turn the direction of what follows (U+202A to "
            "U+202E, U+2066 to U+2069): what is shown is not what is run; leave them out"
        )
    return clean


def _as_text(text: str) -> str:
    """The text with one kind of line end, and U+FFFD for what no UTF-8 file can hold, and for NUL."""
    clean = text.replace("\r\n", "\n").replace("\r", "\n")
    return re.sub("[\x00\ud800-\udfff]", "\ufffd", clean)


def _cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[:max_chars]} [cut]"


def _unparseable(message: str) -> ReplyError:
    return ReplyError(Rejection.UNPARSEABLE_REPLY, message)
