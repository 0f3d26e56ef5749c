"""Paths and limits of this machine. Never part of a key: another machine finds the same campaign."""

import os
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from tasks.suites.base import SandboxLevel

CHECKOUT = Path(__file__).resolve().parent.parent

PREFECT_ENVIRONMENT = {
    # First start of the ephemeral server takes up to 28 s on a slow machine; Prefect's own limit is 20.
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    # Batches of 1, the default, commit SQLite once a stage run: half of the server's work on a campaign, and
    # its recorder then falls minutes behind.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "500",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "500",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
    # Nothing of ours reads the log of events, which costs 8 ms CPU a stage run; states, names,
    # artifacts and automations do not come from it.
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_ENABLED": "false",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "500",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "500",
    "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_FLUSH_INTERVAL": "2",
    # Looks at each event for automations, an eighth of the server's work; only `turtle up` has some.
    "PREFECT_SERVER_SERVICES_TRIGGERS_ENABLED": "false",
}
"""What we ask of Prefect unless the user's environment says otherwise."""


JUDGES_ITSELF = "the judge is the solver's own model: it decides about items by its own failures"
"""Printed when such a campaign starts, and under each of its tables."""


class Settings(BaseModel):
    """Built once, at the entry."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    state: Path = CHECKOUT / ".turtle"
    """Everything that Turtle writes: spool, warehouse, receipts, simulators, Prefect's home."""
    endpoints: Path = CHECKOUT / "deployments" / "endpoints.toml"
    """How models are reached, and at what price."""
    appworld_root: Path | None = None
    """Folder whose `data` is AppWorld's official data, for plans that want it; None for none."""
    tau2_root: Path | None = None
    """An official checkout of tau2-bench, for τ plans that want its data; None for none."""
    attempts_in_flight: int = Field(default=16, ge=1)
    """How many attempts may hold a simulator session at once (about 60 MB each on AppWorld)."""
    budget_usd: float | None = Field(default=None, ge=0)
    """US dollars that a campaign may spend in all, over all its runs; None is no limit."""
    canary: bool = True
    """Whether each model of a server is tried on a trifle before a campaign's first call."""
    replay: Path | None = None
    """Folder of a recorded campaign whose replies answer instead of any endpoint; None asks endpoints."""
    publish_every_s: float = Field(default=5.0, gt=0)
    """How often a running campaign's rows reach the warehouse file that readers open."""
    require_sandbox: SandboxLevel | None = None
    """Least walls around model-written code with which a campaign runs; None takes the best there are."""
    workers: int = Field(default=1, ge=1)
    """How many processes drain a campaign: each takes its part of every endpoint's calls in flight."""
    joins: bool = False
    """Whether this process helps with a campaign that another one holds: it does units and makes no table."""
    min_free_bytes: int = Field(default=500_000_000, ge=0)
    """With less free disk than this a campaign does not start; with less than half of it, it stops."""

    @property
    def spool(self) -> Path:
        """One folder a campaign."""
        return self.state / "spool"

    @property
    def warehouse(self) -> Path:
        """The DuckDB file that readers open."""
        return self.state / "warehouse" / "turtle.duckdb"

    @property
    def receipts(self) -> Path:
        """Prefect's result store, one folder a campaign."""
        return self.state / "receipts"


def prepare_prefect(settings: Settings, server: str | None = None) -> None:
    """Puts what we ask of Prefect into this process's environment; call it before Prefect is imported.

    `server`: address of the server that `turtle up` started; None for one that lives as long as the process.
    """
    home = settings.state / "prefect"
    home.mkdir(parents=True, exist_ok=True)
    asked = PREFECT_ENVIRONMENT | {"PREFECT_HOME": str(home)}
    if server is not None:
        asked["PREFECT_API_URL"] = f"{server}/api"
    for name, value in asked.items():
        os.environ.setdefault(name, value)
