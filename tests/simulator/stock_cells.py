"""Runs cells on stock AppWorld, in a process of its own: a script for AppWorld's interpreter.

    python stock_cells.py TASK_ID < JSON list of sessions, each a list of cells

APPWORLD_ROOT names the engine's root. Prints a JSON list of sessions, each the list of outputs.
"""

import json
import os
import sys

from appworld import AppWorld


def main() -> None:
    """Reads, runs, prints."""
    sessions = json.load(sys.stdin)
    outputs = []
    for number, cells in enumerate(sessions):
        with AppWorld(
            task_id=sys.argv[1], experiment_name=f"s{number}", load_ground_truth=False
        ) as world:
            outputs.append([world.execute(cell) for cell in cells])
    print(json.dumps(outputs), flush=True)


if __name__ == "__main__":
    main()
    os._exit(0)  # the engine needs seconds to tear itself down
