"""Confidence intervals of means and shares whose values come in clusters.

Items that share an origin (seeds of one AppWorld generator, variants of one seed) succeed and fail
together; counted as independent they make an interval too narrow. So spread is taken between the
clusters' totals, not between single values:

    V = G / (G - 1) * sum over clusters g of (sum over i in g of (y_i - mean))^2 / n^2

the cluster-robust variance of a mean with its small-sample factor (Liang and Zeger 1986; CR1 in Cameron
and Miller, "A Practitioner's Guide to Cluster-Robust Inference", 2015), with Student's t at G - 1 degrees
of freedom. Where every value is a cluster of its own, V is s^2/n and the interval the textbook one, so the
same function serves paired differences over rng_seeds.

A share takes Wilson's interval (1927) with the effective number of values p(1-p)/V in the place of n and
t in the place of z, as Korn and Graubard (1998) and Dean and Pagano (2015) do for clustered surveys: it
stays in [0, 1] and has a width at 0 and 1.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import cos, fsum, pi, sin, sqrt, tan
from statistics import fmean

LEVEL = 0.95
"""Coverage that an interval aims at unless it is asked for another."""


@dataclass(frozen=True)
class Interval:
    """An estimate with what the data leave open."""

    estimate: float
    low: float
    high: float
    values: int
    """n: how many values it rests on."""
    clusters: int
    """G: how many of them are independent of one another."""


def mean_interval(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    level: float = LEVEL,
) -> Interval | None:
    """The mean of values, clustered as `clusters` says (one entry a value; None: each on its own).

    None with fewer than two clusters: nothing tells how far they scatter. Values that are all equal give an
    interval of no width; for yes-or-no values `share_interval` is the one that does not.
    """
    names = _names(values, clusters)
    groups = len(set(names))
    if groups < 2:
        return None
    mean = fmean(values)
    reach = t_quantile(groups - 1, level) * sqrt(_variance_of_mean(values, names))
    return Interval(mean, mean - reach, mean + reach, len(values), groups)


def share_interval(
    hits: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    level: float = LEVEL,
) -> Interval | None:
    """The share of hits, clustered as in `mean_interval`; 0 <= low <= estimate <= high <= 1.

    `hits` are yes or no, or rates from 0 to 1 of which not all are equal. Where all or none are hits no
    spread is seen, and each cluster counts as one value. None with fewer than two clusters.
    """
    names = _names(hits, clusters)
    groups = len(set(names))
    if groups < 2:
        return None
    share = fmean(hits)
    count = _effective_count(hits, names, share, groups)
    t = t_quantile(groups - 1, level)
    middle = (share + t**2 / (2 * count)) / (1 + t**2 / count)
    reach = t / (1 + t**2 / count) * sqrt(share * (1 - share) / count + (t / (2 * count)) ** 2)
    # At a share of 0 and 1 the ends are exact, but for rounding.
    low, high = min(share, max(0.0, middle - reach)), max(share, min(1.0, middle + reach))
    return Interval(share, low, high, len(hits), groups)


def t_quantile(degrees: int, level: float = LEVEL) -> float:
    """The t that a Student variable of `degrees` (1 or more) stays below in size with probability `level`.

    By bisection of the closed form for whole degrees of freedom (Abramowitz and Stegun, 26.7.3-4), which
    spares us scipy. Raises ValueError for fewer degrees or a level outside (0, 1).
    """
    if degrees < 1 or not 0 < level < 1:
        raise ValueError(f"t_quantile({degrees}, {level}): degrees >= 1, level inside (0, 1)")
    low, high = 0.0, pi / 2
    for _ in range(60):
        angle = (low + high) / 2
        low, high = (angle, high) if _within(angle, degrees) < level else (low, angle)
    return sqrt(degrees) * tan(low)


def _within(angle: float, degrees: int) -> float:
    """P(|T| < t) with angle = atan(t / sqrt(degrees))."""
    odd = degrees % 2
    term, terms = (cos(angle) if odd else 1.0), []
    for k in range(2 + odd, degrees + 1, 2):
        terms.append(term)
        term *= cos(angle) ** 2 * (k - 1) / k
    total = sin(angle) * fsum(terms)
    return 2 / pi * (angle + total) if odd else total


def _names(values: Sequence[float], clusters: Sequence[Hashable] | None) -> Sequence[Hashable]:
    if clusters is None:
        return range(len(values))
    if len(clusters) != len(values):
        raise ValueError(f"{len(values)} values, but {len(clusters)} clusters")
    return clusters


def _variance_of_mean(values: Sequence[float], names: Sequence[Hashable]) -> float:
    """V of the module's docstring."""
    mean = fmean(values)
    deviations: dict[Hashable, list[float]] = defaultdict(list)
    for value, name in zip(values, names, strict=True):
        deviations[name].append(value - mean)
    groups = len(deviations)
    return (
        groups / (groups - 1) * fsum(fsum(d) ** 2 for d in deviations.values()) / len(values) ** 2
    )


def _effective_count(
    hits: Sequence[float], names: Sequence[Hashable], share: float, groups: int
) -> float:
    """How many independent values scatter as much as these; never more than there are."""
    if share in (0.0, 1.0):
        return groups
    spread = _variance_of_mean(hits, names)
    return len(hits) if spread == 0 else min(len(hits), share * (1 - share) / spread)
