"""Client of Gemini by google-genai: generate_content and embed_content.

Gemini's reasoning models put a signature on a part of their reply and want it back with the next turn. On a
tool call it goes out in the `state` of the call and comes back with it. The whole list of parts stands in the
completion's `state`; a message that has this `state` is sent as those parts, thoughts left out.
"""

import base64
import json
import math
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from google import genai
from google.genai import types
from pydantic import ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from tasks.llm.base import Completion, LLMSpec, Message, Request, Tokens, dimensions_of
from tasks.llm.faults import BrokenReply
from tasks.llm.prices import Prices, cost_usd
from tasks.llm.tool_calls import tool_call
from tasks.llm.wire import Wire, asked, http_client, read, safe_text

DIMENSIONS = 768
"""Length of embeddings unless the spec names another."""

_REFUSALS = {
    "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY",
}  # fmt: skip

Finish = Literal["stop", "length", "tool_calls", "refusal", "other"]


class _Camel(Wire):
    """Fields are written in camelCase on the wire."""

    model_config = ConfigDict(alias_generator=to_camel)


class _FunctionCall(_Camel):
    id: str | None = None
    name: str | None = None
    args: dict[str, Any] | None = None


class _Part(_Camel):
    text: str | None = None
    thought: bool = False
    thought_signature: str | None = None
    function_call: _FunctionCall | None = None

    @field_validator("thought_signature")
    @classmethod
    def _decodable(cls, signature: str | None) -> str | None:
        if signature is not None:
            _signature(signature)
        return signature


class _Content(_Camel):
    parts: list[_Part] = []


class _Choice(_Camel):
    content: _Content = _Content()
    finish_reason: str | None = None


class _PromptFeedback(_Camel):
    block_reason: str | None = None


class _Usage(_Camel):
    """Counts that are zero are left out by the provider."""

    prompt: int | None = Field(default=None, alias="promptTokenCount")
    spoken: int = Field(default=0, alias="candidatesTokenCount")
    """Without the thoughts."""
    thoughts: int = Field(default=0, alias="thoughtsTokenCount")
    cached: int = Field(default=0, alias="cachedContentTokenCount")


class _Reply(_Camel):
    choices: list[_Choice] = Field(default=[], alias="candidates")
    prompt_feedback: _PromptFeedback = _PromptFeedback()
    usage: _Usage | None = Field(default=None, alias="usageMetadata")


class _Quick:
    """Makes a model of the SDK quicker to be read.

    The SDK asks of each of the many names that there might be whether it is there, and tries a turn as
    whatever else it could be. A pydantic model answers "is it in here?" by going through all of its fields,
    in vain, as what they yield are pairs; and for an attribute that is not there it looks for private ones,
    of which these have none. With 20 turns that takes 8 ms of a call.
    """

    def __contains__(self, name: object) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


class _Generation(_Quick, types.GenerateContentConfig):
    """Everything of a request but its conversation."""


class _Turn(_Quick, types.Content):
    """A turn of a conversation."""


class _Sent(_Quick, types.Part):
    """A part of a turn."""


class GeminiClient:
    """Gemini under one key. Each call is one try: `RetryingClient` is what tries again."""

    simulated = False

    def __init__(
        self,
        key: str,
        base_url: str | None = None,
        prices: Mapping[str, Prices] | None = None,
        stall_s: float = 300.0,
    ) -> None:
        """Makes a client.

        Args:
            key: Of the Gemini API.
            base_url: None for Google's own.
            prices: By llm_id.
            stall_s: A try on whose connection nothing is seen for so many seconds is given up.
        """
        self._key = key
        self._prices = prices or {}
        self._http = http_client(stall_s)
        # No retry_options, so the SDK does not try again. The client is kept: it closes when collected.
        self._sdk = genai.Client(
            api_key=key,
            vertexai=False,
            http_options=types.HttpOptions(
                base_url=base_url, timeout=round(stall_s * 1000), httpx_async_client=self._http
            ),
        )

    async def complete(self, request: Request) -> Completion:
        """One try of a request. Raises a `TransientFault` or ProviderRefused."""
        began = time.monotonic()
        call = self._sdk.aio.models.generate_content(
            model=request.spec.llm_id,
            contents=_contents(request.messages),
            config=_generation(request),
        )
        raw = await asked(call, self._key)
        reply = read(raw.sdk_http_response.body or "", _Reply)
        if not reply.choices and not reply.prompt_feedback.block_reason:
            raise BrokenReply("the reply holds no choice")
        return self._completion(request, reply, time.monotonic() - began)

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """One vector a text, in order. Raises a `TransientFault` or ProviderRefused."""
        dimensions = dimensions_of(spec) or DIMENSIONS
        call = self._sdk.aio.models.embed_content(
            model=spec.llm_id,
            # One content a text: of a plain list gemini-embedding-2 makes one content, and one vector.
            contents=[types.Content(parts=[_text(text)]) for text in texts],
            config=types.EmbedContentConfig(output_dimensionality=dimensions),
        )
        found = (await asked(call, self._key)).embeddings or []
        vectors = [list(vector.values or ()) for vector in found]
        if [len(vector) for vector in vectors] != [dimensions] * len(texts):
            raise BrokenReply(
                f"the reply holds {len(vectors)} vectors for {len(texts)} texts, of the lengths "
                f"{sorted({len(vector) for vector in vectors})} instead of {dimensions}"
            )
        if not all(math.isfinite(number) for vector in vectors for number in vector):
            raise BrokenReply("the reply holds a vector with a number that is none")
        return vectors

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._sdk.aio.aclose()
        self._sdk.close()
        # A connection pool that was handed in stays open otherwise.
        await self._http.aclose()

    def _completion(self, request: Request, reply: _Reply, latency_s: float) -> Completion:
        choice = reply.choices[0] if reply.choices else _Choice(finishReason="SAFETY")
        parts, tokens = choice.content.parts, _tokens(reply.usage)
        calls = _calls(parts, len(request.messages))
        opaque = any(part.thought or part.thought_signature for part in parts)
        return Completion(
            text="".join(part.text or "" for part in parts if not part.thought),
            tool_calls=calls,
            finish_reason=_finish(choice.finish_reason, bool(calls)),
            tokens=tokens,
            cost_usd=cost_usd(self._prices.get(request.spec.llm_id), tokens),
            latency_s=latency_s,
            state={"parts": [_as_sent(part) for part in parts]} if opaque else None,
        )


def _as_sent(part: _Part) -> dict[str, Any]:
    return part.model_dump(exclude_defaults=True, by_alias=True)


def _finish(reason: str | None, called: bool) -> Finish:
    if reason == "STOP":
        return "tool_calls" if called else "stop"
    if reason == "MAX_TOKENS":
        return "length"
    return "refusal" if reason in _REFUSALS else "other"


def _calls(parts: Sequence[_Part], turn: int) -> tuple[dict[str, Any], ...]:
    """The parts that call a function in our form; `state` is what makes the same part of it again."""
    calls = []
    for n, part in enumerate(parts):
        if part.function_call is not None:
            call = part.function_call
            state = {"id": call.id, "signature": part.thought_signature}
            arguments = json.dumps(call.args or {}, ensure_ascii=False)
            name = call.name or ""
            calls.append(tool_call(call.id or f"call-{turn}-{n}", name, arguments, state))
    return tuple(calls)


def _tokens(usage: _Usage | None) -> Tokens:
    if usage is None:
        return Tokens()
    return Tokens(
        prompt=usage.prompt,
        cached=usage.cached,
        completion=usage.spoken + usage.thoughts,
        reasoning=usage.thoughts,
    )


def _generation(request: Request) -> types.GenerateContentConfig:
    """What a request asks for besides its conversation. What the spec leaves open is not set."""
    sampling = request.spec.sampling
    system = [message.content for message in request.messages if message.role == "system"]
    chosen = {
        "system_instruction": _Turn(role="user", parts=[_text("\n\n".join(system))])
        if any(system)
        else None,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_output_tokens": sampling.max_tokens,
        "seed": sampling.rng_seed,
        # The body as it came: the SDK's own types refuse a whole reply for one lone surrogate.
        "should_return_http_response": True,
    }
    if request.response_schema is not None:
        chosen |= {
            "response_mime_type": "application/json",
            "response_json_schema": request.response_schema,
        }
    if request.tools:
        declared = [_declaration(tool) for tool in request.tools]
        chosen |= {
            "tools": [types.Tool(function_declarations=declared)],
            "automatic_function_calling": types.AutomaticFunctionCallingConfig(disable=True),
        }
    return _Generation(**{name: value for name, value in chosen.items() if value is not None})


def _declaration(tool: Mapping[str, Any]) -> types.FunctionDeclaration:
    return types.FunctionDeclaration(
        name=tool["name"],
        description=tool.get("description"),
        parameters_json_schema=tool.get("parameters"),
    )


def _contents(messages: Sequence[Message]) -> list[types.Content]:
    """The conversation without its system part. Answers to calls of one turn stand in one content."""
    called = {call["id"]: call for message in messages for call in message.tool_calls}
    contents: list[types.Content] = []
    answering = False
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "tool":
            parts = [_answer(message, called.get(message.tool_call_id or "", {}))]
        else:
            parts = _spoken(message)
        if message.role == "tool" and answering:
            contents[-1].parts = [*(contents[-1].parts or ()), *parts]
        else:
            role = "model" if message.role == "assistant" else "user"
            contents.append(_Turn(role=role, parts=parts))
        answering = message.role == "tool"
    return contents


def _spoken(message: Message) -> list[types.Part]:
    """A message's text and calls, as signed parts in their order where it is a reply of Gemini's."""
    calls = [_call_part(call) for call in message.tool_calls]
    sent = [_Part.model_validate(part) for part in (message.state or {}).get("parts", ())]
    said = [part for part in sent if not part.thought]
    # Only what was not changed since may go back under its signature.
    if "".join(part.text or "" for part in said) != message.content or len(calls) != sum(
        part.function_call is not None for part in said
    ):
        said = []
    if not said:
        return ([_text(message.content)] if message.content else []) + calls
    following = iter(calls)
    return [
        next(following) if part.function_call is not None else _signed_text(part) for part in said
    ]


def _signed_text(part: _Part) -> types.Part:
    signature = part.thought_signature
    return _Sent(
        text=safe_text(part.text or ""),
        thought_signature=None if signature is None else _signature(signature),
    )


def _text(text: str) -> types.Part:
    return _Sent(text=safe_text(text))


def _answer(message: Message, call: Mapping[str, Any]) -> types.Part:
    return _Sent(
        function_response=types.FunctionResponse(
            id=(call.get("state") or {}).get("id"),
            name=call.get("name", ""),
            response={"result": safe_text(message.content)},
        )
    )


def _call_part(call: Mapping[str, Any]) -> types.Part:
    """A call as a part, as the model gave it: with its id, if it had one, and its signature."""
    state = call.get("state") or {}
    try:
        arguments = json.loads(call["arguments"])
    except ValueError:
        arguments = None
    return _Sent(
        function_call=types.FunctionCall(
            id=state.get("id"),
            name=call["name"],
            args=arguments if isinstance(arguments, dict) else {},
        ),
        thought_signature=_signature(state["signature"]) if state.get("signature") else None,
    )


def _signature(text: str) -> bytes:
    """The bytes of base64 of either alphabet. Raises ValueError where it is none."""
    return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)
