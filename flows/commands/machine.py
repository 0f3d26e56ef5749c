"""Commands on this machine: simulators, the doctor, and Prefect's server and worker."""

import asyncio
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from flows.commands.options import ENDPOINTS, STATE, Endpoints, State
from flows.server import LocalPrefect, answers
from flows.settings import CHECKOUT, Settings

DEPLOYMENTS = CHECKOUT / "deployments" / "prefect.yaml"


def setup(suite: str = "appworld", *, state: State = STATE) -> None:
    """Install a suite's simulator in an environment of its own; evolve does it by itself on first use."""
    from flows.suites import suite_of

    made = suite_of(suite, Settings(state=state.absolute()))
    print(f"{suite} ready: {asyncio.run(made.fingerprint())}")


def doctor(*, endpoints: Endpoints = ENDPOINTS, state: State = STATE) -> None:
    """Look at what stands and what does not; says what to type for each thing amiss, and installs nothing."""
    from flows.doctor import examine, report

    settings = Settings(state=state.absolute(), endpoints=endpoints)
    if not report(examine(settings), print):
        sys.exit(1)


def up(
    *,
    port: Annotated[int, Parameter(help="Where the server listens, on this machine only.")] = 4200,
    deployments: Annotated[Path, Parameter(help="A prefect.yaml file.")] = DEPLOYMENTS,
    state: State = STATE,
) -> None:
    """Start a Prefect server that stays, a worker, and the deployments; campaigns then show in its UI."""
    url = _local(state).up(port, deployments.absolute(), lambda line: print(line, flush=True))
    print(f"up: {url}  (turtle status, turtle down)")


def down(*, state: State = STATE) -> None:
    """Stop what turtle up started. Runs under way go on where they were when they are tried again."""
    stopped = _local(state).down()
    print(f"stopped: {', '.join(stopped)}" if stopped else "nothing was up")


def status(*, state: State = STATE) -> None:
    """Say what of turtle up runs; exit code 1 when not all of it does."""
    local = _local(state)
    url = local.url()
    print(f"server: {url if url and answers(url) else 'not up'}; log: {local.server.log}")
    worker = local.worker.process_id()
    print(f"worker: {f'process {worker}' if worker else 'not up'}; log: {local.worker.log}")
    if url is None or worker is None:
        sys.exit(1)


def _local(state: Path) -> LocalPrefect:
    return LocalPrefect(Settings(state=state.absolute()))
