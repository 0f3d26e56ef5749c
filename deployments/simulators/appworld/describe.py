"""What the simulator says of itself and of its world, read from files; the engine is not needed for it."""

import json
import sqlite3
from ast import literal_eval
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from official import OfficialData
from seeds.record import PREAMBLE
from small_world import SmallWorld

_COUNTED = {
    "amazon": ("products", "orders"),
    "phone": ("contacts", "alarms"),
    "file_system": ("files", "directories"),
    "spotify": ("songs", "artists", "albums", "playlists"),
    "venmo": ("transactions", "payment_requests"),
    "gmail": ("emails",),
    "splitwise": ("groups", "expenses"),
    "simple_note": ("notes",),
    "todoist": ("projects", "tasks"),
}
"""Tables whose sizes a proposer is told, by app."""
_HIDDEN_APPS = ("api_docs", "admin")
_SURVEY = Path(__file__).with_name("survey.txt")
"""A cell that prints, by app, what a start holds: names and titles, so that an edit can build on them."""


def describe(world: SmallWorld | OfficialData, sandbox: str) -> dict:
    """The protocol's result of `describe`; `sandbox` is the level of the shell's walls."""
    return {
        "suite": "appworld",
        "version": version("appworld"),
        "world": world.hash,
        "interaction": "code",
        "edits": ["instruction", "gold"],
        "sandbox": sandbox,
        "apis": _apis(world.data / "api_docs" / "standard"),
        "world_summary": _world_summary(world.data, world.people),
        "survey": {"kind": "code", "code": f"{PREAMBLE}\n\n{_SURVEY.read_text(encoding='utf-8')}"},
    }


def _apis(folder: Path) -> list[dict]:
    apis = []
    for path in sorted(folder.glob("*.json")):
        for doc in json.loads(path.read_text(encoding="utf-8")).values():
            parameters = doc["parameters"]
            apis.append(
                {
                    "app": doc["app_name"],
                    "api": doc["api_name"],
                    "method": doc["method"],
                    "description": doc["description"],
                    "parameters": [part["name"] for part in parameters],
                    "required": [part["name"] for part in parameters if part["required"]],
                    "returns": _shape(doc["response_schemas"]["success"]),
                    "values": {part["name"]: few for part in parameters if (few := _values(part))},
                }
            )
    return [api for api in apis if api["app"] not in _HIDDEN_APPS]


def _values(parameter: dict) -> list[str]:
    """The values that a parameter is confined to; empty where it takes any."""
    named = [one for one in parameter["constraints"] if one.startswith("value in [")]
    return [value for one in named for value in literal_eval(one.removeprefix("value in "))]


def _shape(sample: object) -> str:
    """The names in a sample of a result, nested as they are; "" where it holds nothing but a message."""
    if isinstance(sample, list):
        return f"[{_shape(sample[0]) if sample else ''}]"
    if isinstance(sample, dict) and set(sample) != {"message"}:
        inside = ((name, _shape(value)) for name, value in sample.items())
        return f"{{{', '.join(f'{name}: {shape}' if shape else name for name, shape in inside)}}}"
    return ""


def _world_summary(data: Path, people: str) -> str:
    lines = [people, "", "Rows by app:"]
    for app, tables in _COUNTED.items():
        with closing(_connect(data, app)) as base:
            sizes = [f"{_size(base, table)} {table.replace('_', ' ')}" for table in tables]
        lines.append(f"- {app}: {', '.join(sizes)}")
    return "\n".join(lines)


def _connect(data: Path, app: str) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{data / 'base_dbs' / app}.db?mode=ro", uri=True)


def _size(base: sqlite3.Connection, table: str) -> int:
    return base.execute(f'select count(*) from "{table}"').fetchone()[0]
