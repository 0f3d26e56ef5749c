"""The endpoint that is played by hand: what is written, what counts as a reply, what is asked again."""

import asyncio
import os
import re
import time
from pathlib import Path

import pytest

from tasks.errors import InputError, ProviderError
from tasks.llm.base import LLMSpec, Message, Request, Subject
from tasks.llm.by_file import SETTLED_S, FileClient
from tasks.llm.endpoints import clients, read_endpoints

SPEC = LLMSpec(endpoint="by-hand", llm_id="somebody")
SYSTEM = Message(role="system", content="You are careful.")


def asking(*contents: str, repeat: int | None = None, **more: object) -> Request:
    """A conversation that opens with the system's message and goes on user, assistant, user, ..."""
    turns = [
        Message(role="assistant" if n % 2 else "user", content=content)
        for n, content in enumerate(contents)
    ]
    return Request(
        role="solver",
        spec=SPEC,
        messages=(SYSTEM, *turns),
        subject=Subject(repeat=repeat),
        **more,
    )


def reply(request_file: Path, text: str, age_s: float = SETTLED_S + 1) -> Path:
    """Answers a request with a reply that was written some time ago."""
    path = request_file.with_name(request_file.name.replace(".request.", ".reply."))
    path.write_text(text, encoding="utf-8")
    os.utime(path, times=(time.time() - age_s,) * 2)
    return path


async def written(folder: Path, count: int) -> list[Path]:
    """The requests in a folder, in order, once there are so many."""
    while len(found := sorted(folder.glob("*.request.md"))) < count:
        await asyncio.sleep(0.01)
    return found


async def test_a_request_waits_for_its_reply(tmp_path: Path) -> None:
    client = FileClient(tmp_path / "asked")
    waiting = asyncio.create_task(client.complete(asking("What is new?")))
    (request,) = await asyncio.wait_for(written(tmp_path / "asked", 1), 10)
    assert re.fullmatch(r"1-solver-[0-9a-f]{12}\.request\.md", request.name)
    text = request.read_text()
    assert text.index("You are careful.") < text.index("What is new?")
    answer = reply(request, "Nothing.\n")
    assert answer.name in text, "the request says where the reply goes"
    completion = await asyncio.wait_for(waiting, 10)
    assert completion.text == "Nothing.\n"
    assert completion.cost_usd is None and completion.tokens.completion == 3
    assert not client.simulated


async def test_an_equal_request_is_answered_at_once_also_by_another_process(tmp_path: Path) -> None:
    first = asyncio.create_task(FileClient(tmp_path).complete(asking("Well?")))
    (request,) = await asyncio.wait_for(written(tmp_path, 1), 10)
    reply(request, "Yes.")
    await asyncio.wait_for(first, 10)
    again = FileClient(tmp_path, answered_only=True)
    assert (await again.complete(asking("Well?"))).text == "Yes."
    assert await written(tmp_path, 1) == [request]


async def test_a_request_without_a_reply_is_not_written_twice(tmp_path: Path) -> None:
    for _ in range(2):
        stopped = asyncio.create_task(FileClient(tmp_path).complete(asking("Well?")))
        (request,) = await asyncio.wait_for(written(tmp_path, 1), 10)
        stopped.cancel()
    reply(request, "At last.")
    assert (await FileClient(tmp_path).complete(asking("Well?"))).text == "At last."
    assert len(list(tmp_path.iterdir())) == 2


async def test_a_reply_that_is_being_written_is_not_read(tmp_path: Path) -> None:
    waiting = asyncio.create_task(FileClient(tmp_path).complete(asking("Well?")))
    (request,) = await asyncio.wait_for(written(tmp_path, 1), 10)
    half = reply(request, "", age_s=60)
    await asyncio.sleep(1.2)
    assert not waiting.done(), "an empty file is no reply yet"
    half.write_text("Ha", encoding="utf-8")
    await asyncio.sleep(1.2)
    assert not waiting.done(), "half of a reply was read"
    reply(request, "Half of it, and the rest.")
    assert (await asyncio.wait_for(waiting, 10)).text == "Half of it, and the rest."


async def test_what_goes_on_with_a_conversation_stands_behind_it_with_what_is_new(
    tmp_path: Path,
) -> None:
    client = FileClient(tmp_path)
    asked = [
        asking("The task.", repeat=0),
        asking("Another task.", repeat=0),
        asking("The task.", "First cell.", "It printed 7.", repeat=0),
    ]
    running = [asyncio.create_task(client.complete(one)) for one in asked]
    files = await asyncio.wait_for(written(tmp_path, 3), 10)
    assert [path.name.split("-")[0] for path in files] == ["1", "1.1", "2"]
    text = files[1].read_text()
    old, mark, new = text.partition("NEW SINCE YOUR LAST REPLY")
    assert "The task." in old and "First cell." in old
    assert mark and "It printed 7." in new and "First cell." not in new
    for one in running:
        one.cancel()


async def test_repeats_are_asked_apart(tmp_path: Path) -> None:
    client = FileClient(tmp_path)
    asked = [asking("The task.", repeat=repeat) for repeat in (0, 1)]
    running = [asyncio.create_task(client.complete(one)) for one in asked]
    files = await asyncio.wait_for(written(tmp_path, 2), 10)
    assert [path.name.split("-")[0] for path in files] == ["1", "2"]
    for one in running:
        one.cancel()


async def test_tools_and_schema_stand_in_the_request(tmp_path: Path) -> None:
    tool = {"name": "send_mail", "description": "Sends.", "parameters": {"type": "object"}}
    schema = {"type": "object", "properties": {"verdict": {"enum": ["valid", "vague"]}}}
    request = asking("Well?", tools=(tool,), response_schema=schema)
    running = asyncio.create_task(FileClient(tmp_path).complete(request))
    (file,) = await asyncio.wait_for(written(tmp_path, 1), 10)
    text = file.read_text()
    assert '"send_mail"' in text and '"vague"' in text
    running.cancel()


async def test_a_recording_names_what_it_does_not_hold(tmp_path: Path) -> None:
    client = FileClient(tmp_path / "recorded", answered_only=True)
    with pytest.raises(ProviderError, match=r"recorded has no reply to the solver request \w{12}"):
        await client.complete(asking("Well?"))
    assert not (tmp_path / "recorded").exists()


async def test_the_endpoint_is_named_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "endpoints.toml"
    file.write_text(f'[by-hand]\nkind = "file"\nfolder = "{tmp_path / "asked"}"\n')
    client = clients(read_endpoints(file), 1, lambda item_id: None)["by-hand"]
    waiting = asyncio.create_task(client.complete(asking("Well?")))
    (request,) = await asyncio.wait_for(written(tmp_path / "asked", 1), 10)
    reply(request, "Fine.")
    assert (await asyncio.wait_for(waiting, 10)).text == "Fine."
    with pytest.raises(InputError, match=r"'by-hand'.* embedder's endpoint"):
        await client.embed(["text"], SPEC)
    file.write_text('[by-hand]\nkind = "file"\n')
    with pytest.raises(InputError, match=r"'by-hand': kind file needs folder"):
        clients(read_endpoints(file), 1, lambda item_id: None)
