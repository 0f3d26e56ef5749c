"""The AppWorld simulator: speaks the protocol of ../README.md over stdin and stdout.

    TURTLE_SIMULATOR_HOME=HOME [TURTLE_APPWORLD_ROOT=ROOT] python program.py [OPTIONS]

Run it with the interpreter of AppWorld's environment; HOME is what build_world.py filled, ROOT holds data
in AppWorld's own layout (official.py), which is then taken instead of the small world. The program
itself imports nothing of the engine: it answers, starts sessions and ends them (sessions.py), while the
engine and the model-written code live in processes of their own (engine.py, shell/).
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import sys
import traceback
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TextIO

from check import Checker
from describe import describe
from export import Exporter
from items import ITEM_FIELDS, Items
from official import OfficialData
from sandbox import LEVELS, SandboxMissing, Walls, choose
from sessions import GRADE_TIMEOUT_S, Refusal, Sessions
from small_world import SmallWorld

MAKE_TIMEOUT_S = 120.0
"""Deadline of the gold's run where `open` has to make an item's directory."""


class Program:
    """The methods of the protocol."""

    def __init__(self, home: Path, root: Path | None, walls: Walls, kept: Path | None) -> None:
        """Starts the warm processes, the shell's behind `walls`.

        `root` is that of official data, None for the small world; `kept` the folder for end states, None
        for none.
        """
        self._world = SmallWorld(home) if root is None else OfficialData(root)
        self._items = Items(home, self._world, kept)
        self._sessions = Sessions(self._items, walls)
        self._checker = Checker(self._items, self._sessions)
        self._exporter = Exporter(self._items, self._checker)

    async def describe(self, params: dict) -> dict:
        """What the simulator says of itself."""
        return describe(self._world, self._sessions.level)

    async def seeds(self, params: dict) -> dict:
        """The seeds of a split. Raises ValueError for a split that the world does not have."""
        return {"items": self._world.seeds(_need(params, "split", str))}

    async def check(self, params: dict) -> dict:
        """Runs an item's gold and, unless `gold_only`, what shows it sound."""
        gold_only = _need(params, "gold_only", bool) if "gold_only" in params else False
        writes = _need(params, "writes", bool) if "writes" in params else True
        return await self._checker.check(_item(params), _seconds(params), gold_only, writes)

    async def open(self, params: dict) -> dict:
        """Opens a session. `rng_seed` must be there and changes nothing: stock seeds every world alike."""
        item = _item(params)
        _need(params, "rng_seed", int)
        spec = await self._checker.graded(item, MAKE_TIMEOUT_S)
        session = await self._sessions.open(spec | {"suppress": None, "with_output": False})
        level = self._sessions.level
        return {"session": session.name, "sandbox": level, "briefing": session.briefing}

    async def act(self, params: dict) -> dict:
        """Does one action in a session. Raises Refusal session_lost past the deadline."""
        session = self._sessions.get(_need(params, "session", str))
        action = _need(params, "action", dict)
        if action.get("kind") != "code" or not isinstance(action.get("code"), str):
            raise Refusal("bad_request", 'act.action: wants {"kind": "code", "code": text}')
        return await self._sessions.ask(session, _seconds(params), "act", code=action["code"])

    async def finish(self, params: dict) -> dict:
        """Grades a session's final state and closes the session."""
        session = self._sessions.get(_need(params, "session", str))
        outcome = await self._sessions.ask(session, GRADE_TIMEOUT_S, "finish")
        await self._sessions.close(session)
        return outcome

    async def close(self, params: dict) -> dict:
        """Gives a session up; harmless when it is closed or lost already."""
        name = _need(params, "session", str)
        if name in self._sessions:
            await self._sessions.close(self._sessions.get(name))
        return {}

    async def export(self, params: dict) -> dict:
        """Writes items in AppWorld's own format. Raises Refusal bad_request where one is no item."""
        entries = []
        for entry in _need(params, "items", list):
            if not isinstance(entry, dict) or not str(entry.get("name")).isalnum():
                raise Refusal("bad_request", "export.items: wants {item, name, difficulty} each")
            difficulty = entry.get("difficulty")
            if difficulty is not None and difficulty not in (1, 2, 3):
                raise Refusal("bad_request", "export.items: a difficulty is 1, 2, 3 or null")
            entries.append(entry | {"item": _item(entry), "difficulty": difficulty})
        dataset = _need(params, "dataset", str)
        if not re.fullmatch(r"[\w.-]+", dataset):
            raise Refusal("bad_request", "export.dataset: letters, digits, dots and dashes only")
        directory = Path(_need(params, "directory", str))
        private = _need(params, "private", bool)
        count = await self._exporter.export(entries, dataset, directory, private, _seconds(params))
        return {"items": count}

    def stop(self) -> None:
        """Kills all sessions and removes the program's folder."""
        self._sessions.stop()
        self._items.close()


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


def _item(params: dict) -> dict:
    item = _need(params, "item", dict)
    for name in ("start", "instruction", "gold"):
        text = item.get(name)
        if name == "gold" and text is None:
            continue  # a seed of official data whose ground truth holds no solution
        if not isinstance(text, str) or not text.strip():
            raise Refusal("bad_request", f"params.item.{name}: wants a text")
    for name in ("setup", "grading"):
        if item.get(name) is not None:
            raise Refusal(
                "bad_request", f"params.item.{name}: AppWorld makes it itself; wants null"
            )
    return {name: item.get(name) for name in ITEM_FIELDS}


METHODS: dict[str, Callable[[Program, dict], Awaitable[dict]]] = {
    name: getattr(Program, name)
    for name in ("describe", "seeds", "check", "open", "act", "finish", "close", "export")
}


async def answer(program: Program, line: bytes) -> dict:
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
        return {"id": request_id, "result": await METHODS[method](program, params)}
    except Refusal as refusal:
        kind, message = refusal.kind, str(refusal)
    except ValueError as error:
        kind, message = "bad_request", str(error)
    except Exception as error:  # the parent must hear of every request, also of those we fail
        traceback.print_exc()
        kind, message = "simulator", f"{type(error).__name__}: {error}"
    return {"id": request_id, "error": {"kind": kind, "message": " ".join(message.split())}}


async def serve(program: Program, out: TextIO) -> None:
    """Answers all lines of stdin, at once and in any order, until stdin ends."""
    lines = asyncio.StreamReader(limit=1 << 28)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)

    async def reply(line: bytes) -> None:
        print(json.dumps(await answer(program, line)), file=out, flush=True)

    pending: set[asyncio.Task] = set()
    while line := await lines.readline():
        task = asyncio.ensure_future(reply(line))
        pending.add(task)
        task.add_done_callback(pending.discard)


async def run(home: Path, root: Path | None, walls: Walls, kept: Path | None, out: TextIO) -> None:
    """The whole life of the program."""
    program = Program(home, root, walls, kept)
    print(f"sandbox: {walls.level}", file=sys.stderr, flush=True)
    try:
        await serve(program, out)
    finally:
        program.stop()


def main() -> int:
    """Guards stdout, then serves; returns the exit code."""
    parser = argparse.ArgumentParser(description="The AppWorld simulator.")
    parser.add_argument(
        "--sandbox",
        choices=LEVELS,
        help="walls around model-written code: exactly these (default: the best this machine has)",
    )
    parser.add_argument(
        "--no-landlock",
        action="store_true",
        help="do as on a kernel without Landlock, which hides files where bubblewrap does not",
    )
    parser.add_argument(
        "--keep-states",
        type=Path,
        metavar="DIR",
        help="move what each session leaves on disk to DIR/SESSION, for a look or for another grader",
    )
    wanted = parser.parse_args()
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints, here or in a child, must not reach the protocol
    home = os.environ.get("TURTLE_SIMULATOR_HOME")
    if not home:
        print("TURTLE_SIMULATOR_HOME: wants the folder that build_world.py filled", file=sys.stderr)
        return 2
    with contextlib.suppress(OSError):
        os.setpgrp()  # a process group of our own, unless we lead a session already
    try:
        walls = choose(wanted.sandbox, landlock=not wanted.no_landlock)
        root = os.environ.get("TURTLE_APPWORLD_ROOT")
        official = Path(root).resolve() if root else None
        asyncio.run(run(Path(home).resolve(), official, walls, wanted.keep_states, out))
    except (FileNotFoundError, SandboxMissing) as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)
