"""The one owner of retries: tries, waits, and the deadline of a call.

The SDKs below never try again, and nobody above does: two owners would multiply.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pydantic import Field

from tasks.errors import ProviderRefused
from tasks.llm.base import Completion, LLMClient, LLMSpec, Request
from tasks.llm.breaker import Breaker
from tasks.llm.faults import Stalled, TransientFault
from warehouse.records import Record

TEXTS_A_CALL = 100
"""Texts embedded by one call: the most that Gemini takes."""

T = TypeVar("T")


class Patience(Record):
    """How long a call may take and how often it is tried. Settings of an endpoint, never part of a key."""

    timeout_s: float = Field(default=900.0, gt=0)
    """Deadline of one call in seconds, over all its tries, waits and pauses."""
    stall_s: float = Field(default=300.0, gt=0)
    """A try on whose connection nothing is seen for so many seconds is given up as stalled. Replies are
    not streamed, so it has to be longer than the longest reply takes to be written."""
    max_tries: int = Field(default=10, ge=1)
    """Most tries of one call, the first included."""
    first_wait_s: float = Field(default=1.0, gt=0)
    """Wait after the first failed try; doubles with each further one."""
    max_wait_s: float = Field(default=60.0, gt=0)
    """Longest wait that we choose ourselves; a provider may ask for more."""
    pause_after: int = Field(default=20, ge=1)
    """Failed tries of the endpoint in a row, whichever calls made them, after which all of them pause."""
    pause_s: float = Field(default=15.0, gt=0)
    """Length of the first pause; doubles while the endpoint stays away, up to `max_wait_s`."""


class RetryingClient:
    """Another client whose calls are tried again after a transient fault, within one deadline a call.

    A wait is at least what the provider asked for, else it grows by doubling; chance makes it longer or
    shorter, so that calls that failed together do not come back together.
    """

    def __init__(
        self, client: LLMClient, name: str, patience: Patience, luck: random.Random
    ) -> None:
        """Makes a client.

        Args:
            client: What is asked; it never tries again by itself.
            name: The endpoint's, for messages.
            patience: Limits.
            luck: Source of the jitter.
        """
        self.simulated = client.simulated
        self.tries: Counter[str] = Counter()
        """Tries so far by how they ended: "reply", or the name of the error."""
        self._client = client
        self._name = name
        self._patience = patience
        self._luck = luck
        self._breaker = Breaker(patience.pause_after, patience.pause_s, patience.max_wait_s)

    async def complete(self, request: Request) -> Completion:
        """As the client's own, tried again.

        Raises:
            ProviderRefused: at once, when the answer is permanent; `PromptTooLong` is one.
            ProviderError: the last fault, when tries or time are used up.
        """
        about = f"endpoint '{self._name}', {request.spec.llm_id} as {request.role}"
        return await self._answered(lambda: self._client.complete(request), about)

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """As the client's own, `TEXTS_A_CALL` texts a call, each call with its own deadline."""
        about = f"endpoint '{self._name}', {spec.llm_id} as embedder"
        vectors: list[list[float]] = []
        for at in range(0, len(texts), TEXTS_A_CALL):
            chunk = texts[at : at + TEXTS_A_CALL]
            vectors += await self._answered(lambda c=chunk: self._client.embed(c, spec), about)
        return vectors

    async def aclose(self) -> None:
        """Closes the client."""
        await self._client.aclose()

    async def _answered(self, ask: Callable[[], Awaitable[T]], about: str) -> T:
        """The first reply. Raises what `complete` says."""
        loop = asyncio.get_running_loop()
        began, tries, before = loop.time(), 0, ""
        deadline = began + self._patience.timeout_s
        while True:
            answer = await self._tried(ask, about, deadline)
            if not isinstance(answer, TransientFault):
                return answer
            tries += 1
            now = loop.time()
            wait_s = self._wait_s(tries, answer.retry_after_s)
            if tries >= self._patience.max_tries or now + wait_s >= deadline:
                spent = f"{tries} {'try' if tries == 1 else 'tries'} in {now - began:.0f} s"
                asks = (
                    f", which asks to wait {answer.retry_after_s:g} s"
                    if answer.retry_after_s
                    else ""
                )
                raise type(answer)(
                    f"{about}: {answer}{asks}; given up after {spent}{before}. What is finished is kept: run "
                    "the same command again when the endpoint is well"
                )
            before = f", the last but one: {answer}"
            await asyncio.sleep(wait_s)

    async def _tried(
        self, ask: Callable[[], Awaitable[T]], about: str, deadline: float
    ) -> T | TransientFault:
        """One try, once the endpoint is not paused: its reply, or the fault that the next may not meet."""
        limit = asyncio.timeout_at(deadline)
        sent = False
        try:
            async with limit, self._breaker.passage():
                sent = True
                reply = await ask()
        except TransientFault as fault:
            self.tries[type(fault).__name__] += 1
            return fault
        except ProviderRefused as refusal:
            self.tries[type(refusal).__name__] += 1
            refused = type(refusal)(f"{about}: {refusal}; mend endpoints.toml or the plan")
        except TimeoutError:
            if not limit.expired():
                raise
            self.tries[Stalled.__name__] += sent
            why = "" if sent else " (the endpoint is paused: everything fails)"
            return Stalled(f"no reply within {self._patience.timeout_s:g} s{why}")
        else:
            self.tries["reply"] += 1
            return reply
        raise refused

    def _wait_s(self, tries: int, asked_s: float | None) -> float:
        """How long to wait after so many failed tries, in seconds."""
        if asked_s is not None:
            return asked_s + self._luck.uniform(0, self._patience.first_wait_s)
        longest = min(self._patience.max_wait_s, self._patience.first_wait_s * 2 ** (tries - 1))
        return longest * self._luck.uniform(0.5, 1.0)
