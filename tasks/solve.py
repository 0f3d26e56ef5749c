"""Solve: n attempts of a solver on one item, each a unit of its own.

The agent is chosen by how the simulator is acted in, never by suite. Infrastructure trouble in one attempt
lets the others end and be spooled, then raises; what the solver did wrong is data.
"""

import asyncio

from tasks.agents.code_cells import attempt_in_code
from tasks.agents.dialogue import attempt_in_dialogue
from tasks.agents.solving import Solving
from tasks.errors import AttemptCause
from tasks.llm.base import LLMSpec
from tasks.plan import SolverLimits
from tasks.spool import Unit
from tasks.stage import StageRun, stage
from tasks.suites.base import Outcome
from warehouse.records import ApiCall, Attempt, Item, Measurement, canonical

AGENTS = {"code": attempt_in_code, "dialogue": attempt_in_dialogue}
"""A solver's loop by the simulator's `interaction`."""

ENDINGS = {
    "transferred": AttemptCause.TRANSFERRED,
    "out_of_scope": AttemptCause.OUT_OF_SCOPE,
    "step_limit": AttemptCause.TURN_LIMIT,
    "tool_errors": AttemptCause.TOOL_ERRORS,
    "solver_unusable": AttemptCause.UNUSABLE_REPLY,
    "user_unusable": AttemptCause.UNUSABLE_USER,
}
"""Cause by how a dialogue ended. A user who says that all is well leaves it to the state; see `_cause`."""


@stage(version="1", prompts=("solver",))
async def solve(
    run: StageRun,
    *,
    item: Item,
    solver: LLMSpec,
    measurement: Measurement,
    repeats: int,
    limits: SolverLimits,
    interaction: str,
    simulator: str,
    user: LLMSpec | None = None,
) -> list[str]:
    """`repeats` attempts on an item: an `Attempt` with its `Turn` and `ApiCall` records each.

    `user` plays the other party of a dialogue; None where there is none.

    An attempt's unit depends on its own number, not on how many there are: raising `repeats` makes only
    the missing ones. Raises what the infrastructure raised, after all attempts have ended.
    """

    async def attempt(repeat: int) -> str:
        async def work(unit: Unit) -> None:
            solving = Solving(run.bench, unit, item, solver, limits, measurement, repeat, user)
            async with run.bench.attempt_slots:
                await AGENTS[interaction](solving)
            unit.add(*_rows(solving))
            run.bench.counts.attempts += 1

        return await run.once(
            "attempts",
            work,
            item=item,
            solver=solver,
            measurement=measurement,
            repeat=repeat,
            limits=limits,
            simulator=simulator,
            **({} if user is None else {"user": user}),
        )

    ended = await asyncio.gather(*map(attempt, range(repeats)), return_exceptions=True)
    for result in ended:
        if isinstance(result, BaseException):
            raise result
    return [str(unit) for unit in ended]


def _rows(solving: Solving) -> list[Attempt | ApiCall]:
    """The attempt's row and its calls' rows, when its loop has ended."""
    outcome = solving.outcome
    attempt = Attempt(
        attempt_id=solving.attempt_id,
        campaign=solving.bench.campaign,
        item_id=solving.item.item_id,
        solver=solving.solver.spec_id,
        measurement=solving.measurement,
        repeat=solving.repeat,
        outcome="solved" if outcome is not None and outcome.solved else "failed",
        cause=None if outcome is not None and outcome.solved else _cause(solving, outcome),
        partial=None if outcome is None else outcome.partial,
        calls=len(solving.calls),
        turns=solving.turns,
        distinct_apis=len({(call.app, call.api) for _, call in solving.calls}),
        prompt_tokens=solving.tokens("prompt"),
        completion_tokens=solving.tokens("completion"),
        cost_usd=solving.cost_usd(),
        difference=None
        if outcome is None or outcome.difference is None
        else canonical(outcome.difference.model_dump(mode="json")),
        sandbox=solving.sandbox,
        duration_s=solving.duration_s,
    )
    calls = [
        ApiCall(
            attempt_id=attempt.attempt_id,
            n=n,
            turn=turn,
            app=call.app,
            api=call.api,
            ok=call.ok,
            wrote=call.wrote,
        )
        for n, (turn, call) in enumerate(solving.calls)
    ]
    return [attempt, *calls]


def _cause(solving: Solving, outcome: Outcome | None) -> AttemptCause:
    """Why an attempt is not solved: the limit that ended it, else what its final state lacks.

    Where no gold tells the difference, an answer counts as part of the state.
    """
    if solving.limit is not None:
        return solving.limit
    if solving.ended in ENDINGS:
        return ENDINGS[solving.ended]
    if outcome is None or not outcome.completed:
        return AttemptCause.NOT_COMPLETED
    difference = outcome.difference
    if difference is None:
        return AttemptCause.WRONG_STATE
    if difference.answer is not None and not difference.missing and not difference.unexpected:
        return AttemptCause.WRONG_ANSWER
    if solving.ended == "user_stopped" and not difference.unexpected:
        return AttemptCause.EARLY_STOP
    return AttemptCause.WRONG_STATE
