"""Suites by name."""

from collections.abc import Callable

from flows.settings import Settings
from tasks.errors import InputError
from tasks.suites.appworld import AppWorldSuite
from tasks.suites.base import Suite
from tasks.suites.tau_bench import TAU_SUITES, TauName, TauSuite


def _tau(name: TauName) -> Callable[[Settings], Suite]:
    return lambda settings: TauSuite(name, settings.state, root=settings.tau2_root)


SUITES: dict[str, Callable[[Settings], Suite]] = {
    "appworld": lambda settings: AppWorldSuite(
        settings.state, root=settings.appworld_root, sandbox=settings.require_sandbox
    ),
} | {name: _tau(name) for name in TAU_SUITES}
"""What a plan's `suite` may name, and how the suite is made."""


DEFAULT_SPLITS = {"appworld": "train"} | dict.fromkeys(TAU_SUITES, "base")
"""The split whose items are a suite's seeds where the user names the suite and no split."""


def suite_of(name: str, settings: Settings) -> Suite:
    """The suite of a plan. Raises InputError for a name that nobody knows."""
    if name not in SUITES:
        raise InputError(f"suite {name}: unknown; there are: {', '.join(sorted(SUITES))}")
    return SUITES[name](settings)
