"""What a campaign's client costs on top of the SDK below it, at 64 calls in flight. Run: make benchmark.

Ours and the bare SDK take turns in short rounds against one server in another process, so that whatever else
the machine does falls on both; a round's ratio counts, and of the rounds the median.
"""

import asyncio
import gc
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from statistics import median

import openai
import pytest
from google import genai
from google.genai import types

from tasks.llm.base import LLMClient, LLMSpec, Message, Request
from tasks.llm.endpoints import Endpoint, clients
from tests.wire.answering import TEXT, answering

IN_FLIGHT = 64
ROUNDS = 12
CALLS_A_ROUND = 192
WAVES = 20
"""How often each place in flight is taken at 2 s: 1,280 calls, as many as the smallest campaigns make."""
FIRST_WAVES = 5
"""Of which so many, connections still to be opened, are held to the goal by themselves."""
CALLS_FOR_MEMORY = 20_000
WARM_UP = 2_000
THROUGHPUT_GOAL = 0.87
WALL_GOAL = 1.10
GROWTH_GOAL = 1.05

MESSAGES = (
    Message(role="system", content="You act in a simulated world by Python code. " * 40),
    Message(role="user", content="Send $12 to each of my roommates on Venmo. " * 10),
)
SPEC = LLMSpec(endpoint="measured", llm_id="some-model")
REQUEST = Request(role="solver", spec=SPEC, messages=MESSAGES)

Call = Callable[[], Awaitable[object]]


@asynccontextmanager
async def ours(kind: str, url: str) -> AsyncIterator[Call]:
    """A call of a campaign's client."""
    endpoint = Endpoint(
        name="measured",
        kind=kind,
        base_url=f"{url}/v1" if kind == "openai" else url,
        key_variable="TURTLE_TEST_KEY",
        concurrency=IN_FLIGHT,
    )
    made: LLMClient = clients({"measured": endpoint}, 1, lambda item_id: None)["measured"]

    async def call() -> None:
        assert (await made.complete(REQUEST)).text == TEXT

    yield call
    await made.aclose()


@asynccontextmanager
async def bare(kind: str, url: str) -> AsyncIterator[Call]:
    """The same call of the SDK alone, as it sets itself up but for its patience."""
    system, user = (message.content for message in MESSAGES)
    limit = asyncio.Semaphore(IN_FLIGHT)
    if kind == "openai":
        sdk = openai.AsyncOpenAI(api_key="a-key", base_url=f"{url}/v1", max_retries=0, timeout=600)
        sent = [{"role": "system", "content": system}, {"role": "user", "content": user}]

        async def call() -> None:
            async with limit:
                reply = await sdk.chat.completions.create(
                    model="some-model", messages=sent, max_tokens=4096
                )
            assert reply.choices[0].message.content == TEXT

        yield call
        await sdk.close()
        return
    client = genai.Client(api_key="a-key", http_options=types.HttpOptions(base_url=url))
    contents = [types.Content(role="user", parts=[types.Part(text=user)])]

    async def ask() -> None:
        async with limit:
            reply = await client.aio.models.generate_content(
                model="some-model",
                contents=contents,
                config=types.GenerateContentConfig(
                    system_instruction=system, max_output_tokens=4096
                ),
            )
        assert reply.text == TEXT

    yield ask
    await client.aio.aclose()
    client.close()


async def take(call: Call, calls: int) -> tuple[float, float]:
    """Wall clock and this process's CPU time of so many calls, in seconds."""
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(call() for _ in range(calls)))
    return time.perf_counter() - wall, time.process_time() - cpu


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key where endpoints look for it."""
    monkeypatch.setenv("TURTLE_TEST_KEY", "a-key")


@pytest.mark.parametrize("kind", ["openai", "gemini"])
async def test_throughput_against_the_bare_sdk(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    walls, cpus = [], []
    with answering(0.2) as url:
        async with ours(kind, url) as our_call, bare(kind, url) as bare_call:
            await take(bare_call, IN_FLIGHT)
            await take(our_call, IN_FLIGHT)
            for number in range(ROUNDS):
                pair = {}
                for call in (our_call, bare_call) if number % 2 else (bare_call, our_call):
                    pair[call] = await take(call, CALLS_A_ROUND)
                walls.append(pair[bare_call][0] / pair[our_call][0])
                cpus.append((pair[our_call][1] / CALLS_A_ROUND, pair[bare_call][1] / CALLS_A_ROUND))
    our_ms, bare_ms = (1000 * median(column) for column in zip(*cpus, strict=True))
    with capsys.disabled():
        print(
            f"\n{kind}, {IN_FLIGHT} in flight at 200 ms: throughput {median(walls):.2f}x of the bare SDK "
            f"(rounds {min(walls):.2f}-{max(walls):.2f}); CPU a call {our_ms:.2f} ms, bare {bare_ms:.2f} ms"
        )
    assert median(walls) >= THROUGHPUT_GOAL


@pytest.mark.parametrize("kind", ["openai", "gemini"])
async def test_wall_clock_at_two_seconds(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """From the first call on, connections still to be opened."""
    with answering(2.0) as url:
        async with ours(kind, url) as call:
            await take(call, 1)
            first_s, _ = await take(call, IN_FLIGHT * FIRST_WAVES)
            later_s, _ = await take(call, IN_FLIGHT * (WAVES - FIRST_WAVES))
    whole, first = (first_s + later_s) / (2.0 * WAVES), first_s / (2.0 * FIRST_WAVES)
    with capsys.disabled():
        print(
            f"\n{kind}, {IN_FLIGHT} in flight at 2 s: wall clock {whole:.3f}x of the ideal over {WAVES} "
            f"waves, {first:.3f}x over the first {FIRST_WAVES}"
        )
    assert first <= WALL_GOAL
    assert whole <= WALL_GOAL


@pytest.mark.parametrize("kind", ["openai", "gemini"])
async def test_memory_does_not_grow(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    with answering(0.0) as url:
        async with ours(kind, url) as call:
            await take(call, WARM_UP)
            before = resident_bytes()
            for _ in range(CALLS_FOR_MEMORY // WARM_UP):
                await take(call, WARM_UP)
            after = resident_bytes()
    with capsys.disabled():
        print(
            f"\n{kind}, {CALLS_FOR_MEMORY:,} calls: {before / 1e6:.0f} MB after {WARM_UP:,}, then "
            f"{after / 1e6:.0f} MB: {after / before:.3f}x"
        )
    assert after / before <= GROWTH_GOAL


def resident_bytes() -> int:
    """Memory of this process that is held in RAM."""
    gc.collect()
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
