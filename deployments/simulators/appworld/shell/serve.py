"""The bare side: a warm shell that forks one session at a time, in which model-written code runs.

It holds nothing worth stealing: no engine, no database, no ground truth, no environment. It is started
with one inherited control socket (forker.py), whose first packet says what the engine would have set up:

    {"apis": {app: [api, ...]}, "disallowed": {module: [function, ...]}, "sources": [[name, text], ...]}

`sources` are those few leaves of the engine that change `pendulum`; their text is run here, so that dates
behave as in stock though the engine itself is not to be found. A session's spec is
`{"datetime": ISO text, "folder": its working directory, "read_only": the folder that it must not write to
and a sign that it can have namespaces of its own, or None, "readable": where neither bubblewrap nor anything
else hides the files, those that it may read, or None}`, its socket leads to the world:

    <- {"cell": text}                                   -> {"text", "error"}
    -> {"app", "api", "arguments"} while a cell runs     <- {"result"} or {"error"}
"""

import gc
import importlib.abc
import json
import os
import random
import socket
import sys
import types
from datetime import datetime

from freezegun import freeze_time

from shell.apis import build_apis
from shell.cell import make_shell, run_cell
from shell.files import restrict_files
from shell.forker import PACKET_BYTES, serve
from shell.guard import Guard
from shell.limits import (
    die_with_parent,
    enter_own_namespaces,
    give_up_privileges,
    limit_resources,
)
from shell.system_calls import filter_system_calls

STOCK_RNG_SEED = 100
"""What the stock engine seeds `random` with at the start of every world."""


class _NoEngine(importlib.abc.MetaPathFinder):
    """Says that the engine is not installed, also where its files can be read."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.split(".")[0] == "appworld":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


class Shell:
    """The warm shell; a forked child plays one session with it."""

    def __init__(self, setup: dict) -> None:
        _run_modules(setup["sources"])
        dates = sys.modules["appworld.common.datetime"]
        sys.meta_path.insert(0, _NoEngine())
        self._guard = Guard(setup["disallowed"])
        names = {name: getattr(dates, f"Vanilla{name}") for name in ("Date", "DateTime", "Time")}
        names["apis"] = build_apis(setup["apis"], self._exchange)
        self._shell = make_shell(names)
        run_cell(self._shell, self._guard, "raise ValueError('warm up')")
        # freezegun walks through all modules: once here instead of once a session.
        self._clock = freeze_time(datetime(2000, 1, 1)).start()

    def play(self, spec: dict, sockets: list[socket.socket]) -> None:
        """Runs cells until the world closes the socket."""
        (self._wire,) = sockets
        self._lines = self._wire.makefile("rb")
        if spec["read_only"] is not None:
            enter_own_namespaces(spec["read_only"], sockets)
        os.chdir(spec["folder"])
        os.environ.clear()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nowhere, standard)
        os.close(nowhere)
        self._clock.move_to(datetime.fromisoformat(spec["datetime"]))
        random.seed(STOCK_RNG_SEED)
        _seal(spec["readable"])
        for line in self._lines:
            text, error = run_cell(self._shell, self._guard, json.loads(line)["cell"])
            self._send({"text": text, "error": error})

    def _exchange(self, request: dict) -> dict:
        self._send(request)
        return json.loads(self._lines.readline())

    def _send(self, message: dict) -> None:
        self._wire.sendall(json.dumps(message).encode() + b"\n")


def _seal(readable: list[str] | None) -> None:
    """Takes from this process, for good, all that a cell has no need of."""
    limit_resources()
    give_up_privileges()
    if readable is not None:
        restrict_files(readable)
    filter_system_calls()


def _run_modules(sources: list[list[str]]) -> None:
    """Runs module texts in order, each importable by its full name from then on."""
    for name, text in sources:
        module = types.ModuleType(name)
        sys.modules[name] = module
        exec(compile(text, name, "exec"), vars(module))


def main(descriptor: int) -> None:
    """Warms up and serves the control socket that was inherited as `descriptor`."""
    die_with_parent()
    control = socket.socket(fileno=descriptor)
    shell = Shell(json.loads(control.recv(PACKET_BYTES)))
    sys.path.pop(0)  # the program's own folder
    gc.collect()
    gc.freeze()
    control.send(json.dumps({"ready": True}).encode())
    serve(control, shell.play)


if __name__ == "__main__":
    main(int(sys.argv[1]))
