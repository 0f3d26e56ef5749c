"""A door to the AppWorld engine for whoever builds the world: empty databases, a clock, API calls.

Must run under the interpreter of AppWorld's environment, one world at a time per process (the engine
keeps its connections in class variables).
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

import freezegun
from appworld.apps import get_all_apps
from appworld.apps.api_lib import call_api
from appworld.collections.models import ModelCollection

from world.people import Person

NOW = datetime(2023, 5, 18, 12, 0, 0)
"""The moment at which the world stands still, a Thursday noon. Nothing in it is later."""

# The engine signs its tokens with a short constant, and PyJWT says so for each in the progress lines.
warnings.filterwarnings("ignore", message="The HMAC key is")

USER_APPS = (
    "amazon",
    "phone",
    "file_system",
    "spotify",
    "venmo",
    "gmail",
    "splitwise",
    "simple_note",
    "todoist",
)
"""The nine apps in which people have accounts."""


def ago(days: int, hour: int = 10, minute: int = 0) -> datetime:
    """That many days before the world's date, at a time of day. Negative days lie in the future."""
    return (NOW - timedelta(days=days)).replace(hour=hour, minute=minute)


def report(line: str) -> None:
    """Writes one line of progress to stderr."""
    print(f"[world] {line}", file=sys.stderr, flush=True)


class Engine:
    """The engine's databases in memory with a clock that only the builder moves."""

    def __init__(self, models: ModelCollection, clock: Any) -> None:
        self.models = models
        self._clock = clock

    def at(self, moment: datetime) -> None:
        """Sets the clock: rows made from now on carry this time."""
        self._clock.move_to(moment)

    def user(self, app: str, person: Person) -> Any:
        """The account row of a person in an app, read anew (balances change under old copies)."""
        if app == "phone":
            return self.models.phone.User.find_one_or_raise(phone_number=person.phone_number)
        return self.models[app].User.find_one_or_raise(email=person.email)

    def add(self, table: Any, rows: list[dict]) -> None:
        """Adds rows to a table in one commit; for rows on which nothing else depends."""
        table.save_all([table.create(**row) for row in rows])

    def call(self, app: str, api: str, person: Person, **arguments: Any) -> Any:
        """Calls an app's API function as a person, without HTTP and without login.

        The engine keeps all its invariants this way: threads, search text, like counts, notifications.

        Raises:
            fastapi.HTTPException: the app refuses the call; a mistake in the builder.
        """
        return call_api(app, api, user=self.user(app, person), **arguments)


@contextmanager
def empty_world() -> Iterator[Engine]:
    """Opens empty databases for all apps in memory and freezes the clock at NOW."""
    place = ":memory:turtle-world"
    with freezegun.freeze_time(NOW) as clock:
        models = ModelCollection.load(
            to_db_home_path=place, from_db_home_path=place, load_apps=get_all_apps(), create_db=True
        )
        try:
            yield Engine(models, clock)
        finally:
            models.close()
