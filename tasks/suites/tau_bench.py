"""τ-bench: its simulator as three suites. The contract is tasks/suites/base.py."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from tasks.environment import Progress, stamp_of
from tasks.errors import InputError
from tasks.suites.base import Ended, ModelRequest
from tasks.suites.bridge import Process
from tasks.suites.bridged import ANSWER_S, BridgedSession, BridgedSuite, checked, reading, wire
from tasks.suites.installation import SimulatorInstallation
from warehouse.records import Item

TauName = Literal["tau-telecom", "tau-banking-bm25", "tau-banking-golden"]
"""Telecom, and banking with its documents behind a search or in the policy."""

TAU_SUITES: tuple[TauName, ...] = get_args(TauName)

CHECKOUT_PARTS = {
    "telecom": ("tasks.json", "split_tasks.json", "db.toml", "user_db.toml", "main_policy.md"),
    "banking_knowledge": ("tasks", "documents", "prompts", "db.json"),
}
"""What of an official checkout's data/tau2/domains a suite reads, by domain."""

CHECKOUT_VERSIONS = "1.0."
"""How the version begins of the checkouts that are known here."""

OPEN_S = 60.0
"""How long a session may take to come to its first model turn."""


class TauSuite(BridgedSuite):
    """One of τ-bench's domains, in τ-bench's own harness."""

    simulator = "tau_bench"

    def __init__(
        self, name: TauName, state: Path, progress: Progress = print, root: Path | None = None
    ) -> None:
        """Starts nothing: environment and process are made by the first request.

        `root`: an official checkout whose data is used, never written to; None for the packages' own. Raises
        InputError where it is none, or one of another version.
        """
        super().__init__(state, progress)
        self.name = name
        self._root = root
        self._domain = "telecom" if name == "tau-telecom" else "banking_knowledge"
        if root is not None:
            _require_checkout(root, self._domain)

    def arguments(self) -> Sequence[str]:
        """One program is one domain."""
        return (self.name,)

    def fingerprint_of(self, stamp: str) -> str:
        """The simulator's hash with that of the checkout's data, wherever it lies."""
        if self._root is None:
            return stamp
        data = self._root / "data" / "tau2"
        parts = (data / "domains" / self._domain, data / "user_simulator")
        return stamp_of([self._root / "pyproject.toml", *parts], stamp)

    def surroundings(self, made: SimulatorInstallation) -> dict[str, str]:
        """Where the checkout lies."""
        return {} if self._root is None else {"TURTLE_TAU2_ROOT": str(self._root)}

    async def open(self, item: Item, rng_seed: int) -> "TauSession":
        """A dialogue on a fresh copy of the item's initial state. Raises InputError for no item of it."""
        process = await (await self.ready()).process()
        params = {"item": wire(item), "rng_seed": rng_seed, "timeout_s": OPEN_S}
        answer = await process.ask("open", params, ANSWER_S)
        return reading("open", lambda: TauSession(process, answer))


class TauSession(BridgedSession):
    """One dialogue. Made by `TauSuite.open`."""

    def __init__(self, process: Process, opened: dict[str, Any]) -> None:
        """Takes the result of `open`."""
        super().__init__(process, opened)
        self.request = ModelRequest.model_validate(opened["request"])

    async def act(self, action: dict[str, Any], timeout_s: float) -> ModelRequest | Ended:
        """Goes on with a reply: `{"kind": "reply", "role", "text", "tool_calls"}`.

        Raises SessionLost when the tools that it calls run past `timeout_s` seconds.
        """
        answer = await self.ask("act", timeout_s + ANSWER_S, action=action, timeout_s=timeout_s)
        ended = isinstance(answer, dict) and answer.get("kind") == "ended"
        return checked(Ended if ended else ModelRequest, "act", answer)


def _require_checkout(root: Path, named: str) -> None:
    """Raises InputError unless `root` is a checkout of a version that is known here, with `named`'s data."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        name, version = project["name"], project["version"]
    except (OSError, ValueError, KeyError) as error:
        raise InputError(
            f"--tau2-root {root}: is no checkout of tau2-bench (its pyproject.toml: {error})"
        ) from error
    if name != "tau2" or not str(version).startswith(CHECKOUT_VERSIONS):
        raise InputError(
            f"--tau2-root {root}: is {name} {version}; wanted is tau2 {CHECKOUT_VERSIONS}x, check that out"
        )
    folder = root / "data" / "tau2" / "domains" / named
    needed = [
        *(folder / part for part in CHECKOUT_PARTS[named]),
        root / "data/tau2/user_simulator",
    ]
    missing = [str(path.relative_to(root)) for path in needed if not path.exists()]
    if missing:
        raise InputError(f"--tau2-root {root}: lacks {', '.join(missing)}; check it out whole")
