"""The tables of a campaign in process beside those of one whose model was asked over a socket."""

from typing import Any

from tests.toy.running import Toy
from warehouse.records import LlmCall


def expected(in_process: Toy, kind: str) -> dict[str, list[tuple[Any, ...]]]:
    """The tables of the campaign in process, as they are when the provider counts tokens by kind.

    Gemini leaves out what it counted as zero; OpenAI's protocol leaves out what was not counted.
    """
    tables = in_process.tables()
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
