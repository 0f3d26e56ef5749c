"""An official checkout of τ-bench as the source of data, where the user names one: import this module first.

The harness stays the package's; from the checkout come domains (tasks, splits, databases, policies,
documents, prompts) and the user's guidelines. So nothing of the checkout is run, and it needs no Python.
"""

import os
import tomllib
from pathlib import Path

import quiet  # noqa: F401 - first

root = os.environ.get("TURTLE_TAU2_ROOT")
ROOT = Path(root) if root else None
"""The checkout; None where the packages' own data is used."""

if ROOT is not None:
    # Domains take the folder's name from here when they are imported.
    import tau2.utils.utils

    tau2.utils.utils.DATA_DIR = ROOT / "data"


def source() -> str | None:
    """The checkout with its version, for `describe`; None without one."""
    if ROOT is None:
        return None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return f"data of {project['name']} {project['version']}"


def folder(domain: str) -> Path | None:
    """A domain's data in the checkout; None without one."""
    return None if ROOT is None else ROOT / "data" / "tau2" / "domains" / domain
