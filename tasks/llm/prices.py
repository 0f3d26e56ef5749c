"""What calls cost: prices from endpoints.toml times tokens."""

from pydantic import Field

from tasks.llm.base import Tokens
from warehouse.records import Record


class Prices(Record):
    """US dollars for a million tokens of one model, by kind; None where the price is not known."""

    input: float | None = Field(default=None, ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    """Of prompt tokens that the provider served from its cache."""
    output: float | None = Field(default=None, ge=0)
    """Of completion tokens, reasoning included."""


def cost_usd(prices: Prices | None, tokens: Tokens) -> float | None:
    """A call's cost in US dollars; None when a price or a count that it needs is not known."""
    if prices is None or None in (prices.input, tokens.prompt, tokens.completion):
        return None
    if prices.output is None and tokens.completion:
        return None
    cached, cached_price = tokens.cached, prices.cached_input
    if cached_price is None:
        if cached:
            return None
        cached, cached_price = 0, 0.0
    if cached is None:
        return None
    fresh = tokens.prompt - cached
    return (
        fresh * prices.input + cached * cached_price + tokens.completion * (prices.output or 0.0)
    ) / 1_000_000
