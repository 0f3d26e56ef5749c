"""Rows of an AppWorld state, reduced to what counts when two states are compared.

Standard library only: this text becomes part of the `evaluation.py` of every evolved item, which stock
AppWorld must be able to import without Turtle (see `ground_truth.evaluation_source`).
"""

import hashlib
import json
import re
from collections.abc import Iterator
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
DERIVED_RATINGS = {
    *("spotify.Song.rating", "spotify.Album.rating", "spotify.Playlist.rating"),
    *("amazon.Product.rating", "amazon.Product.seller_rating", "amazon.Seller.rating"),
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

    def read(self, collection: Any) -> dict[int, tuple]:
        """Raw rows of a state (an engine's ModelCollection) as {id: values in the order of fields}."""
        connection = collection[self.app].SQLModel.db.connection
        return {row[0]: row[1:] for row in connection.execute(self.sql)}

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


def plain(text: str) -> str:
    """A text without differences of case and spacing, and without a full stop at its end."""
    return " ".join(text.casefold().split()).rstrip(".")


def numbers(text: str) -> list[float]:
    """Distinct numbers of a text, sorted; the counters of a numbered list are not among them."""
    text = re.sub(r"(?m)^\s*\d+[.)]\s+", "", text)
    found = re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", text)
    return sorted({round(float(number.replace(",", "")), 2) for number in found})


def mentions(text: str, name: str) -> bool:
    """Whether a text holds a name as whole words, in the same case."""
    return name in text and bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))


def digest(value: Any) -> str:
    """Short hash of JSON data."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]
