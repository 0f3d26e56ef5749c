"""An endpoint's limit on calls in flight, shared by all roles that use it."""

import asyncio

from tasks.llm.base import Completion, LLMClient, LLMSpec, Request


class LimitedClient:
    """Another client, with at most `concurrency` calls in flight; the others wait their turn."""

    def __init__(self, client: LLMClient, concurrency: int) -> None:
        self.simulated = client.simulated
        self._client = client
        self._slots = asyncio.Semaphore(concurrency)

    async def complete(self, request: Request) -> Completion:
        """As the client's own."""
        async with self._slots:
            return await self._client.complete(request)

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """As the client's own."""
        async with self._slots:
            return await self._client.embed(texts, spec)

    async def aclose(self) -> None:
        """Closes the client."""
        await self._client.aclose()
