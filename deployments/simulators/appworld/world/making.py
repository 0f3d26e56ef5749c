"""Makes a whole world in one folder, in the only order that works."""

import random
import time
from pathlib import Path

from appworld.apps import get_all_apps
from appworld.apps.model_lib import ModelFactory
from faker import Faker

from seeds.record import read_seeds
from world.accounts import fill_accounts
from world.amazon import fill_amazon
from world.api_docs import fill_api_docs
from world.engine import Engine, empty_world, report
from world.file_system import fill_file_system
from world.fingerprint import world_hash
from world.gmail import fill_gmail
from world.phone import fill_phone
from world.simple_note import fill_simple_note
from world.splitwise import fill_splitwise
from world.spotify import fill_spotify
from world.start import write_seed
from world.todoist import fill_todoist
from world.venmo import fill_venmo

_FILLS = {
    "phone": fill_phone,
    "file_system": fill_file_system,
    "spotify": fill_spotify,
    "simple_note": fill_simple_note,
    "venmo": fill_venmo,
    "splitwise": fill_splitwise,
    "todoist": fill_todoist,
    "gmail": fill_gmail,
    "amazon": fill_amazon,
}
"""What fills each app, in an order in which nothing is missing (orders send mail)."""


def make_world(root: Path, rng_seed: int) -> None:
    """Fills `root` (the engine's APPWORLD_ROOT) with databases, API docs, seeds and world.json."""
    began = time.clock_gettime(time.CLOCK_MONOTONIC)
    random.seed(rng_seed)
    Faker.seed(rng_seed)
    ModelFactory.seed_random(rng_seed)
    data = root / "data"
    with empty_world() as engine:
        report("people, homes, cards and accounts")
        fill_accounts(engine)
        _fill_apps(engine, rng_seed)
        report("API documentation")
        fill_api_docs(engine, data / "api_docs")
        engine.models.save(
            str(data / "base_dbs"), format="full", app_names=get_all_apps(), delete_if_exists=True
        )
    seeds = read_seeds()
    for seed in seeds:
        write_seed(root, seed)
    report(f"done in {time.clock_gettime(time.CLOCK_MONOTONIC) - began:.0f} s")


def _fill_apps(engine: Engine, rng_seed: int) -> None:
    """Fills app after app; each draws from a generator of its own, so that a change stays local."""
    for app, fill in _FILLS.items():
        report(f"{app}")
        fill(engine, random.Random(f"{rng_seed}:{app}"))
