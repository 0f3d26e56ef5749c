"""API calls that cross from the shell: checked, made on the stock requester, logged.

Everything that arrives here was written by model-written code or by what it did to its shell, so nothing
in it is believed: only the APIs that a solver may see exist, a path parameter cannot leave its path, and an
access token counts only in the session that issued it (the engine signs them all with one known word).
"""

import json
import math
import re
import sqlite3
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

from appworld import AppWorld
from appworld.apps.model_lib import ModelHashHandler
from appworld.requester import _get_api_name_to_doc
from fastapi.exceptions import HTTPException

from shell.apis import UNSERIALIZABLE

SECRET = "<secret>"
_SECRET_FIELD = re.compile(r"(access_token|password)$")
_TOKEN_FIELD = re.compile(r"access_token$")
_NOT_ISSUED = "not-issued"
"""Stands for a token of another origin; the engine refuses it as it refuses any text that is no token."""
_WHOLE = 1 << 63
"""Integers from here on are logged as text: no column holds them."""
_OF_THE_REQUESTER = {"client", "track", "show", "_app_name", "_api_name", "self"}
_LEAVES_PATH = re.compile(r"[/\\?#%]|^\.{1,2}$")
_COMPLETION = ("supervisor", "complete_task")


class CallLog:
    """Makes the calls of one session and keeps their log."""

    def __init__(self, world: AppWorld, suppress: int | None, with_output: bool) -> None:
        """Logs calls on `world`; the state change of call number `suppress` is undone, None undoes none."""
        self.calls: list[dict] = []
        """The protocol's Call of every call so far."""
        self._world = world
        self._suppress = suppress
        self._with_output = with_output
        self._exposed = {app: set(names) for app, names in exposed_apis(world).items()}
        self._issued: set[str] = set()

    def answer(self, request: dict) -> dict:
        """Makes one call (from_shell.py) and returns the reply for the shell: {"result"} or {"error"}."""
        app, api = request["app"], request["api"]
        if api not in self._exposed.get(app, ()):
            return {"error": describe_error(HTTPException(422, f"No API named '{api}' found."))}
        arguments = {
            key: self._own(key, _restore(value))
            for key, value in request["arguments"].items()
            if key not in _OF_THE_REQUESTER
        }
        restore = take_copy(self._world) if len(self.calls) == self._suppress else None
        before = _writes(self._world)
        try:
            reply = {"result": self._make(app, api, arguments)}
            self._issued.update(_tokens(reply["result"]))
        except Exception as error:  # whatever stock raises here reaches the cell, as in stock
            reply = {"error": describe_error(error)}
        self._log(app, api, arguments, reply, wrote=_writes(self._world) > before)
        if restore is not None:
            restore()
        return reply

    def _own(self, name: str, value: Any) -> Any:
        foreign = isinstance(value, str) and _TOKEN_FIELD.search(name) and value not in self._issued
        return _NOT_ISSUED if foreign else value

    def _make(self, app: str, api: str, arguments: dict) -> Any:
        path = _get_api_name_to_doc(app, include_private_apis=True)[api]["path"]
        for name in re.findall(r"{(\w+)}", path):
            if _LEAVES_PATH.search(str(arguments.get(name, ""))):
                # Stock would send it to any address of the server, private ones too.
                raise Exception(
                    'Response status code is 404:\n{"message":"No API found at this address."}'
                )
        return self._world.requester.request(_app_name=app, _api_name=api, **arguments)

    def _log(self, app: str, api: str, arguments: dict, reply: dict, wrote: bool) -> None:
        arguments = {key: value for key, value in arguments.items() if key != "raise_on_failure"}
        arguments = json.loads(json.dumps(arguments, default=str))
        self.calls.append(
            {
                "n": len(self.calls),
                "app": app,
                "api": api,
                "arguments": blank(arguments),
                "ok": "result" in reply,
                "wrote": wrote,
                "output": blank(reply.get("result")) if self._with_output else None,
            }
        )

    def declared_complete(self, since: int) -> bool:
        """Whether a call from number `since` on declared the item complete."""
        return any(
            (call["app"], call["api"]) == _COMPLETION and call["ok"] for call in self.calls[since:]
        )


def exposed_apis(world: AppWorld) -> dict[str, list[str]]:
    """The APIs a solver may call, by app. Stock exposes two private ones of `admin` by mistake."""
    return {app: list(apis) for app, apis in world.apis.items() if app != "admin"}


def blank(value: Any) -> Any:
    """The JSON value with access tokens and passwords replaced, and numbers that no table holds as text."""
    if isinstance(value, dict):
        return {
            key: SECRET if _SECRET_FIELD.search(key) and part is not None else blank(part)
            for key, part in value.items()
        }
    if isinstance(value, list):
        return [blank(part) for part in value]
    unfit = (isinstance(value, float) and not math.isfinite(value)) or (
        isinstance(value, int) and abs(value) >= _WHOLE
    )
    return str(value) if unfit else value


def _tokens(value: Any) -> Iterator[str]:
    """The access tokens in a result."""
    if isinstance(value, list):
        for part in value:
            yield from _tokens(part)
    elif isinstance(value, dict):
        for key, part in value.items():
            if isinstance(part, str) and _TOKEN_FIELD.search(key):
                yield part
            else:
                yield from _tokens(part)


def take_copy(world: AppWorld) -> Callable[[], None]:
    """Copies all databases of a world; calling the result puts them back, with the logs of changes."""
    copies = []
    for app in world.models.app_names:
        database = world.models[app].SQLModel.db
        copy = sqlite3.connect(":memory:")
        database.connection.backup(copy)
        copies.append((database, copy, list(database.tracker.changes)))
    home = world.output_db_home_path_in_memory
    hashes = deepcopy(ModelHashHandler.data[home])

    def restore() -> None:
        for database, copy, changes in copies:
            copy.backup(database.connection)
            copy.close()
            database.tracker.changes[:] = changes
        ModelHashHandler.data[home] = hashes

    return restore


def _writes(world: AppWorld) -> int:
    """Number of SQL changes so far outside of the supervisor app, where an item is declared complete."""
    return sum(
        len(world.models[app].SQLModel.db.tracker.changes)
        for app in world.models.app_names
        if app != "supervisor"
    )


def _restore(value: Any) -> Any:
    """An argument as it was in the shell; what JSON cannot carry becomes a stand-in that JSON refuses."""
    if isinstance(value, dict):
        if UNSERIALIZABLE in value:
            text, name = str(value.get("text")), str(value[UNSERIALIZABLE])
            return type(name.replace("\0", ""), (), {"__str__": lambda self: text})()
        return {key: _restore(part) for key, part in value.items()}
    return [_restore(part) for part in value] if isinstance(value, list) else value


def describe_error(error: BaseException | None) -> dict | None:
    """An exception with those before it, as the shell needs it to raise the same."""
    if error is None:
        return None
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    plain = all(isinstance(part, str | int | float | bool | None) for part in error.args)
    return {
        "module": type(error).__module__,
        "name": type(error).__qualname__,
        "text": str(error),
        "arguments": list(error.args) if plain else None,
        "status_code": getattr(error, "status_code", None),
        "detail": getattr(error, "detail", None),
        "before": describe_error(before),
        "from_before": error.__cause__ is not None,
    }
