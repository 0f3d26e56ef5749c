"""How replies come into the recording, and how they stay in it when a prompt's wording changes."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from tasks.errors import ProviderError
from tasks.llm.base import Completion, LLMSpec, Request
from tasks.llm.by_file import request_hash

CaseOf = Callable[[Request], Awaitable[str]]


class InOrder:
    """Answers with the kept replies of a case in their order, whatever is asked now."""

    simulated = False

    def __init__(self, replies: Path, case_of: CaseOf) -> None:
        self._replies = replies
        self._case_of = case_of

    async def complete(self, request: Request) -> Completion:
        """The kept reply. Raises ProviderError where the case has no further one."""
        case = await self._case_of(request)
        kept = next(self._replies.glob(f"{case}-{request.role}-*.reply.md"), None)
        if kept is None:
            raise ProviderError(f"{self._replies} has no reply {case} of a {request.role}")
        return Completion(text=kept.read_text(encoding="utf-8"))

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """Nobody embeds here."""
        raise ProviderError("no embeddings are kept")

    async def aclose(self) -> None:
        """Nothing is held."""


class Keeping(InOrder):
    """Another client whose replies are kept under the names of their cases and requests."""

    def __init__(self, replies: Path, case_of: CaseOf, client: object) -> None:
        super().__init__(replies, case_of)
        self._client = client

    async def complete(self, request: Request) -> Completion:
        """The client's reply, which takes the place of the one that was kept."""
        completion = await self._client.complete(request)
        case = await self._case_of(request)
        for older in self._replies.glob(f"{case}-{request.role}-*.reply.md"):
            older.unlink()
        name = f"{case}-{request.role}-{request_hash(request)}.reply.md"
        (self._replies / name).write_text(completion.text, encoding="utf-8")
        return completion
