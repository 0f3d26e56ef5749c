"""The stock test client without threads: a request runs from end to end in the calling thread.

Stock's client hands each request to an event loop in another thread, and FastAPI hands each plain function
(eight a call here, dependencies included) to a third one. Nothing runs at once in a world, so the threads
only cost: with `_keep_api_docs` of engine.py a call takes 4.6 ms of CPU in place of 18.9. The app, its
routes and its replies are the same.
"""

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Self

import anyio.to_thread
from fastapi.testclient import TestClient
from fastapi_login import fastapi_login


class InThreadPortal:
    """What starlette's client asks of anyio's portal, done at once in this thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()

    def call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Calls a function inside the loop, to the end where it is a coroutine function.

        What it raises is carried out of the loop as a value: a task that ended by the ValidationError of
        an engine's model (`phone.add_contact` without a mail address) left the loop waiting for ever.
        """

        async def inside() -> tuple[Any, Exception | None]:
            try:
                result = function(*arguments)
                return await result if inspect.isawaitable(result) else result, None
            except Exception as error:
                return None, error

        result, error = self._loop.run_until_complete(inside())
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """Ends the loop."""
        self._loop.close()


async def run_here(function: Callable[..., Any], *arguments: Any, **_: Any) -> Any:
    """Stands for `anyio.to_thread.run_sync`: calls the function in this thread."""
    return function(*arguments)


def without_threads() -> None:
    """Has FastAPI run plain functions where it is, in this process from now on.

    The engine's login has taken the function over by name, for each call that needs a token.
    """
    anyio.to_thread.run_sync = run_here
    fastapi_login.run_sync = run_here


class InThreadClient(TestClient):
    """A `TestClient` whose block opens no thread. The engine's app has no start-up of its own to run."""

    def __enter__(self) -> Self:
        self.portal = InThreadPortal()
        return self

    def __exit__(self, *_: object) -> None:
        if isinstance(self.portal, InThreadPortal):
            self.portal.close()
        self.portal = None
