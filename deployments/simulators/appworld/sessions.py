"""Sessions of the program: a world and a shell each, forked warm, ended at any moment."""

import asyncio
import json
import os
import socket
import sys
from dataclasses import dataclass, field
from typing import Any

import warm
from crowding import stretched
from items import Items
from sandbox import HERE, Walls

MESSAGE_BYTES = 1 << 28
"""Longest line of a world that is read."""
OPEN_TIMEOUT_S = 120.0
GRADE_TIMEOUT_S = 120.0


class Refusal(Exception):
    """A request that is answered with an error; `kind` is one of the protocol's three."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass
class Session:
    """One open session, as the program sees it."""

    name: str
    world_pid: int
    shell_pid: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    briefing: dict = field(default_factory=dict)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


class Sessions:
    """All sessions of the program and the two warm processes that they are forked from."""

    def __init__(self, items: Items, walls: Walls) -> None:
        """Starts the warm processes, the shell's behind `walls`."""
        self._items = items
        self._open: dict[str, Session] = {}
        self._count = 0
        self.level = walls.level
        allowed = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
        scratch = str(items.run / "scratch")
        self._engine = warm.start(
            lambda descriptor: [sys.executable, "-W", "ignore", "-m", "engine", str(descriptor)],
            HERE,
            allowed | {"HOME": str(items.run), "APPWORLD_ROOT": str(items.run)},
        )
        self._shell = warm.start(walls.shell_command, HERE, allowed | {"HOME": scratch})
        self._place = walls.place(scratch)
        self._warm = asyncio.ensure_future(self._warm_up())

    async def _warm_up(self) -> None:
        await self._shell.set_up(await self._engine.set_up({}))

    async def open(self, spec: dict[str, Any]) -> Session:
        """Forks a session. `spec` is worlds.Session's, without `experiment`.

        Raises:
            Refusal: simulator, where a warm process is gone; session_lost, where the world didn't open.
        """
        await self._warmed()
        self._count += 1
        name = f"s{self._count}"
        ours, for_world = socket.socketpair()
        wire_world, wire_shell = socket.socketpair()
        session = Session(
            name, 0, 0, *await asyncio.open_connection(sock=ours, limit=MESSAGE_BYTES)
        )
        self._open[name] = session
        try:
            spec = spec | {"experiment": name}
            session.world_pid = await self._engine.fork(spec, [for_world, wire_world])
        except ChildProcessError as error:
            raise Refusal("simulator", str(error)) from error
        session.briefing = await self._read(session, OPEN_TIMEOUT_S)
        try:
            place = self._place | {"datetime": session.briefing["datetime"]}
            session.shell_pid = await self._shell.fork(place, [wire_shell])
        except ChildProcessError as error:
            raise Refusal("simulator", str(error)) from error
        return session

    async def _warmed(self) -> None:
        try:
            await asyncio.shield(self._warm)
        except ChildProcessError as error:
            raise Refusal("simulator", str(error)) from error

    def get(self, name: str) -> Session:
        """An open session. Raises Refusal session_lost where there is none of that name."""
        if name not in self._open:
            raise Refusal("session_lost", f"session {name} is not open")
        return self._open[name]

    def __contains__(self, name: str) -> bool:
        """Whether a session of that name is open."""
        return name in self._open

    async def ask(self, session: Session, timeout_s: float, do: str, **arguments: Any) -> Any:
        """Has the session's world do something and returns its result.

        Raises:
            Refusal: session_lost; the session was killed at the deadline, or it ended by itself.
        """
        async with session.turn:
            self.get(session.name)
            session.writer.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
            return await self._read(session, timeout_s)

    async def _read(self, session: Session, timeout_s: float) -> Any:
        deadline_s = stretched(timeout_s)
        try:
            line = await asyncio.wait_for(session.reader.readline(), deadline_s)
        except TimeoutError as error:
            await self.close(session)
            raise Refusal(
                "session_lost", f"killed at its deadline of {deadline_s:.0f} s"
            ) from error
        except (ConnectionError, ValueError):  # ValueError: a line longer than MESSAGE_BYTES
            line = b""
        reply = json.loads(line) if line else {"error": {"kind": "session_lost"}}
        if "error" in reply:
            await self.close(session)
            error = reply["error"]
            raise Refusal(error["kind"], error.get("message", "the session's process ended"))
        return reply["result"]

    async def close(self, session: Session) -> None:
        """Kills a session's processes and removes its scratch. Harmless when that was done before."""
        if self._open.pop(session.name, None) is None:
            return
        session.writer.close()
        for process, pid in ((self._shell, session.shell_pid), (self._engine, session.world_pid)):
            if pid:
                await process.kill(pid)
        self._items.forget_experiment(session.name)

    def stop(self) -> None:
        """Ends everything that was started."""
        self._warm.cancel()
        for process in (self._shell, self._engine):
            process.leave()
        for process in (self._shell, self._engine):
            process.stop()
