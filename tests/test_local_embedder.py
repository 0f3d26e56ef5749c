"""The real embedder: nearness of meaning, order, and the same vector each time."""

import math
from itertools import pairwise

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
