"""Builds the small AppWorld world and the seeds that start in it.

    python build_world.py HOME [--rng-seed N] [--unproved]

Run it with the interpreter of AppWorld's environment. It fills HOME/root, which is the engine's
APPWORLD_ROOT: data/base_dbs, data/api_docs, data/tasks, data/datasets, and world.json with the
world's hash. Everything is made beside it and renamed into place at the end, so that a killed build
leaves the old world or none.
"""

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path


def main(arguments: list[str]) -> int:
    """Parses the command line, builds, and reports; returns the exit code."""
    parser = argparse.ArgumentParser(description="Builds the small AppWorld world and its seeds.")
    parser.add_argument("home", type=Path, help="folder of the simulator; HOME/root is made anew")
    parser.add_argument(
        "--rng-seed", type=int, default=7, help="seed of all drawn values (default 7)"
    )
    parser.add_argument(
        "--unproved",
        action="store_true",
        help="leave out the seeds' proofs and with them their ground truths: a world to compare, not to use",
    )
    options = parser.parse_args(arguments)
    build(options.home, options.rng_seed, proved=not options.unproved)
    return 0


def build(home: Path, rng_seed: int, proved: bool = True) -> None:
    """Builds a world in a temporary folder of `home` and renames it to `home`/root.

    `proved`: whether the seeds are proved, which also makes their ground truths.

    Raises:
        OSError: the folder cannot be written; nothing is left half-made.
    """
    home.mkdir(parents=True, exist_ok=True)
    for leftover in home.glob("root.making-*"):
        shutil.rmtree(leftover)
    making = Path(tempfile.mkdtemp(prefix="root.making-", dir=home))
    os.environ["APPWORLD_ROOT"] = str(making)  # the engine reads it when it is imported
    from model_classes import cheap_model_classes

    cheap_model_classes()
    from world.making import make_world

    make_world(making, rng_seed, proved)
    _swap_in(making, home / "root")


def _swap_in(making: Path, root: Path) -> None:
    old = making.with_name(making.name.replace("making", "old"))
    if root.exists():
        root.rename(old)
    making.rename(root)
    shutil.rmtree(old, ignore_errors=True)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(code)  # the engine needs 3 s to tear itself down, and nothing is left to do
