"""Every exception of the SDKs and of their HTTP client has a name of ours, and none tells the key."""

import asyncio
import importlib
import inspect
import json
import pkgutil
import ssl
from collections.abc import Iterator

import google.genai.errors
import httpx2
import openai
import pytest
from pydantic import BaseModel, ValidationError

from tasks.errors import ProviderError, ProviderRefused
from tasks.llm.faults import (
    BrokenReply,
    ConnectionLost,
    PromptTooLong,
    ProviderDown,
    RateLimited,
    Stalled,
    TransientFault,
    fault_of,
)
from tasks.llm.wire import asked

KEY = "sk-very-secret-0123456789"
REQUEST = httpx2.Request("POST", "http://here/v1", headers={"authorization": f"Bearer {KEY}"})


def response(status: int) -> httpx2.Response:
    return httpx2.Response(status, request=REQUEST)


def raisable(package: str) -> Iterator[type[Exception]]:
    """The exceptions that a package defines in its public modules, warnings apart."""
    modules = [importlib.import_module(package)]
    modules += [
        importlib.import_module(f"{package}.{module.name}")
        for module in pkgutil.iter_modules(modules[0].__path__)
        if module.name in {"_exceptions", "errors"}
    ]
    for module in modules:
        for found in list(vars(module).values()):
            # By `type`: getattr and isinstance would load all that openai loads when asked, 1 s of a core.
            if not issubclass(type(found), type) or not issubclass(found, Exception):
                continue
            ours = found.__module__.startswith(package.partition(".")[0])
            if ours and not issubclass(found, Warning):
                yield found


FOREIGN = sorted(
    {*raisable("openai"), *raisable("google.genai"), *raisable("httpx2")},
    key=lambda one: f"{one.__module__}.{one.__name__}",
)


def test_the_exceptions_are_found() -> None:
    names = {one.__name__ for one in FOREIGN}
    assert names > {"RateLimitError", "APITimeoutError", "ClientError", "ReadTimeout", "InvalidURL"}
    assert len(FOREIGN) > 40


@pytest.mark.parametrize("kind", FOREIGN, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_each_exception_is_mapped(kind: type[Exception]) -> None:
    error = made(kind)
    fault = fault_of(error, KEY)
    assert isinstance(fault, TransientFault | ProviderRefused), (
        f"{kind}: name it in tasks/llm/faults.py"
    )
    assert KEY not in f"{fault!s}{fault!r}" and "\n" not in str(fault)


def made(kind: type[Exception]) -> Exception:
    """An exception whose text has the key in it, made as its library makes it."""
    text = f"it went\nwrong with {KEY}"
    values = {
        "message": text,
        "request": REQUEST,
        "response": response(500),
        "body": {"message": text},
        "code": 500,
        "response_json": {"error": {"message": text}},
        "stream": None,
        "completion": openai.types.chat.ChatCompletion.model_construct(usage=text),
        "unsent_messages": [],
    }
    if not inspect.isfunction(kind.__init__):  # the built-in exceptions' own
        return kind(text)
    parameters = inspect.signature(kind).parameters
    return kind(**{name: values[name] for name in parameters if name in values})


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, ProviderRefused),
        (401, ProviderRefused),
        (403, ProviderRefused),
        (404, ProviderRefused),
        (408, ProviderDown),
        (409, ProviderDown),
        (422, ProviderRefused),
        (429, RateLimited),
        (500, ProviderDown),
        (503, ProviderDown),
        (529, ProviderDown),
    ],
)
def test_a_status_means_the_same_whoever_tells_it(
    status: int, expected: type[ProviderError]
) -> None:
    body = {"error": {"message": "words", "code": status}}
    errors = [
        openai.APIStatusError("words", response=response(status), body=body["error"]),
        google.genai.errors.APIError(status, body, response(status)),
        httpx2.HTTPStatusError("words", request=REQUEST, response=response(status)),
    ]
    assert [type(fault_of(error)) for error in errors] == [expected] * 3


@pytest.mark.parametrize(
    "words",
    [
        "request (4019 tokens) exceeds the available context size (1024 tokens), try increasing it",
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens",
        "Your input exceeds the context window of this model.",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    ],
)
def test_a_prompt_that_is_too_long_is_told_apart(words: str) -> None:
    body = {"message": words}
    errors = [
        openai.BadRequestError("words", response=response(400), body=body),
        google.genai.errors.ClientError(400, {"error": body}, response(400)),
    ]
    assert [type(fault_of(error)) for error in errors] == [PromptTooLong] * 2
    other = openai.BadRequestError("x", response=response(400), body={"message": "no such field"})
    assert type(fault_of(other)) is ProviderRefused


def test_a_connection_and_a_silence_are_told_apart() -> None:
    lost = (httpx2.ConnectError, httpx2.ReadError, httpx2.RemoteProtocolError, httpx2.ProxyError)
    assert {type(fault_of(kind("x"))) for kind in lost} == {ConnectionLost}
    silent = (httpx2.ConnectTimeout, httpx2.ReadTimeout, httpx2.WriteTimeout, httpx2.PoolTimeout)
    assert {type(fault_of(kind("x"))) for kind in silent} == {Stalled}
    assert type(fault_of(openai.APITimeoutError(REQUEST))) is Stalled
    for kind in (ConnectionResetError, BrokenPipeError, ssl.SSLError):
        assert type(fault_of(kind("x"))) is ConnectionLost


def test_an_unreadable_reply_is_not_quoted() -> None:
    class Reply(BaseModel):
        number: int

    with pytest.raises(ValidationError) as raised:
        Reply.model_validate({"number": f"secret {KEY}"})
    fault = fault_of(raised.value)
    assert type(fault) is BrokenReply and "1 fields" in str(fault) and "secret" not in str(fault)
    assert type(fault_of(json.JSONDecodeError("x", "y", 0))) is BrokenReply


@pytest.mark.parametrize("error", [KeyError("x"), TypeError("x"), ValueError("x"), OSError("x")])
async def test_our_own_mistakes_are_no_faults_of_a_provider(error: Exception) -> None:
    assert fault_of(error) is None

    async def mistaken() -> None:
        raise error

    with pytest.raises(type(error)):
        await asked(mistaken(), None)


async def test_the_user_can_stop_a_call() -> None:
    async def endless() -> None:
        await asyncio.sleep(60)

    call = asyncio.create_task(asked(endless(), None))
    await asyncio.sleep(0)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
