"""Tries, waits, deadlines and pauses, over real sockets and both SDKs."""

import asyncio
import random
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from itertools import pairwise

import pytest

from tasks.errors import ProviderError, ProviderRefused
from tasks.llm.base import LLMSpec, Message, Request
from tasks.llm.faults import PromptTooLong, ProviderDown, RateLimited, Stalled, retry_after_s
from tasks.llm.gemini import GeminiClient
from tasks.llm.limited import LimitedClient
from tasks.llm.openai_compatible import OpenAICompatibleClient
from tasks.llm.retrying import Patience, RetryingClient
from tests.wire.formats import (
    gemini_reply,
    json_reply,
    openai_embeddings,
    openai_error,
    openai_reply,
    vector,
)
from tests.wire.server import Asked, HttpReply, WireServer

SPEC = LLMSpec(endpoint="here", llm_id="gemma")
QUICK = Patience(timeout_s=20, stall_s=0.3, max_tries=8, first_wait_s=0.02, max_wait_s=0.1)
BUSY = json_reply(openai_error("busy"), 500)


def answer(asked: Asked) -> HttpReply:
    """The reply of whichever protocol was spoken; it says what was asked."""
    if asked.path.endswith("/embeddings"):
        return openai_embeddings(asked)
    if "generateContent" in asked.path:
        return json_reply(gemini_reply({"text": asked.body["contents"][0]["parts"][0]["text"]}))
    return json_reply(openai_reply(asked.body["messages"][0]["content"]))


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer(answer) as serving:
        yield serving


@pytest.fixture
async def endpoint(server: WireServer) -> AsyncIterator["Endpoints"]:
    made = Endpoints(server)
    yield made
    for client in made.clients:
        await client.aclose()


class Endpoints:
    """Makes retrying clients of the server, and closes them."""

    def __init__(self, server: WireServer) -> None:
        self.server = server
        self.clients: list[RetryingClient] = []

    def __call__(self, kind: str = "openai", **patience: float) -> RetryingClient:
        limits = QUICK.model_copy(update=patience)
        if kind == "openai":
            client = OpenAICompatibleClient("key", f"{self.server.url}/v1", stall_s=limits.stall_s)
        else:
            client = GeminiClient("key", self.server.url, stall_s=limits.stall_s)
        self.clients.append(RetryingClient(client, "here", limits, random.Random(7)))
        return self.clients[-1]


def request(text: str = "Well?") -> Request:
    return Request(role="judge", spec=SPEC, messages=(Message(role="user", content=text),))


def waits(server: WireServer) -> list[float]:
    """Seconds between one request and the next."""
    return [after.at - before.at for before, after in pairwise(server.asked)]


@pytest.mark.parametrize("kind", ["openai", "gemini"])
async def test_every_transient_fault_is_survived(
    server: WireServer, endpoint: Endpoints, kind: str
) -> None:
    body = answer(
        Asked("/v1/chat/completions", {}, {"messages": [{"content": "x" * 3000}]}, 0)
    ).body
    server.then(
        HttpReply(b"{}", 429, {"retry-after": "0.1"}),
        HttpReply(b"{}", 500),
        HttpReply(body, cut_at=900, then="reset"),
        HttpReply(body, cut_at=900, then="hang"),
        HttpReply(body[:900]),
        HttpReply(b'{"choices": [], "candidates": []}'),
    )
    client = endpoint(kind)
    assert (await client.complete(request("Still there?"))).text == "Still there?"
    assert len(server.asked) == 7
    assert client.tries == {
        "RateLimited": 1,
        "ProviderDown": 1,
        "ConnectionLost": 1,
        "Stalled": 1,
        "BrokenReply": 2,
        "reply": 1,
    }


async def test_a_wait_that_was_asked_for_is_kept(server: WireServer, endpoint: Endpoints) -> None:
    server.then(json_reply(openai_error("slow"), 429, headers={"retry-after": "0.6"}))
    await endpoint().complete(request())
    assert 0.6 <= waits(server)[0] < 5


def test_a_wait_is_read_in_every_form() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    earlier = format_datetime(datetime.now(UTC) - timedelta(seconds=90), usegmt=True)
    assert 85 < (retry_after_s({"retry-after": later}) or 0) <= 90
    assert retry_after_s({"retry-after": earlier}) == 0
    assert retry_after_s({"retry-after": "12"}) == 12
    assert retry_after_s({"retry-after-ms": "1500", "retry-after": "2"}) == 1.5
    for unreadable in ("", "soon", "-3", "nan", "inf", "Fri, 99 Foo 2026"):
        assert retry_after_s({"retry-after": unreadable}) is None
    assert retry_after_s({}) is None


async def test_a_date_is_waited_for(server: WireServer, endpoint: Endpoints) -> None:
    def busy_at_first(asked: Asked) -> HttpReply:
        if len(server.asked) > 1:
            return answer(asked)
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
        return json_reply(openai_error("slow"), 429, headers={"retry-after": date})

    server.answer = busy_at_first
    await endpoint().complete(request())
    assert waits(server)[0] > 0.8  # a date has whole seconds


async def test_waits_double_up_to_the_longest(server: WireServer, endpoint: Endpoints) -> None:
    server.then(*[BUSY] * 8)
    await endpoint(first_wait_s=0.05, max_wait_s=0.1, max_tries=9).complete(request())
    for wait, longest in zip(waits(server), (0.05, *[0.1] * 7), strict=True):
        # A machine may be slow; without a longest wait the last one would be 3.2 s at least.
        assert longest * 0.5 <= wait < longest + 2


async def test_a_wait_beyond_the_deadline_is_not_begun(
    server: WireServer, endpoint: Endpoints
) -> None:
    server.then(json_reply(openai_error("slow"), 429, headers={"retry-after": "3600"}))
    began = time.monotonic()
    with pytest.raises(RateLimited, match=r"asks to wait 3600 s; given up after 1 try"):
        await endpoint().complete(request())
    assert time.monotonic() - began < 5


async def test_tries_are_counted(server: WireServer, endpoint: Endpoints) -> None:
    server.answer = lambda asked: BUSY
    with pytest.raises(ProviderDown, match=r"endpoint 'here', gemma as judge: .*after 3 tries"):
        await endpoint(max_tries=3).complete(request())
    assert len(server.asked) == 3


async def test_one_deadline_over_all_tries(server: WireServer, endpoint: Endpoints) -> None:
    server.answer = lambda asked: BUSY
    began = time.monotonic()
    # The last try may end by itself or be cut off; either way what went wrong is told.
    with pytest.raises((ProviderDown, Stalled), match=r"500: busy"):
        await endpoint(timeout_s=0.8, max_tries=10_000, pause_after=10_000).complete(request())
    assert 0.6 < time.monotonic() - began < 5
    assert len(server.asked) > 4


@pytest.mark.parametrize("kind", ["openai", "gemini"])
async def test_a_stall_ends_at_the_deadline(
    server: WireServer, endpoint: Endpoints, kind: str
) -> None:
    server.answer = lambda asked: HttpReply(b"{}", delay_s=30)
    began = time.monotonic()
    with pytest.raises(Stalled, match=r"no reply within 0\.5 s"):
        await endpoint(kind, timeout_s=0.5, stall_s=30).complete(request())
    assert time.monotonic() - began < 5


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_permanent_answer_stops_at_once(
    server: WireServer, endpoint: Endpoints, status: int
) -> None:
    server.answer = lambda asked: json_reply(openai_error("No, no key!"), status)
    with pytest.raises(ProviderRefused) as raised:
        await endpoint().complete(request())
    assert len(server.asked) == 1
    line = str(raised.value)
    assert "\n" not in line and str(status) in line and "endpoint 'here', gemma" in line


async def test_a_prompt_that_is_too_long_keeps_its_name(
    server: WireServer, endpoint: Endpoints
) -> None:
    server.then(json_reply(openai_error("the context length is 8192 tokens"), 400))
    with pytest.raises(PromptTooLong, match="endpoint 'here'"):
        await endpoint().complete(request())


async def test_an_endpoint_that_fails_pauses_and_one_call_looks_first(
    server: WireServer, endpoint: Endpoints
) -> None:
    server.then(*[BUSY] * 6)
    server.answer = lambda asked: json_reply(openai_reply("back"), delay_s=0.25)
    client = endpoint(pause_after=6, pause_s=0.6, max_wait_s=0.6, max_tries=2, stall_s=5)
    completions = await asyncio.gather(*(client.complete(request()) for _ in range(6)))
    assert [completion.text for completion in completions] == ["back"] * 6
    first, *others = [asked.at for asked in server.asked[6:]]
    assert first - server.asked[5].at >= 0.6, "a call was sent into the pause"
    assert min(others) - first >= 0.25, "the others did not wait for the first one's reply"
    assert len(others) == 5, "a pause costs no call a try"


async def test_while_an_endpoint_stays_away_pauses_grow_and_burn_nothing(
    server: WireServer, endpoint: Endpoints
) -> None:
    back = time.monotonic() + 1.5
    server.answer = lambda asked: BUSY if time.monotonic() < back else answer(asked)
    client = endpoint(pause_after=8, pause_s=0.2, max_wait_s=0.8, max_tries=6)
    asks = [client.complete(request(f"call {n}")) for n in range(8)]
    completions = await asyncio.gather(*asks)
    assert [completion.text for completion in completions] == [f"call {n}" for n in range(8)]
    looks = client.tries["ProviderDown"] - 8
    assert 1 <= looks <= 4, f"{looks} looks in 1.5 s: 0.2, 0.4 and 0.8 s make three"


async def test_a_first_call_that_is_cancelled_leaves_its_place(
    server: WireServer, endpoint: Endpoints
) -> None:
    server.then(BUSY, BUSY, json_reply(openai_reply("late"), delay_s=10))
    client = endpoint(pause_after=2, pause_s=0.1, stall_s=30)
    calls = [asyncio.create_task(client.complete(request(f"call {n}"))) for n in range(2)]
    while len(server.asked) < 3:
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    done, waiting = await asyncio.wait(calls, timeout=0.1)
    assert not done and len(waiting) == 2
    asked_by = server.asked[2].body["messages"][0]["content"]
    calls[int(asked_by[-1])].cancel()
    other = calls[1 - int(asked_by[-1])]
    assert (await asyncio.wait_for(other, 3)).text.startswith("call")


async def test_a_pause_longer_than_the_deadline_is_said(
    server: WireServer, endpoint: Endpoints
) -> None:
    server.answer = lambda asked: BUSY
    client = endpoint(pause_after=1, pause_s=30, timeout_s=0.4, max_wait_s=30)
    with pytest.raises(Stalled, match=r"paused.*500: busy"):
        await client.complete(request())
    assert len(server.asked) == 1


async def test_embeddings_are_asked_for_in_portions(
    server: WireServer, endpoint: Endpoints
) -> None:
    client = endpoint(stall_s=5)
    server.then(BUSY)
    texts = [f"text {n}" for n in range(250)]
    vectors = await client.embed(texts, SPEC)
    assert vectors == [vector(text, 8) for text in texts]
    assert [len(asked.body["input"]) for asked in server.asked] == [100, 100, 100, 50]
    assert await client.embed([], SPEC) == []


async def test_a_storm_of_faults_with_64_calls_in_flight(
    server: WireServer, endpoint: Endpoints
) -> None:
    """30 % 429, 5 % 500, 5 % resets, 2 % stalls, 2 % cut off: every call ends, with its own reply."""
    luck = random.Random(11)

    def stormy(asked: Asked) -> HttpReply:
        reply = answer(asked)
        faults = [
            (0.30, json_reply(openai_error("slow"), 429, headers={"retry-after": "0.05"})),
            (0.05, BUSY),
            (0.05, HttpReply(reply.body, cut_at=50, then="reset")),
            (0.02, HttpReply(reply.body, cut_at=50, then="hang")),
            (0.02, HttpReply(reply.body[:50])),
        ]
        draw = luck.random()
        for share, fault in faults:
            draw -= share
            if draw < 0:
                return fault
        return reply

    server.answer = stormy
    retrying = endpoint(stall_s=2, max_tries=30, timeout_s=300)
    client = LimitedClient(retrying, 64)
    asks = [client.complete(request(f"call {n}")) for n in range(160)]
    completions = await asyncio.gather(*asks)
    assert [completion.text for completion in completions] == [f"call {n}" for n in range(160)]
    # On a crowded machine a try can stall or lose its connection before the server has read it.
    unread = sum(retrying.tries.values()) - len(server.asked)
    assert 0 <= unread <= retrying.tries["Stalled"] + retrying.tries["ConnectionLost"]
    assert retrying.tries["reply"] == 160
    assert set(retrying.tries) > {"RateLimited", "ProviderDown", "ConnectionLost", "BrokenReply"}


async def test_what_is_no_fault_of_a_provider_is_seen_as_it_is() -> None:
    class Mistaken:
        simulated = False

        async def complete(self, request: Request) -> None:
            raise KeyError("ours")

    client = RetryingClient(Mistaken(), "here", QUICK, random.Random(0))  # type: ignore[arg-type]
    with pytest.raises(KeyError):
        await client.complete(request())


def test_patience_wants_sound_numbers() -> None:
    for wrong in ({"timeout_s": 0}, {"max_tries": 0}, {"pause_s": -1}):
        with pytest.raises(ValueError):
            Patience(**wrong)  # type: ignore[arg-type]
    assert issubclass(Stalled, ProviderError)
