"""What several files on whole campaigns share."""

import shutil
from pathlib import Path

import pytest

from tests.toy.running import Toy


@pytest.fixture
def finished(undisturbed: Toy, tmp_path: Path) -> Toy:
    """A copy of the finished campaign, to be changed."""
    shutil.copytree(undisturbed.state, tmp_path / "state")
    return Toy(tmp_path / "state", undisturbed.environment, undisturbed.checkout)
