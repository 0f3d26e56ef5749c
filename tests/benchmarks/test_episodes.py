"""Episodes (open, 3 cells with 6 API calls, grade) per core-second: against the stock engine, and sealed
by bubblewrap against unsealed.

Processor time of all processes counts, so that other load on the machine does not.
"""

import json
import os
import resource
import shutil
import subprocess
import uuid
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.simulator.running import RunningSimulator, cell, result

CELLS = [
    """
passwords = {row["account_name"]: row["password"] for row in apis.supervisor.show_account_passwords()}
me = apis.supervisor.show_profile()
""",
    """
token = apis.venmo.login(username=me["email"], password=passwords["venmo"])["access_token"]
friend = apis.venmo.search_users(access_token=token, query="a")[0]
print(friend)
""",
    """
apis.venmo.create_transaction(
    access_token=token, receiver_email=friend["email"], amount=1, description="Episode"
)
apis.supervisor.complete_task()
""",
]
EPISODES, AT_ONCE = 24, 4
FRESH = 3
WANTED_RATIO = 8
WANTED_SEALED_RATIO = 0.8
TICKS = os.sysconf("SC_CLK_TCK")


def core_seconds(leader: int) -> float:
    """Processor time of a session's processes and of all children that they have waited for."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
            continue
        if int(fields[3]) == leader:
            ticks += sum(map(int, fields[11:15]))
    return ticks / TICKS


def play(simulator: RunningSimulator, item: dict, count: int) -> None:
    """Runs `count` episodes at once, and sees that each is solved."""
    opened = simulator.ask_all([("open", {"item": item, "rng_seed": 0})] * count)
    sessions = [{"session": result(answer)["session"]} for answer in opened]
    for code in CELLS:
        act = {"action": cell(code), "timeout_s": 300}
        simulator.ask_all([("act", session | act) for session in sessions])
    graded = simulator.ask_all([("finish", session) for session in sessions])
    assert all(result(answer)["solved"] for answer in graded)


def stock(python: Path, root: Path, task_id: str, count: int) -> tuple[float, float]:
    """Core-seconds of a stock process with `count` episodes: all of it, and without its first episode."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    script = Path(__file__).with_name("stock_episodes.py")
    run = subprocess.run(
        [str(python), "-W", "ignore", str(script), task_id, str(count)],
        input=json.dumps(CELLS),
        env={"PATH": os.environ["PATH"], "HOME": str(root), "APPWORLD_ROOT": str(root)},
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return whole, float(run.stdout.splitlines()[-1])


def test_episodes_per_core_second(
    appworld_python: Path,
    appworld_home: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    known = set((appworld_home / "items").glob("*"))
    with RunningSimulator(appworld_python, appworld_home) as simulator:
        item = simulator.seed() | {
            "instruction": f"Pay the first user you find $1 for Episode {uuid.uuid4().hex}.",
            "gold": "".join(CELLS),
        }
        play(simulator, item, AT_ONCE)
        (directory,) = set((appworld_home / "items").glob("*")) - known
        before = core_seconds(simulator.process.pid)
        for _ in range(EPISODES // AT_ONCE):
            play(simulator, item, AT_ONCE)
        ours_s = (core_seconds(simulator.process.pid) - before) / EPISODES

    (tmp_path / "data" / "tasks").mkdir(parents=True)
    for part in ("base_dbs", "api_docs"):
        (tmp_path / "data" / part).symlink_to(appworld_home / "root" / "data" / part)
    shutil.move(directory, tmp_path / "data" / "tasks")
    fresh = [stock(appworld_python, tmp_path, directory.name, 1)[0] for _ in range(FRESH)]
    fresh_s = sum(fresh) / FRESH
    warm_s = stock(appworld_python, tmp_path, directory.name, EPISODES + 1)[1] / EPISODES

    with capsys.disabled():
        print(f"\nepisodes per core-second: {1 / ours_s:.2f} ({ours_s * 1000:.0f} ms each)")
        print(
            f"  a fresh stock process an episode: {1 / fresh_s:.2f}; ratio {fresh_s / ours_s:.1f}"
        )
        print(f"  stock's own warm reuse: {1 / warm_s:.2f}; ratio {warm_s / ours_s:.2f}")
    assert fresh_s / ours_s >= WANTED_RATIO


def test_sealed_episodes_per_core_second(
    appworld_python: Path, appworld_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seconds = dict.fromkeys(("bubblewrap", "rlimits"), 0.0)
    with ExitStack() as running:
        simulators = {
            level: running.enter_context(
                RunningSimulator(appworld_python, appworld_home, f"--sandbox={level}")
            )
            for level in seconds
        }
        item = simulators["bubblewrap"].seed() | {
            "instruction": f"Pay the first user you find $1 for Episode {uuid.uuid4().hex}.",
            "gold": "".join(CELLS),
        }
        for simulator in simulators.values():
            play(simulator, item, AT_ONCE)
        for _ in range(EPISODES // AT_ONCE):
            for level, simulator in simulators.items():  # in turn, so that the load is the same
                before = core_seconds(simulator.process.pid)
                play(simulator, item, AT_ONCE)
                seconds[level] += core_seconds(simulator.process.pid) - before
    ratio = seconds["rlimits"] / seconds["bubblewrap"]
    with capsys.disabled():
        rates = ", ".join(f"{level} {EPISODES / s:.2f}" for level, s in seconds.items())
        print(f"\nepisodes per core-second: {rates}; sealed / unsealed {ratio:.2f}")
    assert ratio >= WANTED_SEALED_RATIO
