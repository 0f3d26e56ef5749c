"""What a campaign needs on this machine: looked at before anything is written."""

import re
import shutil
from contextlib import aclosing

from flows.pool import divided
from flows.settings import Settings
from flows.suites import suite_of
from tasks.errors import InputError, SimulatorError
from tasks.llm.endpoints import Endpoint, read_endpoints
from tasks.llm.prices import Prices
from tasks.plan import Plan
from tasks.suites.base import SANDBOX_LEVELS
from tasks.suites.tau_bench import TAU_SUITES


def require(plan: Plan, edition: str, settings: Settings) -> None:
    """Raises InputError where a plan cannot run here: unknown suite or endpoint, too little disk.

    The edition becomes part of folder names.
    """
    if not re.fullmatch(r"[A-Za-z0-9._]+(-[A-Za-z0-9._]+)*", edition):
        raise InputError(f"edition {edition!r}: letters, digits, dots and inner dashes only")
    suite_of(plan.suite, settings)
    require_data(plan, settings)
    known = read_endpoints(settings.endpoints)
    for role, spec in plan.specs.items():
        endpoint = spec.endpoint
        if endpoint not in known:
            raise InputError(
                f"plan: {role}.endpoint = {endpoint} is not in {settings.endpoints}; "
                f"there are: {', '.join(sorted(known))}"
            )
    divided(plan, known, settings.workers)
    if settings.workers > 1 and settings.budget_usd is not None:
        raise InputError(
            f"--budget-usd with --workers {settings.workers}: one process alone can keep to a budget; "
            "leave one of them out"
        )
    if settings.budget_usd is not None and settings.replay is None:
        _require_prices(plan, known, settings)
    _require_room(settings)


async def require_sandbox(suite: str, settings: Settings) -> None:
    """Raises InputError where model-written code of the suite would run behind less than settings want."""
    level = settings.require_sandbox
    if level is None:
        return
    async with aclosing(suite_of(suite, settings)) as asked:
        try:
            offered = (await asked.describe()).sandbox
        except SimulatorError as error:
            raise InputError(f"--require-sandbox {level}: {error}") from error
    if SANDBOX_LEVELS.index(offered) < SANDBOX_LEVELS.index(level):
        raise InputError(
            f"--require-sandbox {level}: suite {suite} offers {offered} here, which is less; "
            "turtle doctor says what is missing"
        )


def require_data(plan: Plan, settings: Settings) -> None:
    """The plan says which data, the settings where it lies: neither goes without the other."""
    of_tau = plan.suite in TAU_SUITES
    if of_tau:
        option, root, strange = "--tau2-root", settings.tau2_root, settings.appworld_root
        how = "a checkout of tau2-bench 1.0.x"
    else:
        option, root, strange = "--appworld-root", settings.appworld_root, settings.tau2_root
        how = "get it with: appworld download data --root DIR"
    if strange is not None:
        other = "--appworld-root" if of_tau else "--tau2-root"
        raise InputError(f"{other}: holds nothing of suite {plan.suite}; leave it out")
    if plan.data == "official" and root is None:
        raise InputError(f'plan: data = "official": say where it lies with {option} DIR ({how})')
    if plan.data is None and root is not None:
        ours = "the packages' data" if of_tau else "the small world"
        raise InputError(
            f"{option}: this campaign stands on {ours}, not on official data; leave it out"
        )


def _require_prices(plan: Plan, known: dict[str, Endpoint], settings: Settings) -> None:
    for role, spec in plan.specs.items():
        prices = known[spec.endpoint].prices.get(spec.llm_id, Prices())
        free = not known[spec.endpoint].remote
        if not free and (prices.input is None or (prices.output is None and role != "embedder")):
            raise InputError(
                f"--budget-usd: the price of {spec.llm_id} ({role}) is not known; give input and output "
                f'in {settings.endpoints} under [{spec.endpoint}.prices."{spec.llm_id}"], 0 for a server '
                "of your own"
            )


def _require_room(settings: Settings) -> None:
    for folder in (settings.state, settings.spool):
        there = next(path for path in (folder, *folder.parents) if path.exists())
        free = shutil.disk_usage(there).free
        if free < settings.min_free_bytes:
            raise InputError(
                f"disk: {free // 10**6} MB free in {folder}, a campaign wants "
                f"{settings.min_free_bytes // 10**6} MB; make room and run the same command again"
            )
