"""Campaigns on the toy suite."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.toy.running import Toy


@pytest.fixture
def toy(
    tmp_path: Path, prefect_environment: dict[str, str], checkout: Path
) -> Callable[[str], Toy]:
    """Makes state folders by name."""
    return lambda name: Toy(tmp_path / name, prefect_environment, checkout)


@pytest.fixture(scope="session")
def undisturbed(
    tmp_path_factory: pytest.TempPathFactory, prefect_environment: dict[str, str], checkout: Path
) -> Toy:
    """A campaign that ran to its end in one go. Tests copy it before they change it."""
    made = Toy(tmp_path_factory.mktemp("undisturbed"), prefect_environment, checkout)
    made.run()
    return made
