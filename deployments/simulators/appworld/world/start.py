"""The start of a seed: a task directory as the engine loads it, on top of the base databases."""

import json
from pathlib import Path

from appworld.apps import get_all_apps
from appworld.collections.models import ModelCollection
from appworld.common.constants import CANARY_STRING, DB_VERSION

from seeds.record import Seed
from world.accounts import profile_rows


def write_seed(root: Path, seed: Seed) -> None:
    """Writes data/tasks/<seed>_1 with specs.json and dbs/<app>.jsonl; the proof adds the rest."""
    folder = root / "data" / "tasks" / seed.task_id
    profile = profile_rows(seed.supervisor)
    person = profile["supervisor"]
    keys = ("first_name", "last_name", "email", "phone_number")
    specs = {
        "instruction": seed.instruction,
        "supervisor": {key: person[key] for key in keys},
        "datetime": seed.moment.isoformat(),
        "db_version": DB_VERSION,
        "canary_string": CANARY_STRING,
    }
    folder.mkdir(parents=True)
    (folder / "specs.json").write_text(json.dumps(specs, indent=1), encoding="utf-8")
    _write_supervisor(folder / "dbs", seed, profile)
    for app in get_all_apps():
        (folder / "dbs" / f"{app}.jsonl").touch()  # a missing file costs the app its database


def _write_supervisor(folder: Path, seed: Seed, profile: dict) -> None:
    place = f":memory:turtle-start-{seed.name}"
    models = ModelCollection.load(
        to_db_home_path=place,
        from_db_home_path=place,
        load_apps=["supervisor", "admin"],
        create_db=True,
    )
    models.restart_db_tracker()  # forgets the statements that made the tables
    supervisor = models.supervisor.Supervisor.create_save(**profile["supervisor"])
    owner = {"supervisor_id": supervisor.id}
    models.supervisor.Task.create_save(instruction=seed.instruction, **owner)
    for address in profile["addresses"]:
        models.supervisor.Address.create_save(**address, **owner)
    for card in profile["payment_cards"]:
        models.supervisor.PaymentCard.create_save(**card, **owner)
    for account in profile["account_passwords"]:
        models.supervisor.AccountPassword.create_save(**account, **owner)
    models.save(str(folder), format="changes", app_names=["supervisor"], delete_if_exists=True)
    models.close()
