"""The small world of our own: what build_world.py left in HOME/root, as the ground that items stand on."""

import json
from pathlib import Path

from seeds.record import read_seeds


class SmallWorld:
    """HOME/root. Its seeds are graded like every evolved item, by a grade made from their gold."""

    is_ours = True
    """Nobody else has it: an export takes along what its items start from."""

    def __init__(self, home: Path) -> None:
        """Reads what the builder wrote of it.

        Raises:
            FileNotFoundError: there is no world in `home`.
        """
        path = home / "root" / "world.json"
        if not path.is_file():
            raise FileNotFoundError(f"no world in {home}: run build_world.py {home}")
        facts = json.loads(path.read_text(encoding="utf-8"))
        self.data = home / "root" / "data"
        self.hash: str = facts["hash"]
        self.people: str = facts["people"]

    def seeds(self, split: str) -> list[dict]:
        """The protocol's items of `seeds`. Raises ValueError for another split than its only one."""
        if split != "train":
            raise ValueError("seeds.split: the small world has one split, train")
        return [
            {
                "name": seed.name,
                "start": seed.name,
                "setup": None,
                "instruction": seed.instruction,
                "gold": seed.gold,
                "grading": None,
                "expects_answer": seed.expects_answer,
                "intended_difficulty": seed.intended_difficulty,
                "difficulty_source": "author",
                "cluster": None,
            }
            for seed in read_seeds()
        ]

    def start(self, name: str) -> Path:
        """The task directory of a seed. Raises ValueError where the world has no such seed."""
        folder = self.data / "tasks" / f"{name}_1"
        if not name.isalnum() or not folder.is_dir():
            raise ValueError(f"item.start: the world has no seed {name!r}")
        return folder

    def own_task(self, item: dict) -> str | None:
        """The task whose own evaluation grades an item: none here."""
        return None
