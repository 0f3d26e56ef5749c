"""What must hold of several processes on one campaign: claims that a short and a long test make."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.toy.forked import Process
from tests.toy.reruns import kill_after, knows_every_paid_call
from tests.toy.running import Toy

WORKERS = 3
AT_ONCE = 4
"""Attempts, and so calls, that one process has under way."""

CALLS_BEFORE_KILL = 6


def joined_states(like: Toy, folder: Path, copies: Sequence[Path]) -> list[Toy]:
    """A state folder for each working copy, all with one spool."""
    (folder / "spool").mkdir()
    made = []
    for number, copy in enumerate(copies):
        state = folder / f"state{number}"
        state.mkdir()
        (state / "spool").symlink_to(folder / "spool")
        made.append(replace(like, state=state, checkout=copy))
    return made


def options(latency_s: float) -> list[str]:
    """What all processes are told; those that join, "--joins" as well."""
    told = ["--attempts-in-flight", str(AT_ONCE), "--concurrency", "24"]
    return [*told, "--latency-s", str(latency_s), "--workers", str(WORKERS)]


def drained_by(workers: Sequence[Toy], undisturbed: Toy, kills: int, latency_s: float) -> None:
    """Asserts that processes drain a campaign together, and that kill -9 of some loses and repeats nothing.

    Args:
        workers: their states; the first makes the tables.
        undisturbed: the same campaign, ended in one go by one process.
        kills: how many are killed, one after the other, each started again but the last.
        latency_s: of a call, so that a kill finds calls under way.
    """

    def started(number: int, *more: str) -> Process:
        joins = ["--joins"] if number else []
        return workers[number].start(*options(latency_s), *joins, *more)

    running = {n: started(n, "--together", str(WORKERS)) for n in range(WORKERS)}
    finished: dict[str, tuple[int, int]] = {}
    for kill in range(kills):
        number = (kill + 1) % WORKERS
        killed = running.pop(number)
        died = kill_after(killed, workers[number], CALLS_BEFORE_KILL)
        assert died, f"too short for kill {kill + 1}: {killed.communicate()}"
        units = workers[0].units()
        assert finished.items() <= units.items(), "a finished unit was touched"
        finished = units
        if number == 0 or kill < kills - 1:
            running[number] = started(number)
    for process in running.values():
        _, err = process.communicate(timeout=workers[0].timeout_s)
        assert process.returncode == 0, err
    assert finished.items() <= workers[0].units().items()
    assert_like_one(workers, undisturbed, kills * AT_ONCE)


def assert_like_one(workers: Sequence[Toy], undisturbed: Toy, most_again: int) -> None:
    """Asserts that the campaign came to what one process comes to, and that all took part."""
    journal = [call for worker in workers for call in worker.journal()]
    paid = Counter(journal)
    again = paid.total() - len(paid)
    print(f"calls of each: {[len(worker.journal()) for worker in workers]}; paid again: {again}")
    assert set(paid) == set(undisturbed.journal())
    assert again <= most_again
    assert all(worker.journal() for worker in workers), "one did nothing"
    assert workers[0].units().keys() == undisturbed.units().keys()
    assert workers[0].findings() == undisturbed.findings()
    knows_every_paid_call(journal, workers[0], most_again)
    assert not any((worker.state / "warehouse").exists() for worker in workers[1:])
    assert not list(workers[0].state.glob("spool/*/*/*.claim"))
