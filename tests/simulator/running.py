"""AppWorld's programs as the tests run them: real processes, the real protocol, no event loop."""

import itertools
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

PROGRAM = Path(__file__).resolve().parents[2] / "deployments/simulators/appworld/program.py"


class Refused(Exception):
    """The program answered with an error of this `kind`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class RunningSimulator:
    """The program in a session of its own, with nothing but what the protocol gives it."""

    def __init__(
        self,
        python: Path,
        home: Path,
        *arguments: str,
        official: Path | None = None,
        prefix: Sequence[str] = (),
    ) -> None:
        """Starts the program with further command-line `arguments`.

        It stands on `official` data where given, and is started by the command `prefix` where given.
        """
        environment = {"PATH": os.environ["PATH"], "TURTLE_SIMULATOR_HOME": str(home)}
        if official is not None:
            environment["TURTLE_APPWORLD_ROOT"] = str(official)
        self.process = subprocess.Popen(
            [*prefix, str(python), str(PROGRAM), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
        self._numbers = itertools.count()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> int:
        """Closes stdin and returns the exit code."""
        if not self.process.stdin.closed:
            self.process.stdin.close()
        return self.process.wait(20)

    def send(self, line: bytes) -> dict:
        """Writes one raw line and returns the next answer."""
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return self._receive()

    def ask(self, method: str, **params: Any) -> Any:
        """Makes one request and returns its result. Raises Refused where the program answers so."""
        (answer,) = self.ask_all([(method, params)])
        return result(answer)

    def ask_all(self, requests: list[tuple[str, dict]]) -> list[dict]:
        """Makes requests at once; returns the answers in the order of the requests."""
        numbers = []
        for method, params in requests:
            numbers.append(next(self._numbers))
            request = {"id": numbers[-1], "method": method, "params": params}
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
        self.process.stdin.flush()
        answers = {answer["id"]: answer for answer in (self._receive() for _ in requests)}
        return [answers[number] for number in numbers]

    def seed(self, name: str = "roommatesinternet") -> dict:
        """A seed of the small world as an item; unless named, the one that pays three roommates."""
        seeds = self.ask("seeds", split="train")["items"]
        return next(seed for seed in seeds if seed["name"] == name)

    def open(self, item: dict) -> str:
        """Opens a session on an item and returns its name."""
        return self.ask("open", item=item, rng_seed=0)["session"]

    def run(self, session: str, code: str, timeout_s: float = 60) -> dict:
        """Runs a cell and returns the observation."""
        return self.ask("act", session=session, action=cell(code), timeout_s=timeout_s)

    def _receive(self) -> dict:
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("the program closed its stdout; its stderr says why")
        return json.loads(line)


def cell(code: str) -> dict:
    """A code cell as an action."""
    return {"kind": "code", "code": code}


def result(answer: dict) -> Any:
    """The result of an answer. Raises Refused where it is an error."""
    if "error" in answer:
        raise Refused(**answer["error"])
    return answer["result"]


def build_world(python: Path, programs: Path, home: Path) -> subprocess.Popen[str]:
    """Starts a build of the small world in a process group of its own, its progress on a pipe.

    `programs` is the folder of the builder. Without proofs, which take half its time and no part in what the
    tests look at.
    """
    return subprocess.Popen(
        [python, programs / "build_world.py", home, "--unproved"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
