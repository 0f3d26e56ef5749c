"""The benchmarks of the simulator find it where its tests do."""

from tests.simulator.conftest import appworld_home, appworld_python, simulator

__all__ = ["appworld_home", "appworld_python", "simulator"]
