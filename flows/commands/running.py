"""How a command runs a flow: in this process, against whichever Prefect server there is."""

import asyncio
import sys
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from flows.server import LocalPrefect
from flows.settings import JUDGES_ITSELF, Settings, prepare_prefect

if TYPE_CHECKING:
    from tasks.plan import Plan

T = TypeVar("T")


def run_campaign(plan: "Plan", edition: str, settings: Settings) -> None:
    """Runs a campaign in this process and prints what it came to."""
    from flows.requirements import require

    require(plan, edition, settings)
    check_sandbox(plan.suite, settings)
    if plan.judges_itself:
        print(f"warning: {JUDGES_ITSELF}", file=sys.stderr)
    use_prefect(settings)
    from flows.evolve import evolve as evolve_flow
    from flows.publish import console, publish

    name = plan.campaign(edition)
    again = f"turtle {'join' if settings.joins else 'resume'} {name}"
    until_stopped(evolve_flow(plan, edition, settings), again)
    if not settings.joins and publish(name, settings, console()):
        sys.exit(1)


def check_sandbox(suite: str, settings: Settings) -> None:
    """Raises InputError where model-written code would run behind less than the settings want."""
    from flows.requirements import require_sandbox

    asyncio.run(require_sandbox(suite, settings))


def until_stopped(flow: Coroutine[Any, Any, T], again: str) -> T:
    """Runs a flow to its end; where the user stops it, says how to go on and exits."""
    try:
        return asyncio.run(flow)
    except (KeyboardInterrupt, asyncio.CancelledError):
        print(f"stopped; nothing finished is lost. Go on with: {again}", file=sys.stderr)
        sys.exit(130)


def use_prefect(settings: Settings) -> None:
    """The server of `turtle up` serves where it runs, else one that lives as long as this process."""
    prepare_prefect(settings, LocalPrefect(settings).url())
