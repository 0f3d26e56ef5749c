"""A folder in the exact layout of an official checkout of tau2-bench, made from the PyPI packages' data.

The checkout itself cannot be had here. Layout: pyproject.toml, and data/tau2 with `user_simulator`,
`domains/telecom` as in the package, `domains/banking_knowledge` with a file for each task and document.
"""

import gzip
import json
import shutil
from pathlib import Path

PYPROJECT = '[project]\nname = "{name}"\nversion = "{version}"\n'


def empty_checkout(root: Path, name: str = "tau2", version: str = "1.0.1") -> Path:
    """A checkout without data."""
    root.mkdir(parents=True)
    (root / "pyproject.toml").write_text(PYPROJECT.format(name=name, version=version))
    return root


def checkout_of_packages(root: Path, venv: Path, version: str = "1.0.1") -> Path:
    """A checkout with the data that lies in the packages of τ-bench's environment."""
    empty_checkout(root, version=version)
    (packages,) = venv.glob("lib/python3*/site-packages")
    data = root / "data" / "tau2"
    shutil.copytree(packages / "tau2" / "data" / "tau2", data)
    source = packages / "inspect_evals" / "tau2" / "data" / "domains" / "banking_knowledge"
    banking = data / "domains" / "banking_knowledge"
    shutil.copytree(source / "prompts", banking / "prompts")
    shutil.copy(source / "db.json", banking)
    (banking / "tasks.json").write_text("[]")  # lies in the repository too, and is not read there
    for kind, read in (
        ("tasks", json.loads((source / "tasks.json").read_text(encoding="utf-8"))),
        ("documents", json.loads(gzip.decompress((source / "documents.json.gz").read_bytes()))),
    ):
        (banking / kind).mkdir()
        for one in read:
            (banking / kind / f"{one['id']}.json").write_text(json.dumps(one), encoding="utf-8")
    return root
