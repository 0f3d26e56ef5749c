"""Makes Prefect's database at set-up: `python -m flows.prefect_database`.

Its many migrations take 10 s of a core, for which the first campaign would wait. The server itself still
makes a database that is missing, and migrates one of an older Prefect.
"""

import subprocess
import sys

from flows.settings import Settings, prepare_prefect


def main() -> int:
    """Makes the database of the default state folder; returns the exit code."""
    prepare_prefect(Settings())
    print("turtle: making Prefect's database", file=sys.stderr)
    command = [sys.executable, "-m", "prefect", "server", "database", "upgrade", "-y"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        last = made.stderr.strip().splitlines()[-1:] or ["no reason given"]
        print(f"turtle: Prefect's database: {last[0]}", file=sys.stderr)
    return made.returncode


if __name__ == "__main__":
    sys.exit(main())
