"""Words to the user while a campaign runs: one line that is kept up to date, and a bar in Prefect's UI."""

import asyncio
import time
from types import TracebackType
from uuid import UUID

from prefect.artifacts import acreate_progress_artifact, aupdate_progress_artifact
from rich.console import Console

from flows.artifacts import key_of
from tasks.workbench import Workbench
from warehouse.records import Step

EVERY_S = 10.0
"""How often the line is printed where there is no terminal to rewrite it on."""


class Progress:
    """What the campaign is at, on stderr: rewritten on a terminal, else a line now and then."""

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._console = Console(stderr=True, highlight=False)
        self._status = self._console.status("")
        self._phase = "starting"
        self._steps: int | None = None
        self._steps_began = time.monotonic()
        self._ticker: asyncio.Task[None] | None = None
        self._bar: UUID | None = None

    async def __aenter__(self) -> "Progress":
        self._console.print(f"campaign {self._bench.campaign}")
        self._bar = await acreate_progress_artifact(
            0.0,
            key=key_of(self._bench.campaign, "progress"),
            description="Share of the search's steps that are taken",
        )
        if self._console.is_terminal:
            self._status.start()
        self._ticker = asyncio.create_task(self._tick())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._ticker is not None:
            self._ticker.cancel()
        self._status.stop()
        self._console.print(self.line(), soft_wrap=True)
        await self._show(100.0 if error is None else self._percent())

    def say(self, phase: str) -> None:
        """Names what the campaign does now."""
        self._phase = phase
        if not self._console.is_terminal:
            self._console.print(self.line(), soft_wrap=True)

    def expect(self, steps: int) -> None:
        """Says how many steps the search is going to take; the time left is told from here on."""
        self._steps = steps
        self._steps_began = time.monotonic()
        self.say("searching")

    def step(self, step: Step) -> None:
        """Counts an edit that verify has decided on."""
        if step.child is None:
            self._bench.counts.rejected += 1
        else:
            self._bench.counts.accepted += 1

    def line(self) -> str:
        """Phase, attempts, edits, cost and, while searching, the time left."""
        counts = self._bench.counts
        parts = [
            self._phase,
            f"{counts.attempts} attempts made",
            f"edits {counts.accepted} accepted, {counts.rejected} rejected",
        ]
        ledger = self._bench.ledger
        if not ledger.unpriced:
            parts.append(f"${ledger.cost_usd:.2f}")
        taken = counts.accepted + counts.rejected
        if self._phase == "searching" and self._steps and taken:
            left_s = (time.monotonic() - self._steps_began) / taken * (self._steps - taken)
            parts.append(f"step {taken} of {self._steps}, about {_duration(left_s)} left")
        return "; ".join(parts)

    def _percent(self) -> float:
        """Share of the steps that are taken, 0-100."""
        taken = self._bench.counts.accepted + self._bench.counts.rejected
        return 100.0 * taken / self._steps if self._steps else 0.0

    async def _show(self, percent: float) -> None:
        if self._bar is not None:
            await aupdate_progress_artifact(self._bar, progress=percent)

    async def _tick(self) -> None:
        told = time.monotonic()
        while True:
            await asyncio.sleep(0.5 if self._console.is_terminal else EVERY_S)
            if self._console.is_terminal:
                self._status.update(self.line())
            else:
                self._console.print(self.line(), soft_wrap=True)
            if time.monotonic() - told >= EVERY_S:
                told = time.monotonic()
                await self._show(self._percent())


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
