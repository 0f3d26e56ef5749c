"""Embed: one vector for each item's instruction."""

from collections.abc import Sequence

from tasks.errors import ProviderError
from tasks.llm.base import LLMSpec
from tasks.spool import Unit
from tasks.stage import StageRun, stage
from warehouse.records import Embedding, Item


@stage(version="2")
async def embed(run: StageRun, *, items: Sequence[Item], embedder: LLMSpec) -> list[str]:
    """An `Embedding` for each item, in order; one unit an item, one call for all that are missing one.

    Raises ProviderError when the embedder returns another number of vectors than texts.
    """
    vectors: dict[str, list[float]] = {}

    async def missing() -> None:
        texts = [item.instruction for item in items]
        found = await run.bench.client(embedder).embed(texts, embedder)
        if len(found) != len(texts):
            raise ProviderError(
                f"endpoint {embedder.endpoint}: {len(found)} vectors came for {len(texts)} texts"
            )
        vectors.update(zip((item.item_id for item in items), found, strict=True))

    async def one(item: Item) -> str:
        async def work(unit: Unit) -> None:
            if not vectors:
                await missing()
            vector = vectors[item.item_id]
            unit.add(
                Embedding(
                    campaign=run.bench.campaign,
                    item_id=item.item_id,
                    embedder=embedder.llm_id,
                    dimensions=len(vector),
                    vector=tuple(vector),
                )
            )

        return await run.once("embeddings", work, item=item, embedder=embedder)

    return [await one(item) for item in items]
