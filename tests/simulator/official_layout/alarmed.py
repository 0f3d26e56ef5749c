def evaluate(test, public_data, private_data, main_user, models, ground_truth_answer):
    """An evaluation by hand, as AppWorld's authors write them: of a change of state."""

    with test("assert model changes match phone.Alarm."):
        test.case(models.changed_model_names(), "==", {"phone.Alarm"})

    with test("assert one alarm at the public_data.time was added, which does not vibrate."):
        added, *_ = models.changed_records("phone.Alarm")
        test.case(
            [(alarm.time, alarm.vibration) for alarm in added], "==", [(public_data.time, False)]
        )

    return test
