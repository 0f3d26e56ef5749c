"""The ledger: a row for each try, whatever became of it, of the process, or of the file's last line."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flows.compare import with_what_is_left
from flows.settings import Settings
from tasks.errors import BudgetSpent, ProviderError
from tasks.llm.accounted import AccountedClient
from tasks.llm.base import Completion, LLMSpec, Message, Request, Sampling, Subject, Tokens
from tasks.llm.faults import BrokenReply, RateLimited
from tasks.llm.governor import Governor
from tasks.llm.ledger import LEDGER, Ledger, read_joined, read_ledger, settle_joined
from tasks.llm.prices import Prices, cost_usd
from tasks.llm.retrying import Patience, RetryingClient

PRICES = {"m": Prices(input=100.0, cached_input=10.0, output=1000.0)}
SPEC = LLMSpec(endpoint="e", llm_id="m", sampling=Sampling(max_tokens=50))


class Scripted:
    """A provider that bills what it is told to, or raises; it counts what it billed."""

    simulated = False

    def __init__(self, *script: Tokens | Exception | float) -> None:
        """A number is a sleep in seconds before the next entry."""
        self._script = list(script)
        self.billed_usd = 0.0
        self.in_flight = self.most_in_flight = 0

    async def complete(self, request: Request) -> Completion:
        """The next entry of the script."""
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            while isinstance(entry := self._script.pop(0), float):
                await asyncio.sleep(entry)
        finally:
            self.in_flight -= 1
        if isinstance(entry, Exception):
            raise entry
        cost = cost_usd(PRICES["m"], entry)
        self.billed_usd += cost or 0.0
        return Completion(text="so", tokens=entry, cost_usd=cost)

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """Vectors whose tokens nobody counts."""
        return [[0.5] for _ in texts]

    async def aclose(self) -> None:
        """Nothing is held."""


def request(
    text: str = "Well?", unit: str | None = "attempts/a", turn: int = 0, cut_chars: int = 0
) -> Request:
    subject = Subject(item_id="i", step=3, repeat=2, turn=turn)
    return Request(
        role="solver",
        spec=SPEC,
        messages=(Message(role="user", content=text),),
        subject=subject,
        unit=unit,
        cut_chars=cut_chars,
    )


def accounted(folder: Path, client: Scripted, budget_usd: float | None = None) -> AccountedClient:
    folder.mkdir(exist_ok=True)
    ledger = Ledger(folder, "c")
    return AccountedClient(client, PRICES, ledger, Governor(ledger, budget_usd))


USED = Tokens(prompt=10, cached=4, completion=3)


async def test_every_try_of_a_call_is_a_row(tmp_path: Path) -> None:
    script = (RateLimited("busy"), BrokenReply("cut"), USED)
    client = accounted(tmp_path, Scripted(*script))
    retrying = RetryingClient(client, "e", Patience(first_wait_s=0.01), Random(1))
    assert (await retrying.complete(request())).text == "so"
    await retrying.embed(["one", "two"], SPEC)
    rows = read_ledger(tmp_path)
    assert [row.cause for row in rows] == ["RateLimited", "BrokenReply", None, None]
    assert [row.call_id for row in rows[:3]] == [f"attempts/a/{n}" for n in range(3)]
    asked = {(row.role, row.item_id, row.step, row.repeat, row.turn, row.unit) for row in rows[:3]}
    assert asked == {("solver", "i", 3, 2, 0, "attempts/a")}
    assert {row.prompt_hash for row in rows[:3]} == {request().prompt_hash}
    refused, broken, answered, embedded = rows
    assert (refused.most_usd, refused.cost_usd) == (0.0, None), "a refusal bills nothing"
    assert broken.most_usd is not None and broken.most_usd > 50 * 1000 / 1e6
    assert (answered.prompt_tokens, answered.cached_tokens, answered.completion_tokens) == (
        10,
        4,
        3,
    )
    assert answered.cost_usd == answered.most_usd == pytest.approx((600 + 40 + 3000) / 1e6)
    assert (embedded.role, embedded.prompt_tokens, embedded.cost_usd) == ("embedder", None, None)


async def test_a_price_that_is_unknown_is_no_number(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path, "c")
    client = AccountedClient(Scripted(USED, BrokenReply("cut")), {}, ledger, Governor(ledger))
    await client.complete(request())
    with pytest.raises(ProviderError):
        await client.complete(request())
    assert [row.most_usd for row in read_ledger(tmp_path)][1] is None
    assert ledger.unsure == 0, "what has no price cannot be counted"


async def test_what_a_prompt_lacks_is_in_its_row_and_unknown_in_an_older_one(
    tmp_path: Path,
) -> None:
    client = accounted(tmp_path, Scripted(USED, USED))
    await client.complete(request())
    await client.complete(request(cut_chars=700))
    await client.embed(["one"], SPEC)
    assert [row.cut_chars for row in read_ledger(tmp_path)] == [0, 700, 0]
    path = tmp_path / LEDGER
    path.write_text(re.sub(r'"cut_chars":\s*\d+,\s*', "", path.read_text()))
    assert [row.cut_chars for row in read_ledger(tmp_path)] == [None] * 3


async def test_a_call_that_we_do_not_wait_for_is_a_row(tmp_path: Path) -> None:
    client = accounted(tmp_path, Scripted(60.0))
    call = asyncio.create_task(client.complete(request()))
    await asyncio.sleep(0.05)
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    (row,) = read_ledger(tmp_path)
    assert row.cause == "Cancelled" and row.most_usd is not None and row.most_usd > 0


def test_a_killed_process_leaves_no_call_unknown(tmp_path: Path) -> None:
    """The tries that it had under way are rows of the next process, at the most that they can cost."""
    code = f"""
import asyncio, os, signal
from pathlib import Path
from tests.test_ledger import USED, Scripted, accounted, request
async def main():
    client = accounted(Path({str(tmp_path)!r}), Scripted(USED, 60.0, 60.0))
    await client.complete(request())
    calls = [asyncio.create_task(client.complete(request(unit=f"attempts/{{n}}"))) for n in "bc"]
    await asyncio.sleep(0.1)
    os.kill(os.getpid(), signal.SIGKILL)
asyncio.run(main())
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == -9, ended.stderr
    assert len(read_ledger(tmp_path)) == 1
    seen: list[str] = []
    ledger = Ledger(tmp_path, "c", sink=lambda rows: seen.extend(row.call_id for row in rows))
    rows = read_ledger(tmp_path)
    assert [row.cause for row in rows] == [None, "Interrupted", "Interrupted"]
    assert seen == ["attempts/a/0", "attempts/b/0", "attempts/c/0"]
    assert ledger.unsure == 2 and ledger.most_usd > ledger.cost_usd + 2 * 50 * 1000 / 1e6
    again = ledger.announce("solver", SPEC, "h", Subject(), "attempts/b", None, 0)
    assert again.call_id == "attempts/b/1"
    Ledger(tmp_path, "c")
    assert len(read_ledger(tmp_path)) == 4, "nothing is settled twice"


async def test_processes_on_one_campaign_have_ledgers_of_their_own(tmp_path: Path) -> None:
    """One unit may be asked for by several, when one of them is lost on the way."""
    seen: list[str] = []
    for number in (0, 1, 2):
        ledger = Ledger(tmp_path, "c", lambda rows: seen.extend(r.call_id for r in rows), number)
        client = AccountedClient(Scripted(USED, 60.0), PRICES, ledger, Governor(ledger))
        await client.complete(request())
        if number == 2:
            lost = asyncio.create_task(client.complete(request()))
            await asyncio.sleep(0.01)
    ids = [f"attempts/a/{n}" for n in ("0", "1.0", "2.0")]
    assert seen == ids and [row.call_id for row in read_ledger(tmp_path)] == sorted(ids)
    assert {row.call_id for row in read_joined(tmp_path)} == set(ids[1:])
    settle_joined(tmp_path, "c", 2)
    settle_joined(tmp_path, "c", 3)
    assert read_joined(tmp_path)[-1].cause == "Interrupted"
    last = Ledger(tmp_path, "c")
    assert last.cost_usd == pytest.approx(3 * (600 + 40 + 3000) / 1e6), "others' calls cost too"
    assert last.unsure == 1 and last.most_usd > last.cost_usd
    lost.cancel()


@given(cut=st.integers(min_value=0, max_value=3000))
def test_a_ledger_cut_anywhere_is_taken_up(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("campaign")

    async def scenario() -> None:
        await accounted(folder, Scripted(USED)).complete(request())
        await accounted(folder, Scripted(USED)).complete(request())
        (folder / LEDGER).write_bytes((folder / LEDGER).read_bytes()[:cut])
        await accounted(folder, Scripted(USED)).complete(request(unit="attempts/b"))

    asyncio.run(scenario())
    rows = read_ledger(folder)
    assert rows[-1].call_id == "attempts/b/0" and rows[-1].cause is None
    assert len({row.call_id for row in rows}) == len(rows)


async def test_a_budget_is_never_passed_and_nothing_under_way_is_thrown_away(
    tmp_path: Path,
) -> None:
    provider = Scripted(*[entry for _ in range(80) for entry in (0.02, USED)])
    client = accounted(tmp_path, provider, budget_usd=0.2)
    calls = [client.complete(request(unit=f"attempts/{n}")) for n in range(80)]
    ended = await asyncio.gather(*calls, return_exceptions=True)
    stopped = [end for end in ended if isinstance(end, BudgetSpent)]
    rows = read_ledger(tmp_path)
    assert len(rows) == 80 - len(stopped) and all(row.cause is None for row in rows)
    assert provider.billed_usd == pytest.approx(sum(row.cost_usd or 0 for row in rows))
    assert 0.2 - 0.07 < provider.billed_usd <= 0.2, "what one call may cost is left at most"
    assert provider.most_in_flight > 1, "calls that fit were made one after the other"
    assert "the budget of $0.2000 is used up" in str(stopped[0])
    assert "next call (solver, m) may cost $0.0" in str(stopped[0])
    # A larger budget goes on; a process that starts with one that is spent asks nothing.
    assert await accounted(tmp_path, Scripted(USED), 0.5).complete(request())
    with pytest.raises(BudgetSpent):
        await accounted(tmp_path, Scripted(USED), 0.2).complete(request())


@given(
    budget=st.floats(min_value=0, max_value=1),
    calls=st.lists(
        st.tuples(
            st.integers(min_value=0, max_value=80),  # prompt tokens, below its bound
            st.integers(min_value=0, max_value=50),
            st.sampled_from(["reply", "cut", "busy"]),
            st.sampled_from([0.0, 0.001]),
        ),
        max_size=25,
    ),
)
def test_whatever_is_called_the_budget_holds(
    tmp_path_factory: pytest.TempPathFactory,
    budget: float,
    calls: list[tuple[int, int, str, float]],
) -> None:
    folder = tmp_path_factory.mktemp("campaign")

    async def scenario() -> None:
        running = []
        for n, (prompt, completion, fate, sleep_s) in enumerate(calls):
            used = Tokens(prompt=prompt, cached=0, completion=completion)
            end = {"reply": used, "cut": BrokenReply("cut"), "busy": RateLimited("busy")}[fate]
            bill = cost_usd(PRICES["m"], used) if fate != "busy" else 0.0
            running.append((bill, client_of(sleep_s, end).complete(request(unit=f"a/{n}"))))
        ended = await asyncio.gather(*(call for _, call in running), return_exceptions=True)
        billed = sum(
            bill or 0.0
            for (bill, _), end in zip(running, ended, strict=True)
            if not isinstance(end, BudgetSpent)
        )
        assert billed <= budget + 1e-9
        assert ledger.most_usd <= budget + 1e-9

    ledger = Ledger(folder, "c")
    governor = Governor(ledger, budget)

    def client_of(sleep_s: float, end: Tokens | Exception) -> AccountedClient:
        return AccountedClient(Scripted(sleep_s, end), PRICES, ledger, governor)

    asyncio.run(scenario())


async def test_campaigns_of_one_comparison_leave_each_other_the_rest(tmp_path: Path) -> None:
    campaigns = ["toy-a-1", "toy-b-1", "toy-c-1"]
    settings = Settings(state=tmp_path, budget_usd=1.0)
    settings.spool.mkdir()
    for campaign in campaigns[:2]:
        client = accounted(settings.spool / campaign, Scripted(USED))
        await client.complete(request())
        await client.aclose()
    ((row,), _) = (read_ledger(settings.spool / campaign) for campaign in campaigns[:2])
    assert row.most_usd
    left = {name: with_what_is_left(settings, campaigns, name).budget_usd for name in campaigns}
    assert left == pytest.approx(
        {"toy-a-1": 1 - row.most_usd, "toy-b-1": 1 - row.most_usd, "toy-c-1": 1 - 2 * row.most_usd}
    )
    spent = settings.model_copy(update={"budget_usd": row.most_usd / 2})
    assert with_what_is_left(spent, campaigns, "toy-c-1").budget_usd == 0
    unbounded = Settings(state=tmp_path)
    assert with_what_is_left(unbounded, campaigns, "toy-c-1") == unbounded
