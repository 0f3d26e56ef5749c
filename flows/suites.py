"""Suites by name."""

from collections.abc import Callable

from flows.settings import Settings
from tasks.errors import InputError
from tasks.suites.appworld import AppWorldSuite
from tasks.suites.base import Suite

SUITES: dict[str, Callable[[Settings], Suite]] = {
    "appworld": lambda settings: AppWorldSuite(
        settings.state, root=settings.appworld_root, sandbox=settings.require_sandbox
    ),
}
"""What a plan's `suite` may name, and how the suite is made."""


def suite_of(name: str, settings: Settings) -> Suite:
    """The suite of a plan. Raises InputError for a name that nobody knows."""
    if name not in SUITES:
        raise InputError(f"suite {name}: unknown; there are: {', '.join(sorted(SUITES))}")
    return SUITES[name](settings)
