"""The trusted side: a warm engine that forks one world a session.

A world process holds the session's databases, its ground truth and its log of calls. It serves two
sockets: one to the program, whose requests it answers in order, and one to the shell that runs the cells.
Program's side, one JSON object a line:

    -> {"do": "act", "code": text}        <- {"result": Observation}
    -> {"do": "calls"}                    <- {"result": [Call]}
    -> {"do": "finish"}                   <- {"result": Outcome}
    -> {"do": "write_ground_truth", "instruction": text, "gold": text}
                                          <- {"result": {"expects_answer": bool, "state_changes": bool}}

or `{"error": {"kind", "message"}}`. The first line is sent unasked: the Briefing, once the world is open.
"""

import gc
import inspect
import json
import os
import shutil
import socket
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest  # noqa: F401 - the engine's evaluator imports it on first use
from appworld import AppWorld, environment, requester
from appworld.apps import api_lib
from appworld.common import copy, datetime, safety_guard
from appworld.common.path_store import path_store
from appworld.common.random import choose_from_time_range

from calls import CallLog, exposed_apis
from grading.grade import grade
from grading.ground_truth import model_pair, write_ground_truth, write_start
from grading.item_tests import given_answer
from shell.forker import PACKET_BYTES, serve
from shell.limits import die_with_parent

LINE_BYTES = 64 << 20
"""Longest message of a shell that is read; a longer one loses the session."""

_TIME_CHOICES = (choose_from_time_range,)
_DATE_TEXTS = (
    api_lib.parse_date,
    api_lib.parse_time,
    api_lib.parse_datetime,
    api_lib.date_to_string,
    api_lib.time_to_string,
    api_lib.datetime_to_string,
)

WARM_UP_TASK = "warmup_1"


class _NoShell:
    """Stands where stock makes an IPython shell for a world: here no cell runs in the trusted process."""

    def __init__(self, **_: Any) -> None:
        self.user_ns: dict[str, Any] = {}

    def run_cell(self, _: str) -> None: ...


class World(AppWorld):
    """The stock world, minus what only its own shell and its logs on disk need."""

    def initialize(self) -> None:
        """Opens the world as stock does, but saves nothing: the grade does, once."""
        AppWorld.close_all()
        self._prepare_directories()
        self._execute_preamble()
        self._set_datetime()


class Session:
    """One world and what is asked of it."""

    def __init__(self, spec: dict, wire: socket.socket) -> None:
        """Opens the world of the task directory `spec["task_id"]`; `wire` leads to the shell.

        Further fields of `spec`: `experiment` (name of the scratch folder), `suppress` (number of the call
        whose change is undone, or None), `with_output` (whether calls keep their results) and `start`:
        None, or the parent's task directory and the instruction of which the task directory, without a
        ground truth, is made first.
        """
        if spec["start"] is not None:
            parent = Path(spec["start"]["parent"])
            write_start(_task_directory(spec["task_id"]), parent, spec["start"]["instruction"])
        self._world = World(
            task_id=spec["task_id"],
            experiment_name=spec["experiment"],
            load_ground_truth=spec["start"] is None,
        )
        self._log = CallLog(self._world, spec["suppress"], spec["with_output"])
        self._wire = wire
        self._lines = wire.makefile("rb")
        self._done = False

    def briefing(self) -> dict:
        """The protocol's briefing."""
        task = self._world.task
        keys = ("first_name", "last_name", "email", "phone_number")
        return {
            "supervisor": {key: task.supervisor[key] for key in keys},
            "datetime": task.datetime.isoformat(),
            "instruction": task.instruction,
        }

    def act(self, code: str) -> dict:
        """Runs a cell and returns the protocol's Observation.

        Raises:
            EOFError: the shell ended, or sent what no shell of ours sends.
        """
        before = len(self._log.calls)
        safe, message = self._world.safety_guard.is_syntax_safe(code)
        if safe:
            self._world.requester.reset_request_count()
            text, error = self._run(code)
        else:
            text, error = f"Execution failed. Traceback:\n{message}", True
        self._done = self._done or self._log.declared_complete(since=before)
        return {
            "kind": "observation",
            "text": text,
            "error": error,
            "done": self._done,
            "calls": self._log.calls[before:],
        }

    def _run(self, code: str) -> tuple[str, bool]:
        self._send({"cell": code})
        while True:
            line = self._lines.readline(LINE_BYTES)
            try:
                message = json.loads(line)
                if "text" in message:
                    return str(message["text"]), bool(message["error"])
                reply = self._log.answer(message)
            except (ValueError, TypeError) as error:
                raise EOFError("the shell of this session ended") from error
            self._send(reply)

    def _send(self, message: dict) -> None:
        self._wire.sendall(json.dumps(message).encode() + b"\n")

    def calls(self) -> list[dict]:
        """All calls of the session."""
        return self._log.calls

    def finish(self) -> dict:
        """Grades the state as it is."""
        return grade(self._world) | {"completed": self._done, "calls": len(self._log.calls)}

    def write_ground_truth(self, instruction: str, gold: str) -> dict:
        """Makes the task directory's ground truth from the state that the gold has just left."""
        answer = given_answer(model_pair(self._world))
        folder = _task_directory(self._world.task_id)
        write_ground_truth(
            folder,
            self._world,
            instruction=instruction,
            gold=gold,
            expects_answer=answer is not None,
            calls=self._log.calls,
            difficulty=None,
        )
        private = json.loads((folder / "ground_truth" / "private_data.json").read_text())
        effects = json.loads(private["expected"])["effects"]
        return {"expects_answer": answer is not None, "state_changes": bool(effects)}


def play(spec: dict, sockets: list[socket.socket]) -> None:
    """Opens a session and answers the program until it finishes or the program closes the socket."""
    channel, wire = sockets
    requests = channel.makefile("rb")
    try:
        session = Session(spec, wire)
        _reply(channel, {"result": session.briefing()})
        for line in requests:
            request = json.loads(line)
            do = getattr(session, request.pop("do"))
            _reply(channel, {"result": do(**request)})
    except (EOFError, ConnectionError) as error:
        _reply(channel, {"error": {"kind": "session_lost", "message": str(error)}})
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        _reply(channel, {"error": {"kind": "simulator", "message": message}})
        raise  # for the log; only this session's process ends


def _task_directory(task_id: str) -> Path:
    return Path(path_store.data) / "tasks" / task_id


def _reply(channel: socket.socket, message: dict) -> None:
    channel.sendall(json.dumps(message).encode() + b"\n")


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
    environment.InteractiveShellEmbed = _NoShell
    requester.build_main_app = lru_cache(requester.build_main_app)
    folder = _task_directory(WARM_UP_TASK)
    write_start(folder, min(folder.parent.iterdir()), "Warm up.")
    for load_ground_truth in (False, True):
        world = World(WARM_UP_TASK, "warm-up", load_ground_truth=load_ground_truth)
        log = CallLog(world, suppress=None, with_output=True)
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
    gc.collect()
    gc.freeze()
    return setup


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
