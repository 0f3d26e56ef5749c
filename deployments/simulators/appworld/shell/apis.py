"""`apis` as a cell sees it: the stock engine's shape and messages, every call a JSON line to the world.

Classes and functions bear the names that stock gives them where a message or a traceback shows the name.
"""

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from fastapi.exceptions import HTTPException
from munch import Munch

UNSERIALIZABLE = "__unserializable__"
"""Key of the stand-in for an argument that JSON cannot carry: its type's name and its text."""

Exchange = Callable[[dict], dict]
"""Sends one request to the world and returns its reply."""


class CustomErrorMessageMunch(Munch):
    """A namespace that names what it does not have, as the stock engine words it."""

    def __init__(self, error_message: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        object.__setattr__(self, "_error_message", error_message)

    def __getattr__(self, key: str) -> Any:
        try:
            return object.__getattribute__(self, key)
        except AttributeError:
            try:
                return self[key]
            except KeyError:
                message = object.__getattribute__(self, "_error_message").format(key=key)
                raise HTTPException(status_code=422, detail=message)  # noqa: B904 - as stock chains it


class ApiCollection(CustomErrorMessageMunch):
    """The APIs by app."""


class _CustomErrorMessageMunch(CustomErrorMessageMunch):
    """The APIs of one app by name."""


def build_apis(names: dict[str, list[str]], exchange: Exchange) -> ApiCollection:
    """Builds `apis` from the API names by app."""
    apis = ApiCollection("No app named '{key}' found.")
    for app, api_names in names.items():
        apis[app] = _CustomErrorMessageMunch("No API named '{key}' found in the " + app + " app.")
        for api in api_names:
            apis[app][api] = _wrap_api_request(app, api, exchange)
    return apis


def _wrap_api_request(app: str, api: str, exchange: Exchange) -> Callable:
    def _api_request(**kwargs: Any) -> Any:
        if kwargs.pop("_system_datetime", None) is not None:
            raise Exception("Cannot set system_datetime when allow_datetime_change is False.")
        show = kwargs.pop("show", False)
        request = {"app": app, "api": api, "arguments": kwargs}
        reply = exchange(json.loads(json.dumps(request, default=_stand_in, skipkeys=True)))
        if "error" in reply:
            _raise(list(_chain(reply["error"])))
        result = reply["result"]
        if show:
            print(json.dumps(result, indent=2) if isinstance(result, dict) else result)
        return result

    return _api_request


def _stand_in(value: Any) -> dict:
    return {UNSERIALIZABLE: type(value).__name__, "text": str(value)}


def _chain(error: dict | None) -> Iterator[tuple[BaseException, bool]]:
    """The exceptions of a reply, innermost first, each with whether it was raised `from` the one before."""
    if error is not None:
        yield from _chain(error["before"])
        yield _exception(error), error["from_before"]


def _exception(error: dict) -> BaseException:
    """The exception that the world met, of the type that a cell would have seen in stock."""
    if error["module"] == "fastapi.exceptions":
        return HTTPException(status_code=error["status_code"], detail=error["detail"])
    known = (
        vars(sys.modules["builtins"]).get(error["name"]) if error["module"] == "builtins" else None
    )
    if known is not None and error["arguments"] is not None:
        return known(*error["arguments"])
    text = error["text"]
    members = {"__module__": error["module"], "__str__": lambda self: text}
    return type(error["name"], (Exception,), members)(text)


def _raise(chain: list[tuple[BaseException, bool]]) -> None:
    """Raises the last exception of a chain while the ones before are being handled, as they once were."""
    *before, (exception, from_before) = chain
    if not before:
        raise exception
    try:
        _raise(before)
    except BaseException as inner:
        if from_before:
            raise exception from inner
        raise exception  # noqa: B904 - the reply says that it was not raised from the one before
