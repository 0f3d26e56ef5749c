"""endpoints.toml: what it may say, where keys come from, and that they go nowhere else."""

import asyncio
import logging
import subprocess
import sys
import traceback
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tasks.errors import InputError, ProviderError
from tasks.llm.base import LLMSpec, Message, Request, Tokens
from tasks.llm.endpoints import clients, read_endpoints
from tasks.llm.prices import Prices, cost_usd
from tasks.spool import Unit
from tests.wire.formats import (
    gemini_error,
    gemini_reply,
    json_reply,
    openai_embeddings,
    openai_error,
    openai_reply,
)
from tests.wire.server import Asked, HttpReply, WireServer

KEY = "sk-very-secret-0123456789"
VARIABLE = "TURTLE_TEST_KEY"

FILE = """
[offline]
kind = "offline"

[gemma]
kind = "openai"
base_url = "{url}/v1"
key_variable = "{variable}"
concurrency = 64
patience = {{ timeout_s = 5, max_tries = 2, first_wait_s = 0.01 }}

[gemma.prices."google/gemma-4-31b-it"]
input = 0.1
output = 0.4

[gemini]
kind = "gemini"
base_url = "{url}"
key_variable = "{variable}"
patience = {{ timeout_s = 5, max_tries = 2, first_wait_s = 0.01 }}
"""


def answer(asked: Asked) -> HttpReply:
    return json_reply(gemini_reply() if "generateContent" in asked.path else openai_reply())


@pytest.fixture
async def server() -> AsyncIterator[WireServer]:
    async with WireServer(answer) as serving:
        yield serving


def written(folder: Path, text: str) -> Path:
    file = folder / "endpoints.toml"
    file.write_text(text, encoding="utf-8")
    return file


def request(endpoint: str, llm_id: str = "google/gemma-4-31b-it") -> Request:
    spec = LLMSpec(endpoint=endpoint, llm_id=llm_id)
    return Request(role="judge", spec=spec, messages=(Message(role="user", content="Well?"),))


async def test_both_kinds_are_made_and_answer(
    server: WireServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f" {KEY}\n")
    known = read_endpoints(written(tmp_path, FILE.format(url=server.url, variable=VARIABLE)))
    made = clients(known, 1, lambda item_id: None)
    gemma = await made["gemma"].complete(request("gemma"))
    gemini = await made["gemini"].complete(request("gemini"))
    for client in made.values():
        await client.aclose()
    assert (gemma.text, gemini.text) == ("Fine.", "Fine.")
    assert gemma.cost_usd == pytest.approx((12 * 0.1 + 3 * 0.4) / 1e6)
    assert gemini.cost_usd is None, "an unknown price is not zero"
    first, second = server.asked
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert second.headers["x-goog-api-key"] == KEY
    assert not made["gemma"].simulated and made["offline"].simulated


async def test_the_calls_in_flight_of_all_roles_share_one_limit(
    server: WireServer, tmp_path: Path
) -> None:
    table = f'[here]\nkind = "openai"\nbase_url = "{server.url}/v1"\nconcurrency = 3\n'
    client = clients(read_endpoints(written(tmp_path, table)), 1, lambda item_id: None)["here"]

    def slowly(asked: Asked) -> HttpReply:
        reply = openai_embeddings(asked) if "embeddings" in asked.path else answer(asked)
        return replace(reply, delay_s=0.05)

    server.answer = slowly
    asked = request("here")
    roles = ("proposer", "solver", "feedback", "judge", "labeller")
    calls = [client.complete(asked.model_copy(update={"role": role})) for role in roles * 2]
    await asyncio.gather(
        *calls, client.embed(["one"], asked.spec), client.embed(["two"], asked.spec)
    )
    await client.aclose()
    assert len(server.asked) == 12
    assert server.most_in_flight == 3, "as many as the endpoint may have, and no more"


def test_a_key_that_is_not_set_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    known = read_endpoints(written(tmp_path, FILE.format(url="http://here", variable=VARIABLE)))
    with pytest.raises(InputError, match=f"endpoint 'gemma': .*{VARIABLE}") as raised:
        clients(known, 1, lambda item_id: None)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("wrong", ["two words", "line\nend", "schl\u00fcssel"])
def test_what_can_be_no_key_is_not_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: str
) -> None:
    monkeypatch.setenv(VARIABLE, wrong)
    known = read_endpoints(written(tmp_path, FILE.format(url="http://here", variable=VARIABLE)))
    with pytest.raises(InputError, match=VARIABLE) as raised:
        clients(known, 1, lambda item_id: None)
    assert wrong not in str(raised.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[a]\nkind = "oracle"',
            r"\[a\] kind: .*unknown kind oracle; there are: file, gemini, local",
        ),
        ('[a]\nkind = "openai"\nbase_url = "here"', r"\[a\] base_url"),
        (f'[a]\nkind = "openai"\nbase_url = "http://me:{KEY}@here/v1"', r"\[a\] base_url"),
        ('[a]\nkind = "openai"\nkey = "x"', r"\[a\] key: Extra inputs"),
        ('[a]\nkind = "openai"\nprices = { m = { input = -1 } }', r"\[a\] prices\.m\.input"),
        ('[a]\nkind = "openai"\npatience = { max_tries = 0 }', r"\[a\] patience\.max_tries"),
        ('kind = "openai"', "kind stands outside of a table"),
        ("[a", "cannot be read"),
    ],
)
def test_what_is_wrong_in_the_file_is_said_in_one_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message) as raised:
        read_endpoints(written(tmp_path, text))
    assert "\n" not in str(raised.value).replace(str(tmp_path), "") or "cannot be read" in message
    assert KEY not in str(raised.value)


def test_gemini_without_a_key_is_refused(tmp_path: Path) -> None:
    known = read_endpoints(written(tmp_path, '[a]\nkind = "gemini"'))
    with pytest.raises(InputError, match="key_variable"):
        clients(known, 1, lambda item_id: None)


def test_the_file_that_is_shipped_can_be_read_with_its_examples(
    checkout: Path, tmp_path: Path
) -> None:
    shipped = (checkout / "deployments" / "endpoints.toml").read_text(encoding="utf-8")
    assert set(read_endpoints(written(tmp_path, shipped))) == {"offline", "local"}
    # Examples are comments without a space after the sign.
    examples = "\n".join(
        line[1:] if line.startswith("#") and not line.startswith("# ") else line
        for line in shipped.split("\n")
    )
    known = read_endpoints(written(tmp_path, examples))
    assert {endpoint.kind for endpoint in known.values()} == {
        "offline",
        "local",
        "file",
        "openai",
        "gemini",
    }


def test_no_sdk_is_imported_before_an_endpoint_needs_it(checkout: Path) -> None:
    """Each costs a second of every command's start."""
    program = (
        "import sys, tasks.llm.endpoints; "
        "print(sorted({'openai', 'google.genai', 'httpx2'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program]
    shown = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


async def test_a_key_goes_to_its_server_and_nowhere_else(
    server: WireServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "google_genai", "httpx2", "httpcore2"):
        caplog.set_level(logging.DEBUG, logger=name)
    known = read_endpoints(written(tmp_path, FILE.format(url=server.url, variable=VARIABLE)))
    made = clients(known, 1, lambda item_id: None)
    seen = [repr(known), repr(made), *(repr(vars(client)) for client in made.values())]
    unit = Unit(tmp_path / "spool" / "unit.jsonl", "attempts", "key")
    for name, error in (("gemma", openai_error), ("gemini", lambda text: gemini_error(400, text))):
        await unit.complete(made[name], request(name))
        for status in (400, 401, 403, 429, 500, 200):
            server.then(json_reply(error(f"Incorrect key {KEY}"), status), *_cut(status))
            seen += await _failure(unit, made[name], request(name))
    unit.finish()
    for client in made.values():
        await client.aclose()
    seen += [*capfd.readouterr(), *(repr(vars(record)) for record in caplog.records)]
    seen += [record.getMessage() for record in caplog.records]
    seen += [file.read_text() for file in (tmp_path / "spool").rglob("*") if file.is_file()]
    assert sum(KEY in "".join(asked.headers.values()) for asked in server.asked) > 12
    assert sum(len(text) for text in seen) > 5_000
    assert not [text for text in seen if KEY in text], "the key has come to light"


def _cut(status: int) -> list[HttpReply]:
    """What the second try of a transient fault meets."""
    return [] if status in (400, 401, 403) else [HttpReply(b'{"a": 1}', cut_at=3, then="reset")]


async def _failure(unit: Unit, client: Any, ask: Request) -> list[str]:
    """All that a failed call shows of itself."""
    try:
        await unit.complete(client, ask)
    except ProviderError as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        return [repr(error), str(error), "".join(shown.format())]
    raise AssertionError("the call did not fail")


PRICED = Prices(input=1.0, cached_input=0.1, output=10.0)


@pytest.mark.parametrize(
    ("prices", "tokens", "dollars"),
    [
        (PRICED, Tokens(prompt=10, cached=4, completion=2), 6 * 1 + 4 * 0.1 + 2 * 10),
        (PRICED, Tokens(prompt=10, cached=0, completion=2), 30),
        (PRICED, Tokens(prompt=10, cached=None, completion=2), None),
        (PRICED, Tokens(prompt=None, cached=0, completion=2), None),
        (PRICED, Tokens(prompt=10, cached=0, completion=None), None),
        (PRICED, Tokens(), None),
        (None, Tokens(prompt=10, cached=0, completion=2), None),
        (Prices(input=1.0, output=10.0), Tokens(prompt=10, completion=2), 30),
        (Prices(input=1.0, output=10.0), Tokens(prompt=10, cached=0, completion=2), 30),
        (Prices(input=1.0, output=10.0), Tokens(prompt=10, cached=4, completion=2), None),
        (Prices(input=1.0), Tokens(prompt=10, completion=0), 10),
        (Prices(input=1.0), Tokens(prompt=10, completion=1), None),
        (Prices(input=0.0, output=0.0), Tokens(prompt=10, completion=2), 0),
    ],
)
def test_a_cost_is_known_only_with_all_prices_and_counts(
    prices: Prices | None, tokens: Tokens, dollars: float | None
) -> None:
    expected = None if dollars is None else pytest.approx(dollars / 1e6)
    assert cost_usd(prices, tokens) == expected
