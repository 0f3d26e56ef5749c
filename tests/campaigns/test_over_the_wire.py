"""A campaign whose model is asked over sockets, in both protocols, in calm and in a storm of faults."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.toy.running import Toy, ledger_of
from tests.wire.comparing import answered, expected

KINDS = ("openai", "gemini")


@pytest.fixture
def wired(toy: Callable[[str], Toy]) -> Callable[[str], Toy]:
    """Makes state folders by name, for campaigns over the wire."""
    return lambda name: replace(toy(name), program="tests.wire.campaign")


@pytest.mark.parametrize("kind", KINDS)
def test_the_warehouse_is_the_same_as_in_process(
    wired: Callable[[str], Toy], undisturbed: Toy, kind: str
) -> None:
    campaign = wired(kind)
    counted = campaign.run(kind)
    assert campaign.findings() == undisturbed.findings()
    assert answered(campaign.tables()) == answered(expected(undisturbed, kind))
    assert campaign.units().keys() == undisturbed.units().keys()
    assert sorted(campaign.journal()) == sorted(undisturbed.journal())
    assert counted["fates"] == {"reply": len(undisturbed.journal()) + 1}, "and one to embed"


FAULT_OF = {
    "limited": "RateLimited",
    "limited_with_wait": "RateLimited",
    "down": "ProviderDown",
    "reset": "ConnectionLost",
    "reset_in_reply": "ConnectionLost",
    "stall": "Stalled",
    "truncated": "BrokenReply",
    "reply": None,
}
"""The ledger's cause of what the server did."""


@pytest.mark.parametrize("kind", KINDS)
def test_a_storm_costs_nobody_an_attempt_and_little_money(
    wired: Callable[[str], Toy], undisturbed: Toy, kind: str
) -> None:
    campaign = wired(kind)
    counted = campaign.run(kind, "--storm")
    assert campaign.findings() == undisturbed.findings()
    least = len(undisturbed.journal()) + 1
    assert counted["fates"]["reply"] == least
    assert counted["paid"] / least <= 1.15
    ledger = ledger_of(campaign)
    tries = Counter[str | None]()
    for fate, count in counted["fates"].items():
        tries[FAULT_OF[fate]] += count
    assert Counter(row["cause"] for row in ledger) == tries
    for kind_of_token in ("prompt", "completion"):
        known = sum(row[f"{kind_of_token}_tokens"] or 0 for row in ledger)
        assert known == counted["tokens"][kind_of_token]
