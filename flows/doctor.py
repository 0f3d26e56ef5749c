"""What of Turtle stands on this machine and what does not: one finding a line, nothing is installed."""

import asyncio
import contextlib
import io
import os
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

from flows.settings import CHECKOUT, Settings
from flows.suites import DEFAULT_SPLITS, SUITES, suite_of
from tasks.environment import has_environment
from tasks.errors import InputError, TurtleError
from tasks.llm.endpoints import Endpoint, read_endpoints
from tasks.llm.reach import address, unreachable
from tasks.suites.base import SANDBOX_LEVELS, Description
from tasks.suites.installation import SIMULATORS, missing_part

OLDEST_PYTHON = (3, 11)
PACKAGES = ("prefect", "duckdb", "pydantic", "openai", "google-genai")
"""Those of our environment whose versions are told when all is well."""
MADE_BY_SETUP = "appworld"
"""The simulator that every checkout has; the others are installed when a suite of theirs is first used."""
CONNECT_S = 3.0
CELL_S = 60.0
MARK_BYTES = 4096
WALLS = (
    "install bubblewrap (Debian: apt-get install bubblewrap) and allow user namespaces "
    "(sysctl -w user.max_user_namespaces=10000; in Docker: --security-opt seccomp=unconfined)"
)


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    found: str
    """What is the case, in a few words."""
    mend: str | None = None
    """What to type or do about it; None where it is well."""

    def line(self) -> str:
        """The finding as the user reads it."""
        if self.mend is None:
            return f"ok     {self.name}: {self.found}"
        return f"amiss  {self.name}: {self.found}; {self.mend}"


def examine(settings: Settings, checkout: Path = CHECKOUT) -> Iterator[Finding]:
    """Looks at everything, one after the other; `checkout` holds our own environment in `.venv`."""
    yield _python()
    yield _environment(checkout)
    yield from _disk(settings)
    yield _prefect(settings)
    for suite in sorted(SUITES):
        yield from _suite(suite, settings)
    yield from _endpoints(settings)


def _python() -> Finding:
    found = sys.version.split()[0]
    if sys.version_info >= OLDEST_PYTHON:
        return Finding("Python", found)
    return Finding("Python", found, "install Python 3.11 or newer and type: make setup")


def _environment(checkout: Path) -> Finding:
    name, mend = "environment", "type: make environment"
    lock = checkout / "requirements.lock"
    if not has_environment(checkout / ".venv", lock):
        return Finding(
            name, f"{checkout / '.venv'} is not what the lock and this Python make", mend
        )
    installed = _versions(Path(sys.prefix) / "lib")
    if wrong := _against(lock, installed):
        return Finding(name, wrong, f"type: rm {checkout / '.venv' / 'stamp'} && make environment")
    told = ", ".join(
        f"{package} {installed[package]}" for package in PACKAGES if package in installed
    )
    return Finding(name, told)


def _disk(settings: Settings) -> Iterator[Finding]:
    there = next(folder for folder in (settings.state, *settings.state.parents) if folder.exists())
    free, wanted = shutil.disk_usage(there).free, settings.min_free_bytes
    found = f"{free // 10**6} MB free in {there}, a campaign wants {wanted // 10**6} MB"
    roomy = free >= wanted
    yield Finding("disk", found, None if roomy else "make room, or name another disk by --state")
    yield _writable("state", settings.state)


def _prefect(settings: Settings) -> Finding:
    home = Path(os.environ.get("PREFECT_HOME", settings.state / "prefect"))
    version = _versions(Path(sys.prefix) / "lib").get("prefect", "none")
    written = _writable("Prefect", home)
    return Finding("Prefect", f"{version}, {written.found}", written.mend)


def _writable(name: str, folder: Path) -> Finding:
    """Whether something can be written there; what is written has no name and leaves nothing."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there) as file:
            file.write(bytes(MARK_BYTES))
    except OSError as error:
        mend = f"make {there} writable (chown, quota, ulimit -f), or name another folder by --state"
        return Finding(name, f"{folder} cannot be written: {error.strerror}", mend)
    return Finding(name, f"{folder} can be written")


def _suite(suite: str, settings: Settings) -> Iterator[Finding]:
    name, again = f"simulator {suite}", f"type: turtle setup {suite} --state {settings.state}"
    simulator = suite_of(suite, settings).simulator
    folder = settings.state / "simulators" / simulator
    if simulator != MADE_BY_SETUP and not folder.exists():
        yield Finding(name, "not installed; its first use installs it")
        return
    if missing := missing_part(simulator, settings.state):
        yield Finding(name, f"its {missing} is missing or of another version", again)
        return
    venv = folder / "venv"
    if wrong := _against(SIMULATORS / simulator / "requirements.lock", _versions(venv / "lib")):
        yield Finding(name, wrong, f"type: rm {venv / 'stamp'}, then: turtle setup {suite}")
        return
    try:
        described = asyncio.run(_one_session(suite, settings))
    except TurtleError as error:
        yield Finding(name, f"does not run: {error}", again)
        return
    if described.interaction != "code":
        yield Finding(name, f"{suite} {described.version} starts and opens an item")
        return
    yield Finding(name, f"{suite} {described.version} starts, opens an item and runs a cell")
    best = described.sandbox == SANDBOX_LEVELS[-1]
    yield Finding(f"sandbox {suite}", described.sandbox, None if best else WALLS)


async def _one_session(suite: str, settings: Settings) -> Description:
    """What a simulator says of itself that has opened an item, and run a cell where a model writes code.

    Raises TurtleError where it has not.
    """
    with contextlib.redirect_stdout(io.StringIO()):  # what the suite tells of set-up
        async with contextlib.aclosing(suite_of(suite, settings)) as running:
            described = await running.describe()
            seeds = await running.seeds(DEFAULT_SPLITS[suite])
            session = await running.open(seeds[0].item, rng_seed=0)
            if described.interaction == "code":
                await session.act({"kind": "code", "code": "print(1)"}, CELL_S)
            await session.close()
            return described.model_copy(update={"sandbox": session.sandbox})


def _endpoints(settings: Settings) -> Iterator[Finding]:
    try:
        endpoints = read_endpoints(settings.endpoints)
    except InputError as error:
        yield Finding("endpoints", str(error), f"mend {settings.endpoints}")
        return
    with ThreadPoolExecutor() as pool:
        yield from pool.map(_endpoint, endpoints.values())


def _endpoint(endpoint: Endpoint) -> Finding:
    """Key and server of one endpoint. The key itself is told to nobody."""
    name, parts = f"endpoint {endpoint.name}", [f"kind {endpoint.kind}"]
    mends = []
    if endpoint.key_variable is not None:
        try:
            endpoint.key()
            parts.append(f"{endpoint.key_variable} is set")
        except InputError:
            parts.append(f"{endpoint.key_variable} is not set, or holds no key")
            mends.append(f"type: export {endpoint.key_variable}=your-key")
    if (server := address(endpoint)) is not None:
        fault = unreachable(*server, CONNECT_S)
        place = f"{server[0]}:{server[1]}"
        parts.append(
            f"{place} answers" if fault is None else f"{place} cannot be reached ({fault})"
        )
        if fault is not None:
            mends.append(f"start that server, or mend the network or base_url of [{endpoint.name}]")
    return Finding(name, ", ".join(parts), "; ".join(mends) or None)


def _versions(library: Path) -> dict[str, str]:
    """Versions of the packages of an environment, by normal name; `library` is its lib folder."""
    folders = [str(folder) for folder in library.glob("python*/site-packages")]
    return {_normal(found.name): found.version for found in distributions(path=folders)}


def _against(lock: Path, installed: dict[str, str]) -> str | None:
    """The first packages that are not as locked, in words; None where all are.

    A name may be locked more than once, for one machine or Python each (with a marker), and be absent then.
    """
    locked: dict[str, set[str | None]] = defaultdict(set)
    pins = re.findall(r"(?m)^([\w.-]+)(?:\[[^]]*\])?==([^\s;]+)( ?;)?", lock.read_text("utf-8"))
    for name, version, marked in pins:
        locked[_normal(name)] |= {version, None} if marked else {version}
    wrong = [
        f"{name} {installed.get(name, 'missing')} (locked: {' or '.join(sorted(filter(None, versions)))})"
        for name, versions in locked.items()
        if installed.get(name) not in versions
    ]
    return None if not wrong else ", ".join(wrong[:3]) + (" ..." if len(wrong) > 3 else "")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def report(findings: Iterable[Finding], tell: Callable[[str], None]) -> bool:
    """Tells each finding as soon as it is there; returns whether all is well."""
    well = True
    for finding in findings:
        tell(finding.line())
        well = well and finding.mend is None
    return well
