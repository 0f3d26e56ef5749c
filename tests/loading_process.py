"""A process that loads a warehouse: `python -m tests.loading_process PATH CAMPAIGN PUTS`.

Prints the number of seeds known to be published after each flush, so that a test can kill it and know
what has to be there.
"""

import sys
from pathlib import Path

from tests.warehouse_rows import attempt, seed
from warehouse.store import Loader

ROWS_A_PUT = 5
"""One seed and four attempts on it."""


def main(path: Path, campaign: str, puts: int) -> None:
    with Loader(path, publish_every_s=0.05) as loader:
        print("started", flush=True)
        for number in range(puts):
            item_id = f"{campaign} item {number}"
            loader.put(
                [
                    seed(item_id, number, campaign),
                    *(attempt(item_id, repeat, "solved", campaign) for repeat in range(4)),
                ]
            )
            if number % 10 == 9:
                loader.flush()
                print(number + 1, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
