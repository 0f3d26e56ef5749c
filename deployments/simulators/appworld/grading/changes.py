"""What a run changed in an AppWorld state, labelled by content instead of ids.

Ids never count: a new row is known by its content, by the rows it points to and by the new rows that point
to it. So is an old row, except that its id counts where rows that were left as they were point to it: two
playlists may swap their titles, but not if they hold songs. What was undone leaves no effect, whatever
calls undid it, and a row that was deleted and made again with what hangs on it is the old row. Text of
`evaluation.py`, like `rows`.

A policy says how the runs of one item are compared:
`{"ignored": [tables, and fields as table.field], "notifications": [tables whose old rows count],
"texts": {table.field: rule of texts.Texts}}`.
"""

from collections import Counter, defaultdict
from typing import Any

from grading.rows import (
    DERIVED_FIELDS,
    ORDERED_LISTS,
    Content,
    Key,
    State,
    Table,
    digest,
    read_schema,
)
from grading.texts import Texts

Effect = dict[str, Any]
Policy = dict[str, Any]

OPEN_POLICY: Policy = {"ignored": [], "notifications": [], "texts": {}}
ROUNDS = 4  # the longest chain of new rows: attachment, mail, thread, a user's view of the thread
SECRET_FIELDS = {"password", "card_number", "cvv_number"}
ADDRESS_FIELDS = {"email", "phone_number", "payer_email", "receiver_email"}
NAMING_FIELDS = ("email", "phone_number", "title", "name", "path", "subject", "description")


def read_changes(models: Any, policy: Policy) -> "Changes":
    """Compare the two states of an engine's ModelCollectionPair; the engine is left at the end state."""
    return Changes(*read_states(models), policy)


def read_states(models: Any) -> tuple[dict[str, Table], State, State]:
    """Tables, start and end of an engine's ModelCollectionPair; the engine is left at the end state.

    One class of the engine serves both states: asking for a side gives it the connections of that side.
    """
    start_models = models.start
    tables = {table.name: table for table in read_schema(start_models)}
    return tables, State(tables, start_models), State(tables, models.end)


class Changes:
    """The difference of two states.

    `gone` and `new` map (table, id) to the content before and after; a changed row is in both.
    """

    def __init__(self, tables: dict[str, Table], start: State, end: State, policy: Policy) -> None:
        """Compare `start` and `end`."""
        self.tables, self.start, self.end, self.policy = tables, start, end, policy
        self.ignored = DERIVED_FIELDS | set(policy["ignored"])
        self.gone: dict[Key, Content] = {}
        self.new: dict[Key, Content] = {}
        self.same: dict[Key, Key] = {}
        """A row that was made again: the row that it replaces."""
        self.texts = Texts(tables, start, policy["texts"])
        for name in tables:
            if name not in self.ignored and start.differs(end, name):
                self._collect(name)
        self._drop_noise()
        self.referred = self._find_referred()
        self._cancel()
        while self._find_remade():
            self._cancel()

    def _collect(self, name: str) -> None:
        table, start, end = self.tables[name], self.start[name], self.end[name]
        for row in start.keys() | end.keys():
            if start.get(row) == end.get(row):
                continue
            before = table.content(start[row], self.ignored) if row in start else None
            after = table.content(end[row], self.ignored) if row in end else None
            if before != after and before is not None:
                self.gone[name, row] = before
            if before != after and after is not None:
                self.new[name, row] = after

    def _drop_noise(self) -> None:
        """Drop what nobody asks for and nobody can avoid: notices of the apps, rows undone softly."""
        for key in [key for key in self.gone if self._is_unasked_notification(key)]:
            del self.gone[key]
            self.new.pop(key, None)
        notifiers = self._find_notifiers()
        added = [key for key in self.new if key not in self.gone]
        dropped = {key for key in added if self._is_noise(key, notifiers)}
        size = -1
        while size != len(dropped):
            size = len(dropped)
            dropped |= {key for key in added if self._hangs_on(key, dropped)}
        self.new = {key: content for key, content in self.new.items() if key not in dropped}
        for content in self.new.values():
            if "email_ids" in content:
                mails = [row for row in content["email_ids"] if ("gmail.Email", row) not in dropped]
                content["email_ids"] = mails

    def _is_unasked_notification(self, key: Key) -> bool:
        return key[0].endswith(".Notification") and key[0] not in self.policy["notifications"]

    def _find_notifiers(self) -> set[tuple[str, int]]:
        """Accounts that the apps themselves write from, as (app, user id)."""
        found = set()
        for name, table in self.tables.items():
            if name.endswith(".User"):
                at = table.fields.index("last_name")
                rows = self.end[name].items()
                found |= {(table.app, row) for row, raw in rows if raw[at] == "Notifications"}
        return found

    def _is_noise(self, key: Key, notifiers: set[tuple[str, int]]) -> bool:
        content, app = self.new[key], key[0].split(".")[0]
        if key[0].endswith(".Notification") or content.get("deleted") is True:
            return True
        if key[0] == "spotify.MusicPlayer":  # the engine makes it when the player is first read
            is_default = content["volume"] == 5 and not content["is_looping"]
            return is_default and not content["queue_song_ids"]
        return any((app, content.get(field)) in notifiers for field in ("sender_id", "user_id"))

    def _hangs_on(self, key: Key, dropped: set[Key]) -> bool:
        """Whether a new row is part of a dropped one; a reply is not part of what it answers."""
        pointed = list(self.tables[key[0]].pointed(self.new[key]))
        mails = {target for field, target in pointed if field == "email_ids"}
        wholes = {
            target
            for field, target in pointed
            if field not in ("email_ids", "response_to_email_id")
        }
        return bool(wholes & dropped) or bool(mails and mails <= dropped)

    def _find_referred(self) -> set[Key]:
        """Changed and removed rows to which old rows still point: their id counts."""
        found: set[Key] = set()
        apps = {name.split(".")[0] for name, _ in self.gone}
        for name, table in self.tables.items():
            links = [(table.fields.index(field), target) for field, target in table.links.items()]
            if table.app in apps and links:
                for row, raw in self.start[name].items():
                    left = self.end[name].get(row)
                    found.update(
                        (target, raw[at])
                        for at, target in links
                        if isinstance(raw[at], int) and left is not None and left[at] == raw[at]
                    )
        return found & self.gone.keys()

    def _cancel(self) -> None:
        """Let rows that are gone and new rows of the same content cancel out, parents first.

        A row that is back points to what it pointed to, so that the id of that counts too.
        """
        matched = True
        while matched:
            matched = False
            free: dict[str, list[Key]] = defaultdict(list)
            for key in sorted(self.gone):
                free[self._signature(key, self.gone[key])].append(key)
            for key in sorted(self.new):
                twins = free[self._signature(key, self.new[key])]
                if twins:
                    self.same[key] = twin = twins.pop(0)
                    pointed = self.tables[twin[0]].pointed(self.gone[twin])
                    self.referred |= {target for _, target in pointed} & self.gone.keys()
                    del self.gone[twin], self.new[key]
                    matched = True
        self.referred &= self.gone.keys()

    def _find_remade(self) -> bool:
        """Find a removed row that was made again with other content, by what hangs on both.

        The new row then stands for the removed one, changed. Of several the one that shares most does.
        """
        removed = {key for key in self.gone if key not in self.new and key not in self.referred}
        old_parts = self._parts(self.gone, removed)
        new_parts = self._parts(self.new, {key for key in self.new if self._is_added(key)})

        def rank(pair: tuple[Key, Key]) -> tuple:
            old, new = pair
            shared = old_parts[old] & new_parts[new]
            return shared.total(), self._signature(new, self.new[new], {}), old, new

        pairs = [(old, new) for old in old_parts for new in new_parts if old[0] == new[0]]
        best = max(pairs, key=rank, default=None)
        if best is None or not rank(best)[0]:
            return False
        old, new = best
        self.same[new] = old
        self.new[old] = self.new.pop(new)
        self.referred.add(old)
        return True

    def _parts(self, rows: dict[Key, Content], wholes: set[Key]) -> dict[Key, Counter]:
        """What hangs on each of some rows: the contents of the rows that point to it."""
        found: dict[Key, Counter] = defaultdict(Counter)
        for key, content in rows.items():
            for field, target in self.tables[key[0]].pointed(content):
                if target in wholes:
                    rest = {name: value for name, value in content.items() if name != field}
                    found[target][f"{field} {self._signature(key, rest)}"] += 1
        return found

    def _signature(
        self,
        key: Key,
        content: Content,
        labels: dict[Key, str] | None = None,
        by_policy: bool = False,
    ) -> str:
        """Hash of a row's content; new rows that it points to count by label where there are labels."""
        table = self.tables[key[0]]
        parts: Content = {"table": key[0], "id": key[1] if key in self.referred else None}
        for field, value in content.items():
            if field in table.links and value is not None:
                rows = value if isinstance(value, list) else [value]
                value = [self._point((table.links[field], row), labels) for row in rows]
                parts[field] = value if field in ORDERED_LISTS else sorted(value)
            elif by_policy:
                parts[field] = self.texts.form(f"{key[0]}.{field}", value)
            else:
                parts[field] = value
        return digest(parts)

    def _point(self, key: Key, labels: dict[Key, str] | None) -> str:
        """What a link says: a label where there are labels; without any (`{}`), no id of an added row."""
        key = self.same.get(key, key)
        if labels and self._is_new(key):
            return f"new {labels[key]}"
        if not self._is_added(key):
            return f"old {key[1]}"
        return "new" if labels is not None else f"new {key[1]}"

    def _is_added(self, key: Key) -> bool:
        return key in self.new and key[1] not in self.start[key[0]]

    def _is_new(self, key: Key) -> bool:
        """Whether a row is known by its content: it is added, or changed and no old row points to it."""
        return key in self.new and key not in self.referred

    def _labels(self) -> dict[Key, str]:
        labels = dict.fromkeys(self.new, "")
        for _ in range(ROUNDS):
            pointing: dict[Key, list[str]] = defaultdict(list)
            for key, content in self.new.items():
                for field, target in self.tables[key[0]].pointed(content):
                    target = self.same.get(target, target)
                    if self._is_new(target):
                        pointing[target].append(f"{key[0]}.{field} {labels[key]}")
            labels = {
                key: digest([self._signature(key, content, labels, True), sorted(pointing[key])])
                for key, content in self.new.items()
            }
        return labels

    def effects(self) -> list[Effect]:
        """The effects as JSON data, for people and for `item_tests.compare`.

        `gone` and `new` are the labels of the row before and after; `own` is `new` without what the
        row's neighbours add to it.
        """
        labels = self._labels()
        found = []
        for key in sorted(self.gone.keys() | self.new.keys()):
            effect = self._effect(key)
            if key in self.new:
                effect["new"] = labels[key]
                effect["own"] = self._signature(key, self.new[key], {}, by_policy=True)
            found.append(effect)
        return found

    def _effect(self, key: Key) -> Effect:
        before, after = self.gone.get(key), self.new.get(key)
        if before is None or after is None:
            change, fields = ("added" if before is None else "removed"), list(after or before or {})
        else:
            change, fields = "changed", [field for field in after if before[field] != after[field]]
        links = self.tables[key[0]].links
        shown = [f for f in fields if change == "changed" or (after or before)[f] not in (None, "")]
        return {
            "table": key[0],
            "change": change,
            "row": None if change == "added" else key[1],
            "content": {f: self._readable(key[0], f, after[f]) for f in shown} if after else {},
            "before": {f: self._readable(key[0], f, before[f]) for f in shown} if before else {},
            "references": [f for f in shown if f in links or f in ADDRESS_FIELDS],
            "gone": self._signature(key, before) if before else None,
            "new": None,
            "own": None,
        }

    def _readable(self, name: str, field: str, value: Any) -> Any:
        target = self.tables[name].links.get(field)
        if field in SECRET_FIELDS:
            return "<secret>"
        if target is None or value is None:
            return value
        if isinstance(value, list):
            return [self._name((target, row)) for row in value]
        return self._name((target, value))

    def _name(self, key: Key) -> str:
        """A row in words, such as "12 ann@mail.com"; a new row is only "new Email"."""
        name, row = key
        raw = self.start[name].get(row)
        if raw is None:
            return f"new {name.split('.')[1]}"
        values = dict(zip(self.tables[name].fields, raw, strict=True))
        words = next((values[field] for field in NAMING_FIELDS if values.get(field)), "")
        return f"{row} {words}".strip()
