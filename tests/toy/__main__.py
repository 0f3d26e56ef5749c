"""Runs a campaign on the toy suite: `python -m tests.toy STATE [--steps N] [--bump STAGE] ...`.

Prints one JSON object: the campaign, how often the suite was asked, and how many attempts were made.
"""

import argparse
import asyncio
import json
import os
import time
from functools import partial
from pathlib import Path

from flows.settings import Settings, prepare_prefect
from tasks.plan import Plan
from tests.toy.registering import register

PRICES = "prices.toy = { input = 10, output = 0 }"
"""A call costs by them what the toy model says that it does."""

ENDPOINTS = f"""
[toy]
kind = "toy"
concurrency = {{concurrency}}
latency_s = {{latency_s}}
{PRICES.replace("{", "{{").replace("}", "}}")}
"""


def toy_plan(**changes: object) -> Plan:
    """A small plan in which the toy model plays every role."""
    spec = {"endpoint": "toy", "llm_id": "toy"}
    roles = ("proposer", "solver", "feedback", "judge", "labeller")
    return Plan.model_validate(
        {"suite": "toy", "steps": 8, "in_flight": 4, "repeats": 10}
        | dict.fromkeys(roles, spec)
        | {"embedder": spec | {"dimensions": 8}}
        | changes
    )


async def begin_together(folder: Path, count: int) -> None:
    """Returns when `count` processes are ready: they take seconds to start, and a campaign is short."""
    (folder / f"ready-{os.getpid()}").touch()
    while len(list(folder.glob("ready-*"))) < count:
        await asyncio.sleep(0.05)


def wait_for_pool(folder: Path) -> None:
    """Returns when there is a campaign to join."""
    while not list(folder.glob("*/pool.json")):
        time.sleep(0.05)


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser()
    parser.add_argument("state", type=Path)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--in-flight", type=int, default=4)
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--parents")
    parser.add_argument("--latency-s", type=float, default=0.0)
    parser.add_argument("--concurrency", type=int, default=8)
    parser.add_argument("--simulator-dies-at", type=int)
    parser.add_argument("--provider-fails-at", type=int)
    parser.add_argument("--attempts-in-flight", type=int, default=32)
    parser.add_argument("--publish-every-s", type=float, default=0.5)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--joins", action="store_true")
    parser.add_argument("--together", type=int, default=1, help="begin when so many are ready")
    parser.add_argument("--bump", help="a stage whose declared version is raised")
    arguments = parser.parse_args()
    arguments.state.mkdir(parents=True, exist_ok=True)
    endpoints_file = arguments.state / "endpoints.toml"
    endpoints_file.write_text(
        ENDPOINTS.format(latency_s=arguments.latency_s, concurrency=arguments.concurrency)
    )
    settings = Settings(
        state=arguments.state,
        endpoints=endpoints_file,
        publish_every_s=arguments.publish_every_s,
        attempts_in_flight=arguments.attempts_in_flight,
        workers=arguments.workers,
        joins=arguments.joins,
    )
    prepare_prefect(settings)
    suite = register(
        arguments.state / "journal.jsonl", arguments.simulator_dies_at, arguments.provider_fails_at
    )
    from flows.evolve import evolve
    from tasks.stage import STAGES

    if arguments.bump:
        STAGES[arguments.bump].version += "-bumped"
    if arguments.together > 1:
        suite.before = partial(begin_together, settings.spool, arguments.together)
    if arguments.joins:
        wait_for_pool(settings.spool)
    plan = toy_plan(
        steps=arguments.steps,
        in_flight=arguments.in_flight,
        repeats=arguments.repeats,
        parents=arguments.parents,
    )
    campaign = asyncio.run(evolve(plan, "1", settings))
    print(json.dumps({"campaign": campaign, "asked": suite.asked}))


if __name__ == "__main__":
    main()
