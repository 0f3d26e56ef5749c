"""What `tests.toy.forked` imports once for all programs that it starts: Prefect and Turtle, 3 s of a core."""

import os
import tempfile
from importlib import import_module

from flows.settings import PREFECT_ENVIRONMENT

# Prefect reads its settings while it is imported; a program's own are read again when it starts.
os.environ.update(PREFECT_ENVIRONMENT | {"PREFECT_HOME": tempfile.gettempdir()})

for module in ("flows.cli", "flows.evolve", "flows.compare", "flows.weekly", "tasks.llm.endpoints"):
    import_module(module)
