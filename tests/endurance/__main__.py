"""A campaign on AppWorld whose every answered model call is noted: `python -m tests.endurance STATE`.

`--bump STAGE` raises that stage's declared version. The endpoint's latency is `--latency-s`.
"""

import argparse
import asyncio
import json
from pathlib import Path

from flows.settings import CHECKOUT, Settings, prepare_prefect
from tasks.llm import endpoints
from tasks.llm.base import Completion, Request
from tasks.llm.endpoints import GoldOf
from tasks.llm.offline import OfflineClient
from tasks.plan import read_plan

ENDPOINTS = """
[offline]
kind = "journaled"
concurrency = 16
latency_s = {latency_s}
[local]
kind = "local"
concurrency = 1
"""
SIZE = {"seeds": 3, "steps": 6, "in_flight": 2}
"""What of the shipped offline plan is made smaller."""


class JournaledClient(OfflineClient):
    """The offline model, with a line in a journal for each call that it answered."""

    def __init__(self, rng_seed: int, gold_of: GoldOf, latency_s: float, journal: Path) -> None:
        """As the offline model's; `journal` is appended to."""
        super().__init__(rng_seed, gold_of, latency_s)
        self._journal = journal

    async def complete(self, request: Request) -> Completion:
        """As the offline model's."""
        completion = await super().complete(request)
        subject = request.subject.model_dump(mode="json")
        line = json.dumps([request.role, request.prompt_hash, subject])
        with self._journal.open("a", encoding="utf-8") as journal:
            journal.write(line + "\n")
        return completion


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser()
    parser.add_argument("state", type=Path)
    parser.add_argument("--latency-s", type=float, default=0.0)
    parser.add_argument("--bump", help="a stage whose declared version is raised")
    arguments = parser.parse_args()
    endpoints_file = arguments.state / "endpoints.toml"
    endpoints_file.write_text(ENDPOINTS.format(latency_s=arguments.latency_s))
    settings = Settings(state=arguments.state, endpoints=endpoints_file, attempts_in_flight=6)
    prepare_prefect(settings)
    journal = arguments.state / "journal.jsonl"
    endpoints.CLIENTS["journaled"] = lambda endpoint, rng_seed, gold_of: JournaledClient(
        rng_seed, gold_of, endpoint.latency_s, journal
    )
    from flows.evolve import evolve
    from tasks.stage import STAGES

    if arguments.bump:
        STAGES[arguments.bump].version += "-bumped"
    plan = read_plan(CHECKOUT / "deployments" / "plans" / "offline.toml", SIZE)
    print(json.dumps({"campaign": asyncio.run(evolve(plan, "1", settings))}))


if __name__ == "__main__":
    main()
