"""Confirm: what fresh attempts say of the variants that a search kept.

A search keeps the variants whose ten attempts came out nearest to 5; among many variants some do so by
luck (the winner's curse). So nothing is estimated from the attempts that selected: only from those of the
measurement "confirmation", which no selection has seen.
"""

from collections.abc import Sequence

from tasks.intervals import share_interval
from tasks.llm.base import LLMSpec
from tasks.posterior import band_probability, in_band
from tasks.spool import Unit
from tasks.stage import StageRun, stage
from warehouse.records import Confirmation, Replication, Score, Spec, canonical


def confirmations(scores: Sequence[Score], simulated: bool) -> list[Confirmation]:
    """What each variant's fresh attempts say.

    Raises ValueError for a score of another measurement: what was seen by the selection confirms nothing.
    """
    if seen := [score.item_id for score in scores if score.measurement != "confirmation"]:
        raise ValueError(f"scores of another measurement than confirmation: {', '.join(seen)}")
    return [
        Confirmation(
            campaign=score.campaign,
            item_id=score.item_id,
            solver=score.solver,
            simulated=simulated,
            solved=score.solved,
            scored=score.scored,
            in_band=in_band(score.solved, score.scored) if score.scored else None,
            band_probability=band_probability(score.solved, score.scored),
        )
        for score in scores
    ]


def replication(
    campaign: str, solver: str, confirmed: Sequence[Confirmation], clusters: Sequence[str]
) -> Replication:
    """How many kept variants hold in fresh attempts; `clusters[i]` is that of `confirmed[i]`.

    Variants of one seed, or of seeds that are alike, are one cluster of the interval. A variant
    of which nothing was scored is counted as kept, and takes no part in the rate.
    """
    known = [
        (one.in_band, cluster)
        for one, cluster in zip(confirmed, clusters, strict=True)
        if one.in_band is not None
    ]
    hits = [hit for hit, _ in known]
    interval = share_interval(hits, [cluster for _, cluster in known])
    return Replication(
        campaign=campaign,
        solver=solver,
        kept=len(confirmed),
        confirmed=len(known),
        in_band=sum(hits),
        rate=sum(hits) / len(known) if known else None,
        rate_low=interval and interval.low,
        rate_high=interval and interval.high,
    )


@stage(version="1")
async def confirm(
    run: StageRun, *, clusters: Sequence[str], scores: Sequence[Score], solver: LLMSpec
) -> list[str]:
    """A `Confirmation` for each kept variant, and the campaign's `Replication`, by one solver.

    `scores[i]` is a variant's in the measurement "confirmation", `clusters[i]` names what its seed is alike.
    """

    async def work(unit: Unit) -> None:
        confirmed = confirmations(scores, run.bench.client(solver).simulated)
        unit.add(
            Spec(
                spec_id=solver.spec_id,
                role="solver",
                endpoint=solver.endpoint,
                llm_id=solver.llm_id,
                sampling=canonical(solver.sampling.model_dump(mode="json")),
            )
        )
        unit.add(*confirmed, replication(run.bench.campaign, solver.spec_id, confirmed, clusters))

    return [await run.once("confirmations", work)]
