"""From endpoints.toml to clients: which endpoint is reached how.

The file names endpoints, prices and the *name* of the variable that holds a key; a key itself is read here,
in the process that calls the model, and goes nowhere else.
"""

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from tasks.errors import InputError
from tasks.llm.base import LLMClient
from tasks.llm.limited import LimitedClient
from tasks.llm.local_embedder import LocalEmbedder
from tasks.llm.offline import OfflineClient
from warehouse.records import Item, Record


class Endpoint(Record):
    """One table of endpoints.toml."""

    kind: Literal["offline", "local"]
    """"offline": the simulated model. "local": the text embedder in this process."""
    concurrency: int = Field(default=32, ge=1)
    """Most calls in flight, all roles together."""
    latency_s: float = Field(default=0.0, ge=0)
    """For "offline" only: how long a call sleeps before it answers."""


def read_endpoints(path: Path) -> dict[str, Endpoint]:
    """The endpoints by name. Raises InputError with the file and the field."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
        return {name: Endpoint.model_validate(table) for name, table in tables.items()}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"endpoints {path}: cannot be read: {error}") from error
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
        )
        raise InputError(f"endpoints {path}: {faults}") from error


def clients(
    endpoints: dict[str, Endpoint], rng_seed: int, gold_of: Callable[[str], Item | None]
) -> dict[str, LLMClient]:
    """A client for each endpoint. `gold_of` is the offline model's lookup of the item it plays."""
    return {
        name: LimitedClient(_client(endpoint, rng_seed, gold_of), endpoint.concurrency)
        for name, endpoint in endpoints.items()
    }


def _client(endpoint: Endpoint, rng_seed: int, gold_of: Callable[[str], Item | None]) -> LLMClient:
    match endpoint.kind:
        case "offline":
            return OfflineClient(rng_seed, gold_of, endpoint.latency_s)
        case "local":
            return LocalEmbedder()
