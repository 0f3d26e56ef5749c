"""The spool: units once, replay of what was paid for, files that survive a kill."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.claims import Share
from tasks.errors import InputError, ProviderError, SpoolError
from tasks.llm.base import Completion, LLMSpec, Message, Request, Subject
from tasks.spool import Spool, Unit
from tests.rows import note_row
from tests.warehouse_rows import llm_call
from warehouse.records import LlmCall, Note

SPEC = LLMSpec(endpoint="e", llm_id="m")


class Echo:
    """A client that answers with the last message and counts its calls."""

    simulated = True

    def __init__(self, fail_at: int | None = None) -> None:
        self.calls = 0
        self._fail_at = fail_at

    async def complete(self, request: Request) -> Completion:
        """Echoes; raises at the call it was told to."""
        self.calls += 1
        if self.calls == self._fail_at:
            raise ProviderError("endpoint e: gone")
        return Completion(text=f"re: {request.messages[-1].content}")

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """Not asked for here."""
        raise ProviderError("no embeddings")

    async def aclose(self) -> None:
        """Nothing is held."""


async def converse(unit: Unit, client: Echo, turns: int) -> None:
    """A conversation that grows turn by turn, then a note of what was said."""
    messages: tuple[Message, ...] = (Message(role="system", content="talk"),)
    for turn in range(turns):
        messages = (*messages, Message(role="user", content=f"turn {turn}"))
        request = Request(
            role="solver", spec=SPEC, messages=messages, subject=Subject(item_id="i", turn=turn)
        )
        reply = await unit.complete(client, request)
        messages = (*messages, Message(role="assistant", content=reply.text))
    unit.add(note_row(messages[-1].content))


async def test_a_unit_is_done_once(tmp_path: Path) -> None:
    client, spool = Echo(), Spool(tmp_path, "c")
    for _ in range(2):
        name = await spool.once("notes", "k", lambda unit: converse(unit, client, 3))
    assert client.calls == 3
    assert [type(record) for record in spool.read(name)] == [Note]


async def test_two_callers_of_one_unit_do_its_work_once(tmp_path: Path) -> None:
    client, spool = Echo(), Spool(tmp_path, "c")
    work = [spool.once("notes", "k", lambda unit: converse(unit, client, 3)) for _ in range(5)]
    assert set(await asyncio.gather(*work)) == {"notes/k"}
    assert client.calls == 3


async def test_an_interrupted_unit_replays_what_was_paid_for(tmp_path: Path) -> None:
    spool = Spool(tmp_path, "c")
    failing = Echo(fail_at=4)
    with pytest.raises(ProviderError):
        await spool.once("notes", "k", lambda unit: converse(unit, failing, 5))
    assert not spool.path("notes/k").exists()
    client = Echo()
    name = await spool.once("notes", "k", lambda unit: converse(unit, client, 5))
    assert client.calls == 2
    calls = [json.loads(found) for found in spool.path(name).read_bytes().splitlines()]
    causes = [entry["call"]["cause"] for entry in calls if "call" in entry]
    assert causes == [None, None, None, "ProviderError", None, None]


@given(st.integers(min_value=0, max_value=2500))
def test_a_part_cut_anywhere_is_taken_up(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    """A kill or a full disk may end the file at any byte."""
    spool = Spool(tmp_path_factory.mktemp("spool"), "c")
    failing = Echo(fail_at=4)

    async def scenario() -> None:
        with pytest.raises(ProviderError):
            await spool.once("notes", "k", lambda unit: converse(unit, failing, 5))
        part = spool.path("notes/k").with_suffix(".part")
        part.write_bytes(part.read_bytes()[:cut])
        client = Echo()
        await spool.once("notes", "k", lambda unit: converse(unit, client, 5))
        assert 2 <= client.calls <= 5

    asyncio.run(scenario())
    (note,) = [r for r in spool.read("notes/k") if isinstance(r, Note)]
    assert note.item_id == "re: turn 4"


async def test_a_conversation_grows_its_file_linearly(tmp_path: Path) -> None:
    spool = Spool(tmp_path, "c")
    for turns in (20, 40):
        await spool.once("notes", f"k{turns}", lambda unit, n=turns: converse(unit, Echo(), n))
    small, large = (spool.path(f"notes/k{n}").stat().st_size for n in (20, 40))
    assert large < 2.2 * small


async def test_a_finished_unit_that_was_damaged_is_an_error_that_names_the_file(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path, "c")
    name = await spool.once("notes", "k", lambda unit: converse(unit, Echo(), 1))
    path = spool.path(name)
    path.write_text(path.read_text()[:-20])
    with pytest.raises(SpoolError, match=str(path)):
        spool.read(name)


async def test_a_full_disk_is_one_line_and_the_unit_goes_on_later(tmp_path: Path) -> None:
    """A real full disk is not at hand; a file size limit raises at the same write."""
    code = f"""
import asyncio, resource, signal
from pathlib import Path
from tasks.errors import SpoolError
from tasks.spool import Spool
from tests.test_spool import Echo, converse
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500))
spool = Spool(Path({str(tmp_path)!r}), "c")
try:
    asyncio.run(spool.once("notes", "k", lambda unit: converse(unit, Echo(), 9)))
except SpoolError as error:
    print(error)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "cannot be written" in ended.stdout
    assert ended.stdout.count("\n") == 1
    client = Echo()
    await Spool(tmp_path, "c").once("notes", "k", lambda unit: converse(unit, client, 9))
    assert 0 < client.calls < 9


async def test_no_unit_is_begun_where_too_little_disk_is_free(tmp_path: Path) -> None:
    client = Echo()
    with pytest.raises(SpoolError, match="MB of disk are free, less than"):
        await Spool(tmp_path, "c", min_free_bytes=10**18).once(
            "notes", "k", lambda unit: converse(unit, client, 1)
        )
    assert client.calls == 0 and not list(tmp_path.glob("*/*/*"))
    await Spool(tmp_path, "c").once("notes", "k", lambda unit: converse(unit, client, 1))


def test_those_that_join_are_counted_and_exclude_who_wants_it_alone(tmp_path: Path) -> None:
    def spool() -> Spool:
        return Spool(tmp_path, "c")

    with spool().joined(2) as first, spool().joined(2) as second:
        assert (first, second) == (1, 2)
        with pytest.raises(InputError, match="2 processes have joined"), spool().joined(2):
            pass
        with pytest.raises(InputError, match="have joined it"), spool().alone():
            pass
        assert list(spool().gone()) == []
        with spool().locked():
            pass
    assert list(spool().gone()) == [1, 2]
    with spool().alone(), pytest.raises(InputError, match="for itself"), spool().joined(2):
        pass


async def test_two_that_share_a_campaign_do_a_unit_once_and_take_over_what_the_other_lost(
    tmp_path: Path,
) -> None:
    client = Echo(fail_at=2)
    spools = [Spool(tmp_path, "c", Share(4)) for _ in range(2)]
    ended = await asyncio.gather(
        *(spool.once("notes", "k", lambda unit: converse(unit, client, 3)) for spool in spools),
        return_exceptions=True,
    )
    assert sorted(type(end).__name__ for end in ended) == ["ProviderError", "str"]
    assert client.calls == 4, "the one that failed, and three: the first reply is replayed"
    assert not list(tmp_path.glob("*/*/*.claim"))


async def test_a_process_claims_no_more_than_it_can_do_at_once(tmp_path: Path) -> None:
    here, there = Spool(tmp_path, "c", Share(2)), Spool(tmp_path, "c", Share(2))
    done: dict[str, list[str]] = {"here": [], "there": []}

    def doing(who: str, key: str) -> Callable[[Unit], Awaitable[None]]:
        async def work(unit: Unit) -> None:
            await asyncio.sleep(0.3)
            done[who].append(key)

        return work

    keys = "abcdefgh"
    await asyncio.gather(*(here.once("notes", key, doing("here", key)) for key in keys),
        *(there.once("notes", key, doing("there", key)) for key in keys))  # fmt: skip
    assert sorted(done["here"] + done["there"]) == list(keys)
    assert len(done["here"]) == len(done["there"]) == 4


async def test_what_waits_of_one_kind_keeps_no_unit_of_another_waiting(tmp_path: Path) -> None:
    spool, done = Spool(tmp_path, "c", Share(1)), []
    noted = asyncio.Event()

    async def note(unit: Unit) -> None:
        await noted.wait()
        done.append("note")

    async def attempt(unit: Unit) -> None:
        done.append("attempt")

    async with asyncio.timeout(10):
        waiting = asyncio.create_task(spool.once("notes", "k", note))
        await asyncio.sleep(0)
        await spool.once("attempts", "k", attempt)
        noted.set()
        await waiting
    assert done == ["attempt", "note"]


async def test_a_unit_of_a_killed_process_is_taken_over_at_once(tmp_path: Path) -> None:
    code = f"""
import asyncio
from pathlib import Path
from tasks.claims import Share
from tasks.spool import Spool
async def work(unit):
    print("claimed", flush=True)
    await asyncio.sleep(60)
asyncio.run(Spool(Path({str(tmp_path)!r}), "c", Share(1)).once("notes", "k", work))
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "claimed\n"
    client, spool = Echo(), Spool(tmp_path, "c", Share(1))
    waiting = asyncio.create_task(spool.once("notes", "k", lambda unit: converse(unit, client, 1)))
    await asyncio.sleep(0.5)
    assert client.calls == 0, "it was done while another process was at it"
    holder.kill()
    holder.communicate()
    async with asyncio.timeout(30):
        assert await waiting == "notes/k"
    assert client.calls == 1


def test_a_campaign_is_held_by_one_process_and_freed_by_kill(tmp_path: Path) -> None:
    code = f"""
import time
from pathlib import Path
from tasks.spool import Spool
with Spool(Path({str(tmp_path)!r}), "c").locked():
    print("held", flush=True)
    time.sleep(60)
"""
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(InputError, match="another process"), Spool(tmp_path, "c").locked():
        pass
    holder.kill()
    holder.wait()
    holder.stdout.close()
    with Spool(tmp_path, "c").locked():
        pass


async def test_odd_characters_of_a_conversation_are_kept(tmp_path: Path) -> None:
    class Odd(Echo):
        async def complete(self, request: Request) -> Completion:
            return Completion(text="\x00 \u202e \u2028 end")

    spool = Spool(tmp_path, "c")
    name = await spool.once("notes", "k", lambda unit: converse(unit, Odd(), 2))
    assert spool.read(name)[-1].item_id == "\x00 \u202e \u2028 end"
    assert all(json.loads(line) for line in spool.path(name).read_bytes().splitlines())


def test_a_unit_of_the_first_release_is_read_with_the_ledger_rows_that_it_holds(
    tmp_path: Path,
) -> None:
    call = llm_call("k/0").model_dump(mode="json", exclude={"most_usd"})
    note = {"record": "Note", "row": note_row("i").model_dump(mode="json")}
    old = [{"spool": 1, "kind": "notes", "key": "k"}, {"call": call, "completion": None}, note]
    spool = Spool(tmp_path, "c")
    spool.path("notes/k").parent.mkdir(parents=True)
    spool.path("notes/k").write_text("".join(json.dumps(entry) + "\n" for entry in old))
    found, kept = spool.read("notes/k")
    assert kept == note_row("i")
    assert isinstance(found, LlmCall) and (found.call_id, found.most_usd) == ("k/0", None)


async def test_a_unit_that_is_given_up_asks_anew(tmp_path: Path) -> None:
    client, spool = Echo(), Spool(tmp_path, "c")

    async def undecided(unit: Unit) -> None:
        await converse(unit, client, 2)
        unit.give_up()
        raise ProviderError("no")

    for _ in range(2):
        with pytest.raises(ProviderError):
            await spool.once("notes", "k", undecided)
    assert client.calls == 4
