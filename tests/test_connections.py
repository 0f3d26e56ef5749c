"""The connections below both SDKs: used again, given up when broken, through the proxy that is named."""

import asyncio
import os
from collections.abc import AsyncIterator

import httpx2
import pytest

from tasks.llm.wire import http_client
from tests.wire.formats import json_reply
from tests.wire.server import HttpReply, WireServer

STALL_S = 1.5


@pytest.fixture(autouse=True)
def no_proxy_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the user's own environment says of proxies counts for nothing here."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer(lambda asked: json_reply({})) as serving:
        yield serving


@pytest.fixture
async def client() -> AsyncIterator[httpx2.AsyncClient]:
    async with http_client(STALL_S) as made:
        yield made


async def ask(client: httpx2.AsyncClient, url: str) -> int:
    """The status of one call."""
    return (await client.post(f"{url}/call", json={})).status_code


async def test_one_call_after_the_other_needs_one_connection(
    server: WireServer, client: httpx2.AsyncClient
) -> None:
    assert [await ask(client, server.url) for _ in range(10)] == [200] * 10
    assert server.connections == 1


async def test_as_many_connections_as_calls_at_once(
    server: WireServer, client: httpx2.AsyncClient
) -> None:
    server.answer = lambda asked: json_reply({}, delay_s=0.2)
    for _ in range(3):
        assert await asyncio.gather(*(ask(client, server.url) for _ in range(8))) == [200] * 8
    assert server.connections <= 8


async def test_a_connection_that_the_server_closed_is_not_used_again(
    server: WireServer, client: httpx2.AsyncClient
) -> None:
    body = b"{}"
    server.then(HttpReply(body, cut_at=len(body)))  # whole, and then the end of the stream
    assert await ask(client, server.url) == 200
    await asyncio.sleep(0.1)
    assert await ask(client, server.url) == 200
    assert server.connections == 2


@pytest.mark.parametrize("broken", ["close", "reset", "hang"])
async def test_a_call_that_breaks_off_spoils_no_later_one(
    server: WireServer, client: httpx2.AsyncClient, broken: str
) -> None:
    server.then(HttpReply(b'{"a": 1}', cut_at=3, then=broken))
    with pytest.raises(httpx2.HTTPError):
        await ask(client, server.url)
    assert [await ask(client, server.url) for _ in range(3)] == [200] * 3
    assert server.connections == 2


@pytest.mark.parametrize("read", [0, 3])
async def test_a_call_that_is_cancelled_spoils_no_later_one(
    server: WireServer, client: httpx2.AsyncClient, read: int
) -> None:
    """Before the first byte, and in the middle of the body."""
    silent = HttpReply(b"{}", delay_s=9) if not read else HttpReply(b"{...}", cut_at=3, then="hang")
    server.then(silent)
    call = asyncio.create_task(ask(client, server.url))
    while not server.asked:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert [await ask(client, server.url) for _ in range(3)] == [200] * 3
    assert server.connections == 2


async def test_closing_closes_them(server: WireServer, client: httpx2.AsyncClient) -> None:
    await asyncio.gather(*(ask(client, server.url) for _ in range(4)))
    assert server.open == server.connections
    await client.aclose()
    async with asyncio.timeout(30):
        while server.open:
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("variable", "taken"), [("HTTP_PROXY", True), ("ALL_PROXY", True), ("HTTPS_PROXY", False)]
)
async def test_a_proxy_of_the_environment(
    server: WireServer,
    client: httpx2.AsyncClient,
    monkeypatch: pytest.MonkeyPatch,
    variable: str,
    taken: bool,
) -> None:
    """As any program takes it: for its scheme, with or without a scheme of its own."""
    async with WireServer(lambda asked: json_reply({})) as proxy:
        monkeypatch.setenv(variable, proxy.url.removeprefix("http://"))
        assert await ask(client, server.url) == 200
        assert [len(one.asked) for one in (proxy, server)] == [taken, not taken]
        assert proxy.asked == [] or proxy.asked[0].path == f"{server.url}/call"


async def test_where_no_proxy_shall_be(
    server: WireServer, client: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "example.org,127.0.0.1")
    assert await ask(client, server.url) == 200
