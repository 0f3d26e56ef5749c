"""Selection by variance: each seed keeps its variants of highest c(1-c), ties included (design.md D16)."""

from collections.abc import Sequence

from tasks.spool import Unit
from tasks.stage import StageRun, stage
from warehouse.records import Score, Selection


def select_by_variance(
    variants: Sequence[tuple[str, Score]], *, campaign: str, repeats: int
) -> list[Selection]:
    """The kept variants among (root seed's item_id, score) pairs, in the order given.

    c(1-c) is compared as the integer k(n-k) at full n = `repeats`, so that equal rates tie exactly: a
    measurement that is not full takes no part. A variant with k(n-k) = 0 (never or always solved) is never
    kept, which also holds the gate of at least one solved attempt. Seeds themselves take no part.
    """
    full = [(root, score) for root, score in variants if score.scored == repeats]
    best: dict[str, int] = {}
    for root, score in full:
        best[root] = max(best.get(root, 0), variance_count(score))
    return [
        Selection(
            campaign=campaign,
            item_id=score.item_id,
            root=root,
            solved=score.solved,
            scored=score.scored,
            variance_count=variance_count(score),
        )
        for root, score in full
        if variance_count(score) == best[root] > 0
    ]


def variance_count(score: Score) -> int:
    """k(n-k): n^2 times the variance of one attempt, as an integer."""
    return score.solved * (score.scored - score.solved)


@stage(version="1")
async def select(
    run: StageRun, *, roots: Sequence[str], scores: Sequence[Score], repeats: int
) -> list[str]:
    """Selects among a campaign's variants: a `Selection` for each kept one.

    `roots[i]` is the item_id of the seed from which the variant of `scores[i]` descends.
    """

    async def work(unit: Unit) -> None:
        pairs = list(zip(roots, scores, strict=True))
        unit.add(*select_by_variance(pairs, campaign=run.bench.campaign, repeats=repeats))

    return [await run.once("selections", work)]
