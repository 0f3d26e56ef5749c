"""A real model server behind our client: llama.cpp with SmolLM2-135M, small as a model, real as a server."""

from pathlib import Path

import pytest

from tasks.llm.base import LLMSpec, Message, Request, Sampling
from tasks.llm.endpoints import clients, read_endpoints
from tasks.llm.faults import PromptTooLong
from tasks.llm.prompting import judge_prompt, proposer_prompt
from tasks.llm.replies import ReplyError, parse_edit, parse_verdict
from tests.handful import DESCRIPTION, PAY, item
from tests.llama.conftest import LLM_ID


async def test_proposer_and_judge_are_read_or_told_what_is_wrong(endpoints: Path) -> None:
    sampling = Sampling(max_tokens=64, temperature=0.5, rng_seed=7)
    spec = LLMSpec(endpoint="llama", llm_id=LLM_ID, sampling=sampling)
    seed = item(PAY)
    asked = {
        "proposer": (proposer_prompt(seed, DESCRIPTION, "harder", None, []), parse_edit),
        "judge": (judge_prompt(seed, []), parse_verdict),
    }
    client = clients(read_endpoints(endpoints), 1, lambda item_id: None)["llama"]
    try:
        for role, (prompt, parse) in asked.items():
            reply = await client.complete(Request(role=role, spec=spec, messages=prompt.messages))
            assert reply.tokens.prompt and reply.tokens.completion
            try:
                parse(reply.text)
            except ReplyError as error:
                assert error.cause == "unparseable_reply"
    finally:
        await client.aclose()


async def test_a_prompt_that_is_too_long_is_called_so(endpoints: Path) -> None:
    spec = LLMSpec(endpoint="llama", llm_id=LLM_ID)
    long = Message(role="user", content="one two three four. " * 3000)
    client = clients(read_endpoints(endpoints), 1, lambda item_id: None)["llama"]
    try:
        with pytest.raises(PromptTooLong, match="exceeds the available context size"):
            await client.complete(Request(role="solver", spec=spec, messages=(long,)))
    finally:
        await client.aclose()
