"""Runs a campaign whose simulated model is asked over a socket: `python -m tests.wire.campaign STATE KIND`.

It is the campaign that `python -m tests.toy` runs, or the one of `--plan` with the offline model, down to
the keys: the endpoint has the same name and another kind. Server and campaign share this process, so that
the model is told the golds as it always is. Prints one JSON object: the campaign and the server's counts.
"""

import argparse
import asyncio
import json
import os
from pathlib import Path

from flows.settings import Settings, prepare_prefect
from tasks.plan import Plan, read_plan
from tests.toy.__main__ import PRICES, toy_plan
from tests.toy.registering import register
from tests.wire.served import ServedModel
from tests.wire.server import WireServer
from tests.wire.weather import CALM, STORM, Weather

ENDPOINTS = """
[{name}]
kind = "{kind}"
base_url = "{url}"
key_variable = "TURTLE_TEST_KEY"
concurrency = 8
patience = {{ timeout_s = 300, stall_s = {stall_s}, max_tries = 30, first_wait_s = 0.02, max_wait_s = 0.1 }}
{prices}

[local]
kind = "local"
"""


async def run(plan: Plan, state: Path, name: str, kind: str, stormy: bool) -> dict[str, object]:
    """Runs the campaign against a server of its own; what the server counted."""
    from flows.evolve import evolve

    served = ServedModel(name)
    served.stand_behind(kind)
    weather = Weather(served, STORM if stormy else CALM)
    settings = Settings(
        state=state,
        endpoints=state / "endpoints.toml",
        # Its trifles are about nothing that a simulated model knows.
        canary=False,
        publish_every_s=0.5,
        attempts_in_flight=32 if plan.suite == "toy" else 4,
    )
    async with WireServer(weather.answer) as server:
        url = f"{server.url}/v1" if kind == "openai" else server.url
        prices = PRICES if name == "toy" else ""
        settings.endpoints.write_text(
            ENDPOINTS.format(
                name=name, kind=kind, url=url, prices=prices, stall_s=5 if stormy else 60
            )
        )
        campaign = await evolve(plan, "1", settings)
    return {
        "campaign": campaign,
        "fates": weather.fates,
        "paid": weather.paid,
        "tokens": weather.tokens,
    }


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser()
    parser.add_argument("state", type=Path)
    parser.add_argument("kind", choices=("openai", "gemini"))
    parser.add_argument(
        "--plan", type=Path, help="with the offline model; the toy campaign if none"
    )
    parser.add_argument("--storm", action="store_true")
    arguments = parser.parse_args()
    arguments.state.mkdir(parents=True, exist_ok=True)
    os.environ["TURTLE_TEST_KEY"] = "a-key"
    prepare_prefect(Settings(state=arguments.state))
    name, plan = "offline", None
    if arguments.plan is None:
        name, plan = "toy", toy_plan()
        register(arguments.state / "journal.jsonl")
    else:
        plan = read_plan(arguments.plan, {})
    counted = run(plan, arguments.state, name, arguments.kind, arguments.storm)
    print(json.dumps(asyncio.run(counted)))


if __name__ == "__main__":
    main()
