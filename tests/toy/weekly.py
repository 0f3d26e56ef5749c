"""The weekly flow on the toy suite: `python -m tests.toy.weekly STATE LLM_ID`; prints what it confirmed."""

import asyncio
import json
import sys
from pathlib import Path

from flows.settings import Settings, prepare_prefect
from tests.toy.registering import register


def main() -> None:
    """See the module's docstring."""
    state, llm_id = Path(sys.argv[1]), sys.argv[2]
    settings = Settings(state=state, endpoints=state / "endpoints.toml", publish_every_s=0.5)
    prepare_prefect(settings)
    register(state / "journal.jsonl")
    from flows.weekly import weekly
    from tasks.llm.base import LLMSpec

    solver = LLMSpec(endpoint="toy", llm_id=llm_id)
    print(json.dumps(asyncio.run(weekly("toy", solver, 5, settings))))


if __name__ == "__main__":
    main()
