"""What the arms of a comparison yielded, against the full evolution, at equal attempts.

Every figure pools the kept variants of an arm over the rng_seeds, and counts fresh attempts only (those of
the measurement "confirmation"). Its interval is the delete-one jackknife over rng_seeds (Tukey 1958; Efron
and Tibshirani, "An Introduction to the Bootstrap", chapter 11): leaving rng_seed i out of R gives
theta(-i), and the pseudo-values R theta - (R - 1) theta(-i) are averaged like independent values, with
Student's t. Differences leave the same rng_seed out of both arms, so the interval is a paired one. It
speaks of the luck of search and solver on the seeds that took part, not of other seeds or suites.

A cell is too small to compare where it rests on fewer than MIN_KEPT kept variants on either side, on fewer
than MIN_RNG_SEEDS rng_seeds, or where the interval of a difference of shares is wider than WIDEST.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb

from tasks.arms import ARMS, ArmName
from tasks.intervals import Interval, mean_interval, share_interval
from tasks.posterior import in_band

MIN_KEPT = 10
MIN_RNG_SEEDS = 5
WIDEST = 0.5
HARD = 3
"""The difficulty that counts as hard (tasks/labels/difficulty.py)."""


@dataclass(frozen=True)
class Kept:
    """A kept variant with what fresh attempts and labels say of it."""

    solved: int
    scored: int
    difficulty: int | None
    apps: frozenset[str]


@dataclass(frozen=True)
class Harvest:
    """What one campaign of a comparison came to."""

    arm: ArmName
    rng_seed: int
    search_attempts: int
    kept: tuple[Kept, ...]


Sides = tuple[float, float]
"""A figure's value in an arm and in the full evolution."""

Figure = Callable[[Sequence[Harvest], Sequence[Harvest]], Sides | None]
"""Computes a figure of both sides; None where one of them has nothing to compute it from."""


@dataclass(frozen=True)
class Cell:
    """One figure of one arm, beside the full evolution."""

    figure: str
    arm: ArmName
    value: float | None
    spread: Interval | None
    """The value's own interval, for the fresh share: rng_seeds are its clusters (tasks/intervals.py)."""
    full: float | None
    difference: Interval | None
    """value - full, paired by rng_seed; None where the data cannot carry it."""
    rests_on: int
    """Kept variants on the smaller side; for the hard share, those matched."""


def fresh_share(mine: Sequence[Harvest], full: Sequence[Harvest]) -> Sides | None:
    """Share of kept variants whose fresh completion rate lies in [0.4, 0.6]."""
    sides = []
    for side in (mine, full):
        hits = [in_band(one.solved, one.scored) for one in _kept(side) if one.scored]
        if not hits:
            return None
        sides.append(sum(hits) / len(hits))
    return sides[0], sides[1]


def kept_per_1000(mine: Sequence[Harvest], full: Sequence[Harvest]) -> Sides | None:
    """Kept variants per 1,000 attempts of the search, those on seeds included."""
    sides = []
    for side in (mine, full):
        attempts = sum(harvest.search_attempts for harvest in side)
        if not attempts:
            return None
        sides.append(1000 * len(_kept(side)) / attempts)
    return sides[0], sides[1]


def hard_share(mine: Sequence[Harvest], full: Sequence[Harvest]) -> Sides | None:
    """Share of difficulty 3 at matched completion rate.

    Harder items are solved less often, so an arm could look hard by keeping what nobody solves. Fresh
    completion rates are cut in five strata; in each, as many variants count as the smaller side has
    there (subclassification, Cochran 1968).
    """
    strata = [_strata(side) for side in (mine, full)]
    weights = {n: min(len(stratum[n]) for stratum in strata) for n in strata[0]}
    matched = sum(weights.values())
    if not matched:
        return None
    first, second = (
        sum(w * sum(stratum[n]) / len(stratum[n]) for n, w in weights.items() if w) / matched
        for stratum in strata
    )
    return first, second


def app_pairs_at(drawn: int) -> Figure:
    """Distinct pairs of apps that `drawn` kept variants are expected to need (rarefaction, Hurlbert 1971).

    A pair is needed where one item's gold touches both apps. Draws are without return, so the number is
    exact: 1 - C(N - n, drawn) / C(N, drawn) for a pair that n of N variants need.
    """

    def figure(mine: Sequence[Harvest], full: Sequence[Harvest]) -> Sides | None:
        if drawn < 1 or min(len(_kept(mine)), len(_kept(full))) < drawn:
            return None
        return _expected_pairs(_kept(mine), drawn), _expected_pairs(_kept(full), drawn)

    return figure


def compared(harvests: Sequence[Harvest]) -> list[Cell]:
    """Every figure of every arm, figure by figure, the full evolution last and beside itself.

    Takes the rng_seeds of which all arms are there with equal attempts; `unequal` names the others.
    """
    left_out = unequal(harvests)
    by_arm: dict[ArmName, list[Harvest]] = {
        arm: sorted(
            (h for h in harvests if h.arm == arm and h.rng_seed not in left_out),
            key=lambda harvest: harvest.rng_seed,
        )
        for arm in ARMS
    }
    by_figure = zip(*(_cells(arm, by_arm[arm], by_arm["full"]) for arm in ARMS), strict=True)
    return [cell for cells in by_figure for cell in cells]


def unequal(harvests: Sequence[Harvest]) -> set[int]:
    """The rng_seeds whose arms did not all end, or spent different numbers of attempts."""
    spent: dict[int, dict[ArmName, int]] = {}
    for harvest in harvests:
        spent.setdefault(harvest.rng_seed, {})[harvest.arm] = harvest.search_attempts
    return {
        rng_seed
        for rng_seed, by_arm in spent.items()
        if by_arm.keys() != ARMS.keys() or len(set(by_arm.values())) > 1
    }


def jackknife(mine: Sequence[Harvest], full: Sequence[Harvest], figure: Figure) -> Interval | None:
    """The interval of a figure's difference, harvest i of both sides left out in turn.

    `mine[i]` and `full[i]` are of one rng_seed. None where a side is empty with one left out.
    """
    count = len(mine)
    whole = figure(mine, full)
    if whole is None or count < 2:
        return None
    pseudo_values = []
    for i in range(count):
        part = figure([*mine[:i], *mine[i + 1 :]], [*full[:i], *full[i + 1 :]])
        if part is None:
            return None
        pseudo_values.append(count * (whole[0] - whole[1]) - (count - 1) * (part[0] - part[1]))
    return mean_interval(pseudo_values)


def _cells(arm: ArmName, mine: Sequence[Harvest], full: Sequence[Harvest]) -> list[Cell]:
    smaller = min(len(_kept(mine)), len(_kept(full)))
    strata = [_strata(side) for side in (mine, full)]
    matched = sum(min(len(stratum[n]) for stratum in strata) for n in strata[0])
    # Every jackknife draw must be able to draw as many.
    drawn = min(
        (len(_kept(side)) - max((len(h.kept) for h in side), default=0) for side in (mine, full)),
        default=0,
    )
    return [
        _cell("fresh share in [0.4, 0.6]", arm, mine, full, fresh_share, smaller, WIDEST),
        _cell("kept per 1,000 attempts", arm, mine, full, kept_per_1000, None, None),
        _cell("hard share, matched", arm, mine, full, hard_share, matched, WIDEST),
        _cell(f"app pairs of {drawn} items", arm, mine, full, app_pairs_at(drawn), smaller, None),
    ]


def _cell(
    name: str,
    arm: ArmName,
    mine: Sequence[Harvest],
    full: Sequence[Harvest],
    figure: Figure,
    rests_on: int | None,
    widest: float | None,
) -> Cell:
    """`rests_on` None: the figure is a count, to which no kept variant is an answer too."""
    value, beside = figure(mine, full) or (None, None)
    difference = jackknife(mine, full, figure) if len(mine) >= MIN_RNG_SEEDS else None
    small = rests_on is not None and rests_on < MIN_KEPT
    wide = difference is not None and widest is not None
    if small or (wide and difference.high - difference.low > widest):
        difference = None
    return Cell(
        figure=name,
        arm=arm,
        value=value,
        spread=_spread(mine) if figure is fresh_share else None,
        full=beside,
        difference=None if arm == "full" else difference,
        rests_on=min(len(_kept(mine)), len(_kept(full))) if rests_on is None else rests_on,
    )


def _spread(side: Sequence[Harvest]) -> Interval | None:
    known = [(h.rng_seed, one) for h in side for one in h.kept if one.scored]
    hits = [in_band(one.solved, one.scored) for _, one in known]
    return share_interval(hits, [rng_seed for rng_seed, _ in known])


def _kept(side: Sequence[Harvest]) -> list[Kept]:
    return [one for harvest in side for one in harvest.kept]


def _strata(side: Sequence[Harvest]) -> dict[int, list[bool]]:
    """Whether each labelled variant is hard, by stratum of its fresh rate; 2 is [0.4, 0.6]."""
    strata: dict[int, list[bool]] = {n: [] for n in range(5)}
    for one in _kept(side):
        if one.scored and one.difficulty is not None:
            c = Fraction(one.solved, one.scored)
            above = sum((c >= Fraction(1, 5), c >= Fraction(2, 5)))
            strata[above + sum((c > Fraction(3, 5), c > Fraction(4, 5)))].append(
                one.difficulty == HARD
            )
    return strata


def _expected_pairs(kept: Sequence[Kept], drawn: int) -> float:
    needed = Counter(pair for one in kept for pair in combinations(sorted(one.apps), 2))
    total = comb(len(kept), drawn)
    return float(sum(1 - Fraction(comb(len(kept) - n, drawn), total) for n in needed.values()))
