"""τ-bench's suites, each running once for all tests; its environment is installed on first use (0.7 GB)."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tasks.suites.tau_bench import TAU_SUITES, TauSuite


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=TAU_SUITES)
async def suite(request: pytest.FixtureRequest, checkout: Path) -> AsyncIterator[TauSuite]:
    """Each of the three."""
    made = TauSuite(request.param, checkout / ".turtle")
    yield made
    await made.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def telecom(checkout: Path) -> AsyncIterator[TauSuite]:
    """The smallest of them."""
    made = TauSuite("tau-telecom", checkout / ".turtle")
    yield made
    await made.aclose()
