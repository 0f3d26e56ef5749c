"""The paper's published counts, as our rows, give its tables to the digit.

The paper: 106 originals and 735 evolved items of AppWorld. It publishes shares; the counts below are
the integers that give them.
"""

from collections.abc import Iterator
from itertools import combinations, cycle, islice
from pathlib import Path

import pytest

from tests.warehouse_rows import (
    attempt,
    campaign,
    flatten,
    gold_calls,
    item,
    kept,
    label,
    seed,
    spec,
)
from warehouse.marts import read
from warehouse.records import Row
from warehouse.store import Loader

APPS = (
    "amazon", "file_system", "gmail", "phone", "simple_note", "splitwise", "spotify", "todoist", "venmo",
)  # fmt: skip
ORIGINALS = [f"o{number:03}" for number in range(106)]
EVOLVED = [f"e{number:03}" for number in range(735)]
DIFFICULTY = {"original": (13, 72, 21), "evolved": (27, 322, 386)}
COVERED_CELLS = {"original": 49, "evolved": 54}
GROWN_FEATURE = "F9"
WITH_GROWN_FEATURE = {"original": 10, "evolved": 215}
FIVE_APPS, SIX_APPS = 382, 96


def apps_of_originals() -> Iterator[tuple[str, ...]]:
    """Two apps an item, 15 different pairs in all."""
    return islice(cycle(list(combinations(APPS, 2))[:15]), len(ORIGINALS))


def apps_of_evolved() -> Iterator[tuple[str, ...]]:
    """The six first apps together, or five of them with one of the three others: 15 + 15 pairs."""
    first, others = APPS[:6], APPS[6:]
    sixes = [first, *((*first[1:], other) for other in others)]
    yield from islice(cycle(sixes), SIX_APPS)
    yield from islice(cycle([first[:5]]), FIVE_APPS)
    yield from islice(cycle([first[:3], first[:1]]), len(EVOLVED) - FIVE_APPS - SIX_APPS)


def difficulties(items: list[str], counts: tuple[int, int, int]) -> Iterator[Row]:
    values = [value for value, count in enumerate(counts, start=1) for _ in range(count)]
    for item_id, value in zip(items, values, strict=True):
        yield label(item_id, "difficulty", value)


def failures(items: list[str], cells: int, with_grown_feature: int) -> Iterator[Row]:
    """Features, and one failed attempt a covered cell: item i has the feature and reason of cell i."""
    grid = [(f"F{feature}", f"R{reason}") for feature in range(1, 11) for reason in range(1, 7)]
    grid = [cell for cell in grid if cell[0] != GROWN_FEATURE] + [
        cell for cell in grid if cell[0] == GROWN_FEATURE
    ]
    holding = {item_id: feature for item_id, (feature, _) in zip(items, grid[:cells], strict=False)}
    missing = with_grown_feature - list(holding.values()).count(GROWN_FEATURE)
    holding |= dict.fromkeys(items[cells : cells + missing], GROWN_FEATURE)
    for item_id in items:
        for number in range(1, 11):
            feature = f"F{number}"
            yield label(item_id, feature, int(holding.get(item_id) == feature))
    for item_id, (_, reason) in zip(items, grid[:cells], strict=False):
        failed = attempt(item_id, 0, "failed")
        yield failed
        yield label(item_id, reason, 1, attempt_id=failed.attempt_id)


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with one campaign of the paper's size."""
    path = tmp_path_factory.mktemp("paper") / "warehouse.duckdb"
    golds = [*apps_of_originals(), *apps_of_evolved()]
    rows = flatten(
        campaign(),
        spec(),
        [item(item_id) for item_id in ORIGINALS + EVOLVED],
        [seed(item_id, position) for position, item_id in enumerate(ORIGINALS)],
        *(kept(item_id, ORIGINALS[n % 106]) for n, item_id in enumerate(EVOLVED)),
        *(
            gold_calls(item_id, "supervisor", "api_docs", *apps)
            for item_id, apps in zip(ORIGINALS + EVOLVED, golds, strict=True)
        ),
        *(
            difficulties(items, DIFFICULTY[name])
            for name, items in (("original", ORIGINALS), ("evolved", EVOLVED))
        ),
        *(
            failures(items, COVERED_CELLS[name], WITH_GROWN_FEATURE[name])
            for name, items in (("original", ORIGINALS), ("evolved", EVOLVED))
        ),
    )
    with Loader(path) as loader:
        loader.put(rows)
    return path


@pytest.mark.parametrize(
    ("item_set", "items", "shares", "mean"),
    [
        ("original", 106, ["12.3", "67.9", "19.8"], "2.08"),
        ("evolved", 735, ["3.7", "43.8", "52.5"], "2.49"),
    ],
)
def test_difficulty_shares_and_means(
    paper: Path, item_set: str, items: int, shares: list[str], mean: str
) -> None:
    row = read(paper, "difficulty", item_set=item_set).row(0, named=True)

    assert (row["items"], row["labelled"]) == (items, items)
    assert [f"{100 * row[f'share_{value}']:.1f}" for value in (1, 2, 3)] == shares
    assert f"{row['mean_difficulty']:.2f}" == mean


@pytest.mark.parametrize(("item_set", "covered"), [("original", 15), ("evolved", 30)])
def test_app_pairs_of_36(paper: Path, item_set: str, covered: int) -> None:
    pairs = read(paper, "app_pairs", item_set=item_set)

    assert (pairs["covered"].sum(), pairs.height) == (covered, 36)


def test_shares_of_evolved_items_that_need_five_and_six_apps(paper: Path) -> None:
    shares = {
        row["apps"]: f"{100 * row['share']:.0f}"
        for row in read(paper, "apps_per_item", item_set="evolved").iter_rows(named=True)
    }

    assert (shares[5], shares[6]) == ("52", "13")


@pytest.mark.parametrize(("item_set", "covered"), [("original", 49), ("evolved", 54)])
def test_covered_cells_of_60(paper: Path, item_set: str, covered: int) -> None:
    grid = read(paper, "feature_failure", item_set=item_set, measurement="search")
    coverage = read(paper, "feature_failure_coverage", item_set=item_set).row(0, named=True)

    assert (grid["covered"].sum(), grid.height) == (covered, 60)
    assert (coverage["covered"], coverage["cells"]) == (covered, 60)


def test_growth_of_a_feature(paper: Path) -> None:
    row = read(paper, "features", feature=GROWN_FEATURE).row(0, named=True)

    assert f"{100 * row['original_share']:.1f}" == "9.4"
    assert f"{100 * row['evolved_share']:.1f}" == "29.3"
    assert f"{100 * row['growth']:+.0f} %" == "+212 %"
