"""Replay: recorded replies to recorded requests, and what is said of any other."""

from pathlib import Path

import pytest

from tasks.errors import InputError
from tasks.llm.base import (
    Completion,
    EmbedderSpec,
    LLMSpec,
    Message,
    Request,
    Sampling,
    Subject,
)
from tasks.llm.replay import NotRecorded, Recording, ReplayClient
from tasks.spool import Spool, Unit
from tests.rows import item_row
from warehouse.records import Embedding

SPEC = LLMSpec(endpoint="gemma", llm_id="m", sampling=Sampling(temperature=1.0))


class Numbering:
    """Answers with a number that grows."""

    simulated = False

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, request: Request) -> Completion:
        """The next number."""
        self.asked += 1
        return Completion(text=f"reply {self.asked}", cost_usd=0.5)

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """Not asked for here."""
        raise AssertionError

    async def aclose(self) -> None:
        """Nothing is held."""


def request(
    repeat: int = 0, turn: int = 0, said: str = "Put 3 into it.", **other: object
) -> Request:
    opening = (Message(role="system", content="Act."), Message(role="user", content=said))
    later = [
        Message(role="assistant" if n % 2 == 0 else "user", content=f"{n}") for n in range(2 * turn)
    ]
    values = {"role": "solver", "spec": SPEC, "messages": (*opening, *later)}
    subject = Subject(item_id="i", measurement="search", repeat=repeat, turn=turn)
    return Request.model_validate(values | {"subject": subject} | other)


@pytest.fixture
async def recording(tmp_path: Path) -> Recording:
    """Two attempts of two turns, which begin alike, and an embedding."""
    spool, client = Spool(tmp_path, "c"), Numbering()

    async def attempt(unit: Unit, repeat: int) -> None:
        for turn in range(2):
            await unit.complete(client, request(repeat, turn))

    for repeat in range(2):
        await spool.once("attempts", f"k{repeat}", lambda unit, n=repeat: attempt(unit, n))

    async def embedded(unit: Unit) -> None:
        item = item_row("Put 3 into it.")
        unit.add(item)
        unit.add(
            Embedding(
                campaign="c", item_id=item.item_id, embedder="e", dimensions=2, vector=(0.5, 1.0)
            )
        )

    await spool.once("embeddings", "k", embedded)
    return Recording(tmp_path / "c")


async def test_each_request_gets_its_own_reply(recording: Recording) -> None:
    client = ReplayClient(recording)
    replies = [
        (await client.complete(request(repeat, turn))).text for repeat in (1, 0) for turn in (1, 0)
    ]
    assert replies == ["reply 4", "reply 3", "reply 2", "reply 1"]
    spec = EmbedderSpec(endpoint="x", llm_id="e")
    assert await client.embed(["Put 3 into it."], spec) == [[0.5, 1.0]]
    assert [one.subject.turn for one in recording.requests()] == [0, 1, 0, 1]
    assert [len(one.messages) for one in recording.requests()] == [2, 4, 2, 4]


OTHER = {
    "message": (
        request(1, 1, said="Put 4 into it."),
        "no reply is recorded to the solver (item_id i, measurement search, repeat 1, turn 1); the "
        "nearest recorded call (item_id i, measurement search, repeat 1, turn 1) has another message "
        "1 (user), from character 4 on: recorded '3 into it.', asked '4 into it.'",
    ),
    "length": (request(0, 1).model_copy(update={"messages": request(0, 2).messages}), "asked were 6"),
    "repeat": (request(7), "repeat 7, turn 0); the nearest recorded call (item_id i, measurement "
        "search, repeat 0, turn 0) asks the same about another subject"),
    "sampling": (
        request(spec=SPEC.model_copy(update={"sampling": Sampling(temperature=0.5)})),
        "has another spec (sampling.temperature 1.0 -> 0.5)",
    ),
    "tools": (request(tools=({"name": "put"},)), "has other tools"),
    "schema": (request(response_schema={"type": "object"}), "has another response schema"),
    "role": (request(role="judge"), "no call of this role is recorded at all"),
}  # fmt: skip


@pytest.mark.parametrize(("other", "words"), OTHER.values(), ids=OTHER)
async def test_what_was_never_asked_is_an_error_that_names_what_differs(
    recording: Recording, other: Request, words: str
) -> None:
    with pytest.raises(NotRecorded) as raised:
        await ReplayClient(recording).complete(other)
    assert words in str(raised.value) and str(recording.folder) in str(raised.value)
    print(raised.value)


async def test_a_text_that_was_never_embedded_is_an_error(recording: Recording) -> None:
    for text, llm_id in (("Put 9 into it.", "e"), ("Put 3 into it.", "f")):
        with pytest.raises(NotRecorded, match=f"{llm_id} embedded no text"):
            await ReplayClient(recording).embed([text], EmbedderSpec(endpoint="x", llm_id=llm_id))


def test_a_folder_without_a_recording_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=str(tmp_path)):
        Recording(tmp_path)
