"""Commands that run campaigns, or go on with them."""

import asyncio
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from flows.commands.options import (
    DEFAULT_PLAN,
    ENDPOINTS,
    IN_FLIGHT,
    STATE,
    AppworldRoot,
    AttemptsInFlight,
    Budget,
    Canary,
    Endpoints,
    Replay,
    RequireSandbox,
    State,
    Tau2Root,
    Workers,
    absolute,
)
from flows.commands.running import run_campaign
from flows.settings import Settings


def evolve(
    plan: Path = DEFAULT_PLAN,
    *,
    steps: Annotated[int | None, Parameter(help="Edits to try (the paper: 1000).")] = None,
    seeds: Annotated[int | None, Parameter(help="How many of the suite's seeds take part.")] = None,
    suite: Annotated[str | None, Parameter(help="Suite to evolve.")] = None,
    rng_seed: Annotated[int | None, Parameter(help="Seed of the search's dice.")] = None,
    proposer: Annotated[str | None, Parameter(help="ENDPOINT/LLM_ID that proposes edits.")] = None,
    edition: Annotated[str, Parameter(help="Name of this run of an unchanged plan.")] = "1",
    split: Annotated[str | None, Parameter(help="Split whose items are the seeds.")] = None,
    parents: Annotated[
        Literal["solvable"] | None,
        Parameter(help="Edit only those seeds that the solver has solved at least once."),
    ] = None,
    appworld_root: AppworldRoot = None,
    tau2_root: Tau2Root = None,
    attempts_in_flight: AttemptsInFlight = IN_FLIGHT,
    workers: Workers = 1,
    budget_usd: Budget = None,
    canary: Canary = True,
    replay: Replay = None,
    dry_run: Annotated[
        bool,
        Parameter(negative=(), help="Print what is expected to be asked and paid; ask nothing."),
    ] = False,
    require_sandbox: RequireSandbox = None,
    endpoints: Endpoints = ENDPOINTS,
    state: State = STATE,
) -> None:
    """Run a campaign, or go on with it.

    PLAN is a TOML file with everything that decides what is found: suite, seeds, steps, models, limits. The
    default needs no key: the real AppWorld engine with a simulated model. The same command goes on where
    it was stopped; nothing finished is done or paid for again.
    """
    from flows.suites import DEFAULT_SPLITS
    from tasks.plan import read_plan, spec_named

    overrides = {
        "steps": steps,
        "seeds": seeds,
        "suite": suite,
        "rng_seed": rng_seed,
        "split": split or DEFAULT_SPLITS.get(suite or ""),
        "parents": parents,
    }
    if appworld_root is not None or tau2_root is not None:
        overrides["data"] = "official"
    overrides["proposer"] = proposer and spec_named(proposer)
    settings = Settings(
        state=state.absolute(),
        endpoints=endpoints,
        attempts_in_flight=attempts_in_flight,
        workers=workers,
        appworld_root=absolute(appworld_root),
        tau2_root=absolute(tau2_root),
        budget_usd=budget_usd,
        canary=canary,
        replay=replay,
        require_sandbox=require_sandbox,
    )
    read = read_plan(plan, overrides)
    if dry_run:
        from flows.forecast import show

        return asyncio.run(show(read, edition, settings))
    run_campaign(read, edition, settings)


def resume(
    campaign: str,
    *,
    appworld_root: AppworldRoot = None,
    tau2_root: Tau2Root = None,
    workers: Workers = 1,
    budget_usd: Budget = None,
    canary: Canary = True,
    require_sandbox: RequireSandbox = None,
    endpoints: Endpoints = ENDPOINTS,
    state: State = STATE,
) -> None:
    """Go on with a campaign by its name: only failed and unfinished work is done."""
    from flows.stored import resumable_plan

    settings = Settings(
        state=state.absolute(),
        endpoints=endpoints,
        appworld_root=absolute(appworld_root),
        tau2_root=absolute(tau2_root),
        workers=workers,
        budget_usd=budget_usd,
        canary=canary,
        require_sandbox=require_sandbox,
    )
    run_campaign(*resumable_plan(campaign, settings), settings)


def join(
    campaign: str,
    *,
    appworld_root: AppworldRoot = None,
    tau2_root: Tau2Root = None,
    attempts_in_flight: AttemptsInFlight = IN_FLIGHT,
    canary: Canary = True,
    require_sandbox: RequireSandbox = None,
    endpoints: Endpoints = ENDPOINTS,
    state: State = STATE,
) -> None:
    """Help with a campaign that turtle evolve --workers runs, here or on another machine.

    STATE/spool has to be the same folder on all of them. All take the same steps and share the work unit by
    unit. Stop it or lose it at any time: what it finished counts, the rest is done by the others. Tables are
    made where turtle evolve runs.
    """
    from flows.stored import resumable_plan

    settings = Settings(
        state=state.absolute(),
        endpoints=endpoints,
        attempts_in_flight=attempts_in_flight,
        appworld_root=absolute(appworld_root),
        tau2_root=absolute(tau2_root),
        canary=canary,
        require_sandbox=require_sandbox,
        joins=True,
    )
    run_campaign(*resumable_plan(campaign, settings), settings)
