"""Work in several processes that start from the state of this one."""

import os
import sys
import traceback
from collections.abc import Callable

from shell.limits import die_with_parent


def side_by_side(parts: list[Callable[[], None]]) -> None:
    """Does each part of the work in a fork of this process and waits for all.

    The engine's in-memory databases survive a fork: every part sees what stood before, and keeps to
    itself what it changes, so a part has to save what it makes. All end when this process ends.

    Raises:
        RuntimeError: some part raised; its traceback is on stderr.
    """
    children = []
    for part in parts:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _run_and_leave(part)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if any(codes):
        raise RuntimeError(f"{sum(map(bool, codes))} of {len(parts)} parts failed, see above")


def _run_and_leave(part: Callable[[], None]) -> None:
    """Does a part and ends the process without returning into the caller's stack."""
    code = 1
    try:
        die_with_parent()
        part()
        code = 0
    except BaseException:  # the process ends here whatever it was, and its exit code says so
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
