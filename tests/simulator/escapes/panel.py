"""Tries escapes on a running simulator, one session each, and says what each of them reached."""

import json
from collections.abc import Mapping
from pathlib import Path

from tests.simulator.escapes.further import FURTHER
from tests.simulator.escapes.named import NAMED
from tests.simulator.escapes.outside import Outside
from tests.simulator.running import Refused, RunningSimulator

ESCAPES: Mapping[str, str] = {**NAMED, **FURTHER}
ENDLESS = {
    "endless loop that swallows signals",
    "timing out inside a call",
    "replies that nobody reads",
    "fork bomb",
    "deep recursion",
}
"""Ended by the deadline, which is short for them."""
ENDLESS_S, PATIENCE_S = 1.5, 120.0
MOST_NEW_PROCESSES = 3
"""A world, and a shell that bubblewrap has waited for by a second process."""

LETTERS = """
import os
for folder in ("/scratch", "/empty", "/dev", "/dev/shm", "/tmp", "."):
    if os.path.exists(folder + "/turtle-letter"): print("REACHED: the next session")
libc = __import__("ctypes").CDLL(None)
if libc.shmget(0x7075727, 4096, 0) >= 0: print("REACHED: the next session")
print(apis.supervisor.show_profile()["first_name"], json.dumps({"sound": 1}))
"""


class Panel:
    """A simulator under attack, with a neighbour's session that nobody may touch."""

    def __init__(self, simulator: RunningSimulator, outside: Outside, home: Path) -> None:
        """Opens the neighbour's session. `home` is the simulator's."""
        self._simulator = simulator
        self._outside = outside
        self._home = home
        self._item = simulator.seed()
        self._first_name: str | None = None
        self._next: str | None = None
        self._neighbour = simulator.open(self._item)
        simulator.run(self._neighbour, "kept = 'as it was'")
        self._truth = next((home / "items").glob("*/ground_truth/private_data.json"))
        outside.secrets_by_place["the ground truth"] = self._truth.read_text()[:60]

    def attempt(self, name: str) -> set[str]:
        """Tries one escape; returns its effects outside, none where it is contained.

        Whatever it was, the simulator opens another session afterwards, runs a cell in it and grades one.
        """
        session = self._next or self._another()[0]
        self._simulator.run(session, self._introduction())
        known = self._outside.processes()
        with self._outside.watch():
            text, calls, lost = self._run(session, name)
            effects = self._outside.effects(text)
        if self._outside.most_processes > known + MOST_NEW_PROCESSES:
            effects.add("processes")
        if name == "cleared request log" and not calls:
            effects.add("the log of calls")
        self._next, letters = self._another()
        if lost:
            session, self._next = self._next, None
        assert self._simulator.ask("finish", session=session)["tests"]
        assert self._simulator.run(self._neighbour, "print(kept)")["text"] == "as it was\n"
        return effects | letters

    def _introduction(self) -> str:
        words = self._outside.words() | {"TRUTH": str(self._truth), "HOME": str(self._home)}
        return "\n".join(f"{name} = {value!r}" for name, value in words.items())

    def _run(self, session: str, name: str) -> tuple[str, int, bool]:
        """What the cell printed, how many calls are in the log, and whether the session was lost."""
        patience_s = ENDLESS_S if name in ENDLESS else PATIENCE_S
        try:
            seen = self._simulator.run(session, ESCAPES[name], timeout_s=patience_s)
        except Refused as refused:
            assert refused.kind == "session_lost", refused
            return "", 0, True
        assert " is not allowed: " not in seen["text"], "the engine's guard was met, not the walls"
        whole = json.dumps(seen, allow_nan=False, ensure_ascii=False)
        assert "\\u0000" not in whole and whole.encode(), "no spool and no warehouse would take it"
        return seen["text"], len(seen["calls"]), False

    def _another(self) -> tuple[str, set[str]]:
        """A new session that works as the first did, and what of an earlier one is found in it."""
        session = self._simulator.open(self._item)
        seen = self._simulator.run(session, LETTERS)
        *letters, last = seen["text"].splitlines()
        self._first_name = self._first_name or last
        assert last == self._first_name and last.endswith('{"sound": 1}'), seen["text"]
        return session, {letter[9:] for letter in letters}
