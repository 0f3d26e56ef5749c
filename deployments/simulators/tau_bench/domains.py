"""The domains by the name of their suite; only the one that is asked for is imported."""

import checkout  # noqa: F401 - before anything looks for data
from domain import Domain


def domain_of(suite: str) -> Domain:
    """The domain of a suite. Raises KeyError for an unknown one."""
    if suite == "tau-telecom":
        from telecom import Telecom

        return Telecom()
    from banking import Banking

    retrieval = {"tau-banking-bm25": "bm25", "tau-banking-golden": "golden"}
    return Banking(retrieval[suite])
