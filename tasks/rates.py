"""Mean completion rates of groups of items, with what the data leave open."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from tasks.intervals import Interval, mean_interval


@dataclass(frozen=True)
class MeanRate:
    """The mean completion rate of one set of items in one measurement."""

    item_set: str
    measurement: str
    items: int
    """Items with a completion rate."""
    interval: Interval | None
    """None where all items hang together: nothing tells how far they scatter."""


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
            interval=mean_interval([rate for _, rate in found], [name for name, _ in found]),
        )
        for group, found in groups.items()
    ]
