"""The real embedder: nearness of meaning, order, and the same vector each time."""

import math
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tasks.errors import ProviderRefused
from tasks.llm.base import EmbedderSpec, LLMSpec, Message, Request
from tasks.llm.local_embedder import DIMENSIONS, LLM_ID, LocalEmbedder

SPEC = LLMSpec(endpoint="local", llm_id=LLM_ID)

PAYMENT = "Pay my roommate Anna 20 dollars on Venmo for the internet bill."
PARAPHRASE = "Send Anna, who lives with me, $20 through Venmo to cover our internet."
UNRELATED = "Which song in my jazz playlist has been liked most often?"


@pytest.fixture(scope="module")
def embedder() -> LocalEmbedder:
    return LocalEmbedder()


def cosine(a: list[float], b: list[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


async def test_a_paraphrase_is_nearer_than_another_subject(embedder: LocalEmbedder) -> None:
    payment, paraphrase, unrelated = await embedder.embed([PAYMENT, PARAPHRASE, UNRELATED], SPEC)
    assert cosine(payment, paraphrase) > 0.6
    assert cosine(payment, unrelated) < 0.3


async def test_vectors_have_the_dimension_and_length_one(embedder: LocalEmbedder) -> None:
    for vector in await embedder.embed([PAYMENT, "", "x" * 5000], SPEC):
        assert len(vector) == DIMENSIONS
        assert math.isclose(cosine(vector, vector), 1.0, abs_tol=1e-5)


async def test_a_text_has_the_same_vector_alone_and_in_company(embedder: LocalEmbedder) -> None:
    (alone,) = await embedder.embed([PAYMENT], SPEC)
    among = await embedder.embed([UNRELATED * 4, PAYMENT, PARAPHRASE, PAYMENT], SPEC)
    assert among[1] == alone and among[3] == alone
    (anew,) = await LocalEmbedder().embed([PAYMENT], SPEC)
    assert anew == alone, "a fresh load of the model gives another vector"


async def test_what_a_long_text_ends_with_counts(embedder: LocalEmbedder) -> None:
    """The scenarios of the τ suites have 300 to 560 tokens, and an edit is often their last sentence."""
    long = f"{UNRELATED} " * 30
    texts = [long + PAYMENT, long + PARAPHRASE, long + UNRELATED]
    payment, paraphrase, unrelated = await embedder.embed(texts, SPEC)
    assert 1 > cosine(payment, paraphrase) > cosine(payment, unrelated)


async def test_order_is_kept(embedder: LocalEmbedder) -> None:
    texts = [f"Buy {n} boxes of {what}." for n, what in enumerate(("tea", "nails", "paper"))]
    forward = await embedder.embed(texts, SPEC)
    backward = await embedder.embed(texts[::-1], SPEC)
    assert forward == backward[::-1]
    assert all(a != b for a, b in pairwise(forward))


async def test_no_texts_give_no_vectors(embedder: LocalEmbedder) -> None:
    assert await embedder.embed([], SPEC) == []


async def test_another_model_is_refused(embedder: LocalEmbedder) -> None:
    with pytest.raises(ProviderRefused, match="text-embedding-3-large"):
        await embedder.embed([PAYMENT], LLMSpec(endpoint="local", llm_id="text-embedding-3-large"))


async def test_another_length_is_refused(embedder: LocalEmbedder) -> None:
    spec = EmbedderSpec(**SPEC.model_dump(), dimensions=768)
    with pytest.raises(ProviderRefused, match="384"):
        await embedder.embed([PAYMENT], spec)


async def test_a_prompt_is_refused(embedder: LocalEmbedder) -> None:
    request = Request(role="judge", spec=SPEC, messages=(Message(role="user", content="?"),))
    with pytest.raises(ProviderRefused, match="judge"):
        await embedder.complete(request)


def test_nothing_is_left_in_the_users_home(checkout: Path, tmp_path: Path) -> None:
    program = (
        "import asyncio; from tests.test_local_embedder import SPEC, LocalEmbedder; "
        "print(len(asyncio.run(LocalEmbedder().embed(['A text.'], SPEC))))"
    )
    environment = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-B", "-c", program]
    ended = subprocess.run(
        command, cwd=checkout, env=environment, capture_output=True, text=True, timeout=120
    )
    assert ended.stdout == "1\n", ended.stderr
    assert list(tmp_path.rglob("*")) == []
