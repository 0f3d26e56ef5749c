"""The canary over real sockets: a set-up that cannot work is told in one line before anything is paid for."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tasks.canary import CHANCE, READY, canary
from tasks.errors import CanaryFault
from tasks.llm.accounted import AccountedClient
from tasks.llm.endpoints import clients, read_endpoints
from tasks.llm.governor import Governor
from tasks.llm.ledger import Ledger
from tasks.llm.prompting import load_prompt
from tasks.plan import Plan
from tasks.spool import Spool
from tasks.workbench import Workbench
from tests.toy.__main__ import toy_plan
from tests.toy.provider import ToyProvider
from tests.toy.suite import ToySuite, toy_seeds
from tests.wire.formats import json_reply, openai_reply
from tests.wire.server import Answer, Asked, HttpReply, WireServer

ENDPOINTS = """
[toy]
kind = "openai"
base_url = "{url}/v1"
patience = {{ max_tries = 2, first_wait_s = 0.01 }}
"""


@asynccontextmanager
async def bench_of(folder: Path, answer: Answer, plan: Plan) -> AsyncIterator[Workbench]:
    """A campaign's workbench on the toy suite, its models behind a socket."""
    async with WireServer(answer) as server:
        file = folder / "endpoints.toml"
        file.write_text(ENDPOINTS.format(url=server.url))
        spool = Spool(folder, "c")
        spool.folder.mkdir(exist_ok=True)
        ledger = Ledger(spool.folder, "c")
        made = clients(
            read_endpoints(file),
            1,
            lambda item_id: None,
            accounted=lambda client, prices: AccountedClient(
                client, prices, ledger, Governor(ledger)
            ),
        )
        yield Workbench(
            campaign="c",
            plan=plan,
            edition="1",
            spool=spool,
            suite=ToySuite(),
            clients=made,
            receipts=folder / "receipts",
            sink=lambda rows: None,
            attempt_slots=asyncio.Semaphore(1),
            probed=frozenset({"toy"}),
            ledger=ledger,
        )
        await made["toy"].aclose()


def plan(**changes: object) -> Plan:
    """The toy plan, asking for vectors of eight numbers."""
    embedder = {"endpoint": "toy", "llm_id": "toy", "dimensions": 8}
    return toy_plan(embedder=embedder, **changes)


ITEM = toy_seeds()[0].item


async def test_models_that_can_play_are_probed_once_a_campaign(tmp_path: Path) -> None:
    provider = ToyProvider()
    for _ in range(2):
        async with bench_of(tmp_path, provider.answer, plan()) as bench:
            await canary(bench, ITEM)
            assert len(bench.loaded) == 6
    # One reply each, and for the solver three of chance and one turn.
    assert provider.answered == 5 + 3 + 1
    async with bench_of(tmp_path, provider.answer, plan()) as bench:
        spec = bench.plan.judge.model_copy(update={"llm_id": "another"})
        changed = bench.plan.model_copy(update={"judge": spec})
        bench.plan = changed
        await canary(bench, ITEM)
    assert provider.answered == 5 + 3 + 1 + 1, "another spec is another model"


Broken = Callable[[Asked], HttpReply | None]
"""The fault of a server: a reply instead of the right one, None where it answers well."""


def said(reply: str, *when: str, finish: str = "stop", **message: object) -> Broken:
    """The reply to every request whose first message is one of `when`."""
    whole = json_reply(openai_reply(reply, finish=finish, **message))
    return lambda asked: (
        whole if asked.body.get("messages", [{}])[0].get("content") in when else None
    )


def system(role: str) -> str:
    return load_prompt(role)["system"]


def short_vectors(asked: Asked) -> HttpReply | None:
    if not asked.path.endswith("/embeddings"):
        return None
    return json_reply({"data": [{"index": 0, "embedding": [0.5] * 8}]})


NAMELESS = [{"id": "a", "type": "function", "function": {"name": "", "arguments": "{}"}}]

FAULTS: dict[str, tuple[Broken, str]] = {
    "solver that only talks": (
        said("I would first look at the shelf.", system("solver")),
        "solver (toy/toy) makes no API call in 3 turns; its last reply begins: 'I would first look",
    ),
    "solver that acts on nothing": (
        said("```python\nprint(1)\n```", system("solver")),
        "makes no API call in 3 turns",
    ),
    "empty tool field": (
        said("", system("solver"), finish="tool_calls", tool_calls=NAMELESS),
        "solver (toy/toy) calls a tool without a name",
    ),
    "repeats that are one": (
        said("one two three", CHANCE),
        "solver (toy/toy) gives 3 times the same reply to a request for random words at temperature "
        "of its own choice",
    ),
    "all tokens into reasoning": (
        said("", READY, finish="length"),
        "proposer (toy/toy) gives an empty reply (all of its max_tokens = 4096 went into reasoning)",
    ),
    "judge without a schema": (
        said("The item is fine.", system("judge")),
        "judge (toy/toy) gives replies that cannot be read",
    ),
    "labeller of other labels": (
        said(json.dumps({"reason": "", "labels": {"F77": True}}), system("labeller")),
        "labeller (toy/toy) gives replies that cannot be read",
    ),
}


@pytest.mark.parametrize(("broken", "diagnosis"), FAULTS.values(), ids=FAULTS)
async def test_a_set_up_that_cannot_work_is_told_in_one_line_and_probed_again(
    tmp_path: Path, broken: Broken, diagnosis: str
) -> None:
    provider = ToyProvider()

    def answer(asked: Asked) -> HttpReply:
        return broken(asked) or provider.answer(asked)

    async with bench_of(tmp_path, answer, plan()) as bench:
        with pytest.raises(CanaryFault) as raised:
            await canary(bench, ITEM)
    assert diagnosis in str(raised.value) and "\n" not in str(raised.value)
    print(raised.value)
    async with bench_of(tmp_path, provider.answer, plan()) as bench:
        await canary(
            bench, ITEM
        )  # the server was mended: the bad reply is not taken for its answer


async def test_an_embedder_of_the_wrong_size_is_told(tmp_path: Path) -> None:
    embedder = {"endpoint": "toy", "llm_id": "toy", "dimensions": 768}
    provider = ToyProvider()

    def answer(asked: Asked) -> HttpReply:
        return short_vectors(asked) or provider.answer(asked)

    async with bench_of(tmp_path, answer, toy_plan(embedder=embedder)) as bench:
        with pytest.raises(CanaryFault, match=r"embedder.*768 were asked for and \[8\] came"):
            await canary(bench, ITEM)


async def test_at_temperature_zero_repeats_may_be_equal(tmp_path: Path) -> None:
    solver = {"endpoint": "toy", "llm_id": "toy", "sampling": {"temperature": 0.0}}
    provider = ToyProvider()
    async with bench_of(tmp_path, provider.answer, plan(solver=solver)) as bench:
        await canary(bench, ITEM)
    assert provider.answered == 5 + 1


async def test_models_in_this_process_are_not_probed(tmp_path: Path) -> None:
    asked = itertools.count()

    def answer(_: Asked) -> HttpReply:
        next(asked)
        return json_reply({})

    async with bench_of(tmp_path, answer, plan()) as bench:
        bench.probed = frozenset()
        await canary(bench, ITEM)
    assert next(asked) == 0
