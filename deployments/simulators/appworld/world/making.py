"""Makes a whole world in one folder, in the only order that works."""

import random
import time
from pathlib import Path

from appworld.apps import get_all_apps
from appworld.apps.model_lib import ModelFactory
from faker import Faker

from seeds.record import read_seeds
from world.accounts import fill_accounts
from world.api_docs import fill_api_docs
from world.engine import empty_world, report
from world.start import write_seed


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
        report("API documentation")
        fill_api_docs(engine, data / "api_docs")
        engine.models.save(
            str(data / "base_dbs"), format="full", app_names=get_all_apps(), delete_if_exists=True
        )
    seeds = read_seeds()
    for seed in seeds:
        write_seed(root, seed)
    report(f"done in {time.clock_gettime(time.CLOCK_MONOTONIC) - began:.0f} s")
