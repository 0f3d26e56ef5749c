"""A corpus of replies that are not what was asked for, and of odd ones that can still be read.

Each is what a model may send: a text, or a whole completion. They are data for tests/test_broken_replies.py,
which hands them to the stages, and for nothing else.
"""

from tasks.errors import Rejection
from tasks.llm.base import Completion
from tasks.llm.replies import MAX_GOLD_CHARS, MAX_INSTRUCTION_CHARS, MAX_REPLY_CHARS
from tests.toy.suite import SEEDS

_, PARENT_INSTRUCTION, _PARENT_LINE = SEEDS[0]
PARENT_GOLD = f"{_PARENT_LINE}\napis.supervisor.complete_task()\n"
INSTRUCTION = 'Put 3 into the box "apples". Then put 9 into the box "figs".'
GOLD = f'{_PARENT_LINE}\napis.shelf.put(box="figs", count=9)\napis.supervisor.complete_task()\n'


def edit(instruction: str = INSTRUCTION, gold: str = GOLD) -> str:
    """A proposer's reply as asked for."""
    return f"I add a box.\n\n```instruction\n{instruction}\n```\n\n```python\n{gold}```\n"


EMPTY_CALL = Completion(
    text="", tool_calls=({"id": "", "name": "", "arguments": ""},), finish_reason="tool_calls"
)
CUT_OFF = Completion(text=edit()[:-50], finish_reason="length")
SILENT = Completion(text="", finish_reason="other")

UNREADABLE, SYNTAX = Rejection.UNPARSEABLE_REPLY, Rejection.GOLD_SYNTAX

REJECTED_EDITS: dict[str, tuple[str | Completion, Rejection]] = {
    "empty": ("", UNREADABLE),
    "silent": (SILENT, UNREADABLE),
    "white space": (" \n\t\u00a0\n", UNREADABLE),
    "prose": ("I would ask for a second box, because one is too easy.", UNREADABLE),
    "refusal": ("I'm sorry, but I can't help with that request.", Rejection.REFUSED),
    "refusal with a typographic apostrophe": (
        "I\u2019m sorry, but I can\u2019t assist with that.", Rejection.REFUSED,
    ),
    "tool call with empty fields": (EMPTY_CALL, UNREADABLE),
    "cut off by its length": (CUT_OFF, UNREADABLE),
    "cut off in the instruction": ("I add.\n\n```instruction\nPut 3 into the", UNREADABLE),
    "fences in prose": (
        f"Write ```instruction {INSTRUCTION}``` and then ```python pass``` below it.", UNREADABLE,
    ),
    "only thoughts": (f"<think>\n{edit()[:120]}", UNREADABLE),
    "JSON": ('{"instruction": "Put 9 away.", "gold": "apis.shelf.put()"}', UNREADABLE),
    "XML": (f"<instruction>{INSTRUCTION}</instruction><gold>{GOLD}</gold>", UNREADABLE),
    "no instruction": (f"```python\n{GOLD}```", UNREADABLE),
    "no gold": (f"```instruction\n{INSTRUCTION}\n```", UNREADABLE),
    "quoted like a mail": ("\n".join(f"> {line}" for line in edit().splitlines()), UNREADABLE),
    "NUL": (edit().replace("figs", "fi\x00gs"), UNREADABLE),
    "lone surrogate": (edit().replace("figs", "figs\udc80"), UNREADABLE),
    "turned right to left": (edit().replace("figs", "\u202esgif\u202c"), UNREADABLE),
    "endless": (edit() + "ha" * MAX_REPLY_CHARS, UNREADABLE),
    "endless instruction": (edit(instruction="put " * MAX_INSTRUCTION_CHARS), UNREADABLE),
    "endless gold": (edit(gold="pass\n" * MAX_GOLD_CHARS), UNREADABLE),
    "nested fence ends the gold": (edit(gold=f'text = """\n```\n"""\n{GOLD}'), SYNTAX),
    "escapes of LaTeX": (edit(gold=GOLD.replace("_", r"\_").replace('"', "''")), SYNTAX),
    "escaped line ends": (edit(gold=GOLD.replace("\n", "\\n") + "\n"), SYNTAX),
    "typographic quotes": (edit(gold=GOLD.replace('"', "\u201c")), SYNTAX),
    "no-break spaces": (edit(gold=GOLD.replace(", ", ",\u00a0")), SYNTAX),
    "zero-width space": (edit(gold=GOLD.replace("apis.shelf", "apis\u200b.shelf")), SYNTAX),
    "magic of a notebook": (edit(gold=f"%pip install apples\n{GOLD}"), SYNTAX),
    "a diff": (edit(gold="".join(f"+{line}\n" for line in GOLD.splitlines()) + "-)\n"), SYNTAX),
    "prose as gold": (edit(gold="Put 9 into figs, apis. and so on.\n"), SYNTAX),
    "nested too deep": (edit(gold=f"x = {'(' * 5000}{')' * 5000}\n{GOLD}"), SYNTAX),
    "two golds, the last one broken": (edit() + "\n```python\napis.shelf.put(\n```\n", SYNTAX),
    "the rest is left to the reader": (
        edit(gold='apis.shelf.put(box="figs", count=9)\n# ... the rest as before\n'),
        Rejection.GOLD_INCOMPLETE,
    ),
    "the form, not filled in": (edit("<the new instruction>", "...\n"), Rejection.GOLD_INCOMPLETE),
    "an API that is not there": (
        edit(gold=GOLD.replace("put(", "place(")), Rejection.GOLD_ERROR,
    ),
    "it raises": (edit(gold=f"boxes = [][0]\n{GOLD}"), Rejection.GOLD_ERROR),
    "a copy of the parent": (
        edit(PARENT_INSTRUCTION, PARENT_GOLD), Rejection.NEAR_COPY_OF_PARENT,
    ),
    "a copy in other spacing": (
        edit(PARENT_INSTRUCTION.upper(), f"# Mine\n\n{PARENT_GOLD}"), Rejection.NEAR_COPY_OF_PARENT,
    ),
    "it does nothing": (
        edit("Do nothing at all.", "apis.supervisor.complete_task()\n"), Rejection.NO_EFFECT,
    ),
}  # fmt: skip
"""A proposer's replies that come to no item, each with the cause that has to be recorded."""

ACCEPTED_EDITS: dict[str, str] = {
    "as asked": edit(),
    "windows line ends": edit().replace("\n", "\r\n"),
    "wrong labels": edit().replace("```instruction", "```yaml").replace("```python", "```js"),
    "wrapped in one more fence": f"````markdown\n{edit()}````\n",
    "thoughts before": f"<think>\nLet me see.\n</think>\n{edit()}",
    "byte-order mark": f"\ufeff{edit()}",
    "right-to-left script": edit().replace(
        "I add a box.", "\u05d0\u05e0\u05d9 \u05de\u05d5\u05e1\u05d9\u05e3"
    ),
}
"""Odd replies of a proposer from which an item is made all the same."""

BROKEN_VERDICTS: dict[str, str | Completion] = {
    "empty": "",
    "tool call with empty fields": EMPTY_CALL,
    "prose": "I find the item valid.",
    "refusal": "I cannot comply with this request.",
    "wrong label": '{"reason": "It is fine.", "verdict": "ok"}',
    "null": '{"reason": "It is fine.", "verdict": null}',
    "NaN": '{"reason": "It is fine.", "verdict": "valid", "sure": NaN}',
    "duplicate key": '{"reason": "It is fine.", "verdict": "vague", "verdict": "valid"}',
    "truncated": '{"reason": "It is fine.", "verdict": "val',
    "truncated within a fence": '```json\n{"reason": "It is f',
    "escapes of LaTeX": r'{"reason": "costs \$12, \alpha", "verdict": "valid"}',
    "trailing comma": '{"reason": "It is fine.", "verdict": "valid",}',
    "comments": '{"reason": "It is fine.", // so far\n"verdict": "valid"}',
    "Python's own": "{'reason': 'It is fine.', 'verdict': 'valid'}",
    "no reason": '{"verdict": "valid"}',
    "lone surrogate": '{"reason": "\udfff", "verdict": "valid"}',
    "NUL": '{"reason": "It is \x00", "verdict": "valid"}',
    "turned right to left": '{"reason": "\u202edilav", "verdict": "valid"}',
    "a list": '[{"reason": "It is fine."}, "valid"]',
}

ALL_TRUE = '"F5": true, "F8": true, "F9": true, "F10": true'

BROKEN_LABELS: dict[str, str | Completion] = {
    "empty": "",
    "tool call with empty fields": EMPTY_CALL,
    "an id is missing": '{"reason": "r", "labels": {"F5": true}}',
    "an id too many": f'{{"reason": "r", "labels": {{{ALL_TRUE}, "F1": true}}}}',
    "texts": '{"reason": "r", "labels": {"F5": "true", "F8": "no", "F9": "no", "F10": "no"}}',
    "numbers": '{"reason": "r", "labels": {"F5": 1, "F8": 0, "F9": 0, "F10": 0}}',
    "a list": '{"reason": "r", "labels": ["F5"]}',
    "duplicate key": f'{{"reason": "r", "labels": {{{ALL_TRUE}, "F5": false}}}}',
    "truncated": '{"reason": "r", "labels": {"F5": true, "F8"',
}

ODD_NOTES: dict[str, tuple[str | Completion, str]] = {
    "empty": ("", ""),
    "tool call with empty fields": (EMPTY_CALL, ""),
    "NUL": ("It\x00fails.", "It\ufffdfails."),
    "lone surrogate": ("It fails \ud83d.", "It fails \ufffd."),
    "windows line ends": ("One.\r\nTwo.\r\n", "One.\nTwo."),
}
"""A feedback's replies, each with the note that has to be kept."""

IDLE_CELLS: dict[str, str | Completion] = {
    "empty": "",
    "tool call with empty fields": EMPTY_CALL,
    "prose": "All is done, I think.",
    "refusal": "I'm sorry, I can't help with that.",
    "an empty cell": "I look.\n\n```python\n\n```",
    "a fence in prose": "I call ```apis.supervisor.complete_task()``` now.",
    "JSON": '```json\n{"code": "apis.supervisor.complete_task()"}\n```',
}
"""A solver's replies in which there is nothing to run."""
