"""Work in several processes that start from the state of this one."""

import os
import sys
import traceback
from collections.abc import Callable


def side_by_side(jobs: list[Callable[[], None]]) -> None:
    """Runs each job in a fork of this process and waits for all.

    The engine's in-memory databases survive a fork: every job sees what stood before, and keeps to itself
    what it changes, so a job has to save what it makes.

    Raises:
        RuntimeError: some job raised; its traceback is on stderr.
    """
    children = []
    for job in jobs:
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            _run_and_leave(job)
        children.append(child)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    if any(codes):
        raise RuntimeError(f"{sum(map(bool, codes))} of {len(jobs)} parts failed, see above")


def _run_and_leave(job: Callable[[], None]) -> None:
    """Runs a job and ends the process without returning into the caller's stack."""
    code = 1
    try:
        job()
        code = 0
    except BaseException:  # the process ends here whatever it was, and its exit code says so
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)
