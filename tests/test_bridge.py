"""The bridge against real child programs: answers, deadlines, deaths, garbage, and nobody left behind."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tasks.errors import InputError, SessionLost, SimulatorError
from tasks.suites.bridge import LINE_LIMIT_BYTES, Bridge, reduced_environment

PROGRAM = """
import json, os, subprocess, sys, threading, time

def answer(number, **what):
    sys.stdout.write(json.dumps({"id": number, **what}) + "\\n")
    sys.stdout.flush()

def later(number, seconds):
    time.sleep(seconds)
    answer(number, result=number)

for line in sys.stdin:
    request = json.loads(line)
    number, method, params = request["id"], request["method"], request["params"]
    if method == "echo":
        answer(number, result=params)
    elif method == "pid":
        answer(number, result=os.getpid())
    elif method == "environment":
        answer(number, result=dict(os.environ))
    elif method == "later":
        threading.Thread(target=later, args=(number, params["seconds"]), daemon=True).start()
    elif method == "child":
        answer(number, result=subprocess.Popen(["sleep", "600"]).pid)
    elif method == "long":
        answer(number, result="x" * params["length"])
    elif method == "error":
        answer(number, error={"kind": params["kind"], "message": "as asked"})
    elif method == "garbage":
        print(params["text"], flush=True)
    elif method == "exit":
        print("last words", file=sys.stderr)
        sys.exit(3)
    elif method == "hang":
        while True:
            time.sleep(600)
"""


def bridge_to(program: str, folder: Path) -> Bridge:
    source = folder / "program.py"
    source.write_text(textwrap.dedent(program), encoding="utf-8")
    env = reduced_environment({"TURTLE_SIMULATOR_HOME": str(folder)})
    return Bridge((sys.executable, str(source)), env, "toy", folder / "logs" / "toy.log")


@pytest_asyncio.fixture
async def bridge(tmp_path: Path) -> AsyncIterator[Bridge]:
    bridge = bridge_to(PROGRAM, tmp_path)
    yield bridge
    await bridge.aclose()


async def gone(pid: int) -> bool:
    """True once a process runs no more (a zombie is gone); False when it still runs after five seconds."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        ).stdout.strip()
        if not state or state.startswith("Z"):
            return True
        await asyncio.sleep(0.05)
    return False


async def test_the_result_comes_back_with_every_character(bridge: Bridge) -> None:
    params = {"text": 'ü "quoted"\n\u2028 \ud83d', "number": 1.5, "none": None}
    assert await bridge.call("echo", params, timeout_s=20) == params


async def test_fifty_requests_at_once_each_get_their_own_answer(bridge: Bridge) -> None:
    async def one(n: int) -> tuple[int, int]:
        seconds = 0.3 if n % 2 else 0.01  # so that answers overtake each other
        await bridge.call("later", {"seconds": seconds}, timeout_s=20)
        return n, (await bridge.call("echo", {"n": n}, timeout_s=20))["n"]

    await bridge.process()
    started = time.monotonic()
    pairs = await asyncio.gather(*(one(n) for n in range(50)))
    assert all(asked == answered for asked, answered in pairs)
    assert time.monotonic() - started < 25 * 0.3, "requests waited for one another"


async def test_one_process_serves_until_it_dies(bridge: Bridge) -> None:
    pids = await asyncio.gather(*(bridge.call("pid", {}, timeout_s=20) for _ in range(5)))
    assert len(set(pids)) == 1


async def test_kill_9_fails_what_is_in_flight_and_the_next_call_starts_anew(bridge: Bridge) -> None:
    first = await bridge.call("pid", {}, timeout_s=20)
    waiting = [
        asyncio.create_task(bridge.call("later", {"seconds": 60}, timeout_s=60)) for _ in range(3)
    ]
    await asyncio.sleep(0.1)
    os.kill(first, signal.SIGKILL)
    for error in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(error, SimulatorError) and not isinstance(error, SessionLost)
        assert "SIGKILL" in str(error)
    assert await bridge.call("pid", {}, timeout_s=20) != first


async def test_a_process_that_ended_says_why_and_where_its_log_lies(bridge: Bridge) -> None:
    with pytest.raises(SimulatorError, match=r"exit code 3 \(last words\)") as raised:
        await bridge.call("exit", {}, timeout_s=20)
    log = Path(str(raised.value).rpartition("log: ")[2])
    assert "last words" in log.read_text(encoding="utf-8")


async def test_a_program_that_hangs_is_killed_at_the_deadline_with_its_children(
    bridge: Bridge,
) -> None:
    pid = await bridge.call("pid", {}, timeout_s=20)
    child = await bridge.call("child", {}, timeout_s=20)
    with pytest.raises(SimulatorError, match=r"no answer to hang within 0\.2 s"):
        await bridge.call("hang", {}, timeout_s=0.2)
    assert await gone(pid) and await gone(child)
    assert await bridge.call("echo", {"alive": True}, timeout_s=20) == {"alive": True}


@pytest.mark.parametrize(
    "text",
    ["Loading ...", "[1]", "{}", '{"id": 7000, "result": 1}', '{"id": 0}', '{"id": 0, "error": 1}'],
)
async def test_garbage_on_the_output_ends_the_process(bridge: Bridge, text: str) -> None:
    with pytest.raises(SimulatorError, match="no answer"):
        await bridge.call("garbage", {"text": text}, timeout_s=20)
    assert await bridge.call("echo", {}, timeout_s=20) == {}


async def test_a_program_that_closes_its_output_and_goes_on_is_ended(tmp_path: Path) -> None:
    bridge = bridge_to("import os, time\nos.close(1)\ntime.sleep(600)", tmp_path)
    with pytest.raises(SimulatorError, match="closed its input or output"):
        await bridge.call("echo", {}, timeout_s=60)
    await bridge.aclose()


async def test_a_long_line_arrives_whole(bridge: Bridge) -> None:
    assert len(await bridge.call("long", {"length": 5_000_000}, timeout_s=60)) == 5_000_000


async def test_an_endless_line_ends_the_process(bridge: Bridge) -> None:
    with pytest.raises(SimulatorError, match="line of more than"):
        await bridge.call("long", {"length": LINE_LIMIT_BYTES + 1}, timeout_s=60)


async def test_kinds_of_errors_become_our_errors(bridge: Bridge) -> None:
    pid = await bridge.call("pid", {}, timeout_s=20)
    with pytest.raises(InputError, match="as asked"):
        await bridge.call("error", {"kind": "bad_request"}, timeout_s=20)
    with pytest.raises(SessionLost, match="as asked"):
        await bridge.call("error", {"kind": "session_lost"}, timeout_s=20)
    assert await bridge.call("pid", {}, timeout_s=20) == pid
    with pytest.raises(SimulatorError, match="as asked"):
        await bridge.call("error", {"kind": "simulator"}, timeout_s=20)
    assert await bridge.call("pid", {}, timeout_s=20) != pid, "a program in trouble is replaced"


async def test_a_cancelled_request_harms_nobody(bridge: Bridge) -> None:
    await bridge.process()
    cancelled = asyncio.create_task(bridge.call("later", {"seconds": 0.2}, timeout_s=20))
    await asyncio.sleep(0.05)
    cancelled.cancel()
    assert await bridge.call("later", {"seconds": 0.4}, timeout_s=20) is not None


async def test_the_program_sees_only_the_allowed_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "secret")
    bridge = bridge_to(PROGRAM, tmp_path)
    seen = await bridge.call("environment", {}, timeout_s=20)
    await bridge.aclose()
    # PWD, SHLVL and _ are the shell's own; LC_CTYPE is set by the interpreter.
    allowed = {"PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "PWD", "SHLVL", "_", "OLDPWD"}
    assert set(seen) - allowed == {"TURTLE_SIMULATOR_HOME"}


async def test_a_program_that_cannot_be_started_says_so(tmp_path: Path) -> None:
    bridge = Bridge((str(tmp_path / "nowhere"),), {}, "toy", tmp_path / "toy.log")
    with pytest.raises(SimulatorError, match="exit code 127"):
        await bridge.call("echo", {}, timeout_s=20)
    await bridge.aclose()


async def test_closing_leaves_nobody_behind(tmp_path: Path) -> None:
    bridge = bridge_to(PROGRAM, tmp_path)
    pid = await bridge.call("pid", {}, timeout_s=20)
    child = await bridge.call("child", {}, timeout_s=20)
    await bridge.aclose()
    assert await gone(pid) and await gone(child)
    await bridge.aclose()  # harmless a second time


async def test_killing_the_parent_leaves_nobody_behind(tmp_path: Path, checkout: Path) -> None:
    """The parent is killed with -9 while the program hangs and a child of it runs."""
    parent = tmp_path / "parent.py"
    parent.write_text(
        textwrap.dedent(
            f"""
            import asyncio
            from pathlib import Path
            from tests.test_bridge import PROGRAM, bridge_to

            async def main():
                bridge = bridge_to(PROGRAM, Path({str(tmp_path)!r}))
                for method in ("pid", "child"):
                    print(await bridge.call(method, {{}}, timeout_s=20), flush=True)
                await bridge.call("hang", {{}}, timeout_s=600)

            asyncio.run(main())
            """
        ),
        encoding="utf-8",
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(parent),
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(checkout)},
    )
    pids = [int(await process.stdout.readline()) for _ in range(2)]
    process.kill()
    await process.wait()
    assert [await gone(pid) for pid in pids] == [True, True]
