"""A campaign whose model is asked over sockets, in both protocols, in calm and in a storm of faults."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.toy.running import Toy, ledger_of
from warehouse.records import LlmCall

KINDS = ("openai", "gemini")


@pytest.fixture
def wired(toy: Callable[[str], Toy]) -> Callable[[str], Toy]:
    """Makes state folders by name, for campaigns over the wire."""
    return lambda name: replace(toy(name), program="tests.wire.campaign")


def expected(undisturbed: Toy, kind: str) -> dict[str, list[tuple[Any, ...]]]:
    """The tables of the campaign in process, as they are when the provider counts tokens by kind.

    Gemini leaves out what it counted as zero; OpenAI's protocol leaves out what was not counted.
    """
    tables = undisturbed.tables()
    if kind == "gemini":
        columns = [n for n in LlmCall.model_fields if n != "latency_s"]
        counted, *zero = (
            columns.index(name) for name in ("prompt_tokens", "cached_tokens", "reasoning_tokens")
        )
        tables["llm_calls"] = [
            tuple(
                0 if n in zero and row[counted] is not None else value
                for n, value in enumerate(row)
            )
            for row in tables["llm_calls"]
        ]
    return tables


def answered(tables: dict[str, list[tuple[Any, ...]]]) -> list[tuple[Any, ...]]:
    """The ledger's replies without the number of the try: on a crowded machine a connection may fail."""
    cause = [n for n in LlmCall.model_fields if n != "latency_s"].index("cause")
    return sorted((row[1:] for row in tables["llm_calls"] if row[cause] is None), key=repr)


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
