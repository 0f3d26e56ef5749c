"""Several processes drain one campaign through a shared spool, and one of them is killed on the way."""

from pathlib import Path

from tests.toy.pool import WORKERS, drained_by, joined_states
from tests.toy.running import Toy


def test_three_processes_drain_a_campaign_and_one_is_killed_on_the_way(
    undisturbed: Toy, tmp_path: Path
) -> None:
    workers = joined_states(undisturbed, tmp_path, [undisturbed.checkout] * WORKERS)
    drained_by(workers, undisturbed, kills=1, latency_s=0.3)
