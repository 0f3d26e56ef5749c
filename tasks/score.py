"""Score: our arithmetic on an item's outcomes (the paper's six scores; design.md D16)."""

from collections.abc import Sequence
from fractions import Fraction
from statistics import fmean
from typing import Literal

from tasks.llm.base import LLMSpec
from tasks.spool import Unit
from tasks.stage import StageRun, stage
from warehouse.records import Attempt, Measurement, Score

WIDE_BAND = (Fraction(3, 10), Fraction(7, 10))
NARROW_BAND = (Fraction(4, 10), Fraction(6, 10))


def bell(c: Fraction | float) -> float:
    """10^(-(2c-1)^2): the Gaussian through the paper's points, 1 at c = 0.5 and 0.1 at c = 0 and 1."""
    return 10.0 ** -float((2 * c - 1) ** 2)


def variance(c: Fraction | float) -> float:
    """c(1-c), the variance of one attempt: 0.25 at c = 0.5, 0 at 0 and 1."""
    return float(c * (1 - c))


def with_length(
    base: float,
    c: Fraction | float,
    mean_solved_length: float | None,
    band: tuple[Fraction, Fraction],
    weight: float,
) -> float | None:
    """`base + weight * L` for c inside the band, ends included; `base` outside.

    None when c lies in the band and L is missing.
    """
    low, high = band
    if not low <= c <= high:
        return base
    return None if mean_solved_length is None else base + weight * mean_solved_length


def completion_rate(
    attempts: Sequence[Attempt], completion: Literal["perfect", "partial"]
) -> Fraction | float | None:
    """c of scored attempts: an exact share of solved ones, or the mean partial score.

    None where no attempt was scored; with "partial", an attempt that left no state to grade counts 0.
    """
    if not attempts:
        return None
    if completion == "perfect":
        return Fraction(sum(a.outcome == "solved" for a in attempts), len(attempts))
    return fmean(0.0 if a.partial is None else a.partial for a in attempts)


def score_of(
    attempts: Sequence[Attempt],
    *,
    campaign: str,
    item_id: str,
    solver: str,
    measurement: Measurement,
    completion: Literal["perfect", "partial"] = "perfect",
    length_weight: float = 1.0,
) -> Score:
    """The scores of one item by one solver (its spec_id) in one measurement.

    Unscored attempts count nowhere but in `unscored`. Raises ValueError where an attempt is of another
    item, solver or measurement: estimates are never mixed.
    """
    mixed = [
        a.attempt_id
        for a in attempts
        if (a.item_id, a.solver, a.measurement) != (item_id, solver, measurement)
    ]
    if mixed:
        raise ValueError(f"not attempts of {measurement} on item {item_id}: {', '.join(mixed)}")
    scored = [a for a in attempts if a.outcome != "unscored"]
    solved = [a for a in scored if a.outcome == "solved"]
    partials = [a.partial for a in scored if a.partial is not None]
    length = fmean(a.calls for a in solved) if solved else None
    c = completion_rate(scored, completion)
    row = {
        "campaign": campaign,
        "item_id": item_id,
        "solver": solver,
        "measurement": measurement,
        "scored": len(scored),
        "solved": len(solved),
        "unscored": len(attempts) - len(scored),
        "completion_rate": None if c is None else float(c),
        "mean_solved_length": length,
        "mean_solved_turns": fmean(a.turns for a in solved) if solved else None,
        "mean_partial": fmean(partials) if partials else None,
        "gate": bool(solved),
    }
    for name, formula in (("bell", bell), ("variance", variance)):
        base = None if c is None else formula(c)
        row[name] = base
        for width, band in (("wide", WIDE_BAND), ("narrow", NARROW_BAND)):
            value = None if c is None else with_length(base, c, length, band, length_weight)
            row[f"{name}_length_{width}"] = value
    return Score(**row)


@stage(version="2")
async def score(
    run: StageRun,
    *,
    item_id: str,
    solver: LLMSpec,
    attempts: Sequence[Attempt],
    measurement: Measurement,
    completion: Literal["perfect", "partial"],
    length_weight: float,
) -> list[str]:
    """Scores one item's attempts of one measurement: a `Score`."""

    async def work(unit: Unit) -> None:
        unit.add(
            score_of(
                attempts,
                campaign=run.bench.campaign,
                item_id=item_id,
                solver=solver.spec_id,
                measurement=measurement,
                completion=completion,
                length_weight=length_weight,
            )
        )

    return [await run.once("scores", work)]
