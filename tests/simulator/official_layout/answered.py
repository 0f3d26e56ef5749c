import json


def evaluate(test, public_data, private_data, main_user, models, ground_truth_answer):
    """An evaluation by hand, as AppWorld's authors write them: of a question."""

    with test("assert answers match."):
        test.answer(json.loads(models.end.supervisor.Task.first().answer), ground_truth_answer)

    with test("assert no model changes."):
        test.case(models.changed_model_names(), "==", set())

    return test
