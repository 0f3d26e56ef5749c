"""The trusted side: a warm engine that forks one world a session (worlds.py).

It is started with one inherited control socket (shell/forker.py). Its first packet is empty and answered,
once the engine is warm, by what the shell must know (shell/serve.py).
"""

import gc

gc.disable()  # until it is warm: each look at garbage takes longer, and there is little (0.8 s of 7 CPU)

import inspect
import json
import os
import shutil
import socket
import sqlite3
import sys
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any

import appworld
import freezegun.api as freezegun_api
import pytest  # noqa: F401 - the engine's evaluator imports it on first use
from appworld import AppWorld, environment, requester
from appworld.apps import api_lib, model_lib
from appworld.common import copy, datetime, safety_guard
from appworld.common.random import choose_from_time_range

from calls import CallLog, exposed_apis
from grading.grade import grade
from grading.ground_truth import write_ground_truth, write_start
from in_thread_client import InThreadClient, without_threads
from model_classes import cheap_model_classes
from shell.forker import PACKET_BYTES, serve
from shell.limits import die_with_parent
from worlds import World, play, task_directory

WARM_UP_TASK = "warmup_1"
API_DOCS = Path(appworld.__file__).with_name(f"prepared_api_docs-{appworld.__version__}.json")
"""In the engine's own folder: the shell's walls hide that one, and they show the rest of the environment."""

_TIME_CHOICES = (choose_from_time_range,)
_DATE_TEXTS = (
    api_lib.parse_date,
    api_lib.parse_time,
    api_lib.parse_datetime,
    api_lib.date_to_string,
    api_lib.time_to_string,
    api_lib.datetime_to_string,
)


class _NoShell:
    """Stands where stock makes an IPython shell for a world: here no cell runs in the trusted process."""

    def __init__(self, **_: Any) -> None:
        self.user_ns: dict[str, Any] = {}

    def run_cell(self, _: str) -> None: ...


def date_sources() -> list[list[str]]:
    """Names and texts of what changes `pendulum`: two leaf modules, and the functions that they call."""
    texts = [[module.__name__, Path(module.__file__).read_text()] for module in (copy, datetime)]
    imports = "import random\nfrom datetime import datetime\n"
    imports += "from appworld.common.datetime import DateTime, Time\n"
    for functions in (_TIME_CHOICES, _DATE_TEXTS):
        text = imports + "\n".join(inspect.getsource(function) for function in functions)
        texts.append([functions[0].__module__, text])
    return texts


def warm_up() -> dict:
    """Fills the engine's caches by a throw-away item; returns what the shell must know.

    What is not used here is made anew by each forked world: API docs (0.9 s an app), compiled queries,
    validators, the evaluator's imports.
    """
    cheap_model_classes()
    freezegun_api._get_module_attributes_hash = _module_as_known
    environment.InteractiveShellEmbed = _NoShell
    requester.build_main_app = cache(requester.build_main_app)
    requester.TestClient = InThreadClient
    without_threads()
    model_lib.get_direct_cached_sqlite3_connection = _base_database
    docs = _prepared_api_docs()
    folder = task_directory(WARM_UP_TASK)
    write_start(folder, min(folder.parent.iterdir()), "Warm up.")
    for load_ground_truth in (False, True):
        world = World(WARM_UP_TASK, "warm-up", load_ground_truth=load_ground_truth)
        log = CallLog(world, suppress=None, with_output=True)
        _keep_api_docs(world.models.api_docs.ApiDoc)
        _warm_up_calls(log)
        if load_ground_truth:
            grade(world)
        else:
            write_ground_truth(
                folder,
                world,
                instruction="Warm up.",
                gold="",
                expects_answer=False,
                calls=log.calls,
                difficulty=None,
            )
            setup = {
                "apis": exposed_apis(world),
                "disallowed": safety_guard.DISALLOWED_MODULE_TO_FUNCTION_NAMES,
                "sources": date_sources(),
            }
        world.close()
    AppWorld.close_all()
    shutil.rmtree(folder)
    _keep(docs)
    gc.freeze()
    gc.enable()
    return setup


@cache
def _base_database(path: str) -> sqlite3.Connection:
    """A base database as the engine copies it into each world, held in memory.

    SQLite's connection to a file must not be used on the other side of a fork; to memory it may.
    """
    in_memory = sqlite3.connect(":memory:", check_same_thread=False)
    with closing(sqlite3.connect(path)) as on_disk:
        on_disk.backup(in_memory)
    return in_memory


def _prepared_api_docs() -> dict[str, list[dict]]:
    """Has each call look its route up in docs that an earlier start prepared; returns them to be kept.

    To prepare them takes 1.5 s CPU of a start's 9, and they depend on the installed engine alone.
    """
    known = json.loads(API_DOCS.read_text()) if API_DOCS.exists() else {}
    prepare = requester.prepare_api_docs

    def prepared(app_name: str, include_private_apis: bool = False) -> list[dict]:
        key = f"{app_name} {include_private_apis}"
        if key not in known:
            known[key] = prepare(app_name, include_private_apis=include_private_apis)
        return known[key]

    requester.prepare_api_docs = prepared
    return known


def _keep(docs: dict[str, list[dict]]) -> None:
    """Leaves prepared docs for later starts, where the environment's folder can be written."""
    if API_DOCS.exists():
        return
    made = API_DOCS.with_name(f"{API_DOCS.name}.{os.getpid()}")
    try:
        made.write_text(json.dumps(docs))
        made.replace(API_DOCS)
    except OSError:  # of another user, or full: the next start prepares them as this one did
        with suppress(OSError):
            made.unlink()


def _module_as_known(module: Any) -> str:
    """A mark of a module's names for the freezer of clocks, which looks for clocks where it has changed.

    Its own hashes all names of 1,800 modules, three times a world (28 ms CPU each, 13 so).
    """
    return f"{id(module)} {len(vars(module))}"


def _keep_api_docs(model: Any) -> None:
    """Has `ApiDoc.all` read its 457 rows once for all worlds; no item changes them.

    Stock reads and parses all of them for each call of `api_docs` (21 ms CPU of its 25).
    """
    rows = model.all()
    model.all = classmethod(lambda _: list(rows))


def _warm_up_calls(log: CallLog) -> None:
    """Logs in everywhere, reads, writes one note and completes."""

    def call(app: str, api: str, **arguments: Any) -> Any:
        return log.answer({"app": app, "api": api, "arguments": arguments})["result"]

    me = call("supervisor", "show_profile")
    for account in call("supervisor", "show_account_passwords"):
        app, password = account["account_name"], account["password"]
        username = me["phone_number"] if app == "phone" else me["email"]
        token = call(app, "login", username=username, password=password)["access_token"]
        call(app, "show_account", access_token=token)
        if app == "simple_note":
            call(app, "create_note", access_token=token, title="Warm", content="up")
    call("api_docs", "show_api_descriptions", app_name="venmo")
    call("supervisor", "complete_task")


def main(descriptor: int) -> None:
    """Warms up and serves the control socket that was inherited as `descriptor`."""
    die_with_parent()
    control = socket.socket(fileno=descriptor)
    control.recv(PACKET_BYTES)
    setup = warm_up()
    control.send(json.dumps(setup).encode())
    serve(control, play)


if __name__ == "__main__":
    main(int(sys.argv[1]))
    os._exit(0)  # the engine needs 3 s to tear itself down, and nothing is left to do
