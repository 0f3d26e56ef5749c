"""AppWorld's official layout, proved on a root of ours that stock AppWorld accepts."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulator.official_layout.root import TASKS, contents_of, make_official_root
from tests.simulator.running import PROGRAM, Refused, RunningSimulator

ITEM_FIELDS = ("start", "setup", "instruction", "gold", "grading")
CHECK_S = 60


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, appworld_home: Path) -> Path:
    return make_official_root(appworld_home, tmp_path_factory.mktemp("official"))


@pytest.fixture(scope="module")
def official(appworld_python: Path, appworld_home: Path, root: Path) -> Iterator[RunningSimulator]:
    """A simulator on that root; whatever the tests do, no byte of it may change."""
    before = contents_of(root)
    with RunningSimulator(appworld_python, appworld_home, official=root) as running:
        yield running
    assert contents_of(root) == before


def seeds_of(running: RunningSimulator, split: str) -> dict[str, dict]:
    return {seed["name"]: seed for seed in running.ask("seeds", split=split)["items"]}


def item_of(seed: dict, **changes: str) -> dict:
    return {field: seed[field] for field in ITEM_FIELDS} | changes


def played(running: RunningSimulator, item: dict, *cells: str) -> dict:
    """Outcome of the cells on an item."""
    session = running.open(item)
    for code in cells:
        running.run(session, code)
    return running.ask("finish", session=session)


def test_seeds_are_what_the_dataset_lists_with_what_its_people_say(
    official: RunningSimulator, root: Path
) -> None:
    for split in ("train", "dev", "test_normal"):
        seeds = seeds_of(official, split)
        assert list(seeds) == [task.task_id for task in TASKS if task.split == split]
        for task in TASKS:
            if task.split != split:
                continue
            specs = json.loads((root / "data/tasks" / task.task_id / "specs.json").read_text())
            seed = seeds[task.task_id]
            assert seed["instruction"] == specs["instruction"]
            assert (seed["intended_difficulty"], seed["difficulty_source"]) == (
                task.difficulty,
                "appworld",
            )
            assert seed["cluster"] == task.task_id.split("_")[0]
            assert (seed["gold"] is None) == (task.mode == "minimal")


def test_a_seed_is_graded_by_its_own_evaluation(official: RunningSimulator) -> None:
    seeds = seeds_of(official, "train")
    for task in TASKS:
        if task.split != "train":
            continue
        item = item_of(seeds[task.task_id])
        report = official.ask("check", item=item, timeout_s=CHECK_S)
        requirements = [text for text, _ in task.requirements]
        assert [test["requirement"] for test in report["gold"]["outcome"]["tests"]] == requirements
        assert report["gold"]["outcome"]["solved"] and report["gold"]["error"] is None
        assert not report["do_nothing"]["outcome"]["solved"]
        assert report["expects_answer"] == seeds[task.task_id]["expects_answer"]
        assert report["state_changes"] != report["expects_answer"]


def test_a_failed_attempt_on_a_seed_tells_the_difference(official: RunningSimulator) -> None:
    """The evaluation is AppWorld's; what separates the state from the gold's, we find."""
    item = item_of(seeds_of(official, "train")["c0ffee1_1"])
    late = item["gold"].replace("07:45", "08:45")
    outcome = played(official, item, late)
    assert not outcome["solved"] and outcome["partial"] == 0.5
    (missing,), (unexpected,) = (
        outcome["difference"]["missing"],
        outcome["difference"]["unexpected"],
    )
    assert (missing["content"]["time"], unexpected["content"]["time"]) == ("07:45", "08:45")


def test_a_seed_without_a_solution_is_graded_all_the_same(official: RunningSimulator) -> None:
    item = item_of(seeds_of(official, "test_normal")["d00d0e5_1"])
    report = official.ask("check", item=item, timeout_s=CHECK_S)
    assert report["gold"] is None and not report["do_nothing"]["outcome"]["solved"]
    wrong = played(official, item, 'apis.supervisor.complete_task(answer="nobody knows")')
    assert wrong["partial"] == 0.5 and wrong["difference"] is None
    with pytest.raises(Refused, match="wants a program"):
        official.ask("check", item=item | {"instruction": "Do it."}, timeout_s=CHECK_S)


def test_a_variant_on_official_data_is_graded_by_its_gold(official: RunningSimulator) -> None:
    seed = item_of(seeds_of(official, "train")["c0ffee1_1"])
    variant = seed | {
        "instruction": seed["instruction"].replace("07:45", "06:15"),
        "gold": seed["gold"].replace("07:45", "06:15"),
    }
    report = official.ask("check", item=variant, timeout_s=CHECK_S)
    assert report["gold"]["outcome"]["solved"]
    assert all(not run["run"]["outcome"]["solved"] for run in report["suppressed"])
    assert played(official, variant, variant["gold"])["solved"]
    assert not played(official, variant, seed["gold"])["solved"]


REFUSALS = {
    "version": r"version 0\.2\.0, .* reads 0\.1\.0 only; .*appworld download data",
    "solution": r"lacks ground_truth/compiled_solution\.py; .*appworld download data",
    "base_dbs": r"no base_dbs in .*; type: appworld download data --root",
}


@pytest.mark.parametrize(("fault", "told"), REFUSALS.items(), ids=REFUSALS)
def test_data_that_is_no_good_is_refused_in_one_line(
    fault: str, told: str, appworld_python: Path, appworld_home: Path, tmp_path: Path
) -> None:
    root = make_official_root(appworld_home, tmp_path)
    task = root / "data" / "tasks" / "a1b2c3d_2"
    if fault == "version":
        specs = json.loads((task / "specs.json").read_text())
        (task / "specs.json").write_text(json.dumps(specs | {"db_version": "0.2.0"}))
    elif fault == "solution":
        (task / "ground_truth" / "compiled_solution.py").unlink()
    else:
        shutil.rmtree(root / "data" / "base_dbs")
    code = (
        "from pathlib import Path; from official import OfficialData; "
        f"OfficialData(Path({str(root)!r})).seeds('train')"
    )
    ended = subprocess.run(
        [appworld_python, "-c", code],
        cwd=PROGRAM.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(f"Error: .*{told}", ended.stderr.splitlines()[-1]), ended.stderr


def test_an_unknown_split_names_the_known_ones(official: RunningSimulator) -> None:
    with pytest.raises(Refused, match="has dev, test_normal, train, not 'test'"):
        official.ask("seeds", split="test")
