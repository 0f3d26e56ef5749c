"""A comparison of models that cost money: one budget for all arms, and a larger one goes on."""

import asyncio
import os
from pathlib import Path

from tests.toy.paid import ENDPOINTS, KEY, PLAN, VARIABLE, ran
from tests.toy.provider import ToyProvider
from tests.toy.running import Toy
from tests.wire.server import WireServer

ARMS_BUDGET_USD, ENOUGH_USD = 1.5, 100.0


def test_arms_share_one_budget(
    tmp_path: Path, prefect_environment: dict[str, str], checkout: Path
) -> None:
    toy = Toy(tmp_path, prefect_environment | {VARIABLE: KEY}, checkout)
    plan, endpoints = tmp_path / "plan.toml", tmp_path / "endpoints.toml"
    plan.write_text(PLAN)
    files = ("--endpoints", str(endpoints))
    compare = ("compare", str(plan), *files, "--steps", "1", "--rng-seeds", "1", "--attempts", "2")

    async def scenario() -> None:
        provider = ToyProvider(delay_s=0.01)
        async with WireServer(provider.answer) as server:
            endpoints.write_text(ENDPOINTS.format(url=server.url))
            code, out = await ran(toy, *compare, "--budget-usd", str(ARMS_BUDGET_USD))
            assert code == 3, out
            assert "is used up" in out.splitlines()[-1]
            begun = os.listdir(tmp_path / "spool")
            assert 1 < len(begun) < 4, "the budget has to end in a later arm to show anything"
            assert provider.billed_usd <= ARMS_BUDGET_USD

            code, out = await ran(toy, *compare, "--budget-usd", str(ENOUGH_USD))
            assert code == 0, out
            assert len(os.listdir(tmp_path / "spool")) == 4

    asyncio.run(scenario())
