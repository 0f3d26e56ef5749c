"""What the small world holds, read through the APIs as a program reads it: names, never ids."""

import json
from collections import Counter
from pathlib import Path

from tests.simulator.evolved_items.items import FOLDER
from tests.simulator.running import RunningSimulator

PREAMBLE = (FOLDER / "preamble.txt").read_text(encoding="utf-8")
"""The opening of every gold."""

STARTS = {
    "Nora": "roommatesinternet",
    "Tomas": "cheapestwish",
    "Chidi": "cabindebts",
    "Hana": "returnorder",
    "Sami": "receiptsmail",
    "Petra": "trainingreport",
}
"""Each supervisor, and a seed in whose state an item of theirs starts."""

SURVEY = PREAMBLE + Path(__file__).with_name("survey.txt").read_text(encoding="utf-8")


def read_world(simulator: RunningSimulator, supervisor: str) -> dict[str, list]:
    """Columns of names in one supervisor's world, each name once; what has a twin is left out."""
    session = simulator.open(simulator.seed(STARTS[supervisor]))
    seen = simulator.run(session, SURVEY, 300)
    simulator.ask("close", session=session)
    if seen["error"]:
        raise AssertionError(seen["text"])
    columns = json.loads(seen["text"])
    assert columns.pop("first_name") == supervisor
    return {name: unique(values) for name, values in columns.items()}


def unique(values: list) -> list:
    """The values that stand in a list only once, in its order."""
    counts = Counter(values)
    return [value for value in values if counts[value] == 1]
