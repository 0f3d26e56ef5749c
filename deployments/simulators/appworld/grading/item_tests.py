"""The tests of an evolved item, run by stock AppWorld through `evaluate`.

`private_data["expected"]` holds, as JSON text, the effects of the gold and the policy of the item.
Text of `evaluation.py`, like `rows` and `changes`.
"""

import json
import re
from collections import Counter
from typing import Any

from grading.changes import Effect, read_changes

ANSWER_REQUIREMENT = "The answer is the one that was asked for (none where nothing was asked)."
NOTHING_ELSE_REQUIREMENT = "Nothing changes but what the instruction asks for."


def evaluate(test, public_data, private_data, main_user, models, ground_truth_answer) -> None:
    """Run the tests; the parameters are those that stock AppWorld passes by name."""
    expected = json.loads(private_data["expected"])
    effects = read_changes(models, expected["policy"]).effects()
    missing, unexpected = compare(expected["effects"], effects)
    test.missing, test.unexpected = missing, unexpected  # for whoever asked for the evaluation
    tables = sorted({effect["table"] for effect in expected["effects"]})

    with test(ANSWER_REQUIREMENT):
        test.answer(tidy_answer(given_answer(models)), tidy_answer(ground_truth_answer))

    with test(NOTHING_ELSE_REQUIREMENT):
        test.case([effect for effect in unexpected if effect["table"] not in tables], "==", [])

    for table in tables:
        with test(table_requirement(table)):
            test.case([e for e in missing + unexpected if e["table"] == table], "==", [])


def table_requirement(table: str) -> str:
    """Text of the test on one table, such as "venmo.Transaction"."""
    return f"The changes in {table} are exactly those that the instruction asks for."


def given_answer(models: Any) -> Any:
    """Answer of the run: None where it gave none, "<<NOT_GIVEN>>" where it never completed."""
    return json.loads(models.end.supervisor.Task.first().answer)


def tidy_answer(answer: Any) -> Any:
    """The answer with one space after each comma ; stock compares numbers and case itself."""
    return re.sub(r"\s*,\s*", ", ", answer) if isinstance(answer, str) else answer


def compare(expected: list[Effect], given: list[Effect]) -> tuple[list[Effect], list[Effect]]:
    """Split into effects that are missing from `given` and effects that are unexpected in it.

    A change of a row and its replacement by a new row of the changed content are equal. A row that
    is right by itself is not blamed for what is wrong with the rows around it, unless only the way in
    which rows hang together is wrong.
    """
    missing, unexpected = left_over(expected, given), left_over(given, expected)
    shared = Counter(map(own_label, missing)) & Counter(map(own_label, unexpected))
    blamed = without(missing, shared), without(unexpected, shared)
    return blamed if any(blamed) else (missing, unexpected)


def left_over(wanted: list[Effect], found: list[Effect]) -> list[Effect]:
    """Effects of `wanted` that have no equal in `found`."""

    def labels(effect: Effect) -> list[tuple[str, str]]:
        return [(part, effect[part]) for part in ("gone", "new") if effect[part]]

    stock = Counter(label for effect in found for label in labels(effect))
    rest = []
    for effect in wanted:
        if any(stock[label] <= 0 for label in labels(effect)):
            rest.append(effect)
        stock.subtract(labels(effect))
    return rest


def own_label(effect: Effect) -> tuple[str | None, str | None]:
    """What an effect is without its neighbours."""
    return effect["gone"], effect["own"]


def without(effects: list[Effect], shared: Counter) -> list[Effect]:
    """The effects but for as many of each own label as `shared` counts."""
    left = Counter(shared)
    rest = []
    for effect in effects:
        if left[own_label(effect)] > 0:
            left[own_label(effect)] -= 1
        else:
            rest.append(effect)
    return rest
