"""Small golds and traces for the tests of labels, in the form that the simulator gives."""

from collections.abc import Sequence
from typing import Any

from tasks.suites.base import Call

PREAMBLE = """
passwords = {row["account_name"]: row["password"] for row in apis.supervisor.show_account_passwords()}
me = apis.supervisor.show_profile()

def login(app):
    username = me["phone_number"] if app == "phone" else me["email"]
    return getattr(apis, app).login(username=username, password=passwords[app])["access_token"]

def pages(api, **arguments):
    rows, page_index = [], 0
    while True:
        page = api(page_index=page_index, page_limit=20, **arguments)
        rows += page
        if len(page) < 20:
            return rows
        page_index += 1
"""

PROFILE = {
    "first_name": "Nora",
    "last_name": "Quist",
    "email": "nora.quist@example.com",
    "phone_number": "2065550100",
}


def gold(body: str) -> str:
    """A whole gold: the usual opening, and the body."""
    return PREAMBLE + body


def read(api: str, output: Any, **arguments: Any) -> dict[str, Any]:
    """A call that only read."""
    app, name = api.split(".")
    return {"app": app, "api": name, "arguments": arguments, "output": output, "wrote": False}


def write(api: str, output: Any = None, **arguments: Any) -> dict[str, Any]:
    """A call that changed the state."""
    return read(api, output or {"message": "Done."}, **arguments) | {"wrote": True}


def done(answer: Any = None) -> dict[str, Any]:
    """The completing call."""
    arguments = {} if answer is None else {"answer": answer}
    return write("supervisor.complete_task", **arguments)


def trace(*entries: dict[str, Any], apps: Sequence[str] = ("phone",)) -> list[Call]:
    """The calls of a gold's run: the opening's, a login for each app, then the entries."""
    passwords = [{"account_name": app, "password": "<secret>"} for app in apps]
    opening = [
        read("supervisor.show_account_passwords", passwords),
        read("supervisor.show_profile", PROFILE),
    ]
    for app in apps:
        username = PROFILE["phone_number" if app == "phone" else "email"]
        token = {"access_token": "<secret>", "token_type": "Bearer"}
        opening.append(read(f"{app}.login", token, username=username, password="<secret>"))
    return [Call(n=n, ok=True, **entry) for n, entry in enumerate([*opening, *entries])]


def person(first: str, last: str = "Moor", *relationships: str, **more: Any) -> dict[str, Any]:
    """A contact as the phone app shows it."""
    return {
        "contact_id": sum(map(ord, first + last)),
        "first_name": first,
        "last_name": last,
        "email": f"{first}.{last}@example.com".lower(),
        "relationships": list(relationships),
        **more,
    }
