"""Parsers of replies against whole, odd and broken replies."""

import pytest

from tasks.errors import Rejection
from tasks.llm.fences import find_fences
from tasks.llm.replies import (
    MAX_INSTRUCTION_CHARS,
    MAX_REPLY_CHARS,
    ReplyError,
    parse_cell,
    parse_edit,
    parse_labels,
    parse_verdict,
)

GOLD = (
    "# Clause: Do it.\napis.venmo.show_venmo_balance()\n\n# Finish\napis.supervisor.complete_task()"
)
EDIT = f"Because.\n\n```instruction\nDo it.\n```\n\n```python\n{GOLD}\n```"

READABLE_EDITS = {
    "as asked": EDIT,
    "windows line ends": EDIT.replace("\n", "\r\n"),
    "old mac line ends": EDIT.replace("\n", "\r"),
    "other labels": EDIT.replace("```instruction", "```text").replace("```python", "```py"),
    "labels in capitals with a colon": EDIT.replace("instruction", "Instruction:").replace(
        "python", "Python"
    ),
    "no labels": EDIT.replace("```instruction", "```").replace("```python", "```"),
    "longer fences": EDIT.replace("```", "`````"),
    "tildes": EDIT.replace("```", "~~~"),
    "text behind": EDIT + "\n\nI hope that this helps!",
    "a draft before": f"Draft:\n```instruction\nOld.\n```\n```python\nold = apis.x\n```\n\n{EDIT}",
    "wrapped in one more fence": f"````markdown\n{EDIT}\n````",
    "wrapped in a fence of the same length": f"```markdown\n{EDIT}\n```",
    "gold first": f"```python\n{GOLD}\n```\n\nThen:\n\n```instruction\nDo it.\n```",
    "gold under the instruction's label": f"```text\nDo it.\n```\n```instruction\n{GOLD}\n```",
    "a word behind the label": EDIT.replace("```python", "```python title=gold"),
}


@pytest.mark.parametrize("name", READABLE_EDITS)
def test_an_edit_is_read_however_it_is_fenced(name: str) -> None:
    edit = parse_edit(READABLE_EDITS[name])
    assert edit.gold == GOLD + "\n"
    assert edit.instruction == "Do it."


BROKEN_EDITS = {
    "empty": "",
    "white space": " \n\t\n",
    "prose": "I would make it harder by asking for two things.",
    "no gold": "```instruction\nDo it.\n```",
    "no instruction": f"```python\n{GOLD}\n```",
    "empty gold": "```instruction\nDo it.\n```\n```python\n\n```",
    "empty instruction": f"```instruction\n  \n```\n```python\n{GOLD}\n```",
    "cut off in the gold": EDIT[:-40],
    "cut off in the instruction": "Because.\n\n```instruction\nDo",
    "opening fence of two backticks": EDIT.replace("```python", "``python"),
    "closing fence missing between": EDIT.replace("Do it.\n```", "Do it.\n"),
    "NUL": EDIT.replace("Do it.", "Do\x00it."),
    "lone surrogate": EDIT.replace("Do it.", "Do \ud800 it."),
    "endless": "x" * (MAX_REPLY_CHARS + 1),
    "endless instruction": EDIT.replace("Do it.\n```", "a " * MAX_INSTRUCTION_CHARS + "\n```"),
    "JSON instead": '{"instruction": "Do it.", "gold": "apis.x"}',
    "quoted with >": "\n".join("> " + line for line in EDIT.splitlines()),
}


@pytest.mark.parametrize("name", BROKEN_EDITS)
def test_a_broken_edit_is_an_error_of_one_line(name: str) -> None:
    with pytest.raises(ReplyError) as caught:
        parse_edit(BROKEN_EDITS[name])
    assert caught.value.cause == Rejection.UNPARSEABLE_REPLY
    assert caught.value.message and "\n" not in caught.value.message


def test_a_refusal_is_told_from_a_broken_reply() -> None:
    with pytest.raises(ReplyError) as caught:
        parse_edit("I'm sorry, but I can't help with this request.")
    assert caught.value.cause == Rejection.REFUSED


def test_an_apology_with_an_edit_is_an_edit() -> None:
    assert parse_edit("I'm sorry, I cannot do that with the first API.\n" + EDIT).gold


CELLS = {
    "as asked": ("I look.\n\n```python\nprint(1)\n```", "I look.", "print(1)"),
    "only the first of two": ("a\n```python\nx = 1\n```\nb\n```python\ny\n```", "a", "x = 1"),
    "no label": ("a\n```\nx = 1\n```", "a", "x = 1"),
    "stopped at the closing fence": ("a\n```python\nx = 1\n", "a", "x = 1"),
    "windows line ends": ("a\r\n```python\r\nx = 1\r\n```", "a", "x = 1"),
    "a fence that is no code": ('```json\n{"a": 1}\n```\nb', "b", None),
    "none": ("I am done.", "I am done.", None),
    "empty": ("", "", None),
    "empty cell": ("a\n```python\n\n```", "a", None),
    "a string with backticks": ("a\n```python\nx = '```'\n```", "a", "x = '```'"),
    "NUL and surrogate": ("\x00\ud800\n```python\nx = '\x00'\n```", "\ufffd\ufffd", "x = '\ufffd'"),
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_is_read_and_never_raises(name: str) -> None:
    text, thought, code = CELLS[name]
    cell = parse_cell(text)
    assert (cell.thought, cell.code) == (thought, code)
    cell.model_dump_json()


@pytest.mark.parametrize(
    "text",
    [
        '{"reason": "r", "verdict": "false_failure"}',
        'Here:\n```json\n{"reason": "r", "verdict": "false_failure"}\n```\nDone.',
        '{"reason": "r", "verdict": " False-Failure "}',
        '{"draft": {}} {"reason": "r", "verdict": "false failure"}',
        'not {this} but {"verdict": "false_failure", "reason": "r", "sure": true}',
    ],
)
def test_a_verdict_is_found_in_prose_and_fences(text: str) -> None:
    found = parse_verdict(text)
    assert (found.reason, found.verdict) == ("r", "false_failure")


BROKEN_VERDICTS = {
    "empty": "",
    "prose": "It is valid.",
    "not of the list": '{"reason": "r", "verdict": "fine"}',
    "a list": '{"reason": "r", "verdict": ["valid"]}',
    "no reason": '{"verdict": "valid"}',
    "empty reason": '{"reason": "  ", "verdict": "valid"}',
    "a number as reason": '{"reason": 3, "verdict": "valid"}',
    "NaN": '{"reason": "r", "verdict": "valid", "p": NaN}',
    "infinity": '{"reason": "r", "verdict": "valid", "p": -Infinity}',
    "a key twice": '{"reason": "r", "verdict": "vague", "verdict": "valid"}',
    "cut off": '{"reason": "r", "verdict": "val',
    "single quotes": "{'reason': 'r', 'verdict': 'valid'}",
    "lone surrogate": '{"reason": "\ud800", "verdict": "valid"}',
    "NUL": '{"reason": "\x00", "verdict": "valid"}',
    "deep": '{"verdict":' * 50_000,
    "a top-level list": '["valid"]',
}


@pytest.mark.parametrize("name", BROKEN_VERDICTS)
def test_a_broken_verdict_is_an_error_of_one_line(name: str) -> None:
    with pytest.raises(ReplyError) as caught:
        parse_verdict(BROKEN_VERDICTS[name])
    assert caught.value.message and "\n" not in caught.value.message


def test_an_escaped_lone_surrogate_in_a_reason_becomes_text() -> None:
    found = parse_verdict('{"reason": "a \\ud800", "verdict": "valid"}')
    assert found.reason == "a \ufffd"


def test_labels_are_those_that_were_asked_for() -> None:
    text = '{"reason": "r", "labels": {"F5": true, "F9": false}}'
    assert parse_labels(text, ["F9", "F5"]).labels == {"F5": True, "F9": False}
    with pytest.raises(ReplyError, match="exactly"):
        parse_labels(text, ["F5"])
    with pytest.raises(ReplyError, match="true or false"):
        parse_labels(text.replace("true", "1"), ["F9", "F5"])
    with pytest.raises(ReplyError, match="stands twice"):
        parse_labels(text.replace("F9", "F5"))


def test_fences_nest_in_a_wrapper_but_not_in_code() -> None:
    wrapped = find_fences("```markdown\n```python\nx\n```\n```\n")
    assert [(one.label, one.nests) for one in wrapped] == [("markdown", True), ("python", False)]
    code = find_fences("```python\nx = 1\n```json\ny\n```\n")
    assert [one.label for one in code] == ["python"]
