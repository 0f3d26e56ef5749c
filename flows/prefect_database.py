"""Makes Prefect's database at set-up: `python -m flows.prefect_database`.

Its many migrations take 10 s of a core, for which the first campaign would wait. The server itself still
makes a database that is missing, and migrates one of an older Prefect. A database or server of the user's
own, named in the environment, is none of set-up's business and stays untouched.
"""

import os
import subprocess
import sys

from flows.settings import PREFECT_ENVIRONMENT, Settings


def main() -> int:
    """Makes the database of the default state folder; returns the exit code."""
    home = Settings().state / "prefect"
    home.mkdir(parents=True, exist_ok=True)
    others = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    environment = others | PREFECT_ENVIRONMENT | {"PREFECT_HOME": str(home)}
    print("turtle: making Prefect's database", file=sys.stderr)
    command = [sys.executable, "-m", "prefect", "server", "database", "upgrade", "-y"]
    made = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if made.returncode:
        last = made.stderr.strip().splitlines()[-1:] or ["no reason given"]
        print(
            f"turtle: Prefect's database in {home}: {last[0]}; delete that folder and run make again",
            file=sys.stderr,
        )
    return made.returncode


if __name__ == "__main__":
    sys.exit(main())
