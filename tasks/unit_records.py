"""The records in a finished unit's file; those of earlier releases as today's.

A field that a row of an earlier release lacks is None where that is allowed; else it stands elsewhere in the
campaign.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tasks.llm.base import LLMSpec
from warehouse.records import RECORDS, LlmCall, Record

SPOOL_VERSION = 2
"""Version of the file format; units of version 1, which hold their calls' ledger rows, are read as well."""

_RECORD_OF_NAME = {record.__name__: record for record in RECORDS}


def unit_records(content: bytes, folder: Path) -> Iterator[Record]:
    """The records of a unit in a campaign's folder, in order.

    Raises ValueError, KeyError or IndexError where the content is no unit's, OSError where the campaign's
    plan is needed and missing.
    """
    lines = content.splitlines()
    version = json.loads(lines[0])["spool"]
    if version not in (1, SPOOL_VERSION):
        raise ValueError(f"version {version} is not known to this release")
    for entry in map(json.loads, lines[1:]):
        if "call" not in entry:
            yield _record(entry["record"], entry["row"], folder)
        elif version == 1:
            yield LlmCall.model_validate({"most_usd": None} | entry["call"])


def _record(name: str, row: dict[str, Any], folder: Path) -> Record:
    # There were no confirmations, by other solvers, then.
    if name == "Score" and "solver" not in row:
        row["solver"] = _searched_with(folder)
    return _RECORD_OF_NAME[name].model_validate(row)


def _searched_with(folder: Path) -> str:
    """spec_id of the solver that a campaign's plan names."""
    stored = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
    return LLMSpec.model_validate(stored["plan"]["solver"]).spec_id
