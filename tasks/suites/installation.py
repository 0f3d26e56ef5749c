"""Where a simulator lives on this machine, and how it gets there: environment, package, world.

Everything lies under `<state>/simulators/<name>` and can be made again: `venv` from the simulator's own
lock, `home` with its world, `user` as the HOME of whatever runs there. Each part has a stamp of what it was
made from; when the stamps hold, nothing is done.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tasks.environment import (
    Progress,
    compile_bytecode,
    ensure_environment,
    has_environment,
    has_stamp,
    make_once,
    run,
    stamp_of,
)
from tasks.errors import InputError
from tasks.suites.bridge import reduced_environment

SIMULATORS = Path(__file__).resolve().parents[2] / "deployments" / "simulators"
"""The programs, as they stand in this checkout."""

WORLD_SOURCES = ("requirements.lock", "build_world.py", "world", "seeds", "grading")
"""What AppWorld's small world is made from, and its seeds proved with. When one changes, it is built anew."""


@dataclass(frozen=True)
class SimulatorInstallation:
    """A simulator that can be started."""

    python: Path
    """Interpreter of its own environment."""
    program: Path
    """What that interpreter runs."""
    home: Path
    """Its world; given to the program as TURTLE_SIMULATOR_HOME."""
    user: Path
    """An empty HOME, so that nothing of the user's is read or written."""
    stamp: str
    """Hash of its programs, its locked packages and what its world is made from."""


def ensure_simulator(name: str, state: Path, progress: Progress) -> SimulatorInstallation:
    """Makes what is missing of a simulator. A second call does nothing; two at once are safe.

    Args:
        name: folder of the simulator in deployments/simulators.
        state: folder for all that can be made again.
        progress: told, a line at a time, what is being done.

    Raises InputError, in one line, when the simulator is unknown or something is missing on the machine.
    """
    source = SIMULATORS / name
    if name not in _PREPARATIONS or not source.is_dir():
        raise InputError(f"simulator {name}: unknown; there are {', '.join(sorted(_PREPARATIONS))}")
    folder = (state / "simulators" / name).absolute()
    python = ensure_environment(folder / "venv", source / "requirements.lock", progress)
    made = SimulatorInstallation(
        python, source / "program.py", folder / "home", folder / "user", stamp_of([source])
    )
    for place in (made.home, made.user):
        place.mkdir(parents=True, exist_ok=True)
    _PREPARATIONS[name](source, made, progress)
    return made


def missing_part(name: str, state: Path) -> str | None:
    """What `ensure_simulator` would have to make, in a word; None where it is all there.

    Raises InputError when the simulator is unknown.
    """
    source, folder = SIMULATORS / name, state / "simulators" / name
    if name not in _PREPARATIONS:
        raise InputError(f"simulator {name}: unknown; there are {', '.join(sorted(_PREPARATIONS))}")
    if not has_environment(folder.absolute() / "venv", source / "requirements.lock"):
        return "environment"
    stamps = {}
    if name == "appworld":
        stamps = _appworld_stamps(source, folder / "venv", folder / "home")
    parts = (part for part, (stamp, expected) in stamps.items() if not has_stamp(stamp, expected))
    return next(parts, None)


def _appworld_stamps(source: Path, venv: Path, home: Path) -> dict[str, tuple[Path, str]]:
    """Stamp file and what it must say, for each part of AppWorld beyond its environment."""
    return {
        "engine": (venv / "engine.stamp", stamp_of([source / "requirements.lock"])),
        "world": (
            home / "root" / "world.stamp",
            stamp_of([source / part for part in WORLD_SOURCES]),
        ),
    }


def _prepare_appworld(source: Path, made: SimulatorInstallation, progress: Progress) -> None:
    """Unpacks the engine's encrypted sources into its package, then builds the world."""
    venv = made.python.parents[1]

    def unpack(held: int) -> None:
        progress("appworld: unpacking the engine")
        command = [made.python.with_name("appworld"), "install"]
        _command(command, made, progress, held, "appworld install")
        compile_bytecode(made.python, venv / "lib", progress, held)

    def build(held: int) -> None:
        progress("appworld: building the world")
        command = [made.python, source / "build_world.py", made.home]
        _command(command, made, progress, held, "build_world.py")

    stamps = _appworld_stamps(source, venv, made.home)
    make_once(venv, *stamps["engine"], progress, unpack)
    make_once(made.home, *stamps["world"], progress, build)


def _command(
    command: list[str | Path], made: SimulatorInstallation, progress: Progress, held: int, what: str
) -> None:
    """Runs one command of a preparation in the simulator's own surroundings."""
    lines: list[str] = []

    def told(line: str) -> None:
        lines.append(line)
        progress(f"  {line}")

    quiet = {"PYTHONWARNINGS": "ignore"}  # of simulated packages, which are not ours to mend
    env = reduced_environment({"HOME": str(made.user), **quiet})
    log = made.user / f"{what.split()[0]}.log"
    if run(command, held, env, told, log) != 0:
        last = next((line for line in reversed(lines) if line.strip()), "it printed nothing")
        raise InputError(f"{what} failed: {last}; log: {log}")


def _prepare_nothing(source: Path, made: SimulatorInstallation, progress: Progress) -> None:
    """τ-bench's packages hold its worlds."""


_PREPARATIONS: dict[str, Callable[[Path, SimulatorInstallation, Progress], None]] = {
    "appworld": _prepare_appworld,
    "tau_bench": _prepare_nothing,
}
"""What a simulator needs beyond its environment."""


def main(arguments: list[str]) -> int:
    """`python -m tasks.suites.installation NAME STATE`; 2 with one line on stderr when it cannot be."""
    if len(arguments) != 2:
        print("usage: python -m tasks.suites.installation NAME STATE", file=sys.stderr)
        return 2
    try:
        ensure_simulator(arguments[0], Path(arguments[1]), lambda line: print(line, flush=True))
    except InputError as error:
        print(f"turtle: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
