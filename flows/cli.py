"""The command line. Heavy imports (Prefect, the SDKs) happen inside the commands that need them."""

import errno
import sys
from typing import NoReturn

from cyclopts import App, CycloptsError

from flows.commands.campaigns import evolve, join, resume
from flows.commands.keeping import delete, export, prune, rebuild, sql, tables
from flows.commands.machine import doctor, down, setup, status, up
from flows.commands.measuring import compare, confirm
from tasks.errors import BudgetSpent, TurtleError
from warehouse.store import WarehouseError

app = App(
    name="turtle",
    help="Evolve agent benchmark items until a solver is neither sure nor lost on them.\n\n"
    "A campaign takes a suite's items (seeds), lets a proposer edit them, a solver attempt each edit "
    "10 times and a feedback model say why it failed; it keeps the variants whose outcome is the least "
    "predictable, judges and labels them. Start with: turtle evolve",
    version_flags=[],
)
for command in (
    *(evolve, resume, join, confirm, compare),
    *(sql, tables, export, delete, prune, rebuild),
    *(setup, doctor, up, down, status),
):
    app.command(command)


def main() -> None:
    """The console script: exit code 0; 1 when a check of the warehouse fails or the doctor finds something
    amiss; 2 when something that the user can mend is wrong, told in one line; 3 when the budget is used up;
    130 when stopped."""
    try:
        app(exit_on_error=False, print_error=False)
    except CycloptsError as error:
        _end(f"{error} (turtle --help)")
    except BudgetSpent as error:
        _end(str(error), code=3)
    except (TurtleError, WarehouseError) as error:
        _end(str(error))
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _end("the disk is full; make room and run the same command again")


def _end(message: str, code: int = 2) -> NoReturn:
    print(f"turtle: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)
