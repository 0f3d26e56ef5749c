"""The one wrapper around Prefect's task: it computes the key, and keeps a receipt.

A stage's work is done in units of the spool, each under a key of all that the unit depends on: the
stage, its declared version, its prompts, and the content of its inputs (clock columns apart). What Prefect
stores under the stage's own key is a receipt, the names of those units, so Prefect's database and result
store hold neither items nor replies. Prefect's ready-made cache policies are not used; why: design.md D4.

Errors pass through: `SimulatorError` is retried here (the suite starts a new process), a provider's is
retried by its client only, an `InputError` never.
"""

import functools
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from prefect import Task
from prefect.cache_policies import CachePolicy
from prefect.serializers import JSONSerializer

from tasks.errors import SimulatorError
from tasks.llm.prompting import prompt_hash
from tasks.spool import Unit
from tasks.workbench import Loaded, Workbench
from warehouse.records import Record, digest_of

SIMULATOR_RETRIES = 2
"""How often a stage starts again after its simulator died."""

STAGES: dict[str, "Stage"] = {}
"""Every stage of the program by name."""


class Stage:
    """A cached, retryable step of the pipeline. Made by `stage`."""

    def __init__(
        self, work: Callable[..., Awaitable[list[str]]], version: str, prompts: tuple[str, ...]
    ) -> None:
        self.name = work.__name__
        self.module = work.__module__
        self.version = version
        self.prompts = prompts
        self._work = work
        self._prefect_tasks: dict[Path, Task] = {}
        functools.update_wrapper(self, work)
        STAGES[self.name] = self

    def key(self, inputs: dict[str, Any]) -> str:
        """Hash of all that the work on these inputs depends on."""
        return digest_of(
            {
                "stage": self.name,
                "version": self.version,
                "prompts": [prompt_hash(role) for role in self.prompts],
                "inputs": {name: _content(value) for name, value in inputs.items()},
            }
        )

    async def __call__(self, bench: Workbench, *, about: str = "", **inputs: Any) -> Loaded:
        """Runs the stage, or takes its receipt, and loads what it came to.

        `about` names the run in Prefect's UI; it is no part of the key.
        """
        run = StageRun(bench, self, inputs, f"{self.name} {about}".strip())
        prefect_task = self._prefect_task(bench.receipts)
        units = await prefect_task(run)
        if not all(unit in bench.spool.files for unit in units):
            # The receipt outlived the spool, which alone is the truth.
            units = await prefect_task.with_options(refresh_cache=True)(run)
        return bench.load(tuple(units))

    def _prefect_task(self, receipts: Path) -> Task:
        """The one task of this stage in a campaign: to make one anew takes 1 ms of a stage run's CPU."""
        if receipts not in self._prefect_tasks:
            self._prefect_tasks[receipts] = self._made_task(receipts)
        return self._prefect_tasks[receipts]

    def _made_task(self, receipts: Path) -> Task:
        async def work(run: StageRun) -> list[str]:
            return await self._work(run, **run.inputs)

        return Task(
            work,
            name=self.name,
            task_run_name=lambda parameters: parameters["run"].title,
            cache_policy=CachePolicy.from_cache_key_fn(
                lambda _, parameters: f"{self.name}-v{self.version}-{parameters['run'].key}"
            ),
            persist_result=True,
            result_storage=receipts,
            result_serializer=JSONSerializer(),
            retries=SIMULATOR_RETRIES,
            retry_delay_seconds=1,
            retry_condition_fn=lambda _task, _run, state: isinstance(state.data, SimulatorError),
        )


class StageRun:
    """One run of a stage: its inputs, and what its work is given beside them.

    It is all that Prefect's task is given: Prefect walks through collections and models among a task's
    parameters, and this is neither.
    """

    def __init__(
        self, bench: Workbench, stage: Stage, inputs: dict[str, Any], title: str = ""
    ) -> None:
        self.bench = bench
        self.inputs = inputs
        self.title = title
        self.key = stage.key(inputs)
        self._stage = stage

    async def once(
        self, kind: str, work: Callable[[Unit], Awaitable[None]], **narrower: Any
    ) -> str:
        """Does one unit of the stage, unless the spool has it; returns its name.

        The unit's key is the stage's over all inputs, or over `narrower` ones where the unit depends on
        less than the stage does.
        """
        key = self._stage.key(narrower) if narrower else self.key
        return await self.bench.spool.once(kind, key, work)


def stage(
    *, version: str, prompts: tuple[str, ...] = ()
) -> Callable[[Callable[..., Awaitable[list[str]]]], Stage]:
    """Makes a stage of a coroutine function `(run: StageRun, *, inputs...) -> names of its units`.

    Raise `version` whenever outputs may differ for equal inputs; tests/test_stage_versions.py reminds.
    `prompts` names the roles whose prompt files the work renders.
    """
    return lambda work: Stage(work, version, prompts)


def _content(value: Any) -> Any:
    """The part of an input that counts: records by their digest, in order."""
    if isinstance(value, Record):
        return value.digest()
    if isinstance(value, list | tuple):
        return [_content(element) for element in value]
    return value
