"""How much longer everything takes on a machine that has more to do than it can."""

import os


def stretched(seconds: float) -> float:
    """A deadline meant for a machine of our own, in seconds of this one as busy as it is now.

    Times the load average of the last minute by core, where that is above 1. Else a crowded machine would
    kill cells that are well, and a solver would be said to have failed for it (seen at a load of 20 a core:
    golds of one second killed after 60).
    """
    return seconds * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
