"""What the clients of real providers share: the connection, the call, and the reading of a reply.

Whatever a provider sends is made safe text here, before anything else looks at it: our records and files
hold neither NUL nor lone surrogates. Replies are read by our own small models, which name what is needed
and ignore the rest: an SDK's types accept anything, or refuse a whole reply for one bad character.
"""

import json
import math
import re
from collections.abc import Awaitable
from typing import Any, TypeVar

import httpx2
from pydantic import BaseModel, ConfigDict

from tasks.llm.connections import Connections
from tasks.llm.faults import fault_of, unreadable

CONNECT_S = 10.0
"""How long making a connection may take, in seconds."""

_NO_TEXT = re.compile("[\x00\ud800-\udfff]")

T = TypeVar("T")


class Wire(BaseModel):
    """Base of what is read from a reply: fields that are not named are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


W = TypeVar("W", bound=Wire)


def http_client(stall_s: float) -> httpx2.AsyncClient:
    """Connections to one endpoint; a read that sees nothing for `stall_s` seconds gives up.

    Given to both SDKs: with aiohttp installed, google-genai would use that instead and silently try again by
    itself.
    """
    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(stall_s, connect=min(CONNECT_S, stall_s), pool=None),
        transport=Connections(),
    )


async def asked(call: Awaitable[T], key: str | None) -> T:
    """What the call returns. Raises ProviderError for what the SDK or its HTTP client raised."""
    try:
        return await call
    except Exception as error:
        fault = fault_of(error, key)
        if fault is None:
            raise
    # Outside of the handler, so that the foreign error, with the key in its request, is let go.
    raise fault


def read(body: str | bytes, kind: type[W]) -> W:
    """A reply's JSON as `kind`. Raises BrokenReply."""
    try:
        return kind.model_validate(safe(json.loads(body)))
    except (ValueError, RecursionError) as error:
        fault = unreadable(error)
    raise fault


def safe_text(text: str) -> str:
    """The text with U+FFFD for each NUL and lone surrogate, which no file and no database can hold."""
    return _NO_TEXT.sub("\ufffd", text)


def safe(value: Any) -> Any:
    """A JSON value with every text in it made safe, keys too.

    Raises ValueError for NaN and infinities: Python reads them, though JSON has none.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} is no JSON")
    if isinstance(value, str):
        return safe_text(value)
    if isinstance(value, list):
        return [safe(element) for element in value]
    if isinstance(value, dict):
        return {safe_text(key): safe(element) for key, element in value.items()}
    return value
