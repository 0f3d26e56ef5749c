"""What a run stands on is lost for a minute: its disk is full, or Prefect does not answer."""

import os
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tasks.spool import Spool
from tests.toy.__main__ import ENDPOINTS, toy_plan
from tests.toy.forked import Process, started
from tests.toy.machine import WAIT_S, Machine, machine_up
from tests.toy.running import Toy

CALLS_IN_FLIGHT = 8
CALLS_BEFORE = 40
GONE_S = 60
WORKER_REPORTS_S = 10
"""See test_deployments.py."""
DISK_MB = 1000
ENDED = {"COMPLETED", "FAILED", "CRASHED"}


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A state folder on a small disk of its own; the journal, which is the provider's, lies elsewhere."""
    folder = tmp_path / "state"
    folder.mkdir()
    mounted = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)]
    subprocess.run(mounted, check=True)  # needs root, as no file system can be limited without
    try:
        (tmp_path / "journal.jsonl").touch()
        (folder / "journal.jsonl").symlink_to(tmp_path / "journal.jsonl")
        endpoints = ENDPOINTS.format(concurrency=CALLS_IN_FLIGHT, latency_s=0.5)
        (folder / "endpoints.toml").write_text(endpoints)
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def filled(disk: Path) -> Iterator[None]:
    """Somebody else's file takes what is free."""
    other = disk / "other"
    with other.open("wb") as file:
        size = 0
        for more in (2**24, 2**16, 2**12):
            with suppress(OSError):  # the disk is full for as much
                while True:
                    os.posix_fallocate(file.fileno(), size, more)
                    size += more
    try:
        yield
    finally:
        other.unlink()


@contextmanager
def stopped(machine: Machine) -> Iterator[None]:
    """The server answers nobody."""
    os.killpg(machine.server_process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.killpg(machine.server_process, signal.SIGCONT)


@contextmanager
def locked(machine: Machine) -> Iterator[None]:
    """Another process writes into the server's database, and does not come to an end."""
    database = sqlite3.connect(
        machine.state / "prefect" / "prefect.db", WAIT_S, isolation_level=None
    )
    database.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        database.execute("ROLLBACK")
        database.close()


def wait_until(done: Callable[[], Any]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.2)


def resume(toy: Toy) -> Process:
    command = [str(toy.state / "journal.jsonl"), "resume", toy_plan().campaign("1")]
    command += ["--state", str(toy.state), "--endpoints", str(toy.state / "endpoints.toml")]
    return started("tests.toy.cli", command, toy.checkout, toy.environment)


def test_a_full_disk_ends_a_local_run_in_a_line_and_the_next_goes_on(
    disk: Path, undisturbed: Toy
) -> None:
    toy = Toy(disk, undisturbed.environment, undisturbed.checkout)
    process = toy.start("--latency-s", "0.5")
    wait_until(lambda: len(toy.journal()) >= CALLS_BEFORE)
    with filled(disk):
        _, err = process.communicate(timeout=WAIT_S)
        assert process.returncode not in (0, None)
        assert "run the same command again" in err.splitlines()[-1]
        # The next command, while the disk is as full.
        refused = resume(toy)
        _, err = refused.communicate(timeout=WAIT_S)
        assert refused.returncode == 2 and "free" in err.splitlines()[-1], err
    done = toy.units()
    assert done
    resumed = resume(toy)
    _, err = resumed.communicate(timeout=WAIT_S)
    assert resumed.returncode == 0, err
    assert done.items() <= toy.units().items()
    assert toy.findings() == undisturbed.findings()
    paid = Counter(toy.journal())
    assert paid.total() - len(paid) <= CALLS_IN_FLIGHT


def the_run(machine: Machine) -> dict[str, Any]:
    (run,) = (one for one in machine.found("flow_runs") if one["deployment_id"])
    return run


def goes_on(machine: Machine, lost: AbstractContextManager[None], undisturbed: Toy) -> None:
    """Asserts that a deployed run under which something is lost ends, and comes to all that it should."""
    toy = Toy(machine.state, {}, machine.checkout)
    assert machine.run().returncode == 0
    wait_until(lambda: len(toy.journal()) >= CALLS_BEFORE)
    with lost:
        time.sleep(GONE_S)
    wait_until(lambda: the_run(machine)["state_type"] in ENDED)
    print(f"the run: {the_run(machine)['state_name']}: {the_run(machine)['state'].get('message')}")
    if the_run(machine)["state_type"] != "COMPLETED":
        time.sleep(WORKER_REPORTS_S)
        retried = machine.prefect("flow-run", "retry", the_run(machine)["id"])
        assert retried.returncode == 0, retried.stderr
        machine.wait_for("Completed")
    (campaign,) = machine.state.glob("spool/*")
    with Spool(campaign.parent, campaign.name).locked():
        pass
    wait_until(
        lambda: not machine.count("flow_runs", flow_runs={"state": {"type": {"any_": ["RUNNING"]}}})
    )
    paid = Counter(toy.journal())
    assert set(paid) == set(undisturbed.journal())
    assert paid.total() - len(paid) <= CALLS_IN_FLIGHT
    assert machine.turtle("status").returncode == 0
    assert machine.turtle("tables", campaign.name).returncode == 0


def test_a_full_disk_under_a_deployed_run_and_prefects_database(
    disk: Path, checkout: Path, undisturbed: Toy
) -> None:
    with machine_up(disk, checkout) as machine:
        goes_on(machine, filled(disk), undisturbed)


@pytest.mark.parametrize("lost", [stopped, locked])
def test_prefect_is_gone_for_a_minute(
    lost: Callable[[Machine], AbstractContextManager[None]],
    tmp_path: Path,
    checkout: Path,
    undisturbed: Toy,
) -> None:
    endpoints = ENDPOINTS.format(concurrency=CALLS_IN_FLIGHT, latency_s=0.5)
    (tmp_path / "endpoints.toml").write_text(endpoints)
    with machine_up(tmp_path, checkout) as machine:
        goes_on(machine, lost(machine), undisturbed)
