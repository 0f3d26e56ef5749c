"""Commands that attempt anew what campaigns kept: does it hold, and does the search add anything?"""

from pathlib import Path
from typing import Annotated

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
    absolute,
)
from flows.commands.running import check_sandbox, until_stopped, use_prefect
from flows.settings import Settings


def confirm(
    campaign: str,
    *,
    attempts: Annotated[int, Parameter(help="Fresh attempts on each kept variant.")] = 40,
    solver: Annotated[
        Path | None,
        Parameter(help="TOML file with a table [solver], as in a plan: another solver to ask."),
    ] = None,
    appworld_root: AppworldRoot = None,
    tau2_root: Tau2Root = None,
    attempts_in_flight: AttemptsInFlight = IN_FLIGHT,
    budget_usd: Budget = None,
    canary: Canary = True,
    replay: Replay = None,
    require_sandbox: RequireSandbox = None,
    endpoints: Endpoints = ENDPOINTS,
    state: State = STATE,
) -> None:
    """Attempt the variants that a campaign kept anew: which of them hold?

    What selected a variant says nothing of it: it was kept for its luck too. Estimates are made of these
    fresh attempts alone.
    """
    from flows.stored import resumable_plan
    from tasks.plan import read_solver

    settings = Settings(
        state=state.absolute(),
        endpoints=endpoints,
        attempts_in_flight=attempts_in_flight,
        appworld_root=absolute(appworld_root),
        tau2_root=absolute(tau2_root),
        budget_usd=budget_usd,
        canary=canary,
        replay=replay,
        require_sandbox=require_sandbox,
    )
    plan, edition = resumable_plan(campaign, settings)
    asked = None if solver is None else read_solver(solver)
    check_sandbox(plan.suite, settings)
    use_prefect(settings)
    from flows.confirm import confirm as confirm_flow
    from flows.publish import console, print_confirmation

    again = f"turtle confirm {campaign}"
    until_stopped(confirm_flow(plan, edition, settings, attempts, asked), again)
    print_confirmation(campaign, settings, console())


def compare(
    plan: Path = DEFAULT_PLAN,
    *,
    rng_seeds: Annotated[
        int, Parameter(help="How often each arm runs, each with other dice.")
    ] = 10,
    attempts: Annotated[int, Parameter(help="Fresh attempts on each kept variant.")] = 40,
    steps: Annotated[int | None, Parameter(help="Variants that each arm attempts.")] = None,
    seeds: Annotated[int | None, Parameter(help="How many of the suite's seeds take part.")] = None,
    edition: Annotated[str, Parameter(help="Name of this run of an unchanged plan.")] = "1",
    appworld_root: AppworldRoot = None,
    tau2_root: Tau2Root = None,
    attempts_in_flight: AttemptsInFlight = IN_FLIGHT,
    budget_usd: Annotated[
        float | None,
        Parameter(help="US dollars for all arms together; stops before it is passed."),
    ] = None,
    canary: Canary = True,
    require_sandbox: RequireSandbox = None,
    endpoints: Endpoints = ENDPOINTS,
    state: State = STATE,
) -> None:
    """What does the search add? Four arms at equal attempts, confirmed and compared.

    Independent edits of the seed, edits of the best so far, evolution without notes, and full evolution;
    each arm under each rng_seed is a campaign of its own. The same command goes on where it was stopped.
    """
    from tasks.plan import read_plan

    settings = Settings(
        state=state.absolute(),
        endpoints=endpoints,
        attempts_in_flight=attempts_in_flight,
        appworld_root=absolute(appworld_root),
        tau2_root=absolute(tau2_root),
        budget_usd=budget_usd,
        canary=canary,
        require_sandbox=require_sandbox,
    )
    data = None if appworld_root is None and tau2_root is None else "official"
    read = read_plan(plan, {"steps": steps, "seeds": seeds, "data": data})
    check_sandbox(read.suite, settings)
    use_prefect(settings)
    from flows.compare import compare as compare_flow
    from flows.compare import print_comparison
    from flows.publish import console

    campaigns = until_stopped(
        compare_flow(read, edition, settings, rng_seeds, attempts), "the same command"
    )
    print_comparison(campaigns, settings, console())
