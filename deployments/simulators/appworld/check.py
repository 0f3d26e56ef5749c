"""`check`: whether an item is sound, found by running its gold whole, not at all, and with writes undone."""

import asyncio
import json
from typing import Any

from items import Items
from sessions import GRADE_TIMEOUT_S, Refusal, Sessions

RUNS_AT_ONCE = 2
ANSWER_BYTES = 48 << 20
"""Most that a check answers; the parent takes a longer line for a program out of its mind."""
NOT_CHECKED = dict.fromkeys(("do_nothing", "suppressed", "expects_answer", "state_changes"))
_NO_DIFFERENCE = {"missing": [], "unexpected": [], "answer": None}


class Checker:
    """Runs golds and makes the task directories of items from them."""

    def __init__(self, items: Items, sessions: Sessions) -> None:
        self._items = items
        self._sessions = sessions
        self._making: dict[str, asyncio.Lock] = {}

    async def graded(self, item: dict, timeout_s: float) -> dict:
        """Where an item's sessions are opened and graded, as fields of a session's spec.

        `task_id`: a seed of official data is graded by its own task directory, any other item by the one
        that a run of its gold makes, where that isn't made yet. `compare`: the task id of the latter, whose
        expected state tells the difference; None for a seed that has no gold, or none that runs.

        Raises:
            Refusal: bad_request, the gold does not run or does not complete.
        """
        own = self._items.world.own_task(item)
        made = self._items.find(item)
        if made is None and item["gold"] is not None:
            made = (await self._make(item, timeout_s))[0]
        if made is None and own is None:
            raise Refusal(
                "bad_request", "item.gold: it errs or does not complete; `check` shows how"
            )
        return _place(own or made) | {"as_shipped": own is not None, "compare": made}

    async def check(self, item: dict, timeout_s: float, gold_only: bool, writes: bool) -> dict:
        """The protocol's result of `check`; `timeout_s` bounds each run of the gold.

        Raises:
            Refusal: bad_request, the item starts nowhere; simulator, a run was lost for no fault of the gold.
        """
        try:
            if self._items.world.own_task(item) is not None:
                return await self._seed(item, timeout_s)
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
            run = await self._run(_place(task_id), item["gold"], None, timeout_s)
            return {"gold": run} | NOT_CHECKED
        _, first, _ = await self._make(item, timeout_s)
        return {"gold": first} | NOT_CHECKED

    async def _seed(self, item: dict, timeout_s: float) -> dict:
        """The gold of a seed of official data, and nothing, graded by the seed's own evaluation."""
        place = await self.graded(item, timeout_s)
        nothing = await self._run(place, "", None, timeout_s)
        found = NOT_CHECKED | {"gold": None, "do_nothing": nothing}
        if item["gold"] is None:
            return found
        gold = await self._run(place, item["gold"], None, timeout_s)
        wrote = any(call["wrote"] for call in gold["calls"])
        answer = self._items.world.expects_answer(item["start"])
        return found | {"gold": gold, "expects_answer": answer, "state_changes": wrote}

    async def _whole(self, item: dict, timeout_s: float, suppress: bool) -> dict:
        task_id, first, facts = await self._make(item, timeout_s)
        if task_id is None:
            return {"gold": first} | NOT_CHECKED
        gate = asyncio.Semaphore(RUNS_AT_ONCE)

        async def run(code: str, suppress: int | None = None) -> dict:
            async with gate:
                return await self._run(_place(task_id), code, suppress, timeout_s)

        writes = [call for call in first["calls"] if call["wrote"] and suppress]
        gold, nothing, *runs = await asyncio.gather(
            run(item["gold"]), run(""), *(run(item["gold"], call["n"]) for call in writes)
        )
        suppressed = [
            {"call": call["n"], "app": call["app"], "api": call["api"], "run": done}
            for call, done in zip(writes, runs, strict=True)
        ]
        suppressed = suppressed if suppress else None
        answer = {"gold": gold, "do_nothing": nothing, "suppressed": suppressed} | facts
        if len(json.dumps(answer)) > ANSWER_BYTES:
            error = f"Exception: the runs of this gold return more than {ANSWER_BYTES >> 20} MB"
            return {"gold": first | {"calls": [], "error": error}} | NOT_CHECKED
        return answer

    async def _make(self, item: dict, timeout_s: float) -> tuple[str | None, dict, dict]:
        """Makes the item's directory: task id (None: the gold failed), the gold's Run, facts of it."""
        if item["gold"] is None:
            raise Refusal("bad_request", "item.gold: wants a program")
        start = {"parent": str(self._items.world.start(item["start"]))}
        spec = _place(self._items.unmade()) | {
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

    async def _run(self, place: dict, code: str, suppress: int | None, timeout_s: float) -> dict:
        """One graded Run of a program on an item that is made; `place` is as `graded` gives it."""
        session = await self._sessions.open(place | {"suppress": suppress, "with_output": True})
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


def _place(task_id: str) -> dict:
    """Where a session is opened, as fields of its spec: a task directory of our own."""
    return {"task_id": task_id, "start": None, "as_shipped": False, "compare": None}


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
