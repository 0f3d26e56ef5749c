"""The command line. Heavy imports (Prefect, the SDKs) happen inside the commands that need them."""

import asyncio
import errno
import json
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn, TypeVar

from cyclopts import App, CycloptsError, Parameter
from rich.console import Console
from rich.table import Table

from flows.plain_text import plain
from flows.settings import CHECKOUT, JUDGES_ITSELF, Settings, prepare_prefect
from tasks.errors import BudgetSpent, TurtleError
from warehouse.store import WarehouseError

if TYPE_CHECKING:
    from flows.server import LocalPrefect
    from tasks.plan import Plan

T = TypeVar("T")

DEFAULT_PLAN = CHECKOUT / "deployments" / "plans" / "offline.toml"
IN_FLIGHT = Settings().attempts_in_flight
ENDPOINTS = CHECKOUT / "deployments" / "endpoints.toml"
DEPLOYMENTS = CHECKOUT / "deployments" / "prefect.yaml"

app = App(
    name="turtle",
    help="Evolve agent benchmark items until a solver is neither sure nor lost on them.\n\n"
    "A campaign takes a suite's items (seeds), lets a proposer edit them, a solver attempt each edit "
    "10 times and a feedback model say why it failed; it keeps the variants whose outcome is the least "
    "predictable, judges and labels them. Start with: turtle evolve",
    version_flags=[],
)

State = Annotated[
    Path, Parameter(help="Folder for everything Turtle writes: spool, warehouse, simulators.")
]

AppworldRoot = Annotated[
    Path | None,
    Parameter(
        help="Folder whose data/ is AppWorld's official data (appworld download data --root DIR): "
        "its seeds in place of the small world's."
    ),
]

Endpoints = Annotated[
    Path, Parameter(help="TOML file that says how models are reached, and at what price.")
]

Budget = Annotated[
    float | None,
    Parameter(
        help="US dollars for the whole campaign, earlier runs included; stops before it is passed."
    ),
]

Canary = Annotated[
    bool,
    Parameter(negative="--no-canary", show_default=False, help="Try each model on a trifle first."),
]

Replay = Annotated[
    Path | None,
    Parameter(help="Folder of a recorded campaign (spool/NAME): its replies answer, no network."),
]

RequireSandbox = Annotated[
    Literal["rlimits", "bubblewrap"] | None,
    Parameter(help="Refuse to run model-written code behind less than this."),
]

AttemptsInFlight = Annotated[
    int, Parameter(help="Attempts at once: about as many as calls your endpoint answers at once.")
]


@app.command
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
    appworld_root: AppworldRoot = None,
    attempts_in_flight: AttemptsInFlight = IN_FLIGHT,
    budget_usd: Budget = None,
    canary: Canary = True,
    replay: Replay = None,
    dry_run: Annotated[
        bool,
        Parameter(negative=(), help="Print what is expected to be asked and paid; ask nothing."),
    ] = False,
    require_sandbox: RequireSandbox = None,
    endpoints: Endpoints = ENDPOINTS,
    state: State = CHECKOUT / ".turtle",
) -> None:
    """Run a campaign, or go on with it.

    PLAN is a TOML file with everything that decides what is found: suite, seeds, steps, models, limits. The
    default needs no key: the real AppWorld engine with a simulated model. The same command goes on where
    it was stopped; nothing finished is done or paid for again.
    """
    from tasks.plan import read_plan, spec_named

    overrides = {
        "steps": steps,
        "seeds": seeds,
        "suite": suite,
        "rng_seed": rng_seed,
        "split": split,
    }
    if appworld_root is not None:
        overrides["data"] = "official"
    overrides["proposer"] = proposer and spec_named(proposer)
    settings = Settings(
        state=state.absolute(),
        endpoints=endpoints,
        attempts_in_flight=attempts_in_flight,
        appworld_root=_absolute(appworld_root),
        budget_usd=budget_usd,
        canary=canary,
        replay=replay,
        require_sandbox=require_sandbox,
    )
    read = read_plan(plan, overrides)
    if dry_run:
        from flows.forecast import show

        return asyncio.run(show(read, edition, settings))
    _run(read, edition, settings)


@app.command
def resume(
    campaign: str,
    *,
    appworld_root: AppworldRoot = None,
    budget_usd: Budget = None,
    canary: Canary = True,
    require_sandbox: RequireSandbox = None,
    endpoints: Endpoints = ENDPOINTS,
    state: State = CHECKOUT / ".turtle",
) -> None:
    """Go on with a campaign by its name: only failed and unfinished work is done."""
    from flows.campaign import stored_plan

    settings = Settings(
        state=state.absolute(),
        endpoints=endpoints,
        appworld_root=_absolute(appworld_root),
        budget_usd=budget_usd,
        canary=canary,
        require_sandbox=require_sandbox,
    )
    _run(*stored_plan(campaign, settings), settings)


@app.command
def confirm(
    campaign: str,
    *,
    attempts: Annotated[int, Parameter(help="Fresh attempts on each kept variant.")] = 40,
    solver: Annotated[
        Path | None,
        Parameter(help="TOML file with a table [solver], as in a plan: another solver to ask."),
    ] = None,
    appworld_root: AppworldRoot = None,
    attempts_in_flight: AttemptsInFlight = IN_FLIGHT,
    endpoints: Endpoints = ENDPOINTS,
    state: State = CHECKOUT / ".turtle",
) -> None:
    """Attempt the variants that a campaign kept anew: which of them hold?

    What selected a variant says nothing of it: it was kept for its luck too. Estimates are made of these
    fresh attempts alone.
    """
    from flows.campaign import stored_plan
    from tasks.plan import read_solver

    settings = Settings(
        state=state.absolute(),
        endpoints=endpoints,
        attempts_in_flight=attempts_in_flight,
        appworld_root=_absolute(appworld_root),
    )
    plan, edition = stored_plan(campaign, settings)
    asked = None if solver is None else read_solver(solver)
    _prepare_prefect(settings)
    from flows.confirm import confirm as confirm_flow
    from flows.publish import console, print_confirmation

    again = f"turtle confirm {campaign}"
    _until_stopped(confirm_flow(plan, edition, settings, attempts, asked), again)
    print_confirmation(campaign, settings, console())


@app.command
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
    attempts_in_flight: AttemptsInFlight = IN_FLIGHT,
    endpoints: Endpoints = ENDPOINTS,
    state: State = CHECKOUT / ".turtle",
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
        appworld_root=_absolute(appworld_root),
    )
    data = None if appworld_root is None else "official"
    read = read_plan(plan, {"steps": steps, "seeds": seeds, "data": data})
    _prepare_prefect(settings)
    from flows.compare import compare as compare_flow
    from flows.compare import print_comparison
    from flows.publish import console

    campaigns = _until_stopped(
        compare_flow(read, edition, settings, rng_seeds, attempts), "the same command"
    )
    print_comparison(campaigns, settings, console())


@app.command
def sql(
    query: str,
    *,
    format: Annotated[
        Literal["table", "json"], Parameter(help="json: one object a line.")
    ] = "table",
    state: State = CHECKOUT / ".turtle",
) -> None:
    """Ask the warehouse, also while a campaign runs: turtle sql "FROM analysis.difficulty".

    Tables: warehouse/records.py. Marts: sql/marts, in schema analysis.
    """
    from warehouse import marts

    columns, rows = marts.query(Settings(state=state.absolute()).warehouse, query)
    if format == "json":
        for row in rows:
            print(json.dumps(dict(zip(columns, row, strict=True)), default=str))
        return
    _print_rows(columns, rows)


@app.command
def tables(campaign: str, *, state: State = CHECKOUT / ".turtle") -> None:
    """Print a campaign's tables again."""
    from flows.campaign import stored_plan
    from flows.publish import console, publish

    settings = Settings(state=state.absolute())
    stored_plan(campaign, settings)
    if publish(campaign, settings, console()):
        sys.exit(1)


@app.command
def export(
    folder: Path,
    campaign: str,
    *,
    format: Annotated[str, Parameter(help="Form to write in: appworld.")],
    private: Annotated[
        bool,
        Parameter(help="Write in clear what may be published only encrypted, beside the bundle."),
    ] = False,
    appworld_root: AppworldRoot = None,
    state: State = CHECKOUT / ".turtle",
) -> None:
    """Write a campaign's kept variants into FOLDER, as their own suite reads them."""
    from flows.export import export as write

    settings = Settings(state=state.absolute(), appworld_root=_absolute(appworld_root))
    told = asyncio.run(write(campaign, format, folder.absolute(), settings, private))
    print(f"{folder}: {told}")


@app.command
def delete(campaign: str, *, state: State = CHECKOUT / ".turtle") -> None:
    """Delete a campaign: its attempts, edits, receipts and rows. This cannot be undone."""
    from flows import campaign as campaigns

    campaigns.delete(campaign, Settings(state=state.absolute()))
    print(f"deleted {campaign}")


@app.command
def rebuild(*, state: State = CHECKOUT / ".turtle") -> None:
    """Make the warehouse anew from the spool, which alone is the truth."""
    from flows.campaign import spooled_rows
    from warehouse.store import rebuild as rebuild_warehouse

    settings = Settings(state=state.absolute())
    count = rebuild_warehouse(settings.warehouse, spooled_rows(settings))
    print(f"{settings.warehouse}: {count} rows")


@app.command
def setup(suite: str = "appworld", *, state: State = CHECKOUT / ".turtle") -> None:
    """Install a suite's simulator in an environment of its own; evolve does it by itself on first use."""
    from flows.suites import suite_of

    made = suite_of(suite, Settings(state=state.absolute()))
    print(f"{suite} ready: {asyncio.run(made.fingerprint())}")


@app.command
def doctor(*, endpoints: Endpoints = ENDPOINTS, state: State = CHECKOUT / ".turtle") -> None:
    """Look at what stands and what does not; says what to type for each thing amiss, and installs nothing."""
    from flows.doctor import examine, report

    settings = Settings(state=state.absolute(), endpoints=endpoints)
    if not report(examine(settings), print):
        sys.exit(1)


@app.command
def up(
    *,
    port: Annotated[int, Parameter(help="Where the server listens, on this machine only.")] = 4200,
    deployments: Annotated[Path, Parameter(help="A prefect.yaml file.")] = DEPLOYMENTS,
    state: State = CHECKOUT / ".turtle",
) -> None:
    """Start a Prefect server that stays, a worker, and the deployments; campaigns then show in its UI."""
    url = _prefect_of(state).up(port, deployments.absolute(), lambda line: print(line, flush=True))
    print(f"up: {url}  (turtle status, turtle down)")


@app.command
def down(*, state: State = CHECKOUT / ".turtle") -> None:
    """Stop what turtle up started. Runs under way go on where they were when they are tried again."""
    stopped = _prefect_of(state).down()
    print(f"stopped: {', '.join(stopped)}" if stopped else "nothing was up")


@app.command
def status(*, state: State = CHECKOUT / ".turtle") -> None:
    """Say what of turtle up runs; exit code 1 when not all of it does."""
    from flows.server import answers

    local = _prefect_of(state)
    url = local.url()
    print(f"server: {url if url and answers(url) else 'not up'}; log: {local.server.log}")
    worker = local.worker.process_id()
    print(f"worker: {f'process {worker}' if worker else 'not up'}; log: {local.worker.log}")
    if url is None or worker is None:
        sys.exit(1)


def main() -> None:
    """The console script: exit code 0; 1 when a check of the warehouse fails or the doctor finds something
    amiss; 2 when something that the user can mend is wrong, told in one line; 3 when the budget is used up;
    130 when stopped."""
    try:
        app(exit_on_error=False, print_error=False)
    except CycloptsError as error:
        _end(f"{error} (turtle --help)")
    except BudgetSpent as error:
        _end(str(error), code=3)
    except (TurtleError, WarehouseError) as error:
        _end(str(error))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _end("the disk is full; make room and run the same command again")


def _absolute(path: Path | None) -> Path | None:
    return None if path is None else path.absolute()


def _end(message: str, code: int = 2) -> NoReturn:
    print(f"turtle: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


def _run(plan: "Plan", edition: str, settings: Settings) -> None:
    """Runs a campaign in this process and prints what it came to."""
    from flows.campaign import require, require_sandbox

    require(plan, edition, settings)
    asyncio.run(require_sandbox(plan.suite, settings))
    if plan.judges_itself:
        print(f"warning: {JUDGES_ITSELF}", file=sys.stderr)
    _prepare_prefect(settings)
    from flows.evolve import evolve as evolve_flow
    from flows.publish import console, publish

    name = plan.campaign(edition)
    _until_stopped(evolve_flow(plan, edition, settings), f"turtle resume {name}")
    if publish(name, settings, console()):
        sys.exit(1)


def _until_stopped(flow: Coroutine[Any, Any, T], again: str) -> T:
    """Runs a flow to its end; where the user stops it, says how to go on and exits."""
    try:
        return asyncio.run(flow)
    except (KeyboardInterrupt, asyncio.CancelledError):
        print(f"stopped; nothing finished is lost. Go on with: {again}", file=sys.stderr)
        sys.exit(130)


def _prepare_prefect(settings: Settings) -> None:
    """The server of `turtle up` serves where it runs, else one that lives as long as this process."""
    prepare_prefect(settings, _prefect_of(settings.state).url())


def _prefect_of(state: Path) -> "LocalPrefect":
    from flows.server import LocalPrefect

    return LocalPrefect(Settings(state=state.absolute()))


def _print_rows(columns: list[str], rows: list[tuple[Any, ...]]) -> None:
    table = Table(*columns)
    for row in rows:
        table.add_row(*(plain("NULL" if value is None else value) for value in row))
    Console(soft_wrap=True).print(table)
