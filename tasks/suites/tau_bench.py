"""τ-bench: its simulator as three suites. The contract is tasks/suites/base.py."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from tasks.environment import Progress
from tasks.suites.base import Ended, ModelRequest
from tasks.suites.bridge import Process
from tasks.suites.bridged import ANSWER_S, BridgedSession, BridgedSuite, checked, reading, wire
from warehouse.records import Item

TauName = Literal["tau-telecom", "tau-banking-bm25", "tau-banking-golden"]
"""Telecom, and banking with its documents behind a search or in the policy."""

TAU_SUITES: tuple[TauName, ...] = get_args(TauName)

OPEN_S = 60.0
"""How long a session may take to come to its first model turn."""


class TauSuite(BridgedSuite):
    """One of τ-bench's domains, in τ-bench's own harness."""

    simulator = "tau_bench"

    def __init__(self, name: TauName, state: Path, progress: Progress = print) -> None:
        """Starts nothing: environment and process are made by the first request."""
        super().__init__(state, progress)
        self.name = name

    def arguments(self) -> Sequence[str]:
        """One program is one domain."""
        return (self.name,)

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
