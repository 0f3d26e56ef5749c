"""Proof of the seeds: the gold solves its item, doing nothing does not.

Runs in the stock engine, in this process, on the task directories that are already written. The gold's
run also makes the ground truth, so that a proved seed is a whole task for the stock engine.
"""

from pathlib import Path

from appworld import AppWorld
from appworld.ground_truth import GroundTruth

from grading.grade import grade
from grading.ground_truth import write_ground_truth
from seeds.record import Seed
from world.engine import report

_DO_NOTHING = "apis.supervisor.complete_task()"


def prove_seeds(root: Path, seeds: list[Seed]) -> None:
    """Proves one seed after the other and writes their ground truths below `root`.

    Raises:
        ValueError: a gold errs, does not complete or does not pass, or doing nothing passes.
    """
    for seed in seeds:
        _prove_gold(root, seed)
        _prove_do_nothing(seed)
        report(f"proved {seed.name}")


def _prove_gold(root: Path, seed: Seed) -> None:
    world = AppWorld(seed.task_id, experiment_name=f"gold-{seed.name}", load_ground_truth=False)
    try:
        output = world.execute(seed.gold)
        if not world.task_completed():
            raise ValueError(f"seed {seed.name}: the gold does not complete: {output.strip()}")
        write_ground_truth(
            root / "data" / "tasks" / seed.task_id,
            world,
            instruction=seed.instruction,
            gold=seed.gold,
            expects_answer=seed.expects_answer,
            calls=None,
            difficulty=seed.intended_difficulty,
        )
        world.task.ground_truth = GroundTruth.load(seed.task_id)
        outcome = grade(world)
    finally:
        world.close()
    if not outcome["solved"]:
        raise ValueError(f"seed {seed.name}: the gold does not pass: {outcome['difference']}")


def _prove_do_nothing(seed: Seed) -> None:
    world = AppWorld(seed.task_id, experiment_name=f"nothing-{seed.name}")
    try:
        world.execute(_DO_NOTHING)
        outcome = grade(world)
    finally:
        world.close()
    if outcome["solved"]:
        raise ValueError(f"seed {seed.name}: doing nothing passes")
