"""What `tests.toy.forked` imports once for all programs that it starts: Prefect and Turtle, 3 s of a core."""

import gc
import os
import tempfile
from importlib import import_module

from flows.settings import PREFECT_ENVIRONMENT

# Prefect reads its settings while it is imported; a program's own are read again when it starts.
os.environ.update(PREFECT_ENVIRONMENT | {"PREFECT_HOME": tempfile.gettempdir()})

OURS = ("flows.cli", "flows.evolve", "flows.compare", "flows.weekly", "tasks.llm.endpoints")
WHEN_A_FLOW_RUNS = ("prefect.flow_engine", "prefect.task_engine", "prefect.utilities.visualization")
WHEN_A_FLOW_RUNS += ("fastapi", "anyio._backends._asyncio")
for module in OURS + WHEN_A_FLOW_RUNS:
    import_module(module)

gc.freeze()  # else each fork soon goes through all of it, and copies it by that
