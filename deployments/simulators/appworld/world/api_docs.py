"""The engine's API documentation, in the two forms that an agent reads: JSON files and a database.

Both are made from the installed package at build time: its text is protected and stays out of this
repository.
"""

import json
from pathlib import Path

from appworld.api_docs import prepare_api_docs
from appworld.apps import get_all_apps
from appworld.common.constants import CANARY_STRING

from world.engine import Engine


def fill_api_docs(engine: Engine, folder: Path) -> int:
    """Fills the api_docs database and writes `folder`/standard/<app>.json.

    `ApiDocCollection.save` would do the second half, but needs packages that the engine doesn't install.

    Returns:
        How many APIs are documented.
    """
    (folder / "standard").mkdir(parents=True)
    count = 0
    for app in get_all_apps(skip_admin=True):
        docs = {doc["api_name"]: doc for doc in prepare_api_docs(app, include_private_apis=False)}
        for doc in docs.values():
            row = {"app_name_" if key == "app_name" else key: value for key, value in doc.items()}
            engine.models.api_docs.ApiDoc.create_save(**row)
        stamped = {name: {**doc, "canary_string": CANARY_STRING} for name, doc in docs.items()}
        text = json.dumps(stamped, indent=1)
        (folder / "standard" / f"{app}.json").write_text(text, encoding="utf-8")
        count += len(docs)
    return count
