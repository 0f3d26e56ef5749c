"""Solutions of AppWorld's tasks as one program: flat where that does the same, else kept and called."""

import io
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.simulator.running import PROGRAM

FLAT = {
    "plain": (
        "def solution(apis, requester) -> None:\n    # First.\n\n    x = 1\n    print(x)\n",
        "# First.\n\nx = 1\nprint(x)\n",
    ),
    "header and canary": (
        "# Canary String: a:b\nimport json\n\n\ndef double(x):\n    return 2 * x\n\n\n"
        "def solution(\n    apis,\n    requester,\n) -> None:\n    print(json.dumps(double(2)))\n",
        "import json\n\n\ndef double(x):\n    return 2 * x\n\n\nprint(json.dumps(double(2)))\n",
    ),
    "texts of several lines": (
        "def solution(apis, requester) -> None:\n"
        '    print("""a\n    b\nc""")\n    print(f"""{1}\n    d""")\n',
        'print("""a\n    b\nc""")\nprint(f"""{1}\n    d""")\n',
    ),
    "functions inside": (
        "def solution(apis, requester) -> None:\n    def one():\n        return 1\n    print(one())\n",
        "def one():\n    return 1\nprint(one())\n",
    ),
}
KEPT = {
    "a return": "def solution(apis, requester) -> None:\n    print(1)\n    return\n    print(2)\n",
    "nonlocal": (
        "def solution(apis, requester) -> None:\n    x = 1\n    def up():\n"
        "        nonlocal x\n        x += 1\n    up()\n    print(x)\n"
    ),
    "one line": "def solution(apis, requester): print(apis.x)\n",
    "more below": "def solution(apis, requester) -> None:\n    print(seven)\n\n\nseven = 7\n",
}


@pytest.fixture(autouse=True)
def _programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulator's own modules can be imported."""
    monkeypatch.syspath_prepend(PROGRAM.parent)


def printed(code: str) -> str:
    out = io.StringIO()
    with redirect_stdout(out):
        exec(code, {"apis": SimpleNamespace(x="x")})
    return out.getvalue()


@pytest.mark.parametrize(("compiled", "gold"), FLAT.values(), ids=FLAT)
def test_a_plain_body_is_the_program(compiled: str, gold: str) -> None:
    from solutions import gold_of

    assert gold_of(compiled) == gold
    assert printed(gold) == printed(f"{compiled}\nsolution(apis, None)")


@pytest.mark.parametrize("compiled", KEPT.values(), ids=KEPT)
def test_what_only_a_function_can_do_stays_one(compiled: str) -> None:
    from solutions import gold_of

    gold = gold_of(compiled)
    assert gold.startswith(compiled) and gold.endswith("solution(apis, None)\n")
    assert printed(gold) == printed(f"{compiled}\nsolution(apis, None)")


def test_a_gold_of_ours_comes_back_as_it_was(appworld_home: Path) -> None:
    from seeds.record import read_seeds
    from solutions import gold_of

    tasks = appworld_home / "root" / "data" / "tasks"
    for seed in read_seeds():
        compiled = tasks / seed.task_id / "ground_truth" / "compiled_solution.py"
        assert gold_of(compiled.read_text()).strip() == seed.gold.strip(), seed.name


@pytest.mark.parametrize("text", ["def other(): pass", "def solution(:"])
def test_what_is_no_solution_is_named(text: str) -> None:
    from solutions import gold_of

    with pytest.raises(ValueError, match=r"compiled_solution\.py: "):
        gold_of(text)
