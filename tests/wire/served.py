"""A model of ours behind a socket, asked in OpenAI's or in Gemini's protocol as a provider would be.

A provider is never told what a call is about, and nothing of it is on the wire here. But our simulated
models throw their dice over it, and look the gold up by it. So the client that a campaign gets, `Announcing`,
tells the server past the wire which request comes next, and the server finds it by what came over the wire,
all of it: a request that arrives otherwise than it was meant is answered by nobody.
"""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tasks.llm.base import Completion, LLMClient, LLMSpec, Request
from tasks.llm.endpoints import CLIENTS, Endpoint, GoldOf
from tests.wire.formats import (
    gemini_error,
    gemini_reply,
    gemini_vectors,
    json_reply,
    openai_error,
    openai_reply,
    openai_vectors,
)
from tests.wire.server import Asked, HttpReply
from warehouse.records import digest_of


class ServedModel:
    """Answers what was announced, by a model that is made as it would be in process."""

    def __init__(self, kind: str) -> None:
        """`kind`: the one of `tasks.llm.endpoints.CLIENTS` that answers, as registered now."""
        self._made = CLIENTS[kind]
        self._model: LLMClient | None = None
        self._meant: dict[str, Request] = {}
        self._turns: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def stand_behind(self, kind: str) -> None:
        """From now on, clients of this kind announce their calls here.

        The model is told the golds by the campaign's own lookup, as in process; none crosses the wire.
        """
        over_the_wire = CLIENTS[kind]

        def made(endpoint: Endpoint, rng_seed: int, gold_of: GoldOf) -> LLMClient:
            self._model = self._made(endpoint, rng_seed, gold_of)
            return Announcing(
                over_the_wire(endpoint, rng_seed, gold_of), self, self._model.simulated
            )

        CLIENTS[kind] = made

    @asynccontextmanager
    async def meant(self, request: Request) -> AsyncIterator[None]:
        """Announces a request for the length of the block.

        Equal requests of several repeats come one after another: nobody could tell them apart on the wire.
        """
        content = digest_of(_content(request))
        async with self._turns[content]:
            self._meant[content] = request
            try:
                yield
            finally:
                del self._meant[content]

    async def answer(self, asked: Asked) -> HttpReply:
        """The reply to one request, of whichever protocol; 400 where nobody announced it."""
        assert self._model is not None
        wire = _gemini if ":" in asked.path else _openai
        return await wire(asked, self._model, self._meant)


class Announcing:
    """A client over the wire that announces each call. It is as simulated as who answers it."""

    def __init__(self, client: LLMClient, served: ServedModel, simulated: bool) -> None:
        self.simulated = simulated
        self._client = client
        self._served = served

    async def complete(self, request: Request) -> Completion:
        """As the client's own."""
        async with self._served.meant(request):
            return await self._client.complete(request)

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """As the client's own; a vector depends on its text alone."""
        return await self._client.embed(texts, spec)

    async def aclose(self) -> None:
        """Closes the client."""
        await self._client.aclose()


def _content(request: Request) -> dict[str, Any]:
    """All of a request that a provider is sent, whatever the protocol."""
    sampling = request.spec.sampling
    return {
        "llm_id": request.spec.llm_id,
        "messages": [[message.role, message.content] for message in request.messages],
        "schema": request.response_schema,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_tokens,
        "rng_seed": sampling.rng_seed,
    }


async def _openai(asked: Asked, model: LLMClient, meant: dict[str, Request]) -> HttpReply:
    body = asked.body
    if asked.path == "/v1/embeddings":
        spec = LLMSpec(endpoint="served", llm_id=body["model"])
        return json_reply(openai_vectors(await model.embed(body["input"], spec)))
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    content = {
        "llm_id": body["model"],
        "messages": [[message["role"], message["content"]] for message in body["messages"]],
        "schema": schema,
        "temperature": body.get("temperature"),
        "top_p": body.get("top_p"),
        "max_tokens": body["max_tokens"],
        "rng_seed": body.get("seed"),
    }
    request = meant.get(digest_of(content))
    if request is None:
        return json_reply(openai_error("nobody announced this request"), 400)
    completion = await model.complete(request)
    sent, written = completion.tokens.prompt, completion.tokens.completion
    usage = {"prompt_tokens": sent, "completion_tokens": written}
    return json_reply(openai_reply(completion.text, completion.finish_reason, usage))


async def _gemini(asked: Asked, model: LLMClient, meant: dict[str, Request]) -> HttpReply:
    body = asked.body
    llm_id, _, method = asked.path.removeprefix("/v1/models/").partition(":")
    if method == "batchEmbedContents":
        texts = [_text(one["content"]) for one in body["requests"]]
        spec = LLMSpec(endpoint="served", llm_id=llm_id)
        return json_reply(gemini_vectors(await model.embed(texts, spec)))
    chosen = body["generationConfig"]
    roles = {"user": "user", "model": "assistant"}
    content = {
        "llm_id": llm_id,
        "messages": [
            ["system", _text(body["systemInstruction"])],
            *([roles[one["role"]], _text(one)] for one in body["contents"]),
        ],
        "schema": chosen.get("responseJsonSchema"),
        "temperature": chosen.get("temperature"),
        "top_p": chosen.get("topP"),
        "max_tokens": chosen["maxOutputTokens"],
        "rng_seed": chosen.get("seed"),
    }
    request = meant.get(digest_of(content))
    if request is None:
        return json_reply(gemini_error(400, "nobody announced this request"), 400)
    completion = await model.complete(request)
    finish = {"stop": "STOP", "length": "MAX_TOKENS"}[completion.finish_reason]
    sent, written = completion.tokens.prompt, completion.tokens.completion
    usage = {"promptTokenCount": sent, "candidatesTokenCount": written}
    return json_reply(gemini_reply({"text": completion.text}, finish=finish, usage=usage))


def _text(content: dict[str, Any]) -> str:
    return "".join(part["text"] for part in content["parts"])
