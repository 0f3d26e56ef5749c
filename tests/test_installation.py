"""Environments that are made once: real ones, from locks with a wheel made on the spot."""

import hashlib
import os
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from pathlib import Path

import pytest

from tasks.environment import ensure_environment, main, make_once, stamp_of
from tasks.errors import InputError
from tasks.suites.installation import ensure_simulator


def wheel(folder: Path, body: str) -> Path:
    """A wheel with one module, `pebble`."""
    path = folder / "pebble-1.0-py3-none-any.whl"
    info = "pebble-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pebble.py", body)
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: pebble\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "pebble.py,,\n")
    return path


def lock_of(wheel: Path, digest: str | None = None) -> Path:
    digest = digest or hashlib.sha256(wheel.read_bytes()).hexdigest()
    lock = wheel.with_name("requirements.lock")
    lock.write_text(f"pebble @ {wheel.as_uri()} --hash=sha256:{digest}\n", encoding="utf-8")
    return lock


def weight(python: Path) -> str:
    command = [python, "-c", "import pebble; print(pebble.WEIGHT)"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a lock and the environment `venv` made from it."""
    folder = tmp_path_factory.mktemp("made")
    lines: list[str] = []
    ensure_environment(folder / "venv", lock_of(wheel(folder, "WEIGHT = 3\n")), lines.append)
    assert lines, "work that takes this long is told"
    return folder


def test_an_environment_holds_its_lock_and_is_made_once(made: Path) -> None:
    lines: list[str] = []
    python = ensure_environment(made / "venv", made / "requirements.lock", lines.append)
    assert lines == [], "the second start does nothing"
    assert weight(python) == "3"


def test_bytecode_is_there_though_the_machine_forbids_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    lock = lock_of(wheel(tmp_path, "WEIGHT = 3\n"))
    ensure_environment(tmp_path / "venv", lock, lambda line: None)
    assert list((tmp_path / "venv").rglob("pebble.*.pyc")), "every start would be slow"


def test_an_environment_that_failed_or_changed_is_made_anew(tmp_path: Path) -> None:
    lock = lock_of(wheel(tmp_path, "WEIGHT = 3\n"), digest="0" * 64)
    with pytest.raises(InputError, match="pip could not install it") as raised:
        ensure_environment(tmp_path / "venv", lock, lambda line: None)
    assert "HASH" in str(raised.value).upper() and "\n" not in str(raised.value)
    (tmp_path / "venv" / "stray").touch()

    lock_of(wheel(tmp_path, "WEIGHT = 4\n"))
    assert weight(ensure_environment(tmp_path / "venv", lock, lambda line: None)) == "4"
    assert not (tmp_path / "venv" / "stray").exists()


def test_too_little_disk_is_named(tmp_path: Path) -> None:
    lock = lock_of(wheel(tmp_path, "WEIGHT = 3\n"))
    with pytest.raises(InputError, match=r"disk: .* needs about 1000000\.0 GB"):
        ensure_environment(tmp_path / "venv", lock, print, needed_bytes=10**15)
    assert not (tmp_path / "venv").exists()


def test_a_python_without_pip_is_named(made: Path, tmp_path: Path, checkout: Path) -> None:
    bare = made / "venv" / "bin" / "python"
    lock = made / "requirements.lock"
    command = [bare, "-m", "tasks.environment", tmp_path / "venv", lock]
    result = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.startswith("turtle: pip is missing") and result.stderr.count("\n") == 1


def test_the_command_explains_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage" in capsys.readouterr().err


def test_an_active_environment_is_not_pulled_from_under_itself(
    made: Path, tmp_path: Path, checkout: Path
) -> None:
    active = made / "venv"
    other = tmp_path / "requirements.lock"
    other.write_text("# another lock\n")
    command = [active / "bin" / "python", "-m", "tasks.environment", active, other]
    result = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert result.returncode == 2 and "deactivate" in result.stderr
    assert weight(active / "bin" / "python") == "3"


def test_set_up_starts_before_anything_is_installed(checkout: Path) -> None:
    """Without site-packages, as on a fresh machine."""
    command = [sys.executable, "-S", "-m", "tasks.environment"]
    result = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr[:6]) == (2, "usage:"), (
        f"set-up needs a package; tasks/environment.py and errors.py use none:\n{result.stderr}"
    )


def test_the_stamp_knows_names_and_contents(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "__pycache__").mkdir(parents=True)
    (source / "a.py").write_text("1")
    first = stamp_of([source])
    (source / "__pycache__" / "a.pyc").write_text("bytecode is made from the rest")
    assert stamp_of([source]) == first
    (source / "a.py").write_text("2")
    second = stamp_of([source])
    (source / "a.py").rename(source / "b.py")
    assert len({first, second, stamp_of([source])}) == 3


MAKER = """
import sys, time
from pathlib import Path
from tasks.environment import make_once

folder, seconds = Path(sys.argv[1]), float(sys.argv[2])

def make(held):
    with (folder.parent / "made").open("a") as file:
        print("begun", file=file)
    print("begun", flush=True)
    time.sleep(seconds)
    folder.mkdir(exist_ok=True)

make_once(folder, folder / "stamp", "expected", lambda line: print(line, flush=True), make)
"""


def maker(folder: Path, seconds: float, checkout: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(MAKER), str(folder), str(seconds)],
        cwd=checkout,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_two_processes_at_once_make_it_once(tmp_path: Path, checkout: Path) -> None:
    makers = [maker(tmp_path / "thing", 1.0, checkout) for _ in range(3)]
    said = [maker.communicate(timeout=60)[0] for maker in makers]
    assert [maker.returncode for maker in makers] == [0, 0, 0]
    assert (tmp_path / "made").read_text() == "begun\n"
    assert sum("waiting for another process" in text for text in said) == 2


def test_kill_9_half_way_leaves_the_next_one_free(tmp_path: Path, checkout: Path) -> None:
    killed = maker(tmp_path / "thing", 600, checkout)
    assert killed.stdout is not None and killed.stdout.readline() == "begun\n"
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    started = time.monotonic()
    make_once(
        tmp_path / "thing", tmp_path / "thing" / "stamp", "x", print, lambda held: make(tmp_path)
    )
    assert time.monotonic() - started < 5
    assert (tmp_path / "thing" / "stamp").read_text() == "x"


def make(tmp_path: Path) -> None:
    (tmp_path / "thing").mkdir()


def test_an_unknown_simulator_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"simulator webarena: unknown; there are appworld"):
        ensure_simulator("webarena", tmp_path, print)
    assert list(tmp_path.iterdir()) == []
