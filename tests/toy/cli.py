"""The command line with the toy suite known to it: `python -m tests.toy.cli JOURNAL evolve ...`."""

import sys
from pathlib import Path

from flows.cli import main
from tests.toy.registering import register

if __name__ == "__main__":
    register(Path(sys.argv.pop(1)))
    main()
