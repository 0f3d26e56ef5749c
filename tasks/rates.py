"""Mean completion rates of groups of items, with what the data leave open."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from tasks.intervals import Interval, share_interval


@dataclass(frozen=True)
class MeanRate:
    """The mean completion rate of one set of items in one measurement."""

    item_set: str
    measurement: str
    items: int
    """Items with a completion rate."""
    clusters: int
    mean: float
    interval: Interval | None
    """None where all items hang together or all rates are equal: nothing tells how far they scatter."""


def mean_rates(rates: Iterable[tuple[str, str, str, float | None]]) -> list[MeanRate]:
    """One entry for each set and measurement, in the order in which they come.

    Args:
        rates: rows of the mart completion_clusters: item_set, measurement, cluster, completion_rate (0-1,
            None where nothing was scored; such an item counts nowhere).
    """
    groups: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    for item_set, measurement, cluster, rate in rates:
        if rate is not None:
            groups[item_set, measurement].append((cluster, rate))
    return [
        MeanRate(
            *group,
            items=len(found),
            clusters=len({name for name, _ in found}),
            mean=fmean(rate for _, rate in found),
            interval=_interval(found),
        )
        for group, found in groups.items()
    ]


def _interval(found: list[tuple[str, float]]) -> Interval | None:
    names, rates = zip(*found, strict=True)
    return share_interval(rates, names) if len(set(rates)) > 1 else None
