"""Campaigns of models that cost money, on the toy suite, through the console script."""

import asyncio
from typing import Any

from tests.toy.forked import started
from tests.toy.provider import PRICES
from tests.toy.running import Toy

KEY = "sk-turtle-distinctive-0123456789abcdef"
VARIABLE = "TURTLE_TEST_PAID_KEY"

PLAN = """
suite = "toy"
steps = 3
in_flight = 2
repeats = 4
""" + "\n".join(
    f'[{role}]\nendpoint = "paid"\nllm_id = "{llm_id}"\nsampling = {{ max_tokens = 200 }}'
    for role, llm_id in {
        "proposer": "toy-large",
        "solver": "toy-small",
        "feedback": "toy-small",
        "judge": "toy-small",
        "labeller": "toy-large",
        "embedder": "toy-embedder",
    }.items()
)

ENDPOINTS = f"""
[paid]
kind = "openai"
base_url = "{{url}}/v1"
key_variable = "{VARIABLE}"
concurrency = 4
""" + "\n".join(
    f'[paid.prices."{llm_id}"]\n' + "\n".join(f"{k} = {v}" for k, v in PRICES.model_dump().items())
    for llm_id in ("toy-large", "toy-small", "toy-embedder")
)


async def ran(toy: Toy, *arguments: str, kill_after: Any = None) -> tuple[int, str]:
    """The console script's exit code and all that it printed."""
    line = [str(toy.state / "journal.jsonl"), *arguments, "--state", str(toy.state)]
    process = started("tests.toy.cli", line, toy.checkout, toy.environment)
    if kill_after is not None:
        while not kill_after() and process.poll() is None:
            await asyncio.sleep(0.02)
        process.kill()
    out, err = await asyncio.to_thread(process.communicate, 300)
    assert process.returncode is not None
    return process.returncode, out + err
