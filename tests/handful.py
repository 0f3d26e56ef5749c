"""A handful of people behind a few APIs, small enough to run cells of code in this process.

It stands in for the simulator where a test is about the offline model: cells are run for real, what they
print is shown, and what they leave behind is compared.
"""

import contextlib
import io
import traceback
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from tasks.suites.base import Api, Briefing, Description
from tests.golds import PREAMBLE
from warehouse.records import Item

PEOPLE = (
    ("Mona", "roommate"), ("Ivo", "roommate"), ("Lena", "coworker"), ("Paul", "coworker"),
    ("Rosa", "sibling"), ("Timo", "friend"), ("Nils", "friend"), ("Hugo", "parent"),
)  # fmt: skip


class Handful:
    """One session: a state, and the API calls made so far."""

    def __init__(self) -> None:
        self.state: list[tuple[Any, ...]] = []
        self.calls: list[tuple[str, str]] = []
        self.answer: Any = None
        self.done = False
        self._names: dict[str, Any] = {"apis": self._apis()}

    def run(self, code: str) -> str:
        """Runs a cell; what it printed, and the traceback when it raised."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            try:
                exec(compile(code, "cell", "exec"), self._names)
            except Exception:
                print("Execution failed. Traceback:", traceback.format_exc(limit=0))
        return printed.getvalue()

    def _apis(self) -> SimpleNamespace:
        apps = {
            "supervisor": (self.show_account_passwords, self.show_profile, self.complete_task),
            "phone": (self.search_contacts, self.send_text_message),
            "venmo": (self.create_transaction, self.create_payment_request),
            "api_docs": (self.show_app_descriptions, self.show_api_descriptions, self.show_api_doc),
        }
        for app in ("phone", "venmo"):
            apps[app] += (self._login(app),)
        return SimpleNamespace(
            **{
                app: SimpleNamespace(**{api.__name__: self._counted(app, api) for api in apis})
                for app, apis in apps.items()
            }
        )

    def _counted(self, app: str, api: Callable[..., Any]) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            self.calls.append((app, api.__name__))
            token = arguments.pop("access_token", None)
            if api.__name__ not in OPEN and token != f"token-of-{app}":
                raise PermissionError(f"{app}.{api.__name__}: no valid access token")
            return api(**arguments)

        return call

    def _login(self, app: str) -> Callable[..., Any]:
        def login(username: str, password: str) -> dict[str, str]:
            if password != f"secret {app}":
                raise PermissionError("wrong password")
            return {"access_token": f"token-of-{app}", "token_type": "Bearer"}

        return login

    def show_account_passwords(self) -> list[dict[str, str]]:
        return [
            {"account_name": app, "password": f"secret {app}"}
            for app in ("phone", "venmo", "gmail")
        ]

    def show_profile(self) -> dict[str, str]:
        return {"first_name": "Ada", "email": "ada@example.com", "phone_number": "2065550100"}

    def complete_task(self, answer: Any = None) -> None:
        self.answer, self.done = answer, True

    def search_contacts(
        self, relationship: str | None = None, page_index: int = 0, page_limit: int = 5
    ) -> list[dict[str, Any]]:
        rows = [
            {"first_name": name, "email": f"{name.lower()}@example.com", "phone_number": name * 2,
             "relationships": [kind]}
            for name, kind in PEOPLE
            if relationship in (None, kind)
        ]  # fmt: skip
        return rows[page_index * page_limit : (page_index + 1) * page_limit]

    def send_text_message(self, phone_number: str, message: str) -> None:
        self.state.append(("text", phone_number, message))

    def create_transaction(self, receiver_email: str, amount: float, description: str = "") -> None:
        self.state.append(("pay", receiver_email, amount, description))

    def create_payment_request(self, user_email: str, amount: float, description: str = "") -> None:
        self.state.append(("request", user_email, amount, description))

    def show_app_descriptions(self) -> list[str]:
        return ["phone: contacts and messages", "venmo: money"]

    def show_api_descriptions(self, app_name: str) -> list[str]:
        return [f"{app_name} offers things"]

    def show_api_doc(self, app_name: str, api_name: str) -> dict[str, str]:
        return {"app": app_name, "api": api_name, "parameters": "see the world"}


OPEN = frozenset({
    "show_account_passwords", "show_profile", "complete_task", "login",
    "show_app_descriptions", "show_api_descriptions", "show_api_doc",
})  # fmt: skip
"""APIs that want no token."""

DESCRIPTION = Description(
    suite="handful",
    version="1",
    world="handful",
    interaction="code",
    edits=("instruction", "gold"),
    sandbox="none",
    apis=tuple(
        Api(app=app, api=api, description=api, parameters=(*needs, *may), required=needs)
        for app, api, needs, may in (
            ("phone", "search_contacts", ("access_token",), ("relationship", "page_index")),
            ("phone", "send_text_message", ("access_token", "phone_number", "message"), ()),
            (
                "venmo",
                "create_transaction",
                ("access_token", "receiver_email", "amount"),
                ("description",),
            ),
            (
                "venmo",
                "create_payment_request",
                ("access_token", "user_email", "amount"),
                ("description",),
            ),
        )
    ),
    world_summary="Ada, two roommates, two coworkers, two friends, a sibling and a parent.",
)

BRIEFING_OF_ADA = {
    "first_name": "Ada", "last_name": "Orr", "email": "ada@example.com", "phone_number": "2065550100",
}  # fmt: skip


def item(*clauses: tuple[str, str], finish: str = "apis.supervisor.complete_task()") -> Item:
    """An item of sentences and blocks."""
    blocks = [f"# Clause: {sentence}\n{block}\n" for sentence, block in clauses]
    return Item.of(
        suite="handful",
        world="handful",
        start="handful",
        instruction=" ".join(sentence for sentence, _ in clauses),
        gold="\n".join([PREAMBLE, *blocks, f"# Finish\n{finish}\n"]),
        expects_answer="answer=" in finish,
    )


def briefing(instruction: str) -> Briefing:
    """What a solver is told."""
    return Briefing(
        supervisor=BRIEFING_OF_ADA, datetime="2023-05-18T12:00:00", instruction=instruction
    )


def gold_state(one: Item) -> tuple[list[tuple[Any, ...]], Any]:
    """What the gold leaves: the state, sorted, and the answer."""
    session = Handful()
    shown = session.run(one.gold)
    assert session.done, shown
    return sorted(session.state), session.answer


PAY = (
    'Send $12 to each of my roommates on Venmo with the note "Internet".',
    "for roommate in pages(\n"
    '    apis.phone.search_contacts, access_token=login("phone"), relationship="roommate"\n'
    "):\n"
    "    apis.venmo.create_transaction(\n"
    '        access_token=login("venmo"), receiver_email=roommate["email"], amount=12,\n'
    '        description="Internet",\n'
    "    )",
)
TEXT = (
    'Text each of my coworkers "Back at noon.".',
    "for worker in pages(\n"
    '    apis.phone.search_contacts, access_token=login("phone"), relationship="coworker"\n'
    "):\n"
    "    apis.phone.send_text_message(\n"
    '        access_token=login("phone"), phone_number=worker["phone_number"],\n'
    '        message="Back at noon.",\n'
    "    )",
)
FORBID = ("Do not write to anybody else.", "")
COUNT = (
    "How many contacts do I have on my phone?",
    'total = len(pages(apis.phone.search_contacts, access_token=login("phone")))',
)
ANSWER = "apis.supervisor.complete_task(answer=total)"
