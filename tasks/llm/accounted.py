"""A client whose every try stands in the ledger and within the budget."""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from tasks.errors import ProviderRefused
from tasks.llm.base import Completion, LLMClient, LLMSpec, Request, Subject, Tokens, Vectors
from tasks.llm.faults import ProviderDown, RateLimited
from tasks.llm.governor import Governor
from tasks.llm.ledger import Ledger
from tasks.llm.prices import Prices, most_usd, most_usd_of
from warehouse.records import LlmCall, digest_of

CANCELLED = "Cancelled"
"""Cause of a try for which the call's deadline or the campaign's end came first."""

UNBILLED = (RateLimited, ProviderDown, ProviderRefused)
"""Faults by which a provider says that it did nothing; any other may have been billed."""

T = TypeVar("T", Completion, list[list[float]])


class AccountedClient:
    """Another client, asked within the budget, each of its tries a row. Stands below what tries again."""

    def __init__(
        self, client: LLMClient, prices: Mapping[str, Prices], ledger: Ledger, governor: Governor
    ) -> None:
        """`prices` by llm_id; a model that is not there costs an unknown amount."""
        self.simulated = client.simulated
        self._client = client
        self._prices = prices
        self._ledger = ledger
        self._governor = governor

    async def complete(self, request: Request) -> Completion:
        """As the client's own. Raises BudgetSpent when it would not fit."""
        spec, unit = request.spec, request.unit
        bound = most_usd(self._prices.get(spec.llm_id), _sizes(request), spec.sampling.max_tokens)

        def announced() -> LlmCall:
            return self._ledger.announce(
                request.role,
                spec,
                request.prompt_hash,
                request.subject,
                unit,
                bound,
                request.cut_chars,
            )

        return await self._tried(
            announced, bound, request.role, spec, lambda: self._client.complete(request)
        )

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """As the client's own. Raises BudgetSpent when it would not fit."""
        bound = most_usd(self._prices.get(spec.llm_id), [len(t.encode()) for t in texts], 0)
        named = digest_of([spec.digest(), texts])

        def announced() -> LlmCall:
            return self._ledger.announce("embedder", spec, named, Subject(), None, bound, 0)

        return await self._tried(
            announced, bound, "embedder", spec, lambda: self._client.embed(texts, spec)
        )

    async def aclose(self) -> None:
        """Closes the client."""
        await self._client.aclose()

    async def _tried(
        self,
        announced: Callable[[], LlmCall],
        bound: float | None,
        role: str,
        spec: LLMSpec,
        ask: Callable[[], Awaitable[T]],
    ) -> T:
        """One try. Its row is settled however it ends."""
        reservation = await self._governor.admit(bound, f"{role}, {spec.llm_id}")
        try:
            row = announced()
            began = time.monotonic()
            try:
                reply = await ask()
            except BaseException as error:
                self._ledger.settle(_failed(row, error, time.monotonic() - began))
                raise
            self._ledger.settle(self._answered(row, reply, time.monotonic() - began))
            return reply
        finally:
            self._governor.release(reservation)

    def _answered(
        self, row: LlmCall, reply: Completion | list[list[float]], latency_s: float
    ) -> LlmCall:
        counted = isinstance(reply, Completion | Vectors)
        tokens, cost = (reply.tokens, reply.cost_usd) if counted else (Tokens(), None)
        billed = most_usd_of(self._prices.get(row.llm_id), tokens) if cost is None else cost
        return row.model_copy(
            update={
                "finish_reason": reply.finish_reason if isinstance(reply, Completion) else None,
                "prompt_tokens": tokens.prompt,
                "cached_tokens": tokens.cached,
                "completion_tokens": tokens.completion,
                "reasoning_tokens": tokens.reasoning,
                "cost_usd": cost,
                "most_usd": row.most_usd if billed is None else billed,
                "latency_s": latency_s,
            }
        )


def _failed(row: LlmCall, error: BaseException, latency_s: float) -> LlmCall:
    cause = type(error).__name__ if isinstance(error, Exception) else CANCELLED
    unbilled = isinstance(error, UNBILLED)
    return row.model_copy(
        update={
            "cause": cause,
            "most_usd": 0.0 if unbilled and row.most_usd is not None else row.most_usd,
            "latency_s": latency_s,
        }
    )


def _sizes(request: Request) -> list[int]:
    """Bytes of each part of a prompt: messages, and what stands in it beside them."""
    parts = [message.model_dump_json() for message in request.messages]
    if request.tools or request.response_schema:
        parts.append(str([request.tools, request.response_schema]))
    return [len(part.encode("utf-8", "surrogatepass")) for part in parts]
