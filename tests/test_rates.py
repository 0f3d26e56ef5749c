"""Mean completion rates: what hangs together counts as one, from the seeds' rows to the interval."""

from pathlib import Path

import pytest

from tasks.intervals import share_interval
from tasks.rates import mean_rates
from tests import warehouse_rows as rows
from warehouse import marts
from warehouse.store import Loader

COLUMNS = ("item_set", "measurement", "cluster", "completion_rate")


def test_seeds_of_a_generator_and_their_variants_are_one_cluster(tmp_path: Path) -> None:
    path = tmp_path / "turtle.duckdb"
    clusters = {"s1": "g", "s2": "g", "s3": None}
    with Loader(path, 0.1) as loader:
        loader.put(
            rows.flatten(
                rows.campaign(),
                (rows.item(name) for name in (*clusters, "v1", "v3")),
                (
                    rows.seed(name, number).model_copy(update={"cluster": cluster})
                    for number, (name, cluster) in enumerate(clusters.items())
                ),
                rows.kept("v1", "s2"),
                rows.kept("v3", "s3"),
                (rows.score(name, 4, 10) for name in (*clusters, "v1")),
                rows.score("v3", 0, 0),
            )
        )
        loader.flush()
    frame = marts.read(path, "completion_clusters")
    found = {row[0]: row[1:] for row in frame.select("item_id", "cluster").iter_rows()}
    assert found == {"s1": ("g",), "s2": ("g",), "s3": ("s3",), "v1": ("g",), "v3": ("s3",)}
    rates = {rate.item_set: rate for rate in mean_rates(frame.select(COLUMNS).iter_rows())}
    assert (rates["original"].items, rates["original"].clusters) == (3, 2)
    assert rates["original"].interval is None, "equal rates show no spread, which is not none"
    assert (rates["evolved"].items, rates["evolved"].interval) == (1, None)


def test_the_interval_is_that_of_the_clusters() -> None:
    found = [
        ("original", "search", name, rate)
        for name, rate in zip("aabb", (0.1, 0.3, 0.6, 0.8), strict=True)
    ]
    (rate,) = mean_rates([*found, ("original", "search", "c", None)])
    assert rate.interval == share_interval([0.1, 0.3, 0.6, 0.8], list("aabb"))
    assert rate.interval.estimate == pytest.approx(0.45)


def test_an_interval_of_rates_stays_between_none_and_all() -> None:
    """A mean of few rates with Student's t alone reached from -3.8 to 5.1."""
    (rate,) = mean_rates([("original", "search", "a", 1.0), ("original", "search", "b", 0.3)])
    assert 0 <= rate.interval.low < rate.mean < rate.interval.high <= 1
