"""Client of every endpoint that speaks OpenAI's chat completions: OpenAI, vLLM, llama.cpp and others.

Only what all of them understand is sent. What some of them add to a reply and we need (the reasoning text
of vLLM and DeepSeek, under two names) is read; what we don't know is ignored.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import httpx2
import openai

from tasks.errors import ProviderRefused
from tasks.llm.base import Completion, LLMSpec, Message, Request, Tokens, Vectors, dimensions_of
from tasks.llm.faults import BrokenReply
from tasks.llm.prices import Prices, cost_usd
from tasks.llm.tool_calls import tool_call
from tasks.llm.wire import Wire, asked, http_client, read, safe_text

OPENAI_URL = "https://api.openai.com/v1"

_FINISH: dict[str | None, Literal["stop", "length", "tool_calls", "refusal", "other"]] = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "tool_calls",
    "content_filter": "refusal",
}


class _Function(Wire):
    name: str | None = None
    arguments: str | None = None


class _Call(Wire):
    id: str | None = None
    function: _Function = _Function()


class _Spoken(Wire):
    content: str | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(Wire):
    message: _Spoken
    finish_reason: str | None = None


class _PromptDetails(Wire):
    cached_tokens: int | None = None


class _CompletionDetails(Wire):
    reasoning_tokens: int | None = None


class _Usage(Wire):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    completion_tokens_details: _CompletionDetails | None = None


class _Reply(Wire):
    choices: list[_Choice]
    usage: _Usage | None = None


class _Vector(Wire):
    index: int
    embedding: list[float]


class _Vectors(Wire):
    data: list[_Vector]
    usage: _Usage | None = None


class OpenAICompatibleClient:
    """One endpoint. Each call is one try: `RetryingClient` is what tries again."""

    simulated = False

    def __init__(
        self,
        key: str | None,
        base_url: str | None = None,
        prices: Mapping[str, Prices] | None = None,
        stall_s: float = 300.0,
    ) -> None:
        """Makes a client.

        Args:
            key: None for a server that asks for none.
            base_url: Up to and with `/v1`; None for OpenAI itself.
            prices: By llm_id.
            stall_s: A try on whose connection nothing is seen for so many seconds is given up.
        """
        self._key = key
        self._prices = prices or {}
        # OpenAI's newer models refuse `max_tokens`; many other servers know nothing else.
        self._ceiling = "max_tokens" if base_url else "max_completion_tokens"
        self._http = http_client(stall_s)
        self._sdk = openai.AsyncOpenAI(
            # Never None: the SDK would send the key of OPENAI_API_KEY to whatever server this is.
            api_key=key or "none",
            base_url=base_url or OPENAI_URL,
            max_retries=0,
            timeout=self._http.timeout,
            http_client=self._http,
        )

    async def complete(self, request: Request) -> Completion:
        """One try of a request. Raises a `TransientFault` or ProviderRefused."""
        began = time.monotonic()
        # Not by `chat.completions.create`: it would go through the whole conversation at every turn, for
        # types that our request already has, in as much CPU time as all the rest of a call.
        call = self._sdk.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            body=self._sent(request),
            options={"security": {"bearer_auth": True}},
        )
        raw = await asked(call, self._key)
        reply = read(raw.content, _Reply)
        if not reply.choices:
            raise BrokenReply("the reply holds no choice")
        return self._completion(request, reply, time.monotonic() - began)

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """One vector a text, in order. Raises a `TransientFault` or ProviderRefused."""
        sent: dict[str, Any] = {"model": spec.llm_id, "input": [safe_text(text) for text in texts]}
        if (dimensions := dimensions_of(spec)) is not None:
            sent["dimensions"] = dimensions
        call = self._sdk.embeddings.with_raw_response.create(**sent, encoding_format="float")
        raw = await asked(call, self._key)
        reply = read(raw.content, _Vectors)
        found = sorted(reply.data, key=lambda vector: vector.index)
        if [vector.index for vector in found] != list(range(len(texts))):
            raise BrokenReply(f"the reply holds {len(found)} vectors for {len(texts)} texts")
        lengths = {len(vector.embedding) for vector in found}
        if dimensions is not None and lengths - {dimensions}:
            # Some servers ignore the field; asking again would not change their model.
            raise ProviderRefused(
                f"vectors of length {dimensions} were asked for and {sorted(lengths)} came: set the "
                "embedder's dimensions to what the model has"
            )
        prompt = reply.usage.prompt_tokens if reply.usage else None
        tokens = Tokens() if prompt is None else Tokens(prompt=prompt, cached=0, completion=0)
        cost = cost_usd(self._prices.get(spec.llm_id), tokens)
        return Vectors((vector.embedding for vector in found), tokens, cost)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._sdk.close()

    def _sent(self, request: Request) -> dict[str, Any]:
        """The body of a request: what the spec leaves open is not sent."""
        sampling = request.spec.sampling
        sent = {
            "model": request.spec.llm_id,
            "messages": [_message(message) for message in request.messages],
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.rng_seed,
            self._ceiling: sampling.max_tokens,
            "tools": [{"type": "function", "function": tool} for tool in request.tools] or None,
            "response_format": None
            if request.response_schema is None
            else {
                "type": "json_schema",
                "json_schema": {
                    "name": request.role,
                    "schema": request.response_schema,
                    "strict": True,
                },
            },
        }
        return {name: value for name, value in sent.items() if value is not None}

    def _completion(self, request: Request, reply: _Reply, latency_s: float) -> Completion:
        choice, tokens = reply.choices[0], _tokens(reply.usage)
        spoken = choice.message
        calls = _calls(spoken.tool_calls or (), len(request.messages))
        finish = _FINISH.get(choice.finish_reason, "other")
        if spoken.refusal:
            finish = "refusal"
        elif calls and finish == "stop":  # vLLM, where a tool was required
            finish = "tool_calls"
        reasoning = spoken.reasoning_content or spoken.reasoning
        return Completion(
            text=spoken.content or spoken.refusal or "",
            tool_calls=calls,
            finish_reason=finish,
            tokens=tokens,
            cost_usd=cost_usd(self._prices.get(request.spec.llm_id), tokens),
            latency_s=latency_s,
            reasoning=reasoning or None,
        )


def _calls(calls: Sequence[_Call], turn: int) -> tuple[dict[str, Any], ...]:
    """Tool calls in our form. What the model left out is empty, an id made up: the agent finds it out."""
    return tuple(
        tool_call(
            call.id or f"call-{turn}-{n}", call.function.name or "", call.function.arguments or ""
        )
        for n, call in enumerate(calls)
    )


def _tokens(usage: _Usage | None) -> Tokens:
    if usage is None:
        return Tokens()
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return Tokens(
        prompt=usage.prompt_tokens,
        cached=prompt.cached_tokens if prompt else None,
        completion=usage.completion_tokens,
        reasoning=completion.reasoning_tokens if completion else None,
    )


def _message(message: Message) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": safe_text(message.content)}
    if message.tool_call_id is not None:
        sent["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        sent["content"] = sent["content"] or None
        sent["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": call["arguments"]},
            }
            for call in message.tool_calls
        ]
    return sent
