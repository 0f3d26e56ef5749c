"""OpenAI's protocol over a real socket: what is sent, what is made of each reply, what each fault is."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tasks.errors import ProviderError, ProviderRefused
from tasks.llm.base import (
    EmbedderSpec,
    LLMSpec,
    Message,
    Request,
    Sampling,
    Tokens,
    Vectors,
)
from tasks.llm.faults import BrokenReply, ConnectionLost, ProviderDown, RateLimited, Stalled
from tasks.llm.openai_compatible import OpenAICompatibleClient
from tasks.llm.prices import Prices
from tasks.spool import Unit
from tests.wire.formats import json_reply, openai_embeddings, openai_error, openai_reply, vector
from tests.wire.server import Asked, HttpReply, WireServer

KEY = "sk-very-secret-0123456789"
LLM = "google/gemma-4-31b-it"
SPEC = LLMSpec(endpoint="here", llm_id=LLM, sampling=Sampling(max_tokens=64))
SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 9}},
    "required": ["reason"],
    "additionalProperties": False,
}
TOOL = {
    "name": "book",
    "description": "Books a flight.",
    "parameters": {"type": "object", "properties": {"to": {"type": "string"}}},
}


def answer(asked: Asked) -> HttpReply:
    if asked.path.endswith("/embeddings"):
        return openai_embeddings(asked)
    return json_reply(openai_reply())


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer(answer) as serving:
        yield serving


@pytest.fixture
async def client(server: WireServer) -> AsyncIterator[OpenAICompatibleClient]:
    made = OpenAICompatibleClient(
        KEY,
        f"{server.url}/v1",
        prices={LLM: Prices(input=1.0, cached_input=0.1, output=10.0)},
        stall_s=1.5,
    )
    yield made
    await made.aclose()


def request(*messages: Message, **more: Any) -> Request:
    asks = messages or (Message(role="user", content="Well?"),)
    return Request(**{"role": "judge", "spec": SPEC, "messages": asks} | more)


async def test_a_prompt_and_its_reply(server: WireServer, client: OpenAICompatibleClient) -> None:
    completion = await client.complete(
        request(Message(role="system", content="Be brief."), Message(role="user", content="Well?"))
    )
    assert completion.text == "Fine." and completion.finish_reason == "stop"
    assert completion.tokens == Tokens(prompt=12, completion=3) and completion.state is None
    assert 0 < completion.latency_s < 5
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": LLM,
        "max_tokens": 64,
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Well?"},
        ],
    }, "what the spec leaves open must not be sent: servers differ in what they take"


async def test_sampling_and_schema_are_sent(
    server: WireServer, client: OpenAICompatibleClient
) -> None:
    sampling = Sampling(temperature=0.0, top_p=0.9, max_tokens=7, rng_seed=5)
    spec = LLMSpec(endpoint="here", llm_id=LLM, sampling=sampling)
    server.then(json_reply(openai_reply('{"reason": "so"}')))
    completion = await client.complete(request(spec=spec, response_schema=SCHEMA))
    assert json.loads(completion.text) == {"reason": "so"}
    body = server.asked[0].body
    assert (body["temperature"], body["top_p"], body["max_tokens"], body["seed"]) == (
        0.0,
        0.9,
        7,
        5,
    )
    wanted = {"name": "judge", "schema": SCHEMA, "strict": True}
    assert body["response_format"] == {"type": "json_schema", "json_schema": wanted}


async def test_a_tool_is_called_and_answered(
    server: WireServer, client: OpenAICompatibleClient
) -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "book", "arguments": '{"to": "Oslo"}'},
    }
    server.then(json_reply(openai_reply(None, "tool_calls", tool_calls=[call])))
    first = await client.complete(request(tools=(TOOL,)))
    assert first.text == "" and first.finish_reason == "tool_calls"
    assert first.tool_calls == ({"id": "c1", "name": "book", "arguments": '{"to": "Oslo"}'},)
    spoken = Message(role="assistant", content=first.text, tool_calls=first.tool_calls)
    told = Message(role="tool", content="booked", tool_call_id="c1")
    await client.complete(request(Message(role="user", content="Go"), spoken, told, tools=(TOOL,)))
    body = server.asked[1].body
    assert body["tools"] == [{"type": "function", "function": TOOL}]
    assert "parallel_tool_calls" not in body and "tool_choice" not in body
    assert body["messages"][1:] == [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "booked", "tool_call_id": "c1"},
    ]


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ({"id": "a", "function": {"name": "book", "arguments": ""}}, ("a", "book", "")),
        ({"id": "a", "function": {"name": "", "arguments": "{}"}}, ("a", "", "{}")),
        ({"id": "", "function": {"name": "book"}}, ("call-1-0", "book", "")),
        ({"id": None, "function": {}}, ("call-1-0", "", "")),
        (
            {"id": "a", "function": {"name": "book", "arguments": '{"to": '}},
            ("a", "book", '{"to": '),
        ),
    ],
)
async def test_a_malformed_tool_call_is_kept_as_the_models_doing(
    server: WireServer,
    client: OpenAICompatibleClient,
    call: dict[str, Any],
    expected: tuple[str, ...],
) -> None:
    server.then(json_reply(openai_reply(None, "stop", tool_calls=[call])))
    completion = await client.complete(request(tools=(TOOL,)))
    assert completion.finish_reason == "tool_calls", "vLLM says stop where a tool was required"
    (made,) = completion.tool_calls
    assert (made["id"], made["name"], made["arguments"]) == expected


@pytest.mark.parametrize(
    ("finish", "expected"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "refusal"), ("abort", "other")],
)
async def test_finish_reasons(
    server: WireServer, client: OpenAICompatibleClient, finish: str, expected: str
) -> None:
    server.then(json_reply(openai_reply("Text", finish)))
    assert (await client.complete(request())).finish_reason == expected


async def test_a_refusal_is_a_reply(server: WireServer, client: OpenAICompatibleClient) -> None:
    server.then(json_reply(openai_reply(None, refusal="I'm sorry, I can't.")))
    completion = await client.complete(request())
    assert (completion.text, completion.finish_reason) == ("I'm sorry, I can't.", "refusal")


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
async def test_reasoning_is_kept(
    server: WireServer, client: OpenAICompatibleClient, field: str
) -> None:
    server.then(json_reply(openai_reply("4", **{field: "2 and 2"})))
    completion = await client.complete(request())
    assert completion.text == "4" and completion.reasoning == "2 and 2"


async def test_tokens_and_cost_by_kind(server: WireServer, client: OpenAICompatibleClient) -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 100,
        "prompt_tokens_details": {"cached_tokens": 400, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 60},
    }
    server.then(json_reply(openai_reply(usage=usage)))
    completion = await client.complete(request())
    assert completion.tokens == Tokens(prompt=1000, cached=400, completion=100, reasoning=60)
    assert completion.cost_usd == pytest.approx((600 * 1.0 + 400 * 0.1 + 100 * 10.0) / 1e6)


async def test_no_usage_means_no_counts_and_no_cost(
    server: WireServer, client: OpenAICompatibleClient
) -> None:
    server.then(json_reply(openai_reply() | {"usage": None}))
    completion = await client.complete(request())
    assert completion.tokens == Tokens() and completion.cost_usd is None


async def test_what_is_no_text_is_made_text_both_ways(
    server: WireServer, client: OpenAICompatibleClient, tmp_path: Any
) -> None:
    call = {"id": "a\ud800", "function": {"name": "b\x00", "arguments": '{"x": "\udfff"}'}}
    server.then(json_reply(openai_reply("a\ud800b\x00c\U0001f600", tool_calls=[call])))
    unit = Unit(tmp_path / "unit.jsonl", "kind", "key")
    completion = await unit.complete(client, request(Message(role="user", content="x\udc00\x00y")))
    unit.finish()
    assert completion.text == "a\ufffdb\ufffdc\U0001f600"
    expected = {"id": "a\ufffd", "name": "b\ufffd", "arguments": '{"x": "\ufffd"}'}
    assert completion.tool_calls == (expected,)
    completion.model_dump_json().encode()
    assert server.asked[0].body["messages"][0]["content"] == "x\ufffd\ufffdy"


async def test_embeddings_in_order_with_dimensions(server: WireServer) -> None:
    prices = {"embedder": Prices(input=2.0)}
    client = OpenAICompatibleClient(None, f"{server.url}/v1", prices)
    texts = ["one", "two", "three\ud800"]
    spec = EmbedderSpec(endpoint="here", llm_id="embedder", dimensions=768)
    try:
        vectors = await client.embed(texts, spec)
    finally:
        await client.aclose()
    assert vectors == [vector(text, 768) for text in ("one", "two", "three\ufffd")]
    assert isinstance(vectors, Vectors)
    assert (vectors.tokens.prompt, vectors.cost_usd) == (5, pytest.approx(10 / 1e6))
    assert server.asked[0].body["dimensions"] == 768
    assert server.asked[0].body["encoding_format"] == "float"


async def test_a_server_that_ignores_dimensions_is_found_out(server: WireServer) -> None:
    client = OpenAICompatibleClient(None, f"{server.url}/v1")
    spec = EmbedderSpec(endpoint="here", llm_id="embedder", dimensions=768)
    server.then(json_reply({"data": [{"index": 0, "embedding": [0.5] * 384}]}))
    with pytest.raises(ProviderRefused, match=r"768 were asked for and \[384\] came"):
        await client.embed(["one"], spec)
    await client.aclose()


async def test_a_server_without_a_key_never_gets_another_ones(
    server: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    client = OpenAICompatibleClient(None, f"{server.url}/v1")
    await client.complete(request())
    await client.aclose()
    assert server.asked[0].headers["authorization"] == "Bearer none"


BODY = json.dumps(openai_reply("x" * 4000)).encode()


@pytest.mark.parametrize(
    ("reply", "fault", "wait_s"),
    [
        (json_reply(openai_error("slow"), 429, headers={"retry-after": "7"}), RateLimited, 7),
        (json_reply(openai_error("slow"), 429), RateLimited, None),
        (json_reply(openai_error("busy"), 500), ProviderDown, None),
        (json_reply(openai_error("busy"), 503, headers={"retry-after": "2"}), ProviderDown, 2),
        (HttpReply(b"<html>bad gateway</html>", 502), ProviderDown, None),
        (HttpReply(BODY, cut_at=1000, then="reset"), ConnectionLost, None),
        (HttpReply(BODY, cut_at=1000, then="close"), ConnectionLost, None),
        (HttpReply(BODY, cut_at=0, then="reset"), ConnectionLost, None),
        (HttpReply(BODY, cut_at=1000, then="hang"), Stalled, None),
        (HttpReply(BODY, delay_s=3.0), Stalled, None),
        (HttpReply(BODY[:1000]), BrokenReply, None),
        (HttpReply(b""), BrokenReply, None),
        (HttpReply(b"[" * 100_000), BrokenReply, None),
        (HttpReply(b'\xff\xfe{"choices": []}'), BrokenReply, None),
        (
            HttpReply(b"<html>hello</html>", headers={"content-type": "text/html"}),
            BrokenReply,
            None,
        ),
        (json_reply(openai_reply() | {"choices": []}), BrokenReply, None),
        (json_reply(openai_reply() | {"choices": None}), BrokenReply, None),
        (json_reply(openai_reply(content=["parts"])), BrokenReply, None),  # type: ignore[arg-type]
        (json_reply(openai_error("late")), BrokenReply, None),
    ],
)
async def test_a_transient_fault_has_its_name(
    server: WireServer,
    client: OpenAICompatibleClient,
    reply: HttpReply,
    fault: type[ProviderError],
    wait_s: float | None,
) -> None:
    server.then(reply)
    with pytest.raises(fault) as raised:
        await client.complete(request())
    assert type(raised.value) is fault
    assert raised.value.retry_after_s == wait_s  # type: ignore[attr-defined]
    assert len(server.asked) == 1, "the SDK tried again by itself"
    assert (await client.complete(request())).text == "Fine.", "the client is of no use afterwards"


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
async def test_a_permanent_answer_is_a_refusal(
    server: WireServer, client: OpenAICompatibleClient, status: int
) -> None:
    server.then(json_reply(openai_error(f"Not with\nthe key {KEY}!"), status))
    with pytest.raises(ProviderRefused, match=str(status)) as raised:
        await client.complete(request())
    assert "\n" not in str(raised.value) and KEY not in str(raised.value)
    assert raised.value.__cause__ is None and raised.value.__context__ is None


async def test_an_empty_purse_is_no_rate_limit(
    server: WireServer, client: OpenAICompatibleClient
) -> None:
    server.then(json_reply(openai_error("You are out of quota", "insufficient_quota"), 429))
    with pytest.raises(ProviderRefused, match="quota"):
        await client.complete(request())


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"index": 0, "embedding": [0.1]}],
        [{"index": 0, "embedding": [0.1]}, {"index": 2, "embedding": [0.1]}],
        [{"index": 0, "embedding": [0.1]}, {"index": 1, "embedding": [float("nan")]}],
    ],
)
async def test_vectors_that_do_not_fit_the_texts_are_a_broken_reply(
    server: WireServer, client: OpenAICompatibleClient, data: list[Any]
) -> None:
    server.then(json_reply({"object": "list", "data": data}))
    with pytest.raises(BrokenReply):
        await client.embed(["a", "b"], SPEC)


async def test_nobody_there(unused_tcp_port: int) -> None:
    client = OpenAICompatibleClient(None, f"http://127.0.0.1:{unused_tcp_port}/v1")
    with pytest.raises(ConnectionLost):
        await client.complete(request())
    await client.aclose()


async def test_64_calls_at_once(server: WireServer) -> None:
    # No stall_s of 1.5 s here: on a loaded machine 64 connections take a while.
    client = OpenAICompatibleClient(KEY, f"{server.url}/v1")

    def echo(asked: Asked) -> HttpReply:
        return json_reply(openai_reply(asked.body["messages"][0]["content"]), delay_s=0.2)

    server.answer = echo
    asks = [request(Message(role="user", content=f"call {n}")) for n in range(128)]
    completions = await asyncio.gather(*map(client.complete, asks[:64]))
    completions += await asyncio.gather(*map(client.complete, asks[64:]))
    await client.aclose()
    assert [completion.text for completion in completions] == [f"call {n}" for n in range(128)]
    assert server.connections <= 64, "connections are not used again"
    assert server.most_in_flight > 8
