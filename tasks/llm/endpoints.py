"""From endpoints.toml to clients: which endpoint is reached how.

The file names endpoints, prices and the *name* of the variable that holds a key; a key itself is read here,
in the process that calls the model, and goes nowhere else.
"""

import os
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

from pydantic import Field, ValidationError, field_validator

from tasks.errors import InputError, faults
from tasks.llm.base import LLMClient
from tasks.llm.by_file import FileClient
from tasks.llm.limited import LimitedClient
from tasks.llm.local_embedder import LocalEmbedder
from tasks.llm.offline import OfflineClient
from tasks.llm.prices import Prices
from tasks.llm.retrying import Patience, RetryingClient
from warehouse.records import Item, Record

GoldOf = Callable[[str], Item | None]
"""Looks an item up by its id: how the offline model comes to the gold that it plays."""


class Endpoint(Record):
    """One table of endpoints.toml. What a kind has no use for is ignored."""

    name: str = ""
    """The table's name."""
    kind: str
    """Which client speaks to it: a name of `CLIENTS`."""
    concurrency: int = Field(default=32, ge=1)
    """Most calls in flight, all roles together."""
    latency_s: float = Field(default=0.0, ge=0)
    """For "offline" only: how long a call sleeps before it answers."""
    base_url: str | None = Field(default=None, pattern=r"^https?://[^@\s]+$")
    """Where the server is; None for the provider's own. A key in it is refused."""
    key_variable: str | None = None
    """Name of the environment variable that holds the key; None for a server that asks for none."""
    prices: dict[str, Prices] = {}
    """By llm_id; what is not there costs an unknown amount, not nothing."""
    patience: Patience = Patience()
    folder: Path | None = None
    """For "file" only: where requests and replies lie, from the current folder where it is relative."""
    answered_only: bool = False
    """For "file" only: a request whose reply is not there is an error, not waited for."""

    @field_validator("kind")
    @classmethod
    def _known(cls, kind: str) -> str:
        if kind not in CLIENTS:
            raise ValueError(f"unknown kind {kind}; there are: {', '.join(sorted(CLIENTS))}")
        return kind

    @property
    def remote(self) -> bool:
        """True where calls go to a server, that can fail and that may bill them."""
        return self.kind in REMOTE

    def key(self) -> str | None:
        """The key, read now; None when the endpoint names no variable.

        Raises InputError when the variable is unset, or holds what no key and no header can be.
        """
        if self.key_variable is None:
            return None
        key = os.environ.get(self.key_variable, "").strip()
        if not key:
            raise InputError(
                f"endpoint '{self.name}': the environment variable {self.key_variable} with its key is not "
                f"set; set it, or take another endpoint in the plan"
            )
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise InputError(
                f"endpoint '{self.name}': {self.key_variable} holds something that is no key "
                "(spaces, line ends or letters beyond ASCII); set it again"
            )
        return key


def _offline(endpoint: Endpoint, rng_seed: int, gold_of: GoldOf) -> LLMClient:
    return OfflineClient(rng_seed, gold_of, endpoint.latency_s)


def _local(endpoint: Endpoint, rng_seed: int, gold_of: GoldOf) -> LLMClient:
    return LocalEmbedder()


def _file(endpoint: Endpoint, rng_seed: int, gold_of: GoldOf) -> LLMClient:
    if endpoint.folder is None:
        raise InputError(
            f"endpoint '{endpoint.name}': kind file needs folder, where requests and replies lie"
        )
    return FileClient(endpoint.folder, endpoint.answered_only)


def _openai(endpoint: Endpoint, rng_seed: int, gold_of: GoldOf) -> LLMClient:
    key = endpoint.key()
    # Here and not above: the SDK takes a second to import, which commands without it need not wait for.
    from tasks.llm.openai_compatible import OpenAICompatibleClient

    return OpenAICompatibleClient(key, **_ways(endpoint))


def _gemini(endpoint: Endpoint, rng_seed: int, gold_of: GoldOf) -> LLMClient:
    key = endpoint.key()
    if key is None:
        raise InputError(
            f"endpoint '{endpoint.name}': kind gemini needs key_variable, the name of the environment "
            "variable that holds the key"
        )
    from tasks.llm.gemini import GeminiClient

    return GeminiClient(key, **_ways(endpoint))


def _ways(endpoint: Endpoint) -> dict[str, Any]:
    """What both network clients are told."""
    return {
        "base_url": endpoint.base_url,
        "prices": endpoint.prices,
        "stall_s": endpoint.patience.stall_s,
    }


CLIENTS: dict[str, Callable[[Endpoint, int, GoldOf], LLMClient]] = {
    "offline": _offline,
    "local": _local,
    "file": _file,
    "openai": _openai,
    "gemini": _gemini,
}
"""How the client of each kind is made: "offline" is the simulated model, "local" the text embedder in
this process, "file" somebody who reads and writes files, "openai" whatever speaks OpenAI's chat
completions, "gemini" Google's API."""


REMOTE = frozenset({"openai", "gemini"})
"""The kinds whose calls are tried again, probed by the canary, and need a price where there is a budget."""


def read_endpoints(path: Path) -> dict[str, Endpoint]:
    """The endpoints by name. Raises InputError with the file and the field."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"endpoints {path}: cannot be read: {error}") from error
    return {name: _endpoint(path, name, table) for name, table in tables.items()}


def clients(
    endpoints: dict[str, Endpoint],
    rng_seed: int,
    gold_of: GoldOf,
    accounted: Callable[[LLMClient, Mapping[str, Prices]], LLMClient] = lambda client, prices: (
        client
    ),
) -> dict[str, LLMClient]:
    """A client for each endpoint, its calls in flight limited.

    Args:
        endpoints: Those that are used, by name; the keys of others need not be there.
        rng_seed: The offline model's.
        gold_of: The offline model's.
        accounted: Puts a client's every try, given its prices, into a ledger.

    Raises InputError when a key is not set.
    """
    made = {}
    for name, endpoint in endpoints.items():
        client = accounted(CLIENTS[endpoint.kind](endpoint, rng_seed, gold_of), endpoint.prices)
        if endpoint.remote:
            # Chance of this process alone, no rng_seed: two campaigns on one endpoint shall not wait in step.
            client = RetryingClient(client, name, endpoint.patience, Random())
        made[name] = LimitedClient(client, endpoint.concurrency)
    return made


def _endpoint(path: Path, name: str, table: Any) -> Endpoint:
    if not isinstance(table, dict):
        raise InputError(f"endpoints {path}: {name} stands outside of a table; begin with [{name}]")
    try:
        return Endpoint.model_validate({**table, "name": name})
    except ValidationError as error:
        raise InputError(f"endpoints {path}: [{name}] {faults(error)}") from error
