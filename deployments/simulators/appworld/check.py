"""`check`: whether an item is sound, found by running its gold whole, not at all, and with writes undone."""

import asyncio
from typing import Any

from items import Items
from sessions import GRADE_TIMEOUT_S, Refusal, Sessions

RUNS_AT_ONCE = 2
NOT_CHECKED = dict.fromkeys(("do_nothing", "suppressed", "expects_answer", "state_changes"))
_NO_DIFFERENCE = {"missing": [], "unexpected": [], "answer": None}


class Checker:
    """Runs golds and makes the task directories of items from them."""

    def __init__(self, items: Items, sessions: Sessions) -> None:
        self._items = items
        self._sessions = sessions
        self._making: dict[str, asyncio.Lock] = {}

    async def task_id(self, item: dict, timeout_s: float) -> str:
        """The engine's task id of an item, whose directory is made by a run of the gold where it isn't.

        Raises:
            Refusal: bad_request, the gold does not run or does not complete.
        """
        made = self._items.find(item)
        if made is None:
            made = (await self._make(item, timeout_s))[0]
        if made is None:
            raise Refusal(
                "bad_request", "item.gold: it errs or does not complete; `check` shows how"
            )
        return made

    async def check(self, item: dict, timeout_s: float, gold_only: bool, writes: bool) -> dict:
        """The protocol's result of `check`; `timeout_s` bounds each run of the gold.

        Raises:
            Refusal: bad_request, the item starts nowhere; simulator, a run was lost for no fault of the gold.
        """
        try:
            if gold_only:
                return await self._gold(item, timeout_s)
            return await self._whole(item, timeout_s, writes)
        except Refusal as refusal:
            if refusal.kind != "session_lost":
                raise
            raise Refusal("simulator", f"a run was lost: {refusal}") from refusal

    async def _gold(self, item: dict, timeout_s: float) -> dict:
        """Whether the gold runs and completes; its grade is left to `_whole`, by a run of its own."""
        task_id = self._items.find(item)
        if task_id is not None:
            return {"gold": await self._run(task_id, item["gold"], None, timeout_s)} | NOT_CHECKED
        _, first, _ = await self._make(item, timeout_s)
        return {"gold": first} | NOT_CHECKED

    async def _whole(self, item: dict, timeout_s: float, suppress: bool) -> dict:
        task_id, first, facts = await self._make(item, timeout_s)
        if task_id is None:
            return {"gold": first} | NOT_CHECKED
        gate = asyncio.Semaphore(RUNS_AT_ONCE)

        async def run(code: str, suppress: int | None = None) -> dict:
            async with gate:
                return await self._run(task_id, code, suppress, timeout_s)

        writes = [call for call in first["calls"] if call["wrote"] and suppress]
        gold, nothing, *runs = await asyncio.gather(
            run(item["gold"]), run(""), *(run(item["gold"], call["n"]) for call in writes)
        )
        suppressed = [
            {"call": call["n"], "app": call["app"], "api": call["api"], "run": done}
            for call, done in zip(writes, runs, strict=True)
        ]
        suppressed = suppressed if suppress else None
        return {"gold": gold, "do_nothing": nothing, "suppressed": suppressed} | facts

    async def _make(self, item: dict, timeout_s: float) -> tuple[str | None, dict, dict]:
        """Makes the item's directory: task id (None: the gold failed), the gold's Run, facts of it."""
        start = {"parent": str(self._items.start(item["start"]))}
        spec = {
            "task_id": self._items.unmade(),
            "start": start | {"instruction": item["instruction"]},
            "suppress": None,
            "with_output": True,
        }
        session = await self._sessions.open(spec)
        try:
            run, done = await self._play(session, item["gold"], timeout_s)
            if run["error"] is not None or not done:
                return None, run, {}
            facts = await self._sessions.ask(
                session,
                GRADE_TIMEOUT_S,
                "write_ground_truth",
                instruction=item["instruction"],
                gold=item["gold"],
            )
            return self._items.keep(spec["task_id"], item), run, facts
        finally:
            await self._sessions.close(session)
            self._items.discard(spec["task_id"])

    async def _run(self, task_id: str, code: str, suppress: int | None, timeout_s: float) -> dict:
        """One graded Run of a program on an item that is made."""
        spec = {"task_id": task_id, "start": None, "suppress": suppress, "with_output": True}
        session = await self._sessions.open(spec)
        try:
            run, _ = await self._play(session, code, timeout_s)
            if session.name in self._sessions:
                run["outcome"] = await self._sessions.ask(session, GRADE_TIMEOUT_S, "finish")
            return run
        finally:
            await self._sessions.close(session)

    async def _play(self, session: Any, code: str, timeout_s: float) -> tuple[dict, bool]:
        """Runs a program as one cell; returns its Run, not yet graded, and whether it completed."""
        run = {"outcome": ungraded(0), "calls": [], "error": None}
        if not code:
            return run, False
        try:
            seen = await self._sessions.ask(session, timeout_s, "act", code=code)
        except Refusal as lost:
            if lost.kind != "session_lost":
                raise
            return run | {"error": f"Execution failed. Traceback:\nException: {lost}"}, False
        calls, error = seen["calls"], seen["text"] if seen["error"] else None
        outcome = ungraded(len(calls)) | {"completed": seen["done"]}
        return {"outcome": outcome, "calls": calls, "error": error}, seen["done"]


def ungraded(calls: int) -> dict:
    """The Outcome of a run that came to no grade."""
    return {
        "solved": False,
        "partial": 0.0,
        "completed": False,
        "tests": [],
        "difference": _NO_DIFFERENCE,
        "calls": calls,
    }
