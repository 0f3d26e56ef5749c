"""The grade of evolved items under attack: nine items x nine programs, ours against stock AppWorld's.

Our side is the simulator's own: it makes the item (start, gold's run, evaluation), runs the attack in
its sandboxed shell and grades the live world. The other side is stock AppWorld in a process that cannot
import our code: it loads the same task directory, runs the same program and evaluates it.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.simulator.evolved_items.batch import borrow_world, job_of, run_batch
from tests.simulator.evolved_items.items import EvolvedItem, read_items
from tests.simulator.running import RunningSimulator, cell, result

ITEMS = read_items()
ATTACKS = (
    *("gold", "reordered", "other_apis"),
    *("do_nothing", "extra_effect", "wrong_value", "wrong_entity", "wrong_content", "minus_one"),
)
MUST_PASS = {"gold", "reordered", "other_apis"}

Cell = tuple[str, str]


@pytest.fixture(scope="module")
def panel(
    simulator: RunningSimulator,
    appworld_python: Path,
    appworld_home: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[Cell, dict]:
    """Both grades of every attack on every item: {(item, attack): {"ours", "stock", "output"}}."""
    root = borrow_world(appworld_home, tmp_path_factory.mktemp("stock"))
    for item in ITEMS:
        simulator.ask(
            "close", session=simulator.open(as_item(item))
        )  # the first open makes the item
        made = made_directory(appworld_home, item)
        (root / "data" / "tasks" / f"{item.name}_1").symlink_to(made)
    with ThreadPoolExecutor(1) as pool:
        stock = pool.submit(run_batch, appworld_python, root, "stock", job_of(ITEMS))
        ours = dict(run for item in ITEMS for run in run_attacks(simulator, item))
        theirs = {(case["item"], case["name"]): case for case in stock.result()}
    return {
        case: {**ours[case], "stock": theirs[case], "stock_output": theirs[case]["output"]}
        for case in ours
    }


def as_item(item: EvolvedItem) -> dict:
    """The item as it crosses to the simulator."""
    return {
        "item_id": item.name,
        "start": item.parent,
        "setup": None,
        "instruction": item.instruction,
        "gold": item.gold,
        "grading": None,
    }


def made_directory(home: Path, item: EvolvedItem) -> Path:
    """The newest task directory with the item's instruction among those that the simulator keeps."""
    found = [
        specs.parent
        for specs in (home / "items").glob("*/specs.json")
        if json.loads(specs.read_text())["instruction"] == item.instruction
    ]
    return max(found, key=lambda folder: folder.stat().st_mtime)


def run_attacks(simulator: RunningSimulator, item: EvolvedItem) -> Iterator[tuple[Cell, dict]]:
    """Run all attacks on one item at once, each in a session of its own."""
    opened = simulator.ask_all([("open", {"item": as_item(item), "rng_seed": 0})] * len(ATTACKS))
    sessions = [result(answer)["session"] for answer in opened]
    acts = [
        ("act", {"session": session, "action": cell(item.attacks[attack]), "timeout_s": 120})
        for session, attack in zip(sessions, ATTACKS, strict=True)
    ]
    seen = [result(answer) for answer in simulator.ask_all(acts)]
    ends = simulator.ask_all([("finish", {"session": session}) for session in sessions])
    for attack, observation, end in zip(ATTACKS, seen, ends, strict=True):
        yield (item.name, attack), {"ours": result(end), "output": observation["text"]}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_attack_gets_the_same_right_grade_from_us_and_from_stock(
    panel: dict[Cell, dict], item: EvolvedItem, attack: str
) -> None:
    seen = panel[item.name, attack]
    assert "Execution failed" not in seen["output"], (
        "the attack must fail by its effect, not by an error"
    )
    assert seen["stock_output"].strip() == seen["output"].strip()
    assert seen["ours"]["solved"] == (attack in MUST_PASS), seen["ours"]["difference"]
    assert seen["stock"]["solved"] == seen["ours"]["solved"]
    assert seen["stock"]["partial"] == pytest.approx(seen["ours"]["partial"])
    failed = {test["requirement"] for test in seen["ours"]["tests"] if not test["passed"]}
    assert set(seen["stock"]["failures"]) == failed


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_difference_is_empty_exactly_when_the_attack_passes(
    panel: dict[Cell, dict], item: EvolvedItem
) -> None:
    for attack in ATTACKS:
        difference = panel[item.name, attack]["ours"]["difference"]
        is_empty = not (difference["missing"] or difference["unexpected"] or difference["answer"])
        assert is_empty == (attack in MUST_PASS), (attack, difference)
    assert not panel[item.name, "do_nothing"]["ours"]["difference"]["unexpected"]


def test_panel_in_one_view(panel: dict[Cell, dict]) -> None:
    """Print the panel (pytest -s): what we say / what stock says, with the share of tests passed."""
    words = {True: "pass", False: "fail"}
    width = max(len(attack) for attack in ATTACKS) + 2
    print(f"\n{'ours/stock':<12}" + "".join(f"{attack:<{width}}" for attack in ATTACKS))
    for item in ITEMS:
        cells = (panel[item.name, attack] for attack in ATTACKS)
        row = [
            f"{words[seen['ours']['solved']]}/{words[seen['stock']['solved']]} {seen['ours']['partial']:.2f}"
            for seen in cells
        ]
        print(f"{item.name:<12}" + "".join(f"{text:<{width}}" for text in row))
    agree = sum(seen["ours"]["solved"] == seen["stock"]["solved"] for seen in panel.values())
    print(f"{agree} of {len(panel)} cases: our grade and the stock grade agree")
    assert len(panel) == len(ITEMS) * len(ATTACKS) >= 8 * 9
