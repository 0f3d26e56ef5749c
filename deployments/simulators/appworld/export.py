"""`export`: items as task directories of stock AppWorld, in the clear or as its encrypted bundle.

All is laid out in the program's own folder, which nobody publishes and which goes with the program; only what
may leave is moved out of it.
"""

import asyncio
import json
import shutil
import sys
from pathlib import Path

from check import Checker
from items import Items
from sessions import Refusal

_BUNDLE = Path(__file__).with_name("bundle.py")
_NOTICES = ("LICENSE", "README_BEFORE_SHARING.md")
"""What stock puts beside protected files, for whoever finds them."""


class Exporter:
    """Writes exports of one program."""

    def __init__(self, items: Items, checker: Checker) -> None:
        self._items = items
        self._checker = checker

    async def export(
        self, entries: list[dict], dataset: str, directory: Path, private: bool, timeout_s: float
    ) -> int:
        """Writes `<dataset>.bundle` and stock's notices into `directory`; where `private`, `data/` as well.

        An entry is `{"item", "name", "difficulty"}`; its task id is `<name>_1`. Returns how many there are.

        Raises:
            Refusal: bad_request, no such directory, or a gold that does not run; simulator, packing failed.
        """
        if not directory.is_dir():
            raise Refusal("bad_request", f"export.directory: {directory} is not there")
        plain = self._items.run / "export"
        shutil.rmtree(plain, ignore_errors=True)
        try:
            for entry in entries:
                place = await self._checker.graded(entry["item"], timeout_s)
                self._write_task(plain, place["task_id"], entry)
            self._write_rest(plain, dataset, [f"{entry['name']}_1" for entry in entries])
            await _pack(plain, directory / f"{dataset}.bundle")
            for name in _NOTICES:
                shutil.copy(plain / "data" / name, directory)
            if private:
                shutil.copytree(plain / "data", directory / "data")
        finally:
            shutil.rmtree(plain, ignore_errors=True)
        return len(entries)

    def _write_task(self, plain: Path, task_id: str, entry: dict) -> None:
        folder = plain / "data" / "tasks" / f"{entry['name']}_1"
        made = self._items.run / "data" / "tasks" / task_id
        shutil.copytree(made, folder, ignore=shutil.ignore_patterns("__pycache__"))
        metadata = folder / "ground_truth" / "metadata.json"
        content = json.loads(metadata.read_text(encoding="utf-8"))
        content["difficulty"] = entry["difficulty"]
        metadata.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    def _write_rest(self, plain: Path, dataset: str, task_ids: list[str]) -> None:
        """The dataset and, of a world that nobody else has, all that its tasks start from."""
        data, world = plain / "data", self._items.world
        (data / "datasets").mkdir(parents=True)
        listed = {dataset: task_ids}
        if world.is_ours:
            listed |= {"train": task_ids, "dev": []}  # what `appworld verify tasks` goes through
            for part in ("base_dbs", "api_docs"):
                shutil.copytree(world.data / part, data / part)
        for name, ids in listed.items():
            text = "".join(f"{task_id}\n" for task_id in ids)
            (data / "datasets" / f"{name}.txt").write_text(text, encoding="utf-8")


async def _pack(plain: Path, bundle: Path) -> None:
    """Encrypts a folder in a process of its own: the engine's packer is the engine's to import."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "ignore", str(_BUNDLE), str(bundle)),
        stdin=asyncio.subprocess.DEVNULL,  # ours is the protocol
        cwd=plain,
        env={},
    )
    if await process.wait() != 0:
        raise Refusal("simulator", "export: the bundle could not be packed; its log above says why")
