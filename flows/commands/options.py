"""Options that several commands share."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from flows.settings import CHECKOUT, Settings

DEFAULT_PLAN = CHECKOUT / "deployments" / "plans" / "offline.toml"
IN_FLIGHT = Settings().attempts_in_flight
ENDPOINTS = CHECKOUT / "deployments" / "endpoints.toml"
STATE = CHECKOUT / ".turtle"

State = Annotated[
    Path, Parameter(help="Folder for everything Turtle writes: spool, warehouse, simulators.")
]

AppworldRoot = Annotated[
    Path | None,
    Parameter(
        help="Folder whose data/ is AppWorld's official data (appworld download data --root DIR): "
        "its seeds in place of the small world's."
    ),
]

Tau2Root = Annotated[
    Path | None,
    Parameter(
        help="Official checkout of tau2-bench 1.0.x: its data in place of the packages', for the τ suites."
    ),
]

Endpoints = Annotated[
    Path, Parameter(help="TOML file that says how models are reached, and at what price.")
]

Budget = Annotated[
    float | None,
    Parameter(
        help="US dollars for the whole campaign, earlier runs included; stops before it is passed.",
        validator=Number(gte=0),
    ),
]

Canary = Annotated[
    bool,
    Parameter(negative="--no-canary", show_default=False, help="Try each model on a trifle first."),
]

Replay = Annotated[
    Path | None,
    Parameter(help="Folder of a recorded campaign (spool/NAME): its replies answer, no network."),
]

RequireSandbox = Annotated[
    Literal["rlimits", "bubblewrap"] | None,
    Parameter(help="Refuse to run model-written code behind less than this."),
]

Workers = Annotated[
    int,
    Parameter(
        help="Processes that drain the campaign, turtle join included; each has its part of the endpoints.",
        validator=Number(gte=1),
    ),
]

AttemptsInFlight = Annotated[
    int,
    Parameter(
        help="Attempts at once: about as many as calls your endpoint answers at once.",
        validator=Number(gte=1),
    ),
]


def absolute(path: Path | None) -> Path | None:
    """The same file, whatever the current folder becomes."""
    return None if path is None else path.absolute()
