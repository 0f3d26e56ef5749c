"""The command line with the toy suite known to it: `python -m tests.toy.cli JOURNAL evolve ...`.

Several commands, with "then" between them, run in one process.
"""

import sys
from itertools import groupby
from pathlib import Path

from flows.cli import main
from tests.toy.registering import register

if __name__ == "__main__":
    program, journal, *words = sys.argv
    register(Path(journal))
    for is_command, command in groupby(words, lambda word: word != "then"):
        if is_command:
            sys.argv = [program, *command]
            try:
                main()
            except SystemExit as ended:
                if ended.code:
                    raise
