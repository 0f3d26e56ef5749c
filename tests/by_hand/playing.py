"""Cases that are played by hand on AppWorld, or played again from the replies that were kept: edits through
mutate and verify, attempts through solve, on the real simulator and with any client in the models' place.
"""

import asyncio
import tomllib
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tasks.llm.base import LLMClient, LLMSpec, Request
from tasks.llm.endpoints import clients, read_endpoints
from tasks.mutate import mutate
from tasks.plan import SolverLimits
from tasks.solve import solve
from tasks.suites.appworld import AppWorldSuite
from tasks.suites.base import Suite
from tasks.verify import gold_call_rows, verify
from tasks.workbench import Workbench
from tests.stage_work import work_of, workbench
from warehouse.records import Attempt, Decision, Direction, Edit, GoldCall, Item, Note, Step

CASES = Path(__file__).with_name("cases.toml")
REPLIES = Path(__file__).with_name("replies")
"""`<case>.<replies before it>-<role>-<hash of the request>.reply.md`. Requests quote AppWorld's documents and
are not kept; replies hold what their writers wrote."""
SPEC = LLMSpec(endpoint="by-hand", llm_id="somebody")
LIMITS = SolverLimits(max_seconds=86_400, cell_seconds=600)
"""Generous: a person takes long, and a loaded machine too."""
REPAIR_ROUNDS = 1


@dataclass(frozen=True)
class EditCase:
    """One edit that was asked for."""

    name: str
    parent: str
    """A seed's name, or another case's, whose item is edited again."""
    direction: Direction
    inspirations: tuple[str, ...]
    """Names of seeds."""
    note: str | None = None


@dataclass(frozen=True)
class Edited:
    """What an edit came to."""

    case: EditCase
    edit: Edit
    step: Step
    item: Item | None
    gold_calls: tuple[GoldCall, ...]

    def __str__(self) -> str:
        cause, detail = self.step.rejection or "verified", self.step.rejection_detail or ""
        return f"{self.case.name}: {cause} after {self.step.repair_rounds} repairs {detail[:200]!r}"


def edit_cases() -> dict[str, EditCase]:
    """The edits by name, in the file's order."""
    tables = tomllib.loads(CASES.read_text(encoding="utf-8"))["edits"]
    return {
        name: EditCase(name, **{**table, "inspirations": tuple(table["inspirations"])})
        for name, table in tables.items()
    }


def attempt_cases() -> tuple[str, ...]:
    """Names of the seeds that were attempted."""
    return tuple(tomllib.loads(CASES.read_text(encoding="utf-8"))["attempts"])


class Table:
    """Where the cases are played: one simulator, a folder for the spool, and whoever answers."""

    def __init__(self, folder: Path, suite: Suite) -> None:
        """The client is set afterwards: it may need the table to know the cases by their requests."""
        self.bench: Workbench = workbench(folder, suite, {}, lambda rows: None)
        self._suite = suite
        self._cases = edit_cases()
        self._edits: dict[str, asyncio.Task[Edited]] = {}
        self._seeds: dict[str, Item] = {}
        # A gold has a minute of the clock, which two dozen golds at once do not keep.
        self._checking = asyncio.Semaphore(4)

    @property
    def client(self) -> LLMClient:
        """Who answers."""
        return self.bench.clients[SPEC.endpoint]

    @client.setter
    def client(self, client: LLMClient) -> None:
        self.bench.clients[SPEC.endpoint] = client

    async def case_of(self, request: Request) -> str:
        """Which reply of which case a request asks for, as `<case>.<replies before it>`."""
        if request.role == "proposer":
            return f"{list(self._cases)[request.subject.step or 0]}.{request.subject.round}"
        await self._seed(attempt_cases()[0])
        names = {item.item_id: name for name, item in self._seeds.items()}
        return f"{names[request.subject.item_id or '']}.{request.subject.turn}"

    async def edits(self, names: Sequence[str]) -> list[Edited]:
        """The named edits, all at once; one whose parent came to nothing is left out."""
        played = await asyncio.gather(*map(self._edited, names), return_exceptions=True)
        for one in played:
            if isinstance(one, BaseException) and not isinstance(one, NoParent):
                raise one
        return [one for one in played if isinstance(one, Edited)]

    async def attempts(self, names: Sequence[str]) -> list[Attempt]:
        """One attempt on each of the named seeds, all at once."""
        return await asyncio.gather(*map(self._attempt, names))

    async def _seed(self, name: str) -> Item:
        if not self._seeds:
            self._seeds = {one.name: one.item for one in await self._suite.seeds("train")}
        return self._seeds[name]

    async def _edited(self, name: str) -> Edited:
        if name not in self._edits:
            self._edits[name] = asyncio.create_task(self._edit(self._cases[name]))
        return await self._edits[name]

    async def _parent(self, case: EditCase) -> tuple[Item, Sequence[GoldCall]]:
        if case.parent in self._cases:
            earlier = await self._edited(case.parent)
            if earlier.item is None:
                raise NoParent(f"{case.name}: {case.parent} came to nothing")
            return earlier.item, earlier.gold_calls
        item = await self._seed(case.parent)
        async with self._checking:
            report = await self._suite.check(item, gold_only=True)
        assert report.gold.error is None, f"seed {case.parent}: {report.gold.error}"
        return item, gold_call_rows(item, report)

    async def _edit(self, case: EditCase) -> Edited:
        parent, gold_calls = await self._parent(case)
        step = list(self._cases).index(case.name)
        borrowed = [await self._seed(name) for name in case.inspirations]
        note = case.note and Note(
            note_id=case.name,
            campaign="",
            item_id=parent.item_id,
            measurement="search",
            text=case.note,
        )
        mutated = await work_of(
            mutate, self.bench, step=step, parent=parent, gold_calls=gold_calls, inspirations=borrowed,
            note=note or None, direction=case.direction, world=await self._suite.describe(),
            proposer=SPEC, repair_rounds=REPAIR_ROUNDS,
        )  # fmt: skip
        edit = mutated.one(Edit)
        decision = Decision(
            campaign="", step=step, island=0, parent_node=-1, inspiration_nodes=(),
            direction=case.direction, parent_weight=1.0,
        )  # fmt: skip
        async with self._checking:
            verified = await work_of(
                verify, self.bench, decision=decision, root=parent, parent=parent,
                inspirations=borrowed, note=note or None, edit=edit, siblings=[], simulator="",
            )  # fmt: skip
        calls = tuple(verified.all(GoldCall))
        return Edited(case, edit, verified.one(Step), verified.maybe(Item), calls)

    async def _attempt(self, name: str) -> Attempt:
        solved = await work_of(
            solve, self.bench, item=await self._seed(name), solver=SPEC, measurement="search",
            repeats=1, limits=LIMITS, interaction="code", simulator="",
        )  # fmt: skip
        return solved.one(Attempt)


@asynccontextmanager
async def recorded_table(folder: Path, state: Path) -> AsyncIterator[Table]:
    """A table at which the kept replies answer, by the endpoint that a user would write down.

    `folder` is the table's own; `state` has the simulators.
    """
    endpoints = folder / "endpoints.toml"
    endpoints.write_text(
        f'[{SPEC.endpoint}]\nkind = "file"\nfolder = "{REPLIES}"\nanswered_only = true\n'
    )
    async with aclosing(AppWorldSuite(state)) as suite:
        table = Table(folder, suite)
        table.client = clients(read_endpoints(endpoints), 1, lambda item_id: None)[SPEC.endpoint]
        yield table


class NoParent(Exception):
    """A case edits what another case came to, and that is nothing."""
