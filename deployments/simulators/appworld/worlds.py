"""One session's world in the trusted process: opened, acted in, graded.

A world process holds the session's databases, its ground truth and its log of calls. It serves two
sockets: one to the program, whose requests it answers in order, and one to the shell that runs the cells.
Program's side, one JSON object a line:

    -> {"do": "act", "code": text}        <- {"result": Observation}
    -> {"do": "finish"}                   <- {"result": Outcome}
    -> {"do": "write_ground_truth", "instruction": text, "gold": text}
                                          <- {"result": {"expects_answer": bool, "state_changes": bool}}

or `{"error": {"kind", "message"}}`. The first line is sent unasked: the Briefing, once the world is open.
"""

import json
import socket
import sys
from pathlib import Path

from appworld import AppWorld
from appworld.common.path_store import path_store

from calls import CallLog
from from_shell import FromShell, ShellLost
from grading.grade import grade
from grading.ground_truth import model_pair, write_ground_truth, write_start
from grading.item_tests import given_answer
from guarded import may_be_refused
from shell.limits import limit_address_space

ADDRESS_SPACE_BYTES = 4 << 30
"""Memory of one world, which calls can be made to fill (a folder copied into itself, again and again)."""


class World(AppWorld):
    """The stock world, minus what only its own shell and its logs on disk need."""

    def initialize(self) -> None:
        """Opens the world as stock does, but saves nothing: the grade does, once.

        Nor does it close worlds first: there are no others, and its own databases were opened just before.
        """
        self._prepare_directories()
        self._execute_preamble()
        self._set_datetime()


class Session:
    """One world and what is asked of it."""

    def __init__(self, spec: dict, wire: socket.socket) -> None:
        """Opens the world of the task directory `spec["task_id"]`; `wire` leads to the shell.

        Further fields of `spec`: `experiment` (name of the scratch folder), `suppress` (number of the call
        whose change is undone, or None), `with_output` (whether calls keep their results), `start`:
        None, or the parent's task directory and the instruction of which the task directory, without a
        ground truth, is made first, `as_shipped` (whether the task directory is the user's data) and
        `compare`: the task whose expected state tells the difference for such a one, or None.
        """
        if spec["start"] is not None:
            parent = Path(spec["start"]["parent"])
            write_start(task_directory(spec["task_id"]), parent, spec["start"]["instruction"])
        self._world = World(
            task_id=spec["task_id"],
            experiment_name=spec["experiment"],
            load_ground_truth=spec["start"] is None,
        )
        self._compare = spec["compare"]
        self._log = CallLog(self._world, spec["suppress"], spec["with_output"])
        self._with_output = spec["with_output"]
        self._wire = wire
        self._shell = FromShell(wire.makefile("rb"))
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
            ShellLost: the shell ended, sent what no shell of ours sends, or moved too much.
        """
        before = len(self._log.calls)
        refused = self._refused(code)
        if refused is None:
            self._world.requester.reset_request_count()
            text, error = self._run(code)
        else:
            text, error = f"Execution failed. Traceback:\n{refused}", True
        self._done = self._done or self._log.declared_complete(since=before)
        return {
            "kind": "observation",
            "text": text,
            "error": error,
            "done": self._done,
            "calls": self._log.calls[before:],
        }

    def _refused(self, code: str) -> str | None:
        """What the engine's guard says of code that it does not let run; None where it lets it."""
        if not may_be_refused(code):
            return None
        try:
            safe, message = self._world.safety_guard.is_syntax_safe(code)
        except (ValueError, RecursionError, MemoryError):
            return None  # Python cannot parse it: the shell says so, in a process that may be lost
        return None if safe else message

    def _run(self, code: str) -> tuple[str, bool]:
        self._send({"cell": code})
        while True:
            message = self._shell.read()
            if "text" in message:
                return message["text"], message["error"]
            sent = self._send(self._log.answer(message))
            if self._with_output:
                self._shell.spend(sent)

    def _send(self, message: dict) -> int:
        line = json.dumps(message).encode() + b"\n"
        self._wire.sendall(line)
        return len(line)

    def finish(self) -> dict:
        """Grades the state as it is."""
        return grade(self._world, self._compare) | {
            "completed": self._done,
            "calls": len(self._log.calls),
        }

    def write_ground_truth(self, instruction: str, gold: str) -> dict:
        """Makes the task directory's ground truth from the state that the gold has just left."""
        answer = given_answer(model_pair(self._world))
        folder = task_directory(self._world.task_id)
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
    # Grading imports the task's evaluation.py: no bytecode beside it where it is the user's.
    sys.dont_write_bytecode = spec["as_shipped"]
    channel, wire = sockets
    limit_address_space(ADDRESS_SPACE_BYTES)
    requests = channel.makefile("rb")
    try:
        session = Session(spec, wire)
        _reply(channel, {"result": session.briefing()})
        for line in requests:
            request = json.loads(line)
            do = getattr(session, request.pop("do"))
            _reply(channel, {"result": do(**request)})
    except (ShellLost, ConnectionError, MemoryError) as error:
        message = str(error) or "the world of this session ran out of memory"
        _reply(channel, {"error": {"kind": "session_lost", "message": message}})
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        _reply(channel, {"error": {"kind": "simulator", "message": message}})
        raise  # for the log; only this session's process ends


def task_directory(task_id: str) -> Path:
    """Where the engine finds a task."""
    return Path(path_store.data) / "tasks" / task_id


def _reply(channel: socket.socket, message: dict) -> None:
    channel.sendall(json.dumps(message).encode() + b"\n")
