"""Makes the toy suite and the toy model known to this process."""

from pathlib import Path

from flows import suites
from tasks.llm import endpoints
from tests.toy.model import ToyModel
from tests.toy.suite import ToySuite


def register(
    journal: Path, simulator_dies_at: int | None = None, provider_fails_at: int | None = None
) -> ToySuite:
    """Registers suite "toy" and endpoint kind "toy", whose model notes its calls in `journal`."""
    suite = ToySuite(simulator_dies_at)
    suites.SUITES["toy"] = lambda settings: suite
    endpoints.CLIENTS["toy"] = lambda endpoint, rng_seed, gold_of: ToyModel(
        gold_of, journal, endpoint.latency_s, provider_fails_at
    )
    return suite
