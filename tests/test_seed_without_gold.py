"""A seed that its suite ships without a gold (AppWorld's minimal ground truth) takes part all the same."""

from tasks.label import _of_item
from tasks.llm.prompting import labeller_prompt, proposer_prompt
from tasks.suites.base import CheckReport, Difference, Outcome, Run
from tasks.verify import gold_call_rows, run_gates, text_gates
from tests.handful import DESCRIPTION, PAY, TEXT, item

SEED = item(PAY).model_copy(update={"gold": None})
SAID = "The suite ships this item without its gold."


def idle(solved: bool) -> CheckReport:
    """What a check finds of such a seed: what doing nothing comes to, and no more."""
    outcome = Outcome(
        solved=solved,
        partial=float(solved),
        completed=True,
        tests=(),
        difference=None if not solved else Difference(),
        calls=0,
    )
    return CheckReport(gold=None, do_nothing=Run(outcome=outcome, calls=()))


def test_it_is_sound_unless_doing_nothing_solves_it() -> None:
    assert all(fault is None for _, fault in text_gates(SEED, None, (item(TEXT),)))
    assert [(str(name), fault) for name, fault in run_gates(SEED, idle(False))] == [
        ("do_nothing_passes", None)
    ]
    ((_, fault),) = run_gates(SEED, idle(True))
    assert fault == "completing at once solves the item"


def test_its_words_still_make_a_copy_of_it_a_copy() -> None:
    copy = item(PAY)
    (_, fault) = next(text_gates(copy, SEED, ()))
    assert fault is not None
    assert next(text_gates(item(TEXT), SEED, ()))[1] is None


def test_a_proposer_and_a_labeller_are_told() -> None:
    asked = [
        proposer_prompt(SEED, DESCRIPTION, "harder", None, [item(TEXT), SEED]),
        labeller_prompt(SEED, ()),
    ]
    for prompt in asked:
        assert SAID in prompt.messages[1].content


def test_nothing_is_read_off_a_gold_that_is_not_there() -> None:
    assert _of_item("campaign", SEED, ()) == []
    assert gold_call_rows(SEED, idle(False)) == []
