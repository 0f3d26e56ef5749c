"""A suite small enough to run in this process: a shelf of boxes with a count in each.

A gold is Python that calls `apis.shelf.put(box=, count=)` and `apis.supervisor.complete_task()`; the grade
compares the shelves. It stands on no simulator, so flows, stages, search and reruns are tested in seconds.
"""

from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

from tasks.errors import InputError, SimulatorError
from tasks.suites.base import (
    Api,
    Briefing,
    Call,
    CheckReport,
    Description,
    Difference,
    Effect,
    GradeTest,
    Observation,
    Outcome,
    Run,
    SuiteSeed,
    SuppressedRun,
)
from warehouse.records import Item

WORLD = "toy-world"
SEEDS = (
    ("apples", 'Put 3 into the box "apples".', 'apis.shelf.put(box="apples", count=3)'),
    ("pears", 'Put 5 into the box "pears".', 'apis.shelf.put(box="pears", count=5)'),
    ("plums", 'Put 7 into the box "plums".', 'apis.shelf.put(box="plums", count=7)'),
)


def toy_seeds() -> list[SuiteSeed]:
    """The three seeds."""
    return [
        SuiteSeed(
            item=Item.of(
                suite="toy",
                world=WORLD,
                start=name,
                instruction=instruction,
                gold=f"{gold}\napis.supervisor.complete_task()\n",
            ),
            name=name,
            intended_difficulty=position + 1,
            difficulty_source="appworld",
            cluster="pomes" if name in ("apples", "pears") else None,
        )
        for position, (name, instruction, gold) in enumerate(SEEDS)
    ]


class Shelf:
    """One session's state and log."""

    def __init__(self, suppressed: int | None = None) -> None:
        self.boxes: dict[str, int] = {}
        self.calls: list[Call] = []
        self.completed = False
        self._suppressed = suppressed

    def put(self, box: str, count: int) -> None:
        """Sets a box's count."""
        wrote = self.boxes.get(box) != count
        self._log("shelf", "put", {"box": box, "count": count}, wrote)
        if self._suppressed != len(self.calls) - 1:
            self.boxes[box] = count

    def complete_task(self) -> None:
        """Declares the item complete."""
        self._log("supervisor", "complete_task", {}, False)
        self.completed = True

    def _log(self, app: str, api: str, arguments: dict[str, Any], wrote: bool) -> None:
        n = len(self.calls)
        self.calls.append(Call(n=n, app=app, api=api, arguments=arguments, ok=True, wrote=wrote))

    def run(self, code: str) -> str | None:
        """Runs code on this shelf; returns what it raised, as one line."""
        apis = SimpleNamespace(
            shelf=SimpleNamespace(put=self.put),
            supervisor=SimpleNamespace(complete_task=self.complete_task),
        )
        try:
            exec(code, {"apis": apis})
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    def outcome(self, gold: dict[str, int]) -> Outcome:
        """Compares this shelf with the one that the gold leaves."""
        missing = _effects(gold, self.boxes)
        unexpected = _effects(self.boxes, gold)
        tests = (
            GradeTest(requirement="completed", passed=self.completed),
            GradeTest(requirement="shelf as the gold leaves it", passed=self.boxes == gold),
        )
        return Outcome(
            solved=all(test.passed for test in tests),
            partial=sum(test.passed for test in tests) / len(tests),
            completed=self.completed,
            tests=tests,
            difference=Difference(missing=missing, unexpected=unexpected),
            calls=len(self.calls),
        )


def _effects(has: dict[str, int], lacks: dict[str, int]) -> tuple[Effect, ...]:
    return tuple(
        Effect(
            app="shelf",
            table="boxes",
            change="added",
            content={"box": box, "count": count},
            references=("box",),
        )
        for box, count in sorted(has.items())
        if lacks.get(box) != count
    )


def _gold_run(item: Item, suppressed: int | None = None) -> tuple[Shelf, str | None]:
    shelf = Shelf(suppressed)
    return shelf, shelf.run(item.gold)


class ToySession:
    """One attempt on a shelf of its own."""

    sandbox = "none"

    def __init__(self, item: Item) -> None:
        self._item = item
        self._shelf = Shelf()
        self.briefing = Briefing(
            supervisor={"first_name": "Toy", "last_name": "Owner", "email": "toy@example.com"},
            datetime="2026-01-01T12:00:00",
            instruction=item.instruction,
        )

    async def act(self, action: dict[str, Any], timeout_s: float) -> Observation:
        """Runs a cell."""
        before = len(self._shelf.calls)
        error = self._shelf.run(action["code"])
        return Observation(
            text=error or "Execution successful.",
            error=error is not None,
            done=self._shelf.completed,
            calls=tuple(self._shelf.calls[before:]),
        )

    async def finish(self) -> Outcome:
        """Grades."""
        return self._shelf.outcome(_gold_run(self._item)[0].boxes)

    async def close(self) -> None:
        """Nothing is held."""


class ToySuite:
    """The suite in this process; counts what it is asked, so that a test can say "no simulator ran"."""

    name = "toy"
    simulator = "toy"

    def __init__(self, dies_at: int | None = None) -> None:
        """`dies_at`: the number of the `open` at which the simulator is found dead; None for never."""
        self.asked = 0
        self.before: Callable[[], Awaitable[None]] | None = None
        """What a campaign waits for before it begins."""
        self._dies_at = dies_at
        self._opened = 0

    async def fingerprint(self) -> str:
        """Known without a simulator."""
        if self.before is not None:
            await self.before()
        return WORLD

    async def describe(self) -> Description:
        """One API that writes."""
        self.asked += 1
        put = Api(
            app="shelf",
            api="put",
            description="Sets a box's count.",
            parameters=("box", "count"),
            required=("box", "count"),
        )
        return Description(
            suite="toy",
            version="1",
            world=WORLD,
            interaction="code",
            edits=("instruction", "gold"),
            sandbox="none",
            apis=(put,),
            world_summary="A shelf of boxes.",
        )

    async def seeds(self, split: str) -> list[SuiteSeed]:
        """The three seeds, of split "train" only."""
        self.asked += 1
        if split != "train":
            raise InputError(f"suite toy: no split {split}; there is: train")
        return toy_seeds()

    async def check(self, item: Item, gold_only: bool = False, writes: bool = True) -> CheckReport:
        """Runs the gold, nothing, and the gold without each of its writes."""
        self.asked += 1
        shelf, error = _gold_run(item)
        gold = Run(outcome=shelf.outcome(shelf.boxes), calls=tuple(shelf.calls), error=error)
        if gold_only or error is not None or not shelf.completed:
            return CheckReport(gold=gold)
        idle = Shelf()
        idle.complete_task()
        suppressed = []
        for call in shelf.calls:
            if call.wrote:
                other, _ = _gold_run(item, call.n)
                run = Run(outcome=other.outcome(shelf.boxes), calls=tuple(other.calls))
                suppressed.append(SuppressedRun(call=call.n, app=call.app, api=call.api, run=run))
        return CheckReport(
            gold=gold,
            do_nothing=Run(outcome=idle.outcome(shelf.boxes), calls=tuple(idle.calls)),
            suppressed=tuple(suppressed) if writes else None,
            expects_answer=False,
            state_changes=bool(shelf.boxes),
        )

    async def open(self, item: Item, rng_seed: int) -> ToySession:
        """A new shelf."""
        self.asked += 1
        self._opened += 1
        if self._opened == self._dies_at:
            raise SimulatorError("simulator toy: it died")
        return ToySession(item)

    async def aclose(self) -> None:
        """Nothing is held."""
