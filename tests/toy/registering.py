"""Makes the toy suite and the toy model known to this process."""

from pathlib import Path

from flows import suites
from tasks.llm import endpoints
from tests.toy.model import ToyModel
from tests.toy.suite import ToySuite


def register(journal: Path) -> ToySuite:
    """Registers suite "toy" and endpoint kind "toy", whose model notes its calls in `journal`."""
    suite = ToySuite()
    suites.SUITES["toy"] = lambda settings: suite
    endpoints.CLIENTS["toy"] = lambda endpoint, rng_seed, gold_of: ToyModel(
        gold_of, journal, endpoint.latency_s
    )
    return suite
