"""Makes a whole world in one folder, in the only order that works."""

import json
import random
import shutil
import time
from functools import partial
from pathlib import Path
from random import Random

from appworld.apps.model_lib import ModelFactory
from faker import Faker

from seeds.record import Seed, read_seeds
from world.accounts import fill_accounts
from world.amazon import fill_amazon
from world.api_docs import fill_api_docs
from world.engine import NOW, Engine, empty_world, report
from world.file_system import fill_file_system
from world.fingerprint import world_hash
from world.gmail import fill_gmail
from world.people import SUPERVISORS
from world.phone import fill_phone
from world.proof import prove_seeds
from world.side_by_side import side_by_side
from world.simple_note import fill_simple_note
from world.splitwise import fill_splitwise
from world.spotify import fill_spotify
from world.start import write_seed
from world.summary import people_summary
from world.todoist import fill_todoist
from world.venmo import fill_venmo

_FILLS = {
    "phone": fill_phone,
    "file_system": fill_file_system,
    "gmail": fill_gmail,
    "amazon": fill_amazon,
    "spotify": fill_spotify,
    "simple_note": fill_simple_note,
    "venmo": fill_venmo,
    "splitwise": fill_splitwise,
    "todoist": fill_todoist,
}
"""What fills each app. Orders send mails with receipts, so amazon comes after gmail."""

_HALVES = (
    ("phone", "file_system", "gmail", "amazon", "admin", "supervisor"),
    ("spotify", "simple_note", "venmo", "splitwise", "todoist", "api_docs"),
)
"""Apps that are filled in one process; those that write into each other's databases stand together."""


def make_world(root: Path, rng_seed: int, proved: bool) -> None:
    """Fills `root` (the engine's APPWORLD_ROOT) with databases, API docs, seeds and world.json.

    `proved`: whether the seeds are proved. The world's hash does not depend on it.

    Raises:
        RuntimeError: a part of the work failed; its traceback is on stderr.
    """
    began = time.clock_gettime(time.CLOCK_MONOTONIC)
    data = root / "data"
    (data / "base_dbs").mkdir(parents=True)
    with empty_world() as engine:
        report("people, homes, cards and accounts")
        _draw_from(rng_seed, "accounts")
        fill_accounts(engine)
        side_by_side([partial(_fill_half, engine, half, data, rng_seed) for half in _HALVES])
    seeds = write_seeds(root, rng_seed)
    if proved:
        side_by_side([partial(prove_seeds, root, seeds[part::2]) for part in range(2)])
        shutil.rmtree(root / "experiments")
    report(f"done in {time.clock_gettime(time.CLOCK_MONOTONIC) - began:.0f} s")


def write_seeds(root: Path, rng_seed: int) -> list[Seed]:
    """Writes the seeds' task directories, the datasets that name them, and world.json.

    Returns:
        The seeds, ordered by name.
    """
    seeds = read_seeds()
    report(f"{len(seeds)} seeds")
    for seed in seeds:
        write_seed(root, seed)
    (root / "data" / "datasets").mkdir()
    task_ids = [seed.task_id for seed in seeds]
    for name, listed in (("seeds", task_ids), ("train", task_ids[::2]), ("dev", task_ids[1::2])):
        text = "".join(f"{task_id}\n" for task_id in listed)
        (root / "data" / "datasets" / f"{name}.txt").write_text(text, encoding="utf-8")
    facts = {
        "hash": world_hash(root),
        "rng_seed": rng_seed,
        "moment": NOW.isoformat(),
        "supervisors": list(SUPERVISORS),
        "people": people_summary(),
    }
    (root / "world.json").write_text(json.dumps(facts, indent=1), encoding="utf-8")
    return seeds


def _draw_from(rng_seed: int, part: str) -> Random:
    """Seeds whatever the engine draws from for one part of the work, and gives a generator for ours.

    Each part has its own, so that the parts can be made in any order and in different processes.
    """
    number = random.Random(f"{rng_seed}:{part}").randrange(2**32)
    random.seed(number)
    Faker.seed(number)
    ModelFactory.seed_random(number)
    return random.Random(number)


def _fill_half(engine: Engine, half: tuple[str, ...], data: Path, rng_seed: int) -> None:
    """Fills some apps and saves their databases."""
    for app in half:
        rng = _draw_from(rng_seed, app)
        if app in _FILLS:
            report(f"filling {app}")
            _FILLS[app](engine, rng)
        elif app == "api_docs":
            report("API documentation")
            fill_api_docs(engine, data / "api_docs")
    for app in half:  # only now: an order, for one, has left a mail and a receipt
        path = data / "base_dbs" / f"{app}.db"
        engine.models[app].SQLModel.db.save("full", str(path))
