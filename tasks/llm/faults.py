"""What can go wrong between us and a provider: our names for it, and the one place where they are given.

A `TransientFault` may be over at the next try, and `RetryingClient` alone tries again; a `ProviderRefused`
is final. Neither holds the foreign exception that it was made from: that one has the request in it, and the
request has the key in its headers.
"""

import json
import re
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from pydantic import ValidationError

from tasks.errors import ProviderError, ProviderRefused

# The SDKs and their HTTP client are imported where one of them has raised, thus was imported already:
# this module is, by every command.

MAX_SAID_CHARS = 300
"""Characters of a provider's own words that a message of ours quotes."""

_QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached"}
"""Codes under which OpenAI says by a 429 that no money is left: waiting does not help."""

_TOO_LONG = re.compile(
    r"context.?(length|size|window)|token count.* exceeds|maximum number of tokens|prompt is too long",
    re.IGNORECASE,
)
"""How vLLM, llama.cpp, OpenAI and Gemini say by a 400 that a prompt is too long for the model."""

_TRANSIENT_4XX = {408, 409, 425, 429}


class TransientFault(ProviderError):
    """A fault that another try may not meet."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s
        """How long the provider asked us to wait, in seconds from now; None when it did not say."""


class RateLimited(TransientFault):
    """429: too many requests or tokens."""


class ProviderDown(TransientFault):
    """5xx, or a 4xx that says "not now"."""


class ConnectionLost(TransientFault):
    """No connection, or one that broke before the reply was there."""


class Stalled(TransientFault):
    """Nothing came for too long."""


class BrokenReply(TransientFault):
    """A reply arrived and is not what the protocol promises: cut off, no JSON, nothing chosen."""


class PromptTooLong(ProviderRefused):
    """The prompt does not fit into the model's context: a conversation's fault, not the endpoint's."""


def fault_of(error: Exception, key: str | None = None) -> ProviderError | None:
    """Our name for what an SDK or its HTTP client raised.

    Args:
        error: of openai, google-genai, httpx2, or of reading what they returned.
        key: the endpoint's key, which is taken out of the message wherever the provider repeats it.

    Returns:
        The fault, to be raised outside of the handler; None for an error that comes from no provider,
        which is a fault of ours and has to be seen.
    """
    package = type(error).__module__.partition(".")[0]
    if package == "openai":
        return _of_openai(error, key)
    if package == "google":
        return _of_google(error, key)
    if package == "httpx2":
        return _of_httpx(error, key)
    if isinstance(error, ValidationError | json.JSONDecodeError | UnicodeDecodeError):
        return unreadable(error, key)
    if isinstance(error, ConnectionError | ssl.SSLError | TimeoutError):
        return ConnectionLost(f"the connection broke ({_named(error, key)})")
    return None


def unreadable(error: Exception, key: str | None = None) -> BrokenReply:
    """The fault of a reply whose reading raised `error`."""
    return BrokenReply(f"the reply cannot be read ({_named(error, key)})")


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """The wait that the headers ask for, in seconds from now, 0 for a time that is past.

    Reads `retry-after-ms`, then `retry-after` as seconds or as an HTTP date; None where neither is there
    or readable.
    """
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if re.fullmatch(r"\d+(\.\d+)?", headers.get(name, "").strip()):
            return float(headers[name]) * unit_s
    try:
        date = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _of_openai(error: Exception, key: str | None) -> ProviderError:
    import openai

    cause = error.__cause__ or error
    if isinstance(error, openai.APIResponseValidationError):
        return unreadable(error, key)
    if isinstance(error, openai.APIStatusError):
        body = error.body if isinstance(error.body, dict) else {"message": error.body}
        if error.code in _QUOTA_CODES:
            return ProviderRefused(f"no quota is left (429: {_said(body.get('message'), key)})")
        wait = retry_after_s(error.response.headers)
        return _of_status(error.status_code, body.get("message"), wait, key)
    if isinstance(error, openai.APITimeoutError):
        return Stalled(f"nothing came for too long ({_named(cause, key)})")
    if isinstance(error, openai.APIConnectionError):
        return ConnectionLost(f"the connection broke ({_named(cause, key)})")
    if isinstance(error, openai.APIError):
        return BrokenReply(f"the reply is an error without a status ({_named(error, key)})")
    # What is left is raised before anything is sent, or by helpers that we do not use.
    return ProviderRefused(f"the client refused to send the request ({_named(error, key)})")


def _of_google(error: Exception, key: str | None) -> ProviderError:
    from google.genai import errors

    if isinstance(error, errors.APIError):
        wait = retry_after_s(getattr(error.response, "headers", None) or {})
        if wait is None:
            wait = _retry_info_s(error.details)
        return _of_status(error.code, error.message, wait, key)
    if isinstance(error, errors.UnknownApiResponseError):
        return unreadable(error, key)
    return ProviderRefused(f"the client refused to send the request ({_named(error, key)})")


def _of_httpx(error: Exception, key: str | None) -> ProviderError:
    import httpx2

    if isinstance(error, httpx2.HTTPStatusError):
        wait = retry_after_s(error.response.headers)
        return _of_status(error.response.status_code, str(error), wait, key)
    if isinstance(error, httpx2.TimeoutException):
        return Stalled(f"nothing came for too long ({_named(error, key)})")
    if isinstance(error, httpx2.DecodingError):
        return unreadable(error, key)
    final = (httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, httpx2.TooManyRedirects)
    if isinstance(error, httpx2.RequestError | httpx2.StreamError) and not isinstance(error, final):
        return ConnectionLost(f"the connection broke ({_named(error, key)})")
    return ProviderRefused(f"the request cannot be sent ({_named(error, key)})")


def _of_status(status: int, said: Any, wait_s: float | None, key: str | None) -> ProviderError:
    """A reply's status as a fault. Of a 401 only the number is told: it likes to quote the key."""
    if status == 401:
        return ProviderRefused("the key is not accepted (401)")
    line = f"{status}: {_said(said, key)}"
    if status == 429:
        return RateLimited(f"too many requests ({line})", wait_s)
    if status in _TRANSIENT_4XX or status >= 500:
        return ProviderDown(f"the provider is not available ({line})", wait_s)
    if status in (400, 413) and _TOO_LONG.search(line):
        return PromptTooLong(f"the prompt is too long for the model ({line})")
    return ProviderRefused(f"the provider refused the request ({line})")


def _retry_info_s(details: Any) -> float | None:
    """The wait in a Gemini error's body (google.rpc.RetryInfo), which comes with no header."""
    error = details.get("error", details) if isinstance(details, dict) else {}
    infos = error.get("details") if isinstance(error, dict) else None
    for info in infos if isinstance(infos, list) else ():
        delay = info.get("retryDelay") if isinstance(info, dict) else None
        if isinstance(delay, str) and re.fullmatch(r"\d+(\.\d+)?s", delay):
            return float(delay[:-1])
    return None


def _named(error: BaseException, key: str | None) -> str:
    name = type(error).__name__
    if isinstance(error, ValidationError):  # its text quotes the whole reply
        return f"{name}: {error.error_count()} fields are not as promised"
    return f"{name}: {_said(error, key)}" if str(error) else name


def _said(words: Any, key: str | None) -> str:
    """A provider's words in one line, cut, without the key."""
    line = " ".join(str(words or "no reason given").split())
    if key:
        line = line.replace(key, "[key]")
    return line if len(line) <= MAX_SAID_CHARS else f"{line[:MAX_SAID_CHARS]} [cut]"
