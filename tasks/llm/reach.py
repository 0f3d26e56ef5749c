"""Whether the server of an endpoint answers at all: a connection is made and closed, nothing is said."""

import socket
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from tasks.llm.endpoints import Endpoint

PROVIDERS = {
    "openai": "https://api.openai.com",
    "gemini": "https://generativelanguage.googleapis.com",
}
"""Where the client of a kind goes without a base_url."""

_PORTS = {"http": 80, "https": 443}


def address(endpoint: Endpoint) -> tuple[str, int] | None:
    """Host and port that a call goes to first, a proxy's where one is set; None where no call leaves."""
    url = endpoint.base_url or PROVIDERS.get(endpoint.kind)
    if url is None or endpoint.kind not in PROVIDERS:
        return None
    parts = urlsplit(url)
    proxy = getproxies().get(parts.scheme)
    if proxy and not proxy_bypass(parts.hostname or ""):
        parts = urlsplit(proxy if "//" in proxy else f"//{proxy}")
    return parts.hostname or "", parts.port or _PORTS.get(parts.scheme, 80)


def unreachable(host: str, port: int, timeout_s: float) -> str | None:
    """Why no connection can be made, in a few words; None where one can."""
    try:
        socket.create_connection((host, port), timeout_s).close()
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__
    return None
