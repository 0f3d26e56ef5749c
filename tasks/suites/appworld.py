"""AppWorld: its simulator as a suite. The contract is tasks/suites/base.py."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from tasks.environment import Progress, stamp_of
from tasks.errors import InputError, SessionLost, SimulatorError
from tasks.suites.base import (
    Briefing,
    CheckReport,
    Description,
    Observation,
    Outcome,
    SandboxLevel,
    SuiteSeed,
)
from tasks.suites.bridge import Bridge, Process, reduced_environment
from tasks.suites.installation import ensure_simulator
from warehouse.records import Item, Record

ANSWER_S = 300.0
"""Deadline of a request that has none of its own. Generous: it is for a program that hangs, on a machine
that may be loaded and may have to warm the engine up first."""

PROGRAM_RUN_S = 60.0
"""How long one run of a gold may take in `check`."""

CHECK_S = 900.0
"""Deadline of a whole `check`: the gold runs once more for each of its writes."""

_T = TypeVar("_T")
_R = TypeVar("_R", bound=Record)


OFFICIAL_PARTS = ("base_dbs", "api_docs", "datasets", "tasks")
"""Folders of <root>/data that a campaign reads."""


class AppWorldSuite:
    """AppWorld in its own process and environment, on the small world of our own or on official data."""

    name = "appworld"

    def __init__(
        self,
        state: Path,
        progress: Progress = print,
        root: Path | None = None,
        sandbox: SandboxLevel | None = None,
    ) -> None:
        """Starts nothing: environment, world and process are made by the first request.

        Args:
            state: folder for all that can be made again.
            progress: told, a line at a time, what set-up is doing, and the sandbox once it is used.
            root: folder whose `data` is AppWorld's official data, never written to; None for the small
                world.
            sandbox: the least level with which the program starts; None takes the best there is.

        Raises InputError, which says what to type, where `root` holds no data.
        """
        if root is not None:
            _require_official(root, state)
        self._state = state
        self._root = root
        self.official = root is not None
        """Whether it stands on official data."""
        self._progress = progress
        self._sandbox = sandbox
        self._told: str | None = None
        self._bridge: Bridge | None = None
        self._description: Description | None = None
        self._fingerprint = ""
        self._preparing = asyncio.Lock()

    async def fingerprint(self) -> str:
        """What environment and world were made from; the simulator is not started for it."""
        await self._ready()
        return self._fingerprint

    async def describe(self) -> Description:
        """What the simulator says of itself; asked once."""
        if self._description is None:
            answer = await self._call("describe", {})
            self._description = _checked(Description, "describe", answer)
        return self._description

    async def seeds(self, split: str) -> list[SuiteSeed]:
        """The seeds of a split, in the suite's order. Raises InputError for an unknown split."""
        world = (await self.describe()).world
        answer = await self._call("seeds", {"split": split})
        return _reading("seeds", lambda: [self._seed(world, fields) for fields in answer["items"]])

    async def check(self, item: Item, gold_only: bool = False, writes: bool = True) -> CheckReport:
        """Runs the gold, and nothing, and the gold with each write suppressed."""
        params = {"item": _wire(item), "gold_only": gold_only, "writes": writes}
        params["timeout_s"] = PROGRAM_RUN_S
        return _checked(CheckReport, "check", await self._call("check", params, CHECK_S))

    async def open(self, item: Item, rng_seed: int) -> "AppWorldSession":
        """A session on a fresh copy of the item's initial state."""
        process = await (await self._ready()).process()
        params = {"item": _wire(item), "rng_seed": rng_seed}
        answer = await process.ask("open", params, ANSWER_S)
        session = _reading("open", lambda: AppWorldSession(process, answer))
        if self._told != session.sandbox:
            self._told = session.sandbox
            self._progress(f"appworld: model-written code runs in sandbox: {session.sandbox}")
        return session

    async def export(
        self, entries: Sequence[tuple[Item, int | None]], dataset: str, folder: Path, private: bool
    ) -> int:
        """Writes items, each with its difficulty (1-3 or None), as AppWorld's bundle of that name.

        `folder` is there and empty. Where `private`, the task directories are written in clear as well.
        Returns the number of items.
        """
        params = {
            "items": [
                {"item": _wire(item), "name": item.item_id, "difficulty": difficulty}
                for item, difficulty in entries
            ],
            "dataset": dataset,
            "directory": str(folder),
            "private": private,
            "timeout_s": PROGRAM_RUN_S,
        }
        deadline_s = ANSWER_S + len(entries) * 2 * PROGRAM_RUN_S
        answer = await self._call("export", params, deadline_s)
        return _reading("export", lambda: int(answer["items"]))

    async def aclose(self) -> None:
        """Ends the simulator and every session."""
        async with self._preparing:
            if self._bridge is not None:
                await self._bridge.aclose()
            self._bridge = None

    def _seed(self, world: str, fields: dict[str, Any]) -> SuiteSeed:
        content = dict(fields)
        said = ("name", "intended_difficulty", "difficulty_source", "cluster")
        of_the_seed = {name: content.pop(name) for name in said}
        return SuiteSeed(item=Item.of(suite=self.name, world=world, **content), **of_the_seed)

    async def _call(self, method: str, params: dict[str, Any], timeout_s: float = ANSWER_S) -> Any:
        return await (await self._ready()).call(method, params, timeout_s)

    async def _ready(self) -> Bridge:
        """The bridge to the simulator, which is installed first if need be."""
        async with self._preparing:
            if self._bridge is None:
                made = await asyncio.to_thread(
                    ensure_simulator, self.name, self._state, self._progress
                )
                self._fingerprint = await asyncio.to_thread(_fingerprint, made.stamp, self._root)
                surroundings = {
                    **({} if self._root is None else {"TURTLE_APPWORLD_ROOT": str(self._root)}),
                    "HOME": str(made.user),
                    "TURTLE_SIMULATOR_HOME": str(made.home),
                    # A cell that prints a set prints the same in every process.
                    "PYTHONHASHSEED": "0",
                }
                # The program offers no level above this one, so at least it is exactly it.
                exactly = ["--sandbox=bubblewrap"] if self._sandbox == "bubblewrap" else []
                self._bridge = Bridge(
                    (str(made.python), str(made.program), *exactly),
                    reduced_environment(surroundings),
                    self.name,
                    made.user / "simulator.log",
                )
            return self._bridge


class AppWorldSession:
    """One attempt's copy of an item's initial state. Made by `AppWorldSuite.open`."""

    def __init__(self, process: Process, opened: dict[str, Any]) -> None:
        """Takes the result of `open`, and the process in which the session lives and dies."""
        self.sandbox: SandboxLevel = opened["sandbox"]
        self.briefing = Briefing.model_validate(opened["briefing"])
        self._session: str = opened["session"]
        self.process = process
        """Where the session lives and dies."""
        self._closed = False

    async def act(self, action: dict[str, Any], timeout_s: float) -> Observation:
        """Does one action.

        Raises SessionLost when the session did not survive it: past `timeout_s` seconds the simulator
        kills the session, and a little later we kill a simulator that did not.
        """
        answer = await self._ask("act", timeout_s + ANSWER_S, action=action, timeout_s=timeout_s)
        return _checked(Observation, "act", answer)

    async def finish(self) -> Outcome:
        """Grades the final state and closes the session."""
        outcome = _checked(Outcome, "finish", await self._ask("finish", ANSWER_S))
        self._closed = True
        return outcome

    async def close(self) -> None:
        """Gives the session up. Harmless when it is closed or lost already."""
        if self._closed or self.process.cause is not None:
            return
        self._closed = True
        await self._ask("close", ANSWER_S)

    async def _ask(self, method: str, deadline_s: float, **params: Any) -> Any:
        if self.process.cause is not None:
            # Not this session's doing: a SessionLost would be counted as the solver's.
            raise SimulatorError(f"{self.process.cause} (session {self._session} went with it)")
        try:
            return await self.process.ask(method, {"session": self._session, **params}, deadline_s)
        except SessionLost:
            self._closed = True
            raise


def _require_official(root: Path, state: Path) -> None:
    missing = [part for part in OFFICIAL_PARTS if not (root / "data" / part).is_dir()]
    if missing:
        appworld = state / "simulators" / "appworld" / "venv" / "bin" / "appworld"
        first = "" if appworld.exists() else "turtle setup, then "
        raise InputError(
            f"--appworld-root {root}: {root / 'data'} has no {', no '.join(missing)}; "
            f"type: {first}{appworld} download data --root {root}"
        )


def _fingerprint(simulator: str, root: Path | None) -> str:
    """The simulator's hash with that of the official data, wherever it lies."""
    if root is None:
        return simulator
    return stamp_of([root / "data" / part for part in OFFICIAL_PARTS], simulator)


def _wire(item: Item) -> dict[str, Any]:
    """An item as it crosses to the simulator."""
    fields = {"item_id", "start", "setup", "instruction", "gold", "grading"}
    return item.model_dump(mode="json", include=fields)


def _checked(shape: type[_R], method: str, answer: Any) -> _R:
    """An answer as a record. Raises SimulatorError when it is not of that shape."""
    return _reading(method, lambda: shape.model_validate(answer))


def _reading(method: str, read: Callable[[], _T]) -> _T:
    """What `read` makes of an answer. Raises SimulatorError where the answer breaks the protocol."""
    try:
        return read()
    except (ValidationError, KeyError, TypeError) as error:
        text = " ".join(str(error).split())
        raise SimulatorError(
            f"simulator appworld: its answer to {method} breaks the protocol: {text}"
        ) from error
