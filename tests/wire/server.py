"""A real server on a loopback socket that answers from a script, and breaks off where it is told to.

It speaks just enough HTTP/1.1 to serve both SDKs over connections that stay open, and nothing lies between
it and the socket: a reset is a reset, a stall is silence. What is said stands in tests/wire/formats.py.
"""

import asyncio
import inspect
import json
import socket
import struct
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Self


@dataclass(frozen=True)
class HttpReply:
    """One reply, or the part of it that is sent."""

    body: bytes
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    """Silence before the first byte."""
    cut_at: int | None = None
    """So many bytes of the body are sent; None sends all."""
    then: Literal["close", "reset", "hang"] = "close"
    """What follows the cut: an end of the stream, a TCP reset, or silence."""


@dataclass(frozen=True)
class Asked:
    """One request as it came."""

    path: str
    headers: dict[str, str]
    """Names in lower case."""
    body: dict[str, Any]
    at: float
    """The loop's time, in seconds."""


Answer = Callable[[Asked], HttpReply | Awaitable[HttpReply]]


class WireServer:
    """The server. Use as an async context manager; it listens on a port of its own.

    Scripted replies are given out in order; when there are none left, `answer` is asked.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        self.most_in_flight = 0
        self.connections = 0
        self.replied: Counter[int] = Counter()
        """Whole replies by status."""
        self._script: deque[HttpReply] = deque()
        self._in_flight = 0
        self._open: set[asyncio.Task[None]] = set()

    def then(self, *replies: HttpReply) -> None:
        """Adds replies to the script."""
        self._script.extend(replies)

    @property
    def open(self) -> int:
        """Connections at this moment."""
        return len(self._open)

    @property
    def url(self) -> str:
        """Address without a path."""
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=512)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for connection in self._open:
            connection.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection is not None
        self._open.add(connection)
        self.connections += 1
        try:
            while (asked := await _request(reader)) is not None:
                if not await self._reply(asked, writer):
                    break
        except (asyncio.CancelledError, ConnectionError):
            pass  # the test is over, or the client went away, which is its right
        finally:
            self._open.discard(connection)
            writer.close()

    async def _reply(self, asked: Asked, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; False when the connection ends with it."""
        self.asked.append(asked)
        self._in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self._in_flight)
        try:
            reply = self._script.popleft() if self._script else self.answer(asked)
            if inspect.isawaitable(reply):
                reply = await reply
            await asyncio.sleep(reply.delay_s)
        finally:
            self._in_flight -= 1
        headers = {"content-type": "application/json", "content-length": str(len(reply.body))}
        lines = [f"HTTP/1.1 {reply.status} As scripted"]
        lines += [f"{name}: {value}" for name, value in (headers | reply.headers).items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + reply.body[: reply.cut_at])
        await writer.drain()
        if reply.cut_at is None:
            self.replied[reply.status] += 1
            return True
        if reply.then == "hang":
            await asyncio.Event().wait()
        if reply.then == "reset":
            # Closing with linger time 0 sends RST instead of FIN.
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
        return False


async def _request(reader: asyncio.StreamReader) -> Asked | None:
    """The next request of a connection; None when the client has closed it."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("ascii")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.strip().split("\r\n")
    headers = {
        name.lower(): value
        for name, value in (line.split(": ", 1) for line in lines if ": " in line)
    }
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    at = asyncio.get_running_loop().time()
    return Asked(first.split(" ")[1], headers, json.loads(body or b"{}"), at)
