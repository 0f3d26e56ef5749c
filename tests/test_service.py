"""Background processes: real ones."""

import fcntl
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from flows.service import Service
from tasks.errors import InputError

PARENT = """
import subprocess, sys, time
child = (
    "import fcntl, time; f = open('child', 'w'); fcntl.flock(f, 2);"
    "print('ready', flush=True); time.sleep(600)"
)
subprocess.Popen([sys.executable, "-c", child])
time.sleep(600)
"""
"""A process with a child that holds a lock of its own."""


@pytest.fixture
def service(tmp_path: Path) -> Service:
    made = Service("server", tmp_path / "services")
    made.start([sys.executable, "-c", PARENT], os.environ, tmp_path)
    while made.last_words() != "ready":
        time.sleep(0.02)
    return made


def test_it_is_found_again_and_stopped_with_its_children(service: Service, tmp_path: Path) -> None:
    found = Service(service.name, service.folder)
    process_id = found.process_id()
    assert process_id is not None
    assert found.stop()
    os.waitpid(process_id, 0)
    assert found.process_id() is None
    with open(tmp_path / "child", "w") as child:
        fcntl.flock(child, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert not found.stop()


def test_it_is_started_once(service: Service, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="runs already"):
        service.start([sys.executable, "-c", "pass"], os.environ, tmp_path)
    assert service.last_words() == "ready"
    service.stop()


def test_a_process_that_died_is_not_mistaken_for_one_that_runs(
    service: Service, tmp_path: Path
) -> None:
    process_id = service.process_id()
    assert process_id is not None
    os.killpg(process_id, signal.SIGKILL)
    os.waitpid(process_id, 0)
    assert service.process_id() is None
    service.start([sys.executable, "-c", PARENT], os.environ, tmp_path)
    assert service.process_id() not in (None, process_id)
    service.stop()
