"""Seeds as records, read from the Markdown files of this folder.

One file is one seed: a title (its name), a few `key: value` lines, then clauses, each a quoted
sentence of the instruction and the block of the gold that does what it asks, and at last the block
that finishes.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

PREAMBLE = """\
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
"""The opening of every gold, word for word the same."""

_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Clause:
    """One sentence of an instruction and the code that does what it asks."""

    sentence: str
    block: str
    """Python text without the heading comment; empty where nothing has to be done."""


@dataclass(frozen=True)
class Seed:
    """An item of ours: what is asked by whom and when, and one right way to do it."""

    name: str
    """Lower-case letters and digits; the engine's task id is `<name>_1`."""
    supervisor: str
    """First name of the resident who asks."""
    moment: datetime
    """What the engine's clock shows."""
    intended_difficulty: int
    """1 (easy) to 3 (hard), as meant by the author."""
    expects_answer: bool
    """True where complete_task must carry an answer."""
    clauses: tuple[Clause, ...]
    finish: str
    """The gold's last block, which calls complete_task."""

    @property
    def task_id(self) -> str:
        """The engine's name of the seed."""
        return f"{self.name}_1"

    @property
    def instruction(self) -> str:
        """The sentences joined by one space."""
        return " ".join(clause.sentence for clause in self.clauses)

    @property
    def gold(self) -> str:
        """The gold program: preamble, a headed block per clause, finish."""
        parts = [PREAMBLE]
        parts += [f"# Clause: {clause.sentence}\n{clause.block}" for clause in self.clauses]
        return "\n".join([*parts, f"# Finish\n{self.finish}"])


def read_seeds(folder: Path = Path(__file__).parent) -> list[Seed]:
    """Reads all seeds of a folder, ordered by name.

    Raises:
        ValueError: a file is not written as the module says; the message names it.
    """
    return [_read_seed(path) for path in sorted(folder.glob("*.md"))]


def _read_seed(path: Path) -> Seed:
    title, *sections = re.split(r"^(?=> )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    name = title.splitlines()[0].removeprefix("# ").strip()
    fields = dict(re.findall(r"^- (\w[\w ]*): (.+)$", title, flags=re.MULTILINE))
    if name != path.stem or not re.fullmatch(r"[a-z][a-z0-9]*", name) or not sections:
        raise ValueError(
            f"{path.name}: wants the title '# {path.stem}' and clauses that open with '> '"
        )
    clauses = []
    for section in sections:
        sentence, _, rest = section.partition("\n\n")
        blocks = _BLOCK.findall(rest)
        sentence = " ".join(line.removeprefix("> ").strip() for line in sentence.splitlines())
        is_last = section is sections[-1]
        if len(blocks) not in ((1, 2) if is_last else (0, 1)):
            raise ValueError(
                f"{path.name}: one block a clause and one to finish, not so at '{sentence}'"
            )
        clauses.append(Clause(sentence, "".join(blocks[: -1 if is_last else None])))
    try:
        return Seed(
            name=name,
            supervisor=fields["supervisor"],
            moment=datetime.fromisoformat(fields["moment"]),
            intended_difficulty=int(fields["difficulty"]),
            expects_answer={"yes": True, "no": False}[fields["asks a question"]],
            clauses=tuple(clauses),
            finish=blocks[-1],
        )
    except KeyError as missing:
        raise ValueError(
            f"{path.name}: the line '- {missing.args[0]}: ...' is missing"
        ) from missing
