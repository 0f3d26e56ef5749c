"""Gemini's protocol over a real socket: what is sent, what is made of each reply, what each fault is."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tasks.errors import ProviderError, ProviderRefused
from tasks.llm.base import LLMSpec, Message, Request, Sampling, Tokens
from tasks.llm.faults import BrokenReply, ConnectionLost, ProviderDown, RateLimited, Stalled
from tasks.llm.gemini import GeminiClient
from tasks.llm.prices import Prices
from tests.wire.formats import gemini_embeddings, gemini_error, gemini_reply, json_reply, vector
from tests.wire.server import Asked, HttpReply, WireServer

KEY = "AIza-very-secret-0123456789"
LLM = "gemini-3.6-flash"
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
    if "mbedContent" in asked.path:
        return gemini_embeddings(asked)
    return json_reply(gemini_reply())


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer(answer) as serving:
        yield serving


@pytest.fixture
async def client(server: WireServer) -> AsyncIterator[GeminiClient]:
    prices = {LLM: Prices(input=1.0, cached_input=0.1, output=10.0)}
    made = GeminiClient(KEY, server.url, prices=prices, stall_s=1.5)
    yield made
    await made.aclose()


def request(*messages: Message, **more: Any) -> Request:
    asks = messages or (Message(role="user", content="Well?"),)
    return Request(**{"role": "judge", "spec": SPEC, "messages": asks} | more)


async def test_a_prompt_and_its_reply(server: WireServer, client: GeminiClient) -> None:
    completion = await client.complete(
        request(
            Message(role="system", content="Be brief."),
            Message(role="user", content="Well?"),
            Message(role="assistant", content="What?"),
            Message(role="user", content="This."),
        )
    )
    assert completion.text == "Fine." and completion.finish_reason == "stop"
    assert completion.tokens == Tokens(prompt=12, cached=0, completion=3, reasoning=0)
    assert completion.state is None and 0 < completion.latency_s < 5
    (asked,) = server.asked
    assert asked.path.endswith(f"/models/{LLM}:generateContent") and KEY not in asked.path
    assert asked.headers["x-goog-api-key"] == KEY
    assert [part["text"] for part in asked.body["systemInstruction"]["parts"]] == ["Be brief."]
    assert asked.body["contents"] == [
        {"role": "user", "parts": [{"text": "Well?"}]},
        {"role": "model", "parts": [{"text": "What?"}]},
        {"role": "user", "parts": [{"text": "This."}]},
    ]
    assert asked.body["generationConfig"] == {"maxOutputTokens": 64}


async def test_sampling_and_schema_are_sent(server: WireServer, client: GeminiClient) -> None:
    sampling = Sampling(temperature=0.0, top_p=0.9, max_tokens=7, rng_seed=5)
    spec = LLMSpec(endpoint="here", llm_id=LLM, sampling=sampling)
    server.then(json_reply(gemini_reply({"text": '{"reason": '}, {"text": '"so"}'})))
    completion = await client.complete(request(spec=spec, response_schema=SCHEMA))
    assert json.loads(completion.text) == {"reason": "so"}
    assert server.asked[0].body["generationConfig"] == {
        "temperature": 0.0,
        "topP": 0.9,
        "maxOutputTokens": 7,
        "seed": 5,
        "responseMimeType": "application/json",
        "responseJsonSchema": SCHEMA,
    }


async def test_a_call_goes_back_with_its_signature(
    server: WireServer, client: GeminiClient
) -> None:
    """Without its signature the provider refuses the next turn of a reasoning model."""
    call = {
        "functionCall": {"id": "f1", "name": "book", "args": {"to": "Oslo", "on": None}},
        "thoughtSignature": "_-8A_w==",
    }
    other = {"functionCall": {"name": "book", "args": {"to": "Rome"}}}
    server.then(json_reply(gemini_reply({"text": "I think", "thought": True}, call, other)))
    first = await client.complete(request(tools=(TOOL,)))
    assert first.text == "" and first.finish_reason == "tool_calls"
    assert [made["arguments"] for made in first.tool_calls] == [
        '{"to": "Oslo", "on": null}',
        '{"to": "Rome"}',
    ]
    ids = [made["id"] for made in first.tool_calls]
    assert ids == ["f1", "call-1-2"]
    assert first.state is not None
    assert first.state["parts"][0] == {"text": "I think", "thought": True}, "reasoning was lost"

    spoken = Message(role="assistant", content=first.text, tool_calls=first.tool_calls)
    told = [Message(role="tool", content="booked", tool_call_id=call_id) for call_id in ids]
    # As the spool keeps it, and a resumed attempt reads it.
    again = Request.model_validate_json(
        request(Message(role="user", content="Go"), spoken, *told, tools=(TOOL,)).model_dump_json()
    )
    await client.complete(again)
    body = server.asked[1].body
    (declared,) = body["tools"][0]["functionDeclarations"]
    schema = declared.pop("parameters_json_schema", None) or declared.pop("parametersJsonSchema")
    assert schema == TOOL["parameters"]
    assert declared == {"name": "book", "description": "Books a flight."}
    _, model_turn, answers = body["contents"]
    signature = model_turn["parts"][0].pop("thoughtSignature")
    assert signature.translate(str.maketrans("-_", "+/")) == "/+8A/w=="
    assert model_turn == {
        "role": "model",
        "parts": [{"functionCall": call["functionCall"]}, other],
    }
    assert answers == {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    "id": "f1",
                    "name": "book",
                    "response": {"result": "booked"},
                }
            },
            {"functionResponse": {"name": "book", "response": {"result": "booked"}}},
        ],
    }


async def test_calls_that_another_model_made_are_sent(
    server: WireServer, client: GeminiClient
) -> None:
    calls = (
        {"id": "a", "name": "book", "arguments": '{"to": "Oslo"}'},
        {"id": "b", "name": "book", "arguments": '{"to": '},
    )
    spoken = Message(role="assistant", content="So:", tool_calls=calls)
    await client.complete(request(Message(role="user", content="Go"), spoken))
    assert server.asked[0].body["contents"][1]["parts"] == [
        {"text": "So:"},
        {"functionCall": {"name": "book", "args": {"to": "Oslo"}}},
        {"functionCall": {"name": "book", "args": {}}},
    ]


SIGNED = [
    {"text": "I wonder", "thought": True},
    {"text": "Look: "},
    {"text": "print(1)", "thoughtSignature": "ABCD"},
    {"text": "", "thoughtSignature": "AQID"},
]


@pytest.mark.parametrize(("said", "signed"), [("Look: print(1)", True), ("Look: print(2)", False)])
async def test_a_text_goes_back_with_its_signatures_unless_it_was_changed(
    server: WireServer, client: GeminiClient, said: str, signed: bool
) -> None:
    server.then(json_reply(gemini_reply(*SIGNED)))
    first = await client.complete(request())
    assert first.text == "Look: print(1)"
    spoken = Message(role="assistant", content=said, state=first.state)
    again = request(Message(role="user", content="Go"), spoken)
    await client.complete(Request.model_validate_json(again.model_dump_json()))
    parts = server.asked[1].body["contents"][1]["parts"]
    assert parts == (SIGNED[1:] if signed else [{"text": said}])


def test_state_counts_in_a_prompts_hash_where_there_is_one() -> None:
    bare = Message(role="assistant", content="a")
    assert "state" not in bare.model_dump()
    hashes = {request(bare).prompt_hash}
    hashes.add(request(bare.model_copy(update={"state": {"parts": [{"text": "a"}]}})).prompt_hash)
    assert len(hashes) == 2


@pytest.mark.parametrize("call", [{"name": "", "args": {}}, {"args": {}}, {"name": "book"}])
async def test_a_malformed_tool_call_is_kept_as_the_models_doing(
    server: WireServer, client: GeminiClient, call: dict[str, Any]
) -> None:
    server.then(json_reply(gemini_reply({"functionCall": call})))
    completion = await client.complete(request(tools=(TOOL,)))
    (made,) = completion.tool_calls
    assert (made["name"], made["arguments"]) == (call.get("name", ""), "{}")


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "refusal"),
        ("PROHIBITED_CONTENT", "refusal"),
        ("MALFORMED_FUNCTION_CALL", "other"),
        ("A_REASON_OF_NEXT_YEAR", "other"),
    ],
)
async def test_finish_reasons(
    server: WireServer, client: GeminiClient, finish: str, expected: str
) -> None:
    server.then(json_reply(gemini_reply(finish=finish)))
    assert (await client.complete(request())).finish_reason == expected


async def test_a_blocked_prompt_is_a_refusal(server: WireServer, client: GeminiClient) -> None:
    blocked = {
        "promptFeedback": {"blockReason": "SAFETY"},
        "usageMetadata": {"promptTokenCount": 9},
    }
    server.then(json_reply(blocked))
    completion = await client.complete(request())
    assert (completion.text, completion.finish_reason) == ("", "refusal")
    assert completion.tokens.prompt == 9


async def test_a_candidate_without_content_is_an_empty_reply(
    server: WireServer, client: GeminiClient
) -> None:
    """So it comes when all tokens went into thoughts."""
    server.then(json_reply({"candidates": [{"finishReason": "MAX_TOKENS", "index": 0}]}))
    completion = await client.complete(request())
    assert (completion.text, completion.finish_reason) == ("", "length")
    assert completion.tokens == Tokens() and completion.cost_usd is None


async def test_thoughts_are_completion_tokens_and_paid_for(
    server: WireServer, client: GeminiClient
) -> None:
    usage = {
        "promptTokenCount": 1000,
        "candidatesTokenCount": 40,
        "thoughtsTokenCount": 60,
        "cachedContentTokenCount": 400,
        "totalTokenCount": 1100,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1000}],
    }
    server.then(json_reply(gemini_reply(usage=usage)))
    completion = await client.complete(request())
    assert completion.tokens == Tokens(prompt=1000, cached=400, completion=100, reasoning=60)
    assert completion.cost_usd == pytest.approx((600 * 1.0 + 400 * 0.1 + 100 * 10.0) / 1e6)


async def test_what_is_no_text_is_made_text_both_ways(
    server: WireServer, client: GeminiClient
) -> None:
    call = {"functionCall": {"name": "b\x00", "args": {"x\ud800": "\udfff"}}}
    server.then(json_reply(gemini_reply({"text": "a\ud800b\x00c\U0001f600"}, call)))
    completion = await client.complete(request(Message(role="user", content="x\udc00\x00y")))
    assert completion.text == "a\ufffdb\ufffdc\U0001f600"
    assert completion.tool_calls[0]["name"] == "b\ufffd"
    assert completion.tool_calls[0]["arguments"] == '{"x\ufffd": "\ufffd"}'
    completion.model_dump_json().encode()
    assert server.asked[0].body["contents"][0]["parts"] == [{"text": "x\ufffd\ufffdy"}]


async def test_one_vector_of_768_numbers_a_text(server: WireServer, client: GeminiClient) -> None:
    """Of a plain list of texts gemini-embedding-2 makes one vector in all."""
    spec = LLMSpec(endpoint="here", llm_id="gemini-embedding-2")
    texts = ["one", "two", "three\ud800"]
    vectors = await client.embed(texts, spec)
    assert vectors == [vector(text, 768) for text in ("one", "two", "three\ufffd")]
    (asked,) = server.asked
    assert asked.path.endswith("/models/gemini-embedding-2:batchEmbedContents")
    assert [one["outputDimensionality"] for one in asked.body["requests"]] == [768] * 3


@pytest.mark.parametrize(
    "embeddings",
    [
        [],
        [{"values": [0.5] * 768}],
        [{"values": [0.5] * 768}, {"values": [0.5] * 3072}],
        [{"values": [0.5] * 768}, {}],
        [{"values": [0.5] * 768}, {"values": [float("nan")] * 768}],
    ],
)
async def test_vectors_that_do_not_fit_the_texts_are_a_broken_reply(
    server: WireServer, client: GeminiClient, embeddings: list[Any]
) -> None:
    server.then(json_reply({"embeddings": embeddings}))
    with pytest.raises(BrokenReply):
        await client.embed(["a", "b"], SPEC)


BODY = json.dumps(gemini_reply({"text": "x" * 4000})).encode()
WAIT = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"}


@pytest.mark.parametrize(
    ("reply", "fault", "wait_s"),
    [
        (json_reply(gemini_error(429, "slow"), 429, headers={"retry-after": "7"}), RateLimited, 7),
        (json_reply(gemini_error(429, "slow", {"a": 1}, WAIT), 429), RateLimited, 34.5),
        (json_reply(gemini_error(429, "slow"), 429), RateLimited, None),
        (json_reply(gemini_error(500, "busy"), 500), ProviderDown, None),
        (json_reply(gemini_error(503, "overloaded"), 503), ProviderDown, None),
        (HttpReply(b"<html>bad gateway</html>", 502), ProviderDown, None),
        (HttpReply(b"[]", 500), ProviderDown, None),
        (HttpReply(BODY, cut_at=1000, then="reset"), ConnectionLost, None),
        (HttpReply(BODY, cut_at=1000, then="close"), ConnectionLost, None),
        (HttpReply(BODY, cut_at=0, then="reset"), ConnectionLost, None),
        (HttpReply(BODY, cut_at=1000, then="hang"), Stalled, None),
        (HttpReply(BODY, delay_s=3.0), Stalled, None),
        (HttpReply(BODY[:1000]), BrokenReply, None),
        (HttpReply(b""), BrokenReply, None),
        (HttpReply(b"{}"), BrokenReply, None),
        (HttpReply(b"<html>hello</html>"), BrokenReply, None),
        (json_reply(gemini_reply({"text": 4})), BrokenReply, None),
        (
            json_reply(gemini_reply({"functionCall": {"args": {"x": float("inf")}}})),
            BrokenReply,
            None,
        ),
        (json_reply(gemini_reply({"text": "a", "thoughtSignature": "!"})), BrokenReply, None),
    ],
)
async def test_a_transient_fault_has_its_name(
    server: WireServer,
    client: GeminiClient,
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


@pytest.mark.parametrize(
    "reply", [HttpReply(BODY[:1000]), HttpReply(BODY, cut_at=9, then="reset"), HttpReply(b"", 503)]
)
async def test_embedding_meets_the_same_faults(
    server: WireServer, client: GeminiClient, reply: HttpReply
) -> None:
    server.then(reply)
    with pytest.raises((BrokenReply, ConnectionLost, ProviderDown)):
        await client.embed(["a"], SPEC)


@pytest.mark.parametrize("status", [400, 401, 403, 404])
async def test_a_permanent_answer_is_a_refusal(
    server: WireServer, client: GeminiClient, status: int
) -> None:
    server.then(json_reply(gemini_error(status, f"Not with\nthe key {KEY}!"), status))
    with pytest.raises(ProviderRefused, match=str(status)) as raised:
        await client.complete(request())
    assert "\n" not in str(raised.value) and KEY not in str(raised.value)
    assert raised.value.__cause__ is None and raised.value.__context__ is None


async def test_nobody_there(unused_tcp_port: int) -> None:
    client = GeminiClient(KEY, f"http://127.0.0.1:{unused_tcp_port}")
    with pytest.raises(ConnectionLost):
        await client.complete(request())
    await client.aclose()


async def test_64_calls_at_once(server: WireServer) -> None:
    # No stall_s of 1.5 s here: on a loaded machine 64 connections take a while.
    client = GeminiClient(KEY, server.url)

    def echo(asked: Asked) -> HttpReply:
        text = asked.body["contents"][0]["parts"][0]["text"]
        return json_reply(gemini_reply({"text": text}), delay_s=0.2)

    server.answer = echo
    asks = [request(Message(role="user", content=f"call {n}")) for n in range(128)]
    completions = await asyncio.gather(*map(client.complete, asks[:64]))
    completions += await asyncio.gather(*map(client.complete, asks[64:]))
    await client.aclose()
    assert [completion.text for completion in completions] == [f"call {n}" for n in range(128)]
    assert server.connections <= 64, "connections are not used again"
    assert server.most_in_flight > 8
