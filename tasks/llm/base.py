"""The one seam to language models: a request in, a completion out.

Stages build requests from an `LLMSpec` and never see a client's key. A client retries its provider's
transient faults itself, within one deadline a call, and raises `tasks.errors.ProviderError` when it gives
up; nobody above it retries a provider. A request never holds an item's gold outside of its messages.
"""

from typing import Any, Literal, Protocol

from pydantic import Field

from warehouse.records import CIRCUMSTANCE, Record, digest_of

Role = Literal["proposer", "solver", "feedback", "judge", "labeller", "user", "embedder"]


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

    @property
    def spec_id(self) -> str:
        """Hash that names this spec in the warehouse."""
        return self.digest()


class Message(Record):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_call_id: str | None = None


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

    @property
    def prompt_hash(self) -> str:
        """Hash of what the provider is sent: spec, messages, tools and schema, without the subject."""
        return digest_of(self.model_dump(mode="json", exclude={"subject"}))


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
    state: dict[str, Any] | None = None
    """Opaque to us: what the provider wants back with the next request (thought signatures)."""


def estimated_tokens(request: Request, text: str) -> Tokens:
    """Tokens of a call that no provider counted: characters / 4, rounded up."""
    sent = sum(len(message.content) for message in request.messages)
    return Tokens(prompt=-(-sent // 4), completion=-(-len(text) // 4))


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
