"""The governor: before a try is sent, the most that it can cost has to fit into what the budget leaves.

A try reserves its whole prompt and `max_tokens` at the model's prices (`tasks.llm.prices.most_usd`), and
gives back what it did not use. Where the next try does not fit, it waits for those under way, which come to
less than they reserved; when none is left and it still does not fit, the campaign is over for now. So nothing
that was begun is thrown away, and what was paid never passes the budget, as long as no provider bills more
than it was asked for.
"""

import asyncio

from tasks.errors import BudgetSpent
from tasks.llm.ledger import Ledger


class Governor:
    """The budget of a campaign, over all its roles, endpoints and processes."""

    def __init__(self, ledger: Ledger, budget_usd: float | None = None) -> None:
        """Makes a governor.

        Args:
            ledger: Knows what was spent so far, by earlier processes too.
            budget_usd: US dollars for the whole campaign; None is no limit.
        """
        self._ledger = ledger
        self._budget_usd = budget_usd
        self._under_way: dict[int, float] = {}
        self._freed = asyncio.Event()
        self._spent = False

    async def admit(self, most_usd: float | None, about: str) -> int:
        """Waits until a try fits; returns the reservation to release. None costs nothing.

        Raises BudgetSpent when it cannot fit any more; from then on for every try.
        """
        asked = most_usd or 0.0
        while self._budget_usd is not None and not self._fits(asked):
            if self._spent or not self._under_way:
                self._spent = True
                self._freed.set()
                raise self._stop(asked, about)
            freed = self._freed
            await freed.wait()
        number = max(self._under_way, default=0) + 1
        self._under_way[number] = asked
        return number

    def release(self, reservation: int) -> None:
        """Gives a reservation back, once the ledger holds what the try came to."""
        del self._under_way[reservation]
        self._freed.set()
        self._freed = asyncio.Event()

    def _fits(self, asked: float) -> bool:
        if self._spent:
            return False
        reserved = sum(self._under_way.values())
        return self._ledger.most_usd + reserved + asked <= (self._budget_usd or 0.0)

    def _stop(self, asked: float, about: str) -> BudgetSpent:
        ledger = self._ledger
        unsure = ledger.most_usd - ledger.cost_usd
        perhaps = (
            f", and at most ${unsure:.4f} more by {ledger.unsure} tries whose cost is unknown"
            if unsure > 1e-9
            else ""
        )
        return BudgetSpent(
            f"the budget of ${self._budget_usd:.4f} is used up: ${ledger.cost_usd:.4f} spent{perhaps}; the "
            f"next call ({about}) may cost ${asked:.4f}. What is finished is kept: give a larger "
            "--budget-usd to go on"
        )
