"""A gold's run as text for a prompt: what it asked the world, and what the world said."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from warehouse.records import GoldCall

MAX_RESULT_CHARS = 1_200
"""Length to which one result is cut where there is room for it."""

MAX_LIKE_CALLS = 3
"""Calls of one API that are shown; how many more there were is said."""

_TOKENS = ("access_token", "file_system_access_token")


def gold_run_text(calls: Sequence[GoldCall], result_chars: int = MAX_RESULT_CHARS) -> str:
    """The calls in order, each with its result, one a line; logins and documents are left out."""
    lines: list[str] = []
    seen: Counter[tuple[str, str]] = Counter()
    for call in calls:
        if call.api in ("login", "show_account_passwords") or call.app == "api_docs":
            continue
        seen[call.app, call.api] += 1
        if seen[call.app, call.api] <= MAX_LIKE_CALLS:
            lines.append(f"- {_call_text(call, result_chars)}")
    more = {name: n - MAX_LIKE_CALLS for name, n in seen.items() if n > MAX_LIKE_CALLS}
    lines += [f"- ({n} more calls of {app}.{api})" for (app, api), n in more.items()]
    return "\n".join(lines) or "(no calls)"


def _call_text(call: GoldCall, result_chars: int) -> str:
    """One call with its arguments, tokens left out, and its result."""
    given = {
        name: value for name, value in json.loads(call.arguments).items() if name not in _TOKENS
    }
    arguments = ", ".join(f"{name}={_compact(value)}" for name, value in given.items())
    result = "nothing" if call.output is None else _result(json.loads(call.output), result_chars)
    return f"{call.app}.{call.api}({arguments}) -> {result}"


def _result(value: Any, max_chars: int) -> str:
    """The result, of a long list the first rows, of any other long result the beginning."""
    text = _compact(value)
    if len(text) <= max_chars:
        return text
    if not isinstance(value, list):
        return f"{text[:max_chars]} [... {len(text) - max_chars} characters cut]"
    shown = 1
    while len(_compact(value[: shown + 1])) <= max_chars:
        shown += 1
    return f"{_compact(value[:shown])[:max_chars]} [... {len(value) - shown} more rows cut]"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
