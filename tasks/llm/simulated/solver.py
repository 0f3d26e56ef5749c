"""The simulated solver: plays an item's gold through the turns that a model needs, with slips.

It is asked turn by turn and remembers nothing: which turn it is, it counts in the conversation. It plays a
clause only where the conversation shows its sentence, and logs in only with the passwords and tokens that
the conversation shows; blank the instruction or the observations, and it solves nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from tasks.llm.base import Message, Request
from tasks.llm.simulated.dice import dice
from tasks.llm.simulated.program import Clause, Program, parsed, take_apart
from tasks.llm.simulated.skills import chance, clause_strain, item_logit
from tasks.llm.simulated.slips import KINDS, slip, stumble, wrong_answer
from warehouse.records import Item

_SHOWN_WORDS = 0.6
"""Share of a sentence's words that the prompt has to show, for the solver to act on it."""
_STUMBLES = 0.12
"""Chance that a block is first tried with an API that does not exist; the solver mends it."""
_NEVER_ENDS = 0.05
"""Share of the attempts that fail, which read documents until a limit stops them."""
_WRONG_ANSWERS = 0.4
"""Share of the slips on an item with a question that are made in the answer itself."""
_KIND_WEIGHTS = (30, 28, 20, 14, 8)

_PASSWORD = re.compile(
    r"""["']account_name["']\s*:\s*["'](\w+)["']\s*,\s*["']password["']\s*:\s*["']([^"'\n]+)["']"""
)
_TOKEN = re.compile(r"""["'](\w+)_token["']\s*:\s*["']([^"'\n]+)["']""")

_HELPERS = """\
me = apis.supervisor.show_profile()

def login(app):
    return tokens[app]

def pages(api, **arguments):
    rows, page_index = [], 0
    while True:
        page = api(page_index=page_index, page_limit=20, **arguments)
        rows += page
        if len(page) < 20:
            return rows
        page_index += 1
"""
"""What the solver defines for itself before it acts. `passwords` and `tokens` are copied in above it."""


@dataclass(frozen=True)
class Shown:
    """What a conversation shows."""

    prompt: str
    observations: tuple[str, ...]
    turn: int
    """How many replies were given already."""

    @property
    def passwords(self) -> dict[str, str]:
        """Passwords by app, as observed."""
        return dict(_PASSWORD.findall("\n".join(self.observations)))

    @property
    def tokens(self) -> dict[str, str]:
        """Access tokens by app, as observed."""
        return dict(_TOKEN.findall("\n".join(self.observations)))

    def says(self, sentence: str) -> bool:
        """Whether the prompt shows (most of) a sentence."""
        words = re.findall(r"\w+", sentence.lower())
        shown = set(re.findall(r"\w+", self.prompt.lower()))
        return bool(words) and sum(word in shown for word in words) >= _SHOWN_WORDS * len(words)


def solve(request: Request, item: Item | None, rng_seed: int) -> str:
    """The solver's next reply."""
    shown = _shown(request.messages)
    subject = request.subject
    luck = dice(rng_seed, "solver", subject.item_id, subject.measurement, subject.repeat)
    gold = item.gold if item else None
    program = Program("", (), "") if gold is None else take_apart(gold, item.instruction)
    logit = item_logit(program, item.instruction if item else "")
    fails = luck.random() >= chance(logit)
    reading = _reading_turns(program, shown)
    if shown.turn < len(reading):
        return _turn(*reading[shown.turn])
    if fails and luck.random() < _NEVER_ENDS:
        return _turn("I want to be sure and read on.", _endless(program, shown.turn))
    program = _with_slips(program, logit, luck) if fails else program
    acting = _acting_turns(program, shown, luck)
    at = shown.turn - len(reading)
    return _turn(*acting[at]) if at < len(acting) else "I have done what I could and stop here."


def _shown(messages: Sequence[Message]) -> Shown:
    turn = sum(message.role == "assistant" for message in messages)
    heard = [message.content for message in messages if message.role in ("user", "tool")]
    # The first message of the supervisor is the task; the static part says nothing about it.
    return Shown(heard[0] if heard else "", tuple(heard[1:]), turn)


def _reading_turns(program: Program, shown: Shown) -> list[tuple[str, str]]:
    """(thought, code) of the turns that find out how the apps are used and log in."""
    apps = program.apps
    apis = list(dict.fromkeys(api for clause in program.clauses for api in clause.apis))
    logins = "\n".join(_login(app, shown.passwords.get(app, "")) for app in program.logins)
    return [
        ("First I look at which apps there are.", "print(apis.api_docs.show_app_descriptions())"),
        (
            f"I will need {', '.join(apps) or 'no app'}.",
            f"for app in {apps!r}:\n    print(apis.api_docs.show_api_descriptions(app_name=app))",
        ),
        (
            "I read the documents of the APIs that I want to use.",
            f"for app, api in {apis!r}:\n"
            "    print(apis.api_docs.show_api_doc(app_name=app, api_name=api))",
        ),
        (
            "Now the accounts.",
            "print(apis.supervisor.show_profile())\nprint(apis.supervisor.show_account_passwords())",
        ),
        (
            "I log in.",
            f"me = apis.supervisor.show_profile()\ntokens = {{}}\n{logins}\nprint(tokens)",
        ),
    ]


def _login(app: str, password: str) -> str:
    username = "phone_number" if app == "phone" else "email"
    return (
        f"tokens[{app + '_token'!r}] = apis.{app}.login("
        f"username=me[{username!r}], password={password!r})['access_token']"
    )


def _acting_turns(program: Program, shown: Shown, luck: Random) -> list[tuple[str, str]]:
    """(thought, code) of the turns that act: a cell for each clause that is shown, then the end."""
    known = shown.passwords and all(app in shown.tokens for app in program.logins)
    blocks = [one for one in program.clauses if known and shown.says(one.sentence)]
    turns: list[tuple[str, str]] = []
    tokens = {app: shown.tokens.get(app) for app in program.logins}
    opening = (
        f"passwords = {shown.passwords!r}\ntokens = {tokens!r}\n{_HELPERS}\n{program.own_setup}\n"
    )
    for clause in blocks:
        if parsed(clause.block) is None or clause.is_empty:
            continue
        if luck.random() < _STUMBLES:
            turns.append((f"Next: {clause.sentence}", stumble(clause.block, luck)))
            turns.append(("That API does not exist; I use the right one.", opening + clause.block))
        else:
            turns.append((f"Next: {clause.sentence}", opening + clause.block))
        opening = ""
    finish = program.finish if turns and program.finish else "apis.supervisor.complete_task()"
    turns.append(("All is done.", finish))
    return turns


def _with_slips(program: Program, logit: float, luck: Random) -> Program:
    """The program with a slip, two where the item is far beyond the solver; the hardest clauses first."""
    clauses = list(program.clauses)
    finish = wrong_answer(program.finish)
    if finish is not None and luck.random() < _WRONG_ANSWERS:
        return Program(program.preamble, program.clauses, finish)
    for _ in range(1 if logit > -1.5 else 2):
        places = [n for n, one in enumerate(clauses) if not one.is_empty]
        weights = [0.05 + clause_strain(clauses[n]) for n in places]
        if not places:
            break
        at = luck.choices(places, weights)[0]
        clauses[at] = Clause(clauses[at].sentence, _slipped(clauses[at].block, luck))
    return program.with_clauses(tuple(clauses))


def _slipped(block: str, luck: Random) -> str:
    """The block with a slip of a drawn kind, or of the next kind that it offers a place for."""
    first = luck.choices(range(len(KINDS)), _KIND_WEIGHTS)[0]
    for kind in (*KINDS[first:], *KINDS[:first]):
        changed = slip(block, kind, luck)
        if changed is not None:
            return changed
    return block


def _endless(program: Program, turn: int) -> str:
    apis = [api for clause in program.clauses for api in clause.apis] or [
        ("supervisor", "show_profile")
    ]
    app, api = apis[turn % len(apis)]
    return f"print(apis.api_docs.show_api_doc(app_name={app!r}, api_name={api!r}))"


def _turn(thought: str, code: str) -> str:
    return f"{thought}\n\n```python\n{code.strip()}\n```"
