"""A campaign whose model is asked over sockets, in both protocols, in calm and in a storm of faults."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.toy.running import Toy
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
        zero = [columns.index(name) for name in ("cached_tokens", "reasoning_tokens")]
        tables["llm_calls"] = [
            tuple(0 if n in zero else value for n, value in enumerate(row))
            for row in tables["llm_calls"]
        ]
    return tables


@pytest.mark.parametrize("kind", KINDS)
def test_the_warehouse_is_the_same_as_in_process(
    wired: Callable[[str], Toy], undisturbed: Toy, kind: str
) -> None:
    campaign = wired(kind)
    counted = campaign.run(kind)
    assert campaign.tables() == expected(undisturbed, kind)
    assert campaign.units().keys() == undisturbed.units().keys()
    assert sorted(campaign.journal()) == sorted(undisturbed.journal())
    assert counted["fates"] == {"reply": len(undisturbed.journal()) + 1}, "and one to embed"


@pytest.mark.parametrize("kind", KINDS)
def test_a_storm_costs_nobody_an_attempt_and_little_money(
    wired: Callable[[str], Toy], undisturbed: Toy, kind: str
) -> None:
    campaign = wired(kind)
    counted = campaign.run(kind, "--storm")
    assert campaign.tables() == expected(undisturbed, kind)
    fair = len(undisturbed.journal()) + 1
    print(f"\n{kind}: {counted}; {fair} calls without faults; paid {counted['paid'] / fair:.3f}x")
    assert counted["fates"]["reply"] == fair
    assert counted["paid"] / fair <= 1.15
