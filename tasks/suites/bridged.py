"""A suite whose simulator is a program behind a bridge: what all of them share.

A suite adds what its program is started with, and what a session of it is.
"""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from tasks.environment import Progress
from tasks.errors import SessionLost, SimulatorError
from tasks.suites.base import CheckReport, Description, Outcome, SandboxLevel, SuiteSeed
from tasks.suites.bridge import Bridge, Process, reduced_environment
from tasks.suites.installation import SimulatorInstallation, ensure_simulator
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


class BridgedSuite:
    """The part of `tasks.suites.base.Suite` that is the same for every simulator."""

    name: str
    simulator: str
    """Folder of the simulator in deployments/simulators."""

    def __init__(self, state: Path, progress: Progress = print) -> None:
        """Starts nothing: environment, world and process are made by the first request.

        Args:
            state: folder for all that can be made again.
            progress: told, a line at a time, what set-up is doing.
        """
        self._state = state
        self._progress = progress
        self._bridge: Bridge | None = None
        self._description: Description | None = None
        self._fingerprint = ""
        self._preparing = asyncio.Lock()

    async def fingerprint(self) -> str:
        """What environment and world were made from; the simulator is not started for it."""
        await self.ready()
        return self._fingerprint

    async def describe(self) -> Description:
        """What the simulator says of itself; asked once."""
        if self._description is None:
            answer = await self.call("describe", {})
            self._description = checked(Description, "describe", answer)
        return self._description

    async def seeds(self, split: str) -> list[SuiteSeed]:
        """The seeds of a split, in the suite's order. Raises InputError for an unknown split."""
        world = (await self.describe()).world
        answer = await self.call("seeds", {"split": split})
        return reading("seeds", lambda: [self._seed(world, fields) for fields in answer["items"]])

    async def check(self, item: Item, gold_only: bool = False, writes: bool = True) -> CheckReport:
        """Runs the gold, and nothing, and the gold with each write suppressed."""
        params = {"item": wire(item), "gold_only": gold_only, "writes": writes}
        params["timeout_s"] = PROGRAM_RUN_S
        return checked(CheckReport, "check", await self.call("check", params, CHECK_S))

    async def aclose(self) -> None:
        """Ends the simulator and every session."""
        async with self._preparing:
            if self._bridge is not None:
                await self._bridge.aclose()
            self._bridge = None

    async def call(self, method: str, params: dict[str, Any], timeout_s: float = ANSWER_S) -> Any:
        """The program's answer to one request."""
        return await (await self.ready()).call(method, params, timeout_s)

    async def ready(self) -> Bridge:
        """The bridge to the simulator, which is installed first if need be."""
        async with self._preparing:
            if self._bridge is None:
                made = await asyncio.to_thread(
                    ensure_simulator, self.simulator, self._state, self._progress
                )
                self._fingerprint = await asyncio.to_thread(self.fingerprint_of, made.stamp)
                self._bridge = Bridge(
                    (str(made.python), str(made.program), *self.arguments()),
                    reduced_environment({"HOME": str(made.user), **self.surroundings(made)}),
                    self.name,
                    made.user / "simulator.log",
                )
            return self._bridge

    def fingerprint_of(self, stamp: str) -> str:
        """The suite's hash, from that of its simulator."""
        return stamp

    def arguments(self) -> Sequence[str]:
        """What the program is started with."""
        return ()

    def surroundings(self, made: SimulatorInstallation) -> dict[str, str]:
        """Variables of the program's environment, beside HOME."""
        return {}

    def _seed(self, world: str, fields: dict[str, Any]) -> SuiteSeed:
        content = dict(fields)
        said = ("name", "intended_difficulty", "difficulty_source", "cluster")
        of_the_seed = {name: content.pop(name) for name in said}
        return SuiteSeed(item=Item.of(suite=self.name, world=world, **content), **of_the_seed)


class BridgedSession:
    """One attempt's copy of an item's initial state, in the process in which it lives and dies."""

    def __init__(self, process: Process, opened: dict[str, Any]) -> None:
        """Takes the result of `open`."""
        self.sandbox: SandboxLevel = opened["sandbox"]
        self._session: str = opened["session"]
        self.process = process
        """Where the session lives and dies."""
        self._closed = False

    async def finish(self) -> Outcome:
        """Grades the final state and closes the session."""
        outcome = checked(Outcome, "finish", await self.ask("finish", ANSWER_S))
        self._closed = True
        return outcome

    async def close(self) -> None:
        """Gives the session up. Harmless when it is closed or lost already."""
        if self._closed or self.process.cause is not None:
            return
        self._closed = True
        await self.ask("close", ANSWER_S)

    async def ask(self, method: str, deadline_s: float, **params: Any) -> Any:
        """The program's answer to a request about this session. Raises SessionLost where it is gone."""
        if self.process.cause is not None:
            # Not this session's doing: a SessionLost would be counted as the solver's.
            raise SimulatorError(f"{self.process.cause} (session {self._session} went with it)")
        try:
            return await self.process.ask(method, {"session": self._session, **params}, deadline_s)
        except SessionLost:
            self._closed = True
            raise


def wire(item: Item) -> dict[str, Any]:
    """An item as it crosses to the simulator."""
    fields = {"item_id", "start", "setup", "instruction", "gold", "grading"}
    return item.model_dump(mode="json", include=fields)


def checked(shape: type[_R], method: str, answer: Any) -> _R:
    """An answer as a record. Raises SimulatorError when it is not of that shape."""
    return reading(method, lambda: shape.model_validate(answer))


def reading(method: str, read: Callable[[], _T]) -> _T:
    """What `read` makes of an answer. Raises SimulatorError where the answer breaks the protocol."""
    try:
        return read()
    except (ValidationError, KeyError, TypeError) as error:
        text = " ".join(str(error).split())
        raise SimulatorError(
            f"simulator: its answer to {method} breaks the protocol: {text}"
        ) from error
