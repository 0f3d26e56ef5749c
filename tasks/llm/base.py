"""The one seam to language models: a request in, a completion out.

Stages build requests from an `LLMSpec` and never see a client's key. A client retries its provider's
transient faults itself, within one deadline a call, and raises `tasks.errors.ProviderError` when it gives
up; nobody above it retries a provider. A request never holds an item's gold outside of its messages.
"""

from collections.abc import Iterable
from typing import Any, Literal, Protocol

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from warehouse.records import CIRCUMSTANCE, Record, digest_of

Role = Literal["proposer", "solver", "feedback", "judge", "labeller", "user", "embedder"]


DEFAULT_CONTEXT_CHARS = 200_000
"""Longest prompt where a plan does not say otherwise; about 50,000 tokens."""


class Sampling(Record):
    """How a model draws. None leaves a setting to the endpoint."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int = Field(default=4096, ge=1)
    """Ceiling on the completion's tokens, reasoning included."""
    rng_seed: int | None = None


class LLMSpec(Record):
    """Which model plays a role: a name in endpoints.toml, the model's id there, and its sampling."""

    endpoint: str
    llm_id: str
    sampling: Sampling = Sampling()
    context_chars: int = Field(default=DEFAULT_CONTEXT_CHARS, ge=8_000)
    """Longest prompt in characters, about four a token. What a role's prompt would hold beyond it is left
    out in the order that tasks/llm/prompting.py states, and the prompt says so."""

    @property
    def spec_id(self) -> str:
        """Hash that names this spec in the warehouse."""
        return self.digest()


class EmbedderSpec(LLMSpec):
    """Which model embeds, and how long its vectors are."""

    dimensions: int | None = Field(default=None, ge=1)
    """Length asked for; None is the model's own (Gemini: 768)."""


def dimensions_of(spec: LLMSpec) -> int | None:
    """Length of vectors that a spec asks for; None leaves it to the model."""
    return spec.dimensions if isinstance(spec, EmbedderSpec) else None


class Message(Record):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_call_id: str | None = None
    state: dict[str, Any] | None = None
    """Of an assistant's message, the `state` of the completion that it was."""

    @model_serializer(mode="wrap")
    def _without_no_state(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A message without state has the text, and thus the hash, that it had before there was any."""
        written = write(self)
        if self.state is None:
            del written["state"]
        return written


class Subject(Record):
    """What a call is about; for the ledger, and for the offline model's dice. Never sent to a provider."""

    item_id: str | None = None
    """The item attempted, judged or labelled; for the proposer the parent."""
    step: int | None = None
    measurement: str | None = None
    repeat: int | None = None
    turn: int | None = None
    round: int | None = None
    """0 for the first try of a reply, 1 for the first repair round, and so on."""


class Request(Record):
    """One call of a model."""

    role: Role
    spec: LLMSpec
    messages: tuple[Message, ...]
    tools: tuple[dict[str, Any], ...] = ()
    response_schema: dict[str, Any] | None = None
    """JSON schema that the reply has to follow; None for free text."""
    subject: Subject = Subject()
    unit: str | None = None
    """The spool unit that asks; for the ledger. None outside of one."""
    cut_chars: int = 0
    """Characters that the prompt lacks to keep within the spec's `context_chars`; for the ledger."""

    @property
    def prompt_hash(self) -> str:
        """Hash of what the provider is sent: spec, messages, tools and schema, not who asks and why."""
        about = {"subject", "unit", "cut_chars"}
        return digest_of(self.model_dump(mode="json", exclude=about))


class Tokens(Record):
    """Tokens of one call by kind; None where the provider does not report the kind."""

    prompt: int | None = None
    cached: int | None = None
    """Part of `prompt` that the provider served from its cache."""
    completion: int | None = None
    """Reasoning tokens included."""
    reasoning: int | None = None


class Completion(Record):
    """A model's reply."""

    text: str
    tool_calls: tuple[dict[str, Any], ...] = ()
    finish_reason: Literal["stop", "length", "tool_calls", "refusal", "other"] = "stop"
    tokens: Tokens = Tokens()
    cost_usd: float | None = None
    """None when the endpoint has no price."""
    latency_s: float = Field(default=0.0, json_schema_extra=CIRCUMSTANCE)
    reasoning: str | None = None
    """Thoughts as text where the provider shows them. No provider wants them back; they were paid for."""
    state: dict[str, Any] | None = None
    """Opaque to us: what the provider wants back with the next request (thought signatures)."""


def estimated_tokens(request: Request, text: str) -> Tokens:
    """Tokens of a call that no provider counted: characters / 4, rounded up."""
    sent = sum(len(message.content) for message in request.messages)
    return Tokens(prompt=-(-sent // 4), completion=-(-len(text) // 4))


class Vectors(list[list[float]]):
    """Embeddings, one a text in order, with what they took; a plain list is one whose tokens are unknown."""

    def __init__(
        self,
        vectors: Iterable[list[float]],
        tokens: Tokens = Tokens(),  # noqa: B008 - frozen
        cost_usd: float | None = None,
    ) -> None:
        super().__init__(vectors)
        self.tokens = tokens
        self.cost_usd = cost_usd


class LLMClient(Protocol):
    """One endpoint. Safe for concurrent use in one event loop; `aclose` it when the campaign ends."""

    simulated: bool
    """True when no language model answers; every table made from its replies says so."""

    async def complete(self, request: Request) -> Completion:
        """Answers one request. Raises ProviderError when the provider could not be had."""
        ...

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """One vector a text, in order, each of the same length. Raises ProviderError."""
        ...

    async def aclose(self) -> None:
        """Closes connections; the client is not used afterwards."""
        ...
