"""What an export is: a campaign's kept variants, written in the form that their own suite reads."""

import os
import shutil
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tasks.errors import InputError
from tasks.plan import Plan
from tasks.spool import Spool
from tasks.suites.base import Suite
from warehouse.records import Item


@dataclass(frozen=True)
class KeptVariant:
    """A variant that was selected and judged valid."""

    item: Item
    difficulty: int | None
    """Our label, 1-3; None where it was not labelled."""


@dataclass(frozen=True)
class Delivery:
    """What is to be written, and by whose simulator."""

    campaign: str
    suite: Suite
    kept: Sequence[KeptVariant]
    private: bool
    """The user has said that what may not be published in clear may be written in clear all the same."""
    plan: Plan | None = None
    """The campaign's; None where there was none, and no attempts either."""
    attempts: Sequence[str] = ()
    """Names of the campaign's finished attempt units."""
    spool: Spool | None = None
    """Where these lie; None where there are none."""


@dataclass(frozen=True)
class Format:
    """A form to write in."""

    suites: tuple[str, ...]
    """Names of the suites whose items it can hold."""
    write: Callable[[Delivery, Path], Awaitable[str]]
    """Writes into a folder that is there and empty; returns a line for the user."""


@contextmanager
def placed(folder: Path) -> Iterator[Path]:
    """A new folder beside `folder`, renamed to it at the end, removed where the work fails.

    Raises InputError where `folder` holds something already.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder}: is there already and not empty; name another folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield making
        making.chmod(0o755)
        os.replace(making, folder)
    finally:
        shutil.rmtree(making, ignore_errors=True)
