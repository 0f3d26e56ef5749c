"""What a simulated proposer can let a user want: start, calls, assertion and sentence of each."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

Document = dict[str, Any]


_CARDS = (
    "Bronze Rewards Card", "Silver Rewards Card", "Gold Rewards Card", "Platinum Rewards Card",
    "Green Rewards Card", "Diamond Elite Card", "EcoCard",
)  # fmt: skip


@dataclass(frozen=True)
class Want:
    """One thing that a user may want."""

    wish: str
    actions: tuple[dict[str, Any], ...]
    start: dict[str, Any] | None = None
    assertion: dict[str, Any] | None = None
    user_tool: str | None = None
    """A tool that the user needs for it, where an item names its user's tools."""

    def touches(self, document: Document) -> bool:
        """Whether the item has anything of it already: an errand, or a fault of the same kind."""
        if self.start is None:
            return any(self._place(document, action) is not None for action in self.actions)
        names = {action["name"] for action in document["actions"]}
        started = {one["func_name"] for one in _starts(document)}
        same = any(action["name"] in names for action in self.actions)
        return same or self.start["func_name"] in started

    def is_in(self, document: Document) -> bool:
        """Whether the item has all of it that would have to go."""
        has = all(self._place(document, action) is not None for action in self.actions)
        return has and (self.start is None or self.start in _starts(document))

    def put_into(self, document: Document) -> Document:
        """The document with it."""
        if self.start is not None:
            state = document.setdefault("initial_state", {})
            state.setdefault("initialization_actions", []).append(self.start)
        document["actions"] = [*document["actions"], *self.actions]
        if self.assertion is not None:
            asserted = document.setdefault("env_assertions", [])
            if self.assertion not in asserted:
                asserted.append(self.assertion)
        if self.user_tool is not None and "user_tools" in document:
            document["user_tools"] = sorted({*document["user_tools"], self.user_tool})
        _say(document, lambda text: f"{text.rstrip()} {self.wish}")
        return document

    def take_out_of(self, document: Document) -> Document:
        """The document without it; an assertion that another one stands beside goes too."""
        for action in self.actions:
            place = self._place(document, action)
            assert place is not None
            del document["actions"][place]
        if self.start is not None:
            _starts(document).remove(self.start)
        asserted = document.get("env_assertions", [])
        if self.assertion in asserted and len(asserted) > 1:
            asserted.remove(self.assertion)
        _say(document, lambda text: text.replace(f" {self.wish}", ""))
        return document

    def _place(self, document: Document, action: dict[str, Any]) -> int | None:
        wanted = (action["name"], action["arguments"])
        for place, one in enumerate(document["actions"]):
            if (one["name"], one["arguments"]) == wanted:
                return place
        return None


def wants_for(document: Document, luck: Random) -> Sequence[Want]:
    """The wants that fit an item: faults of a phone, or errands of a bank's customer whom the gold names."""
    if document.get("env_assertions"):
        return _faults()
    customer = _first(document, "user_id")
    found = [] if customer is None else _errands(customer, document, luck)
    applied = [one for one in document["actions"] if one["name"] == "apply_for_credit_card"]
    return [*found, *_applications(applied, luck)]


@cache
def _faults() -> tuple[Want, ...]:
    text = (files("tasks.llm.simulated.dialogues") / "faults.toml").read_text(encoding="utf-8")
    return tuple(
        Want(
            wish=entry["wish"],
            actions=({"requestor": "user", **entry["remedy"]},),
            start={"env_type": "user", **entry["start"]},
            assertion={"env_type": "user", **entry["assertion"], "assert_value": True},
        )
        for entry in tomllib.loads(text)["fault"]
    )


def _errands(customer: str, document: Document, luck: Random) -> list[Want]:
    """An address to change, and somebody to refer; those that the item has, or drawn ones."""
    box = f"{luck.choice(('desk', 'home', 'post', 'inbox'))}.{luck.randrange(100, 999)}"
    address = _first(document, "new_email") or f"{box}@example.com"
    account = _first(document, "account_type") or luck.choice((*_CARDS, "Blue Account"))
    return [
        Want(
            f"You also want the email address on your account changed to {address}.",
            (_action("change_user_email", {"user_id": customer, "new_email": address}),),
        ),
        Want(
            f"You also want to refer a friend for the {account}, once; you submit the referral yourself "
            "when the agent tells you your user id.",
            (
                _action("submit_referral", {"user_id": customer, "account_type": account})
                | {"requestor": "user"},
            ),
            user_tool="submit_referral",
        ),
    ]


def _applications(applied: Sequence[dict[str, Any]], luck: Random) -> list[Want]:
    """Further cards for who applies for one: those that the item has, and a drawn one."""
    if not applied:
        return []
    first = applied[0]["arguments"]
    cards = [one["arguments"]["card_type"] for one in applied[1:]] + [luck.choice(_CARDS)]
    return [
        Want(
            f"You also want to apply for the {card}, with the same name and annual income.",
            (
                _action("apply_for_credit_card", first | {"card_type": card})
                | {"requestor": "user"},
            ),
            user_tool="apply_for_credit_card",
        )
        for card in cards
        if card != first["card_type"]
    ]


def _first(document: Document, name: str) -> str | None:
    """The first value that the gold gives to an argument; None where it gives none."""
    values = (action["arguments"].get(name) for action in document["actions"])
    return next((str(value) for value in values if value), None)


def _action(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"requestor": "assistant", "name": name, "arguments": arguments}


def _starts(document: Document) -> list[dict[str, Any]]:
    return (document.get("initial_state") or {}).get("initialization_actions") or []


def _say(document: Document, change: Callable[[str], str]) -> None:
    """Changes what the user is told to want."""
    told = document["user_scenario"]["instructions"]
    if isinstance(told, str):
        document["user_scenario"]["instructions"] = change(told)
    else:
        told["reason_for_call"] = change(told["reason_for_call"])
