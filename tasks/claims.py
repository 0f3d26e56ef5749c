"""Claims: what one of several processes that share a spool has to itself for a while.

A claim is a lock of the kernel's on a file, so it ends with the process that held it, however that died:
nothing has to expire and nothing hangs. The folder has to be on a file system with such locks: a local disk,
or one that a server shares and whose locks are everybody's. Object storage has none.
"""

import asyncio
import fcntl
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

POLL_S = 0.2
"""How often a process looks whether another one has done a unit that both need."""


@contextmanager
def claimed(path: Path, shared: bool = False) -> Iterator[bool]:
    """Tries to claim a file, and says whether this process has it until the block ends. Does not wait.

    Two claims within one process exclude each other as well. `shared`: others may have it too, as long as
    nobody has it alone.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    mine = True
    try:
        try:
            fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            mine = False
        yield mine
    finally:
        os.close(file)


class Share:
    """What this process does of the units that several processes drain: those that it claims first.

    It claims no more of a kind than it can do at once; the others would wait for what waits here. Kinds do
    not count together: an edit or a note that waits for its model keeps no attempt from a free slot.
    """

    def __init__(self, at_once: int) -> None:
        """`at_once`: how many units of one kind this process may be doing."""
        self._room: defaultdict[str, int] = defaultdict(lambda: at_once)
        self._freed = asyncio.Event()

    async def once(self, path: Path, work: Callable[[], Awaitable[None]]) -> None:
        """Returns when the unit's file is there, made by `work` here or by another process."""
        while not path.exists():
            if self._room[path.parent.name] and await self._claimed(path, work):
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_S):
                    await self._freed.wait()

    async def _claimed(self, path: Path, work: Callable[[], Awaitable[None]]) -> bool:
        """Whether the unit is done now; False while another process is at it."""
        claim = path.with_suffix(".claim")
        with claimed(claim) as mine:
            if not mine:
                return False
            if not path.exists():
                self._room[path.parent.name] -= 1
                try:
                    await work()
                finally:
                    self._room[path.parent.name] += 1
                    self._freed.set()
                    self._freed = asyncio.Event()
            # Whoever opened it before now gets the lock on it, and finds that the work is done.
            claim.unlink(missing_ok=True)
        return True
