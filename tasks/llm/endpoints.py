"""From endpoints.toml to clients: which endpoint is reached how.

The file names endpoints, prices and the *name* of the variable that holds a key; a key itself is read here,
in the process that calls the model, and goes nowhere else.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path

from pydantic import Field, ValidationError, field_validator

from tasks.errors import InputError, faults
from tasks.llm.base import LLMClient
from tasks.llm.limited import LimitedClient
from tasks.llm.local_embedder import LocalEmbedder
from tasks.llm.offline import OfflineClient
from warehouse.records import Item, Record

GoldOf = Callable[[str], Item | None]
"""Looks an item up by its id: how the offline model comes to the gold that it plays."""


class Endpoint(Record):
    """One table of endpoints.toml."""

    kind: str
    """Which client speaks to it: a name of `CLIENTS`."""
    concurrency: int = Field(default=32, ge=1)
    """Most calls in flight, all roles together."""
    latency_s: float = Field(default=0.0, ge=0)
    """For "offline" only: how long a call sleeps before it answers."""

    @field_validator("kind")
    @classmethod
    def _known(cls, kind: str) -> str:
        if kind not in CLIENTS:
            raise ValueError(f"unknown kind {kind}; there are: {', '.join(sorted(CLIENTS))}")
        return kind


CLIENTS: dict[str, Callable[[Endpoint, int, GoldOf], LLMClient]] = {
    "offline": lambda endpoint, rng_seed, gold_of: OfflineClient(
        rng_seed, gold_of, endpoint.latency_s
    ),
    "local": lambda endpoint, rng_seed, gold_of: LocalEmbedder(),
}
"""How the client of each kind is made: "offline" is the simulated model, "local" the text embedder in
this process."""


def read_endpoints(path: Path) -> dict[str, Endpoint]:
    """The endpoints by name. Raises InputError with the file and the field."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: Endpoint.model_validate(table) for name, table in tables.items()}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"endpoints {path}: cannot be read: {error}") from error
    except ValidationError as error:
        raise InputError(f"endpoints {path}: {faults(error)}") from error


def clients(endpoints: dict[str, Endpoint], rng_seed: int, gold_of: GoldOf) -> dict[str, LLMClient]:
    """A client for each endpoint. `rng_seed` is the offline model's."""
    return {
        name: LimitedClient(
            CLIENTS[endpoint.kind](endpoint, rng_seed, gold_of), endpoint.concurrency
        )
        for name, endpoint in endpoints.items()
    }
