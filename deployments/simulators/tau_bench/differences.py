"""Two final states of an item, row by row against the state from which both came."""

from typing import Any

from tau2.environment.environment import Environment

Rows = dict[tuple[str, str, Any], dict[str, Any]]
"""Content by side ("agent" or "user"), table and row; the row is None where a table is one record."""


def rows_of(environment: Environment) -> Rows:
    """Every row of both sides' databases; those of one database that both share once, as the agent's."""
    found = dict(_rows("agent", environment.tools.db.model_dump(mode="json")))
    if environment.user_tools.db is not environment.tools.db:
        found |= _rows("user", environment.user_tools.db.model_dump(mode="json"))
    return found


def difference(due: list[dict[str, Any]], done: list[dict[str, Any]]) -> dict[str, Any]:
    """The protocol's Difference of a final state, by its effects, from the one that the gold leaves."""
    return {
        "missing": [effect for effect in due if effect not in done],
        "unexpected": [effect for effect in done if effect not in due],
        "answer": None,
    }


def effects_of(before: Rows, after: Rows) -> list[dict[str, Any]]:
    """The protocol's Effect records: each row by which two states differ."""
    effects = []
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        if old == new:
            continue
        if old is None:
            effects.append(_effect(key, "added", new, {}))
        elif new is None:
            effects.append(_effect(key, "removed", {}, old))
        else:
            names = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
            content = {name: new.get(name) for name in names}
            effects.append(
                _effect(key, "changed", content, {name: old.get(name) for name in names})
            )
    return effects


def _rows(side: str, tables: dict[str, Any]) -> Rows:
    found: Rows = {}
    for table, value in tables.items():
        if isinstance(value, list):
            for row in value:
                key = next((row[name] for name in row if name.endswith("_id")), str(row))
                found[side, table, key] = row
        elif isinstance(value, dict) and set(value) == {"data", "notes"}:
            for key, row in value["data"].items():
                found[side, table, key] = row
        elif isinstance(value, dict):
            found[side, table, None] = value
        else:
            found[side, table, None] = {"value": value}
    return found


def _effect(
    key: tuple[str, str, Any], change: str, content: dict[str, Any], before: dict[str, Any]
) -> dict[str, Any]:
    side, table, row = key
    return {
        "app": side,
        "table": table,
        "change": change,
        "row": None if change == "added" else row,
        "content": content,
        "before": before,
        "references": [name for name in content if name.endswith(("_id", "_ids"))],
    }
