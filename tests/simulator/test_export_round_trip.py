"""Exported variants, unpacked elsewhere, are ordinary AppWorld: verified and scored by stock alone."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from flows.export import export
from tasks.suites.appworld import AppWorldSuite
from tests import warehouse_rows as rows
from tests.simulator.official_layout.root import contents_of, make_official_root
from tests.simulator.running import RunningSimulator
from tests.test_export import plan_of_suite, settled
from warehouse.records import Item

NOTICES = {"LICENSE", "README_BEFORE_SHARING.md"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, appworld_home: Path) -> Path:
    return make_official_root(appworld_home, tmp_path_factory.mktemp("official"))


def canary(appworld_python: Path) -> str:
    constants = next(
        appworld_python.parents[1].glob("lib/*/site-packages/appworld/common/constants.py")
    )
    return re.search(r'CANARY_STRING = "(.+)"', constants.read_text()).group(1)


def run(command: list[str | Path] | str, home: Path, folder: Path) -> str:
    """What a command of stock AppWorld prints; unbuffered, because `verify` ends without flushing."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONUNBUFFERED": "1"}
    ended = subprocess.run(
        command,
        shell=isinstance(command, str),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


async def variants_of(suite: AppWorldSuite) -> list[Item]:
    """Two variants, as a proposer could have made them: of a change of state, and of a question."""
    seeds = {seed.name: seed.item for seed in await suite.seeds("train")}
    changes = (("c0ffee1_1", "07:45", "06:15"), ("a1b2c3d_1", "Neon Harbor", "Paper Comets"))
    found = []
    for name, old, new in changes:
        content = seeds[name].model_dump(exclude={"item_id"})
        content |= {part: content[part].replace(old, new) for part in ("instruction", "gold")}
        found.append(Item.of(**content))
    return found


@pytest.mark.endurance
async def test_official_data_goes_round(
    root: Path, simulator_state: Path, appworld_python: Path, tmp_path: Path
) -> None:
    plan = plan_of_suite(data="official")
    state, published, elsewhere = (tmp_path / name for name in ("state", "out", "elsewhere"))
    state.mkdir()
    (state / "simulators").symlink_to(simulator_state / "simulators")
    suite = AppWorldSuite(state, root=root)
    try:
        items = await variants_of(suite)
    finally:
        await suite.aclose()
    kept = [rows.kept(item.item_id, "root", campaign=plan.campaign("1")) for item in items]
    labels = [
        rows.label(item.item_id, "difficulty", 2, campaign=plan.campaign("1")) for item in items
    ]
    name, settings = settled(state, plan, items, labels, *kept)
    settings = settings.model_copy(update={"appworld_root": root})
    before = contents_of(root)

    await export(name, "appworld", published, settings)

    assert contents_of(root) == before
    assert {path.name for path in published.iterdir()} == {f"{name}.bundle", "README.md", *NOTICES}
    plain = [canary(appworld_python), "apis.", *(item.instruction[:40] for item in items)]
    for path, content in contents_of(published).items():
        for text in plain:
            assert text.encode() not in content, f"{text!r} stands in clear in {path}"

    shutil.copytree(root, elsewhere)
    readme = (published / "README.md").read_text()
    command = (
        re.search(r"^    (python -c .*?\))\"$", readme, re.DOTALL | re.MULTILINE).group(1) + '"'
    )
    command = command.replace("python", str(appworld_python), 1).replace("<ROOT>", str(elsewhere))
    run(re.sub(r"\\\n    ", "", command), tmp_path, published)
    unpacked = contents_of(elsewhere)
    assert {path: unpacked[path] for path in before} == before, "the user's own data was replaced"
    dataset = elsewhere / "data" / "datasets" / f"{name}.txt"
    task_ids = dataset.read_text().split()
    assert task_ids == sorted(f"{item.item_id}_1" for item in items)

    (elsewhere / "data" / "datasets" / "dev.txt").write_text(dataset.read_text())
    appworld = appworld_python.with_name("appworld")
    told = run([appworld, "verify", "tasks", "--root", elsewhere], tmp_path, tmp_path)
    assert "Passed 5/5 tasks." in told, (
        told
    )  # three seeds of train by hand-written evaluations, ours
    told = run(
        [appworld, "evaluate", "verification", name, "--root", elsewhere], tmp_path, tmp_path
    )
    assert re.search(r"aggregate\D+100\.0\D+100\.0", told), told


def test_the_small_world_goes_along_and_in_clear_only_on_demand(
    simulator: RunningSimulator, appworld_python: Path, appworld_home: Path, tmp_path: Path
) -> None:
    entries = [{"item": simulator.seed("stretchingalarm"), "name": "abc123", "difficulty": 3}]
    for private in (False, True):
        folder = tmp_path / str(private)
        folder.mkdir()
        simulator.ask(
            "export",
            items=entries,
            dataset="kept-1",
            directory=str(folder),
            private=private,
            timeout_s=60,
        )
        names = {path.name for path in folder.iterdir()}
        assert names == {"kept-1.bundle", *NOTICES} | ({"data"} if private else set())
    data = tmp_path / "True" / "data"
    assert (data / "datasets" / "train.txt").read_text() == "abc123_1\n"
    truth = data / "tasks" / "abc123_1" / "ground_truth"
    assert json.loads((truth / "metadata.json").read_text())["difficulty"] == 3
    marked = [
        data / "tasks" / "abc123_1" / "specs.json",
        truth / "evaluation.py",
        truth / "solution.py",
    ]
    assert all(canary(appworld_python) in path.read_text() for path in marked)
    world = appworld_home / "root" / "data"
    for part in ("base_dbs", "api_docs"):
        assert contents_of(data / part) == contents_of(world / part)
    assert not list(appworld_home.glob("runs/*/export")), "plain text was left behind"
