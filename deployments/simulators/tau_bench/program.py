"""The τ-bench simulator: speaks the protocol of ../README.md over stdin and stdout.

    python program.py SUITE

Run it with the interpreter of τ-bench's environment; SUITE is tau-telecom, tau-banking-bm25 or
tau-banking-golden. Requests are answered by a few threads; each session's dialogue is a thread of its own
that waits for its next model turn, so that many are open at once in one process.
"""

import contextlib
import json
import os
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TextIO

WORKERS = 4
"""Requests answered at once: Python runs one at a time anyway."""

ITEM_FIELDS = ("item_id", "start", "setup", "instruction", "gold", "grading")


class Refusal(Exception):
    """A request that is answered with an error; `kind` is one of the protocol's three."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Program:
    """The methods of the protocol."""

    def __init__(self, suite: str) -> None:
        """Reads the domain's data. Raises ValueError for an unknown suite."""
        from domains import domain_of

        self._domain = domain_of(suite)
        self._domain.register()
        self._dialogues: dict[str, Any] = {}
        self._opened = 0
        self._lock = threading.Lock()

    def describe(self, params: dict) -> dict:
        """What the simulator says of itself."""
        from describe import describe

        return describe(self._domain)

    def seeds(self, params: dict) -> dict:
        """The seeds of a split. Raises ValueError for a split that the domain does not have."""
        from items import item_of

        split, domain = _need(params, "split", str), self._domain
        if split not in domain.splits:
            raise ValueError(f"split {split}: there are {', '.join(domain.splits)}")
        return {
            "items": [
                item_of(task)
                | {
                    "start": domain.start,
                    "name": task["id"],
                    "intended_difficulty": None,
                    "difficulty_source": "author",
                    "cluster": None,
                    "expects_answer": False,
                }
                for task in domain.tasks(split)
            ]
        }

    def check(self, params: dict) -> dict:
        """Plays an item's gold and, unless `gold_only`, what shows it sound."""
        from check import check

        item = _need(params, "item", dict)
        gold_only, writes = params.get("gold_only", False), params.get("writes", True)
        return check(self._domain, _item(item), gold_only, writes)

    def open(self, params: dict) -> dict:
        """Opens a session, up to its first model turn. `rng_seed` must be there and changes nothing."""
        from dialogue import Dialogue
        from items import Fault, ReadItem

        _need(params, "rng_seed", int)
        try:
            read = ReadItem(_item(_need(params, "item", dict)))
            read.require(self._domain)
            dialogue = Dialogue(self._domain, read)
        except Fault as fault:
            raise Refusal("bad_request", f"item: {fault}") from fault
        with self._lock:
            self._opened += 1
            name = f"s{self._opened}"
            self._dialogues[name] = dialogue
        request = dialogue.start(_seconds(params))
        return {"session": name, "sandbox": "none", "request": request}

    def act(self, params: dict) -> dict:
        """Goes on with a model's reply: the next request, or how the conversation ended."""
        name = _need(params, "session", str)
        action = _need(params, "action", dict)
        if action.get("kind") != "reply" or not isinstance(action.get("text"), str):
            raise Refusal("bad_request", 'act.action: wants {"kind": "reply", "role", "text", ...}')
        try:
            return self._dialogue(name).answer(action, _seconds(params))
        except TimeoutError:
            self._dialogues.pop(name, None)
            raise Refusal("session_lost", "a tool ran past the deadline") from None

    def finish(self, params: dict) -> dict:
        """Grades a session's final state and closes the session."""
        name = _need(params, "session", str)
        outcome = self._dialogue(name).finish()
        self._dialogues.pop(name, None)
        return outcome

    def close(self, params: dict) -> dict:
        """Gives a session up; harmless when it is closed or lost already."""
        dialogue = self._dialogues.pop(_need(params, "session", str), None)
        if dialogue is not None:
            dialogue.close()
        return {}

    def _dialogue(self, name: str) -> Any:
        if name not in self._dialogues:
            raise Refusal("session_lost", f"session {name}: is closed, or never was")
        return self._dialogues[name]


def _need(params: dict, name: str, kind: type) -> Any:
    value = params.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Refusal("bad_request", f"params.{name}: wants a {kind.__name__}")
    return value


def _seconds(params: dict) -> float:
    value = params.get("timeout_s")
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e6:
        raise Refusal("bad_request", "params.timeout_s: wants a number of seconds above 0")
    return float(value)


def _item(item: dict) -> dict:
    for name in ("start", "instruction", "gold", "grading"):
        if not isinstance(item.get(name), str) or not item[name].strip():
            raise Refusal("bad_request", f"params.item.{name}: wants a text")
    return {name: item.get(name) for name in ITEM_FIELDS}


METHODS: dict[str, Callable[[Program, dict], dict]] = {
    name: getattr(Program, name)
    for name in ("describe", "seeds", "check", "open", "act", "finish", "close")
}


def answer(program: Program, line: str) -> dict:
    """Answers one line; what goes wrong is in the answer, with a traceback on stderr where it is ours."""
    request_id = None
    try:
        request = json.loads(line)
        if not isinstance(request, dict):
            raise Refusal("bad_request", "a request wants to be an object")
        request_id, method, params = request.get("id"), request.get("method"), request.get("params")
        if not isinstance(method, str) or method not in METHODS:
            raise Refusal("bad_request", f"method: wants one of {', '.join(METHODS)}")
        if not isinstance(params, dict):
            raise Refusal("bad_request", "params: wants an object")
        return {"id": request_id, "result": METHODS[method](program, params)}
    except Refusal as refusal:
        kind, message = refusal.kind, str(refusal)
    except Exception as error:  # the parent must hear of every request, also of those we fail
        if type(error) is ValueError:
            kind, message = "bad_request", str(error)
        else:
            traceback.print_exc()
            kind, message = "simulator", f"{type(error).__name__}: {error}"
    return {"id": request_id, "error": {"kind": kind, "message": " ".join(message.split())}}


def serve(program: Program, out: TextIO) -> None:
    """Answers all lines of stdin, a few at once and in any order, until stdin ends."""
    writing = threading.Lock()

    def reply(line: str) -> None:
        text = json.dumps(answer(program, line))
        with writing:
            print(text, file=out, flush=True)

    pool = ThreadPoolExecutor(WORKERS)
    for line in sys.stdin:
        pool.submit(reply, line)
    pool.shutdown(wait=False, cancel_futures=True)


def main() -> int:
    """Guards stdout, then serves; returns the exit code."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints must not reach the protocol
    with contextlib.suppress(OSError):
        os.setpgrp()  # a process group of our own, unless we lead a session already
    try:
        program = Program(*sys.argv[1:2])
    except (TypeError, KeyError) as error:
        print(f"usage: program.py SUITE ({error})", file=sys.stderr)
        return 2
    serve(program, out)
    return 0


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)
