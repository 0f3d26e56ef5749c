"""An endpoint's pause: when everything fails, everybody waits, and one call looks whether it is over."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tasks.errors import ProviderRefused
from tasks.llm.faults import TransientFault


class Breaker:
    """Counts failed tries in a row over all calls of one endpoint, and pauses the endpoint after too many.

    Calls wait out a pause before they are sent, so that it burns none of their tries. After it, one call
    goes first: its reply lets the others follow, its failure begins a pause of double length. Any answer
    ends the count, also a refusal: whoever refuses is there.
    """

    def __init__(self, pause_after: int, pause_s: float, max_pause_s: float) -> None:
        """Makes a breaker that is closed. `max_pause_s` bounds a pause, unless the provider asks for more."""
        self._pause_after = pause_after
        self._first_pause_s = self._pause_s = pause_s
        self._max_pause_s = max_pause_s
        self._failed_in_a_row = 0
        self._paused_until: float | None = None
        self._first_call_over: asyncio.Event | None = None

    @property
    def paused(self) -> bool:
        """True from the failure that began a pause until a call was answered."""
        return self._paused_until is not None

    @asynccontextmanager
    async def passage(self) -> AsyncIterator[None]:
        """Waits until a call may be sent; how the block ends is what the endpoint did.

        A block that is cancelled, by its deadline or by the user, counts for nothing but for the call that
        goes first after a pause: the endpoint stays paused.
        """
        first = await self._admitted()
        try:
            yield
        except TransientFault as fault:
            self._failed(fault.retry_after_s or 0.0, first is not None)
            raise
        except ProviderRefused:
            self._answered()
            raise
        else:
            self._answered()
        finally:
            if first is not None:
                self._first_call_over = None
                first.set()

    async def _admitted(self) -> asyncio.Event | None:
        """Waits for the pause to end; the event to set afterwards for the call that goes first."""
        while self._paused_until is not None:
            rest_s = self._paused_until - asyncio.get_running_loop().time()
            if rest_s > 0:
                await asyncio.sleep(rest_s)
            elif self._first_call_over is not None:
                await self._first_call_over.wait()
            else:
                self._first_call_over = asyncio.Event()
                return self._first_call_over
        return None

    def _failed(self, asked_s: float, first: bool) -> None:
        self._failed_in_a_row += 1
        if first:
            self._pause_s = min(self._max_pause_s, self._pause_s * 2)
        if self._failed_in_a_row >= self._pause_after:
            now = asyncio.get_running_loop().time()
            until = now + max(self._pause_s, asked_s)
            self._paused_until = max(self._paused_until or until, until)

    def _answered(self) -> None:
        self._failed_in_a_row = 0
        self._pause_s = self._first_pause_s
        self._paused_until = None
