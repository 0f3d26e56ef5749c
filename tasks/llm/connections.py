"""The connections to one endpoint, without a search through all of them for every call.

A pool of httpcore2 goes through its connections whenever a request comes or goes, and asks the socket of each
idle one whether the other side has closed it: at 64 calls in flight a third of a call's CPU time. Here every
connection has a pool of its own, and a call takes the one that was given back last.
"""

from collections.abc import AsyncIterator, Callable
from urllib.request import getproxies, proxy_bypass

import httpx2

_NO_LIMIT = httpx2.Limits(max_connections=None, max_keepalive_connections=None)


class Connections(httpx2.AsyncBaseTransport):
    """As many connections as there were calls at once; how many calls there are is limited above.

    Proxies are those of the environment: a client that is given a transport looks for none by itself.
    """

    def __init__(self) -> None:
        self._tls = httpx2.create_ssl_context()
        self._idle: list[httpx2.AsyncHTTPTransport] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """The response, its body still to be read; raises what httpx2 raises."""
        one = self._idle.pop() if self._idle else self._made(request.url)
        try:
            response = await one.handle_async_request(request)
        except BaseException:
            await one.aclose()
            raise
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Lent(response.stream, lambda: self._idle.append(one))
        return response

    async def aclose(self) -> None:
        """Closes the connections that no call has in use."""
        while self._idle:
            await self._idle.pop().aclose()

    def _made(self, url: httpx2.URL) -> httpx2.AsyncHTTPTransport:
        return httpx2.AsyncHTTPTransport(verify=self._tls, limits=_NO_LIMIT, proxy=_proxy(url))


class _Lent(httpx2.AsyncByteStream):
    """A body; its end gives the connection back."""

    def __init__(self, body: httpx2.AsyncByteStream, give_back: Callable[[], None]) -> None:
        self._body = body
        self._give_back = give_back

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._body.__aiter__()

    async def aclose(self) -> None:
        try:
            await self._body.aclose()
        finally:
            self._give_back()


def _proxy(url: httpx2.URL) -> str | None:
    """The proxy that HTTPS_PROXY, ALL_PROXY and their kind name for an address; None where NO_PROXY does."""
    named = getproxies()
    proxy = named.get(url.scheme) or named.get("all")
    if not proxy or proxy_bypass(url.host):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
