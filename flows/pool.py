"""Several processes on one campaign: who may take part, and with how much of each endpoint.

All take the same steps, which a plan determines, and share the units: what one does, the others wait for and
read. One holds the campaign and makes its tables; the others joined it, and come and go as they like.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flows.settings import Settings
from tasks.errors import InputError
from tasks.llm.endpoints import Endpoint
from tasks.plan import Plan
from tasks.spool import Spool

POOL = "pool.json"
"""Says how many processes a campaign has been started for."""


@dataclass(frozen=True)
class Place:
    """A process's place among those that drain a campaign."""

    number: int
    """0 holds the campaign; those that joined count from 1."""
    workers: int
    """How many there may be, the first included."""


@contextmanager
def taken(spool: Spool, settings: Settings) -> Iterator[Place]:
    """Takes a place in a campaign until the block ends, or the process. Raises InputError where none is."""
    if settings.joins:
        workers = _workers(spool)
        if workers == 1:
            raise InputError(
                f"campaign {spool.campaign}: has not been started for several processes; "
                "first, where its tables shall be: turtle evolve --workers N"
            )
        with spool.joined(workers - 1) as number:
            yield Place(number, workers)
        return
    with spool.locked():
        if settings.workers == 1:
            with spool.alone():
                yield Place(0, 1)
            return
        if _workers(spool) != settings.workers:
            with spool.alone():
                _write_workers(spool, settings.workers)
        yield Place(0, settings.workers)


def divided(plan: Plan, endpoints: dict[str, Endpoint], workers: int) -> dict[str, Endpoint]:
    """The endpoints that a plan uses, each server with one process's part of its calls in flight.

    Raises InputError where that would be less than one call.
    """
    used = {name: endpoints[name] for name in {spec.endpoint for spec in plan.specs.values()}}
    for name, endpoint in used.items():
        if endpoint.remote and endpoint.concurrency < workers:
            raise InputError(
                f"endpoint {name}: concurrency = {endpoint.concurrency} cannot be shared by {workers} "
                "processes; start fewer, or raise it"
            )
    return {
        name: endpoint.model_copy(update={"concurrency": endpoint.concurrency // workers})
        if endpoint.remote
        else endpoint
        for name, endpoint in used.items()
    }


def _workers(spool: Spool) -> int:
    path = spool.folder / POOL
    return json.loads(path.read_text(encoding="utf-8"))["workers"] if path.exists() else 1


def _write_workers(spool: Spool, workers: int) -> None:
    part = spool.folder / f"{POOL}.part"
    part.write_text(json.dumps({"workers": workers}) + "\n", encoding="utf-8")
    os.replace(part, spool.folder / POOL)
