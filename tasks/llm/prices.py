"""What calls cost: prices from endpoints.toml times tokens."""

from collections.abc import Iterable

from pydantic import Field

from tasks.llm.base import Tokens
from warehouse.records import Record

TEMPLATE_TOKENS = 64
"""Most tokens that a chat template puts around one message."""


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


def most_usd(
    prices: Prices | None, part_bytes: Iterable[int], max_completion_tokens: int
) -> float | None:
    """The most that a call can cost, before it is sent; None when a price that it needs is not known.

    A prompt is taken to have as many tokens as UTF-8 bytes: a byte-level vocabulary has no token shorter
    than that. It is about four times what a prompt really has, and costs nothing but calls that wait a
    moment near the end of a budget (tasks/llm/governor.py).

    Args:
        prices: Of the model.
        part_bytes: Size of each message, in bytes.
        max_completion_tokens: The ceiling asked for; 0 for embeddings.
    """
    prompt = sum(size + TEMPLATE_TOKENS for size in part_bytes)
    return most_usd_of(prices, Tokens(prompt=prompt, completion=max_completion_tokens))


def most_usd_of(prices: Prices | None, tokens: Tokens) -> float | None:
    """The most that so many tokens can cost, whatever was cached; None when that is not known."""
    if prices is None or None in (prices.input, tokens.prompt, tokens.completion):
        return None
    dearest = max(prices.input, prices.cached_input or 0.0)
    bound = prices.model_copy(update={"input": dearest, "cached_input": None})
    return cost_usd(bound, Tokens(prompt=tokens.prompt, completion=tokens.completion))
