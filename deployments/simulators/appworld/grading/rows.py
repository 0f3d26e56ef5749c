"""Rows of an AppWorld state, reduced to what counts when two states are compared.

Standard library only: this text becomes part of the `evaluation.py` of every evolved item, which stock
AppWorld must be able to import without Turtle (see `ground_truth.evaluation_source`).
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from itertools import starmap, zip_longest
from operator import ne
from typing import Any

Key = tuple[str, int]  # table ("venmo.Transaction") and row id
Content = dict[str, Any]

IGNORED_TABLES = {"supervisor.Task"}
IGNORED_FIELDS = {
    *("id", "record_hash", "created_at", "updated_at", "last_logged_in", "liked_at", "added_at"),
    *("joined_at", "downloaded_at", "initiated_at", "verification_code", "password_reset_code"),
    *("verification_code_expiry", "password_reset_code_expiry", "invitation_code", "invite_code"),
    *("confirmation_code", "download_count", "receipt_download_count"),
    # Derived from likes and reviews, which are compared. Liking and unliking would else leave a
    # change wherever the base data's count was not the count of its rows.
    *("like_count", "review_count"),
}
DERIVED_FIELDS = {
    *("spotify.Song.rating", "spotify.Album.rating", "spotify.Playlist.rating"),
    *("amazon.Product.rating", "amazon.Product.seller_rating", "amazon.Seller.rating"),
    # Attachments are rows, which are compared; a draft that is sent leaves this false.
    "gmail.UserEmailThread.has_attachments",
}
LIST_TARGETS = {
    "email_ids": "Email",
    "recipient_ids": "User",
    "debtor_ids": "User",
    "participant_ids": "User",
    "queue_song_ids": "Song",
    "artist_ids": "Artist",
}
ORDERED_LISTS = {"queue_song_ids"}
EXPENSES, SHARES = "splitwise.Expense", "splitwise.ExpenseShare"


class Table:
    """How the rows of one table are read, and what their fields point to."""

    def __init__(self, app: str, model: Any, names: dict[str, str]) -> None:
        """Read the layout of an engine's model; `names` maps the app's SQL tables to our names."""
        columns = list(model.__table__.columns)
        self.app = app
        self.name = names[model.__table__.name]
        self.fields = [column.name for column in columns]
        self.kinds = {column.name: type(column.type).__name__ for column in columns}
        self.links: dict[str, str] = {}
        for column in columns:
            for key in column.foreign_keys:
                self.links[column.name] = names[key.target_fullname.split(".")[0]]
            if column.name in LIST_TARGETS:
                self.links[column.name] = f"{app}.{LIST_TARGETS[column.name]}"
        quoted = ", ".join(f'"{name}"' for name in self.fields)
        self.sql = f'SELECT "id", {quoted} FROM "{model.__table__.name}"'

    def content(self, row: tuple, ignored: set[str]) -> Content:
        """Fields of a raw row that count, decoded; `ignored` names others as table.field."""
        return {
            field: self.decode(field, value)
            for field, value in zip(self.fields, row, strict=True)
            if field not in IGNORED_FIELDS and f"{self.name}.{field}" not in ignored
        }

    def decode(self, field: str, value: Any) -> Any:
        """One raw value as JSON data, without what never counts inside it."""
        if value is not None and self.kinds[field] == "JSON":
            value = json.loads(value)
        elif value is not None and self.kinds[field] == "Boolean":
            value = bool(value)
        return clean(field, value)

    def pointed(self, content: Content) -> Iterator[tuple[str, Key]]:
        """Rows that a content points to, each with the field that points."""
        for field, target in self.links.items():
            value = content.get(field)
            for row in value if isinstance(value, list) else [value]:
                if row is not None:
                    yield field, (target, row)


def read_schema(collection: Any) -> list[Table]:
    """Every table of a state that a program can change; API documents and the item itself are none."""
    found = []
    for app in collection.keys():  # noqa: SIM118 (the engine's Munch hides private keys only here)
        if app == "api_docs":
            continue
        named = collection[app].SQLModel.name_to_model().values()
        models = [model for model in named if model.is_table_model()]
        names = {model.__table__.name: f"{app}.{model.__name__}" for model in models}
        found += [Table(app, model, names) for model in models]
    return [table for table in found if table.name not in IGNORED_TABLES]


class State:
    """The raw rows of a state. A table is read whole when it is first asked for: most never are."""

    def __init__(self, tables: dict[str, Table], collection: Any) -> None:
        """Take the connections of an engine's ModelCollection, the one that was asked for last."""
        self._tables = tables
        self._connections = {
            table.app: collection[table.app].SQLModel.db.connection for table in tables.values()
        }
        self._rows: dict[str, dict[int, tuple]] = {}

    def __getitem__(self, name: str) -> dict[int, tuple]:
        """The rows of a table as {id: values in the order of its fields}."""
        if name not in self._rows:
            self._rows[name] = {row[0]: row[1:] for row in self.scan(name)}
            if name == SHARES:
                level_shares(self._tables, self)
        return self._rows[name]

    def scan(self, name: str) -> Iterator[tuple]:
        """The rows of a table, one after the other, each with its id before its values."""
        table = self._tables[name]
        return self._connections[table.app].execute(table.sql)

    def differs(self, other: "State", name: str) -> bool:
        """Whether a table is another in another state."""
        if name == SHARES:
            return self[name] != other[name]
        return any(starmap(ne, zip_longest(self.scan(name), other.scan(name))))


def level_shares(tables: dict[str, Table], state: State) -> None:
    """Set, in a state's raw rows, shares that are equal but for the cents to the engine's equal share.

    Three shares of $58 are 19.33 each to the engine; by hand they are 19.34, 19.33 and 19.33.
    """
    amount_at = tables[EXPENSES].fields.index("amount")
    expense_at, share_at = (tables[SHARES].fields.index(f) for f in ("expense_id", "share_amount"))
    rows_of = defaultdict(list)
    for row, raw in state[SHARES].items():
        rows_of[raw[expense_at]].append(row)
    for expense, rows in rows_of.items():
        if expense not in state[EXPENSES]:
            continue
        total = state[EXPENSES][expense][amount_at]
        if are_level(total, [state[SHARES][row][share_at] for row in rows]):
            for row in rows:
                raw = list(state[SHARES][row])
                raw[share_at] = round(total / len(rows), 2)
                state[SHARES][row] = tuple(raw)


def are_level(total: float, shares: list[float]) -> bool:
    """Whether each share is the equal one rounded up or down, and their sum as near as the engine's."""
    cents, given = round(total * 100), [round(share * 100) for share in shares]
    low, rest = divmod(cents, len(shares))
    is_equal = all(low <= share <= low + (rest > 0) for share in given)
    return is_equal and abs(sum(given) - cents) <= len(shares) / 2


def clean(field: str, value: Any) -> Any:
    """Round floats to cents, sort lists that are sets, blank random file content, drop ignored keys."""
    if isinstance(value, float):
        return round(value, 2)
    if isinstance(value, str) and value.startswith("binary:"):
        return "binary"
    if isinstance(value, dict):
        return {key: clean(key, part) for key, part in value.items() if key not in IGNORED_FIELDS}
    if isinstance(value, list):
        parts = [clean(field, part) for part in value]
        return parts if field in ORDERED_LISTS else sorted(parts, key=digest)
    return value


def digest(value: Any) -> str:
    """Short hash of JSON data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
