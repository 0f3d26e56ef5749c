"""What must hold of reruns, whatever the suite: claims that tests make of the toy and of the real engine."""

import json
import random
import time
from collections import Counter

from tests.toy.forked import Process
from tests.toy.running import Toy, ledger_of


def kill_after(process: Process, campaign: Toy, calls: int) -> bool:
    """Kills the run when it has made so many more calls; False when it ended before."""
    goal = len(campaign.journal()) + calls
    while len(campaign.journal()) < goal:
        if process.poll() is not None:
            return False
        time.sleep(0.005)
    process.kill()
    process.communicate()
    return True


def survives_kills(
    campaign: Toy, undisturbed: Toy, kills: int, most_calls: int, in_flight: int, latency_s: float
) -> None:
    """Asserts that kill -9, again and again, loses and repeats nothing finished and changes no table.

    Args:
        campaign: not begun yet.
        undisturbed: the same campaign, ended in one go.
        kills: how often it is killed, each time after 1 to `most_calls` calls.
        most_calls: see above.
        in_flight: how many calls may be under way at a kill, and so be paid again.
        latency_s: of a call, so that a kill finds calls under way.
    """
    dice = random.Random(4)
    finished: dict[str, tuple[int, int]] = {}
    for kill in range(kills):
        process = campaign.start("--latency-s", str(latency_s))
        died = kill_after(process, campaign, dice.randint(1, most_calls))
        assert died, f"too short for kill {kill + 1}: {process.communicate()}"
        units = campaign.units()
        assert finished.items() <= units.items(), "a finished unit was touched"
        finished = units
    campaign.run()
    paid = Counter(campaign.journal())
    again = sum(paid.values()) - len(paid)
    print(f"{kills} kills: {len(paid)} calls, {again} of them paid again")
    assert set(paid) == set(undisturbed.journal())
    assert again <= kills * in_flight
    assert finished.items() <= campaign.units().items()
    assert campaign.units().keys() == undisturbed.units().keys()
    assert campaign.findings() == undisturbed.findings()
    knows_every_paid_call(campaign.journal(), campaign, kills * in_flight)


def knows_every_paid_call(journal: list[tuple[str, str]], campaign: Toy, most_unknown: int) -> None:
    """Of a call in whose middle the process was killed, nobody knows whether it was answered.

    `journal`: all calls that were answered, whichever process made them.
    """
    paid = Counter(json.loads(call)[0] for _, call in journal)
    rows = [row for row in ledger_of(campaign) if row["role"] != "embedder"]
    answered = Counter(row["prompt_hash"] for row in rows if row["cause"] is None)
    unknown = Counter(row["prompt_hash"] for row in rows if row["cause"] == "Interrupted")
    assert unknown.total() <= most_unknown
    assert answered <= paid <= answered + unknown, "the ledger and the provider do not agree"
    assert {row["cause"] for row in rows} <= {None, "Interrupted"}


def reruns_one_stage(
    finished: Toy, undisturbed: Toy, stage: str, kind: str, roles: set[str]
) -> None:
    """Asserts that a stage of a new version runs again and, its outputs being equal, nothing else does.

    Args:
        finished: a campaign that ran to its end; it is changed.
        undisturbed: the same, left alone.
        stage: whose version is raised.
        kind: the kind of the stage's units.
        roles: the models that the stage asks.
    """
    before, calls = finished.units(), len(finished.journal())
    finished.run("--bump", stage)
    made = finished.units().keys() - before.keys()
    assert {name.split("/")[0] for name in made} == {kind}
    assert len(made) == sum(name.startswith(f"{kind}/") for name in before)
    assert {role for role, _ in finished.journal()[calls:]} == roles
    decisions = {name: at for name, at in before.items() if name.startswith("decisions/")}
    assert decisions.items() <= finished.units().items()
    assert finished.findings() == undisturbed.findings()
    more = len(ledger_of(finished)) - len(ledger_of(undisturbed))
    assert more == len(finished.journal()) - calls, "what was paid again is not in the ledger"
