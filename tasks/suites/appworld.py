"""AppWorld: its simulator as a suite. The contract is tasks/suites/base.py."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.environment import Progress, stamp_of
from tasks.errors import InputError
from tasks.suites.base import Briefing, Observation, SandboxLevel
from tasks.suites.bridge import Process
from tasks.suites.bridged import (
    ANSWER_S,
    PROGRAM_RUN_S,
    BridgedSession,
    BridgedSuite,
    checked,
    reading,
    wire,
)
from tasks.suites.installation import SimulatorInstallation
from warehouse.records import Item

OFFICIAL_PARTS = ("base_dbs", "api_docs", "datasets", "tasks")
"""Folders of <root>/data that a campaign reads."""


class AppWorldSuite(BridgedSuite):
    """AppWorld in its own process and environment, on the small world of our own or on official data."""

    name = "appworld"
    simulator = "appworld"

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
        super().__init__(state, progress)
        self._root = root
        self.official = root is not None
        """Whether it stands on official data."""
        self._sandbox = sandbox
        self._told: str | None = None

    async def open(self, item: Item, rng_seed: int) -> "AppWorldSession":
        """A session on a fresh copy of the item's initial state."""
        process = await (await self.ready()).process()
        params = {"item": wire(item), "rng_seed": rng_seed}
        answer = await process.ask("open", params, ANSWER_S)
        session = reading("open", lambda: AppWorldSession(process, answer))
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
                {"item": wire(item), "name": item.item_id, "difficulty": difficulty}
                for item, difficulty in entries
            ],
            "dataset": dataset,
            "directory": str(folder),
            "private": private,
            "timeout_s": PROGRAM_RUN_S,
        }
        deadline_s = ANSWER_S + len(entries) * 2 * PROGRAM_RUN_S
        answer = await self.call("export", params, deadline_s)
        return reading("export", lambda: int(answer["items"]))

    def fingerprint_of(self, stamp: str) -> str:
        """The simulator's hash with that of the official data, wherever it lies."""
        if self._root is None:
            return stamp
        return stamp_of([self._root / "data" / part for part in OFFICIAL_PARTS], stamp)

    def arguments(self) -> Sequence[str]:
        """The program offers no level above bubblewrap, so at least it is exactly it."""
        return ("--sandbox=bubblewrap",) if self._sandbox == "bubblewrap" else ()

    def surroundings(self, made: SimulatorInstallation) -> dict[str, str]:
        """Where the world lies."""
        official = {} if self._root is None else {"TURTLE_APPWORLD_ROOT": str(self._root)}
        # A cell that prints a set prints the same in every process.
        return {"TURTLE_SIMULATOR_HOME": str(made.home), "PYTHONHASHSEED": "0", **official}


class AppWorldSession(BridgedSession):
    """One attempt's copy of an item's initial state. Made by `AppWorldSuite.open`."""

    def __init__(self, process: Process, opened: dict[str, Any]) -> None:
        """Takes the result of `open`."""
        super().__init__(process, opened)
        self.briefing = Briefing.model_validate(opened["briefing"])

    async def act(self, action: dict[str, Any], timeout_s: float) -> Observation:
        """Does one action.

        Raises SessionLost when the session did not survive it: past `timeout_s` seconds the simulator
        kills the session, and a little later we kill a simulator that did not.
        """
        answer = await self.ask("act", timeout_s + ANSWER_S, action=action, timeout_s=timeout_s)
        return checked(Observation, "act", answer)


def _require_official(root: Path, state: Path) -> None:
    missing = [part for part in OFFICIAL_PARTS if not (root / "data" / part).is_dir()]
    if missing:
        appworld = state / "simulators" / "appworld" / "venv" / "bin" / "appworld"
        first = "" if appworld.exists() else "turtle setup, then "
        raise InputError(
            f"--appworld-root {root}: {root / 'data'} has no {', no '.join(missing)}; "
            f"type: {first}{appworld} download data --root {root}"
        )
