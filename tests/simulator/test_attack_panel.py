"""The grade of evolved items under attack: nine items x nine programs, ours against stock AppWorld's.

Our side is the simulator's own: it makes the item (start, gold's run, evaluation), runs the attack in
its sandboxed shell and grades the live world. The other side is stock AppWorld in a process that cannot
import our code. It loads the same task directories and evaluates the state that each attack has left on
disk. Some programs it also runs itself: of each item one, all nine attacks among them, and every one of
them in the endurance test.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.simulator.evolved_items.batch import borrow_world, job_of, left_in, run_batch
from tests.simulator.evolved_items.items import EvolvedItem, read_items
from tests.simulator.running import RunningSimulator, cell, result

ITEMS = read_items()
ATTACKS = (
    *("gold", "reordered", "other_apis"),
    *("do_nothing", "extra_effect", "wrong_value", "wrong_entity", "wrong_content", "minus_one"),
)
MUST_PASS = {"gold", "reordered", "other_apis"}

Cell = tuple[str, str]


def is_run_by_stock(case: dict[str, Any]) -> bool:
    """Whether stock runs a case itself: the diagonal, which has each item and each attack once."""
    names = [item.name for item in ITEMS]
    return names.index(case["item"]) == ATTACKS.index(case["name"])


@pytest.fixture(scope="module")
def root(appworld_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An APPWORLD_ROOT for the stock side."""
    return borrow_world(appworld_home, tmp_path_factory.mktemp("stock"))


@pytest.fixture(scope="module")
def ours(
    simulator: RunningSimulator, kept_states: Path, appworld_home: Path, root: Path
) -> dict[Cell, dict]:
    """Our outcome of every attack: {(item, attack): {"outcome", "output"}}.

    Links the items that were made into the tasks of `root`, and moves there the state that each attack left.
    """
    for item in ITEMS:
        simulator.ask("close", session=simulator.open(as_item(item)))  # the first open makes it
        made = made_directory(appworld_home, item)
        (root / "data" / "tasks" / f"{item.name}_1").symlink_to(made)
    return dict(run for item in ITEMS for run in run_attacks(simulator, item, kept_states, root))


@pytest.fixture(scope="module")
def stock(ours: dict[Cell, dict], appworld_python: Path, root: Path) -> dict[Cell, list[dict]]:
    """Stock's results of every attack: from disk, and where `is_run_by_stock` from a run of its own."""
    job = job_of(ITEMS)
    job["also_run"] = [case for case in job["cases"] if is_run_by_stock(case)]
    results = run_batch(appworld_python, root, "disk", job)
    found: dict[Cell, list[dict]] = {case: [] for case in ours}
    for case in results:
        found[case["item"], case["name"]].append(case)
    return found


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


def run_attacks(
    simulator: RunningSimulator, item: EvolvedItem, kept_states: Path, root: Path
) -> Iterator[tuple[Cell, dict]]:
    """Run all attacks on one item at once, each in a session of its own."""
    opened = simulator.ask_all([("open", {"item": as_item(item), "rng_seed": 0})] * len(ATTACKS))
    sessions = [result(answer)["session"] for answer in opened]
    acts = [
        ("act", {"session": session, "action": cell(item.attacks[attack]), "timeout_s": 120})
        for session, attack in zip(sessions, ATTACKS, strict=True)
    ]
    seen = [result(answer) for answer in simulator.ask_all(acts)]
    ends = simulator.ask_all([("finish", {"session": session}) for session in sessions])
    for attack, session, observation, end in zip(ATTACKS, sessions, seen, ends, strict=True):
        (left,) = (kept_states / session / "tasks").iterdir()
        shutil.move(left, left_in(root, item.name, attack))
        yield (item.name, attack), {"outcome": result(end), "output": observation["text"]}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_attack_gets_the_same_right_grade_from_us_and_from_stock(
    ours: dict[Cell, dict], stock: dict[Cell, list[dict]], item: EvolvedItem, attack: str
) -> None:
    seen = ours[item.name, attack]
    assert "Execution failed" not in seen["output"], (
        "the attack must fail by its effect, not by an error"
    )
    assert seen["outcome"]["solved"] == (attack in MUST_PASS), seen["outcome"]["difference"]
    for theirs in stock[item.name, attack]:
        check_agreement(seen, theirs)


def check_agreement(ours: dict, stock: dict) -> None:
    """Our outcome of an attack and stock's result of it are the same, test by test."""
    outcome = ours["outcome"]
    assert stock.get("output", ours["output"]).strip() == ours["output"].strip()
    assert stock["solved"] == outcome["solved"]
    assert stock["partial"] == pytest.approx(outcome["partial"])
    assert set(stock["failures"]) == {
        test["requirement"] for test in outcome["tests"] if not test["passed"]
    }


def test_stock_runs_one_program_of_each_item_and_each_attack_once(
    stock: dict[Cell, list[dict]],
) -> None:
    run = [case for case, results in stock.items() if any("output" in one for one in results)]
    assert {item for item, _ in run} == {item.name for item in ITEMS}
    assert sorted(attack for _, attack in run) == sorted(ATTACKS)
    assert all(len(results) == 1 + (case in run) for case, results in stock.items())


@pytest.mark.endurance
def test_stock_agrees_when_it_runs_every_program_itself(
    ours: dict[Cell, dict], appworld_python: Path, root: Path
) -> None:
    results = run_batch(appworld_python, root, "stock", job_of(ITEMS))
    assert len(results) == len(ours)
    for theirs in results:
        check_agreement(ours[theirs["item"], theirs["name"]], theirs)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_difference_is_empty_exactly_when_the_attack_passes(
    ours: dict[Cell, dict], item: EvolvedItem
) -> None:
    for attack in ATTACKS:
        difference = ours[item.name, attack]["outcome"]["difference"]
        is_empty = not (difference["missing"] or difference["unexpected"] or difference["answer"])
        assert is_empty == (attack in MUST_PASS), (attack, difference)
    assert not ours[item.name, "do_nothing"]["outcome"]["difference"]["unexpected"]


def test_panel_in_one_view(ours: dict[Cell, dict], stock: dict[Cell, list[dict]]) -> None:
    """Print the panel (pytest -s): what we say / what stock says, with the share of tests passed."""
    words = {True: "pass", False: "fail"}
    width = max(len(attack) for attack in ATTACKS) + 2
    print(f"\n{'ours/stock':<12}" + "".join(f"{attack:<{width}}" for attack in ATTACKS))
    agree = 0
    for item in ITEMS:
        row = f"{item.name:<12}"
        for attack in ATTACKS:
            outcome, theirs = ours[item.name, attack]["outcome"], stock[item.name, attack][0]
            agree += outcome["solved"] == theirs["solved"]
            both = f"{words[outcome['solved']]}/{words[theirs['solved']]}"
            row += f"{both} {outcome['partial']:.2f}".ljust(width)
        print(row)
    print(f"{agree} of {len(ours)} cases: our grade and the stock grade agree")
    assert len(ours) == len(ITEMS) * len(ATTACKS) >= 8 * 9
