"""Messages for each role, made from records.

A role's prompt is one Markdown file in tasks/prompts: sections that open with `<!-- section: name -->`.
The section "system" is static and comes first, so that a provider can cache it; the others hold
placeholders `{{name}}`, which are checked against `_PLACEHOLDERS` when the file is loaded. Values are
rendered here and nowhere else; a value may hold anything, also `{{...}}` and fences.

A prompt holds at most its spec's `context_chars`. What does not fit goes in the order that stands in
`_CUT_ORDER`; how low a part can go stands where its levels are made. Each cut leaves a mark in the text.
"""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Protocol

from tasks.errors import InputError
from tasks.llm.attempts_shown import differences_of, traces_of
from tasks.llm.base import DEFAULT_CONTEXT_CHARS, Completion, Message
from tasks.llm.context import Prompt, cut, fit
from tasks.llm.gold_runs import MAX_RESULT_CHARS, gold_run_text
from tasks.llm.rendering import api_list, attempt_line, fenced, item_text
from tasks.suites.base import Api, Briefing, Description
from warehouse.records import Attempt, Direction, GoldCall, Item, Turn, digest_of

_SECTION = re.compile(r"^<!-- section: (\w+) -->\n", re.MULTILINE)
_APP = re.compile(r"\bapis\.(\w+)\.")
_API = re.compile(r"\bapis\.(\w+\.\w+)")
_PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}")

_PLACEHOLDERS: dict[str, dict[str, frozenset[str]]] = {
    "proposer": {
        "system": frozenset(),
        "user": frozenset(
            {
                "world_summary",
                "edits",
                "apis",
                "inspirations",
                "item",
                "gold_run",
                "survey",
                "note",
                "direction",
            }
        ),
        "repair": frozenset({"error"}),
    },
    "solver": {
        "system": frozenset(),
        "user": frozenset({"suite", "supervisor", "datetime", "instruction"}),
        "observation": frozenset({"output"}),
    },
    "feedback": {"system": frozenset(), "user": frozenset({"item", "summary", "trajectories"})},
    "judge": {"system": frozenset(), "user": frozenset({"item", "failures"})},
    "labeller": {"system": frozenset(), "user": frozenset({"definitions", "item"})},
}
_PLACEHOLDERS |= {
    f"dialogue_{role}": _PLACEHOLDERS[role]
    for role in ("proposer", "feedback", "judge", "labeller")
}
"""The sections that each role's file has, with the placeholders that each of them has."""

_DIRECTIONS: dict[Direction, str] = {
    "harder": "Make the item harder: the agent should solve it clearly less often than the one above, for "
    "a reason that lies in what must be found, understood or decided, not in its length.",
    "easier": "Make the item easier: the agent should solve it clearly more often than the one above. Take "
    "something away, or say something more plainly; it must still ask for a change or an answer.",
    "sideways": "Make a different item that is about as hard as the one above: change who, what, how much or "
    "which app it is about, so that a right result differs.",
}
"""The directions of an edit in plain words. None of them names a label (design.md, D14)."""

MAX_FULL_FAILURES = 4
"""Failed attempts that a feedback prompt shows in full; the others have a line each."""

MAX_JUDGED_FAILURES = 6
"""Failed attempts whose difference a judge is shown; distinct differences come first."""

MAX_ERROR_CHARS = 3_000
"""Length to which the error that a proposer is shown is cut."""

_CUT_ORDER: dict[str, tuple[str, ...]] = {
    "proposer": (
        "survey", "inspirations", "gold_run", "inspirations", "apis", "survey", "gold_run", "note",
        "world_summary", "apis", "apis", "apis", "gold_run",
    ),
    "feedback": ("trajectories",) * 4 + ("item", "summary"),
    "judge": ("failures",) * 3 + ("item",),
    "labeller": ("item",),
}  # fmt: skip
"""Which part of a role's prompt goes down a level next, when the prompt is too long. What the solver's
conversation loses stands in `tasks.llm.context.shortened`."""

_TRACE_LEVELS = ((4, 1, 12_000), (3, 0, 8_000), (2, 0, 4_000), (1, 0, 2_000))
"""A feedback prompt's levels: failed attempts and solved ones in full, and the length of each."""

_GOLD_REST = 4_000
"""Characters that stay of an item's gold, where the item itself has to be cut."""


class Definition(Protocol):
    """A label as tasks/labels/labels.toml defines it."""

    id: str
    name: str
    holds_when: str


def load_prompt(role: str, text: str | None = None) -> dict[str, str]:
    """The sections of a role's prompt by name.

    Args:
        role: A key of the closed list of roles that have a prompt file.
        text: What to read instead of the role's file.

    Raises:
        InputError: the role has no prompt, or the text lacks a section or a placeholder, or has one
            that nothing fills.
    """
    if role not in _PLACEHOLDERS:
        raise InputError(f"role '{role}' has no prompt; there are {', '.join(_PLACEHOLDERS)}")
    _, *parts = _SECTION.split(prompt_text(role) if text is None else text)
    sections = dict(zip(parts[::2], (part.strip() for part in parts[1::2]), strict=True))
    wanted = _PLACEHOLDERS[role]
    if set(sections) != set(wanted):
        raise InputError(
            f"tasks/prompts/{role}.md: wants the sections {sorted(wanted)}, has {sorted(sections)}"
        )
    for name, section in sections.items():
        found = set(_PLACEHOLDER.findall(section))
        if found != wanted[name]:
            raise InputError(
                f"tasks/prompts/{role}.md, section '{name}': unknown placeholders "
                f"{sorted(found - wanted[name])}, missing {sorted(wanted[name] - found)}"
            )
    return sections


@cache
def prompt_text(role: str) -> str:
    """The text of a role's prompt file."""
    return (files("tasks") / "prompts" / f"{role}.md").read_text(encoding="utf-8")


def prompt_hash(role: str) -> str:
    """Hash of a role's prompt file, for the keys of the units that depend on it."""
    return digest_of(prompt_text(role))


def proposer_prompt(
    parent: Item,
    description: Description,
    direction: Direction,
    note: str | None,
    inspirations: Sequence[Item],
    gold_calls: Sequence[GoldCall] = (),
    survey: str | None = None,
    context_chars: int = DEFAULT_CONTEXT_CHARS,
) -> Prompt:
    """Asks for an edit of `parent`, in the form of the suite's interaction.

    Parts that a campaign repeats (world, APIs) come before the rest. `gold_calls` are those of the parent's
    gold; `survey` is what its start shows. From both a proposer knows the facts that an edit can stand on.
    """
    found = (survey or "").strip() or "(not known)"
    told = note.strip() if note and note.strip() else "(nothing yet)"
    summary = description.world_summary.strip()
    form = description.interaction
    return _fitted(
        named("proposer", form),
        context_chars,
        world_summary=[summary, cut(summary, 1_000)],
        edits=[", ".join(description.edits)],
        apis=_api_levels(description.apis, parent, inspirations),
        inspirations=[
            _borrowed(inspirations[:n], len(inspirations), form) for n in (len(inspirations), 1, 0)
        ],
        item=[item_text(parent, form)],
        gold_run=[
            fenced("text", gold_run_text(gold_calls, chars))
            for chars in (MAX_RESULT_CHARS, 300, 80)
        ]
        + ["(left out: too long)"],
        survey=[
            fenced("text", found),
            fenced("text", _short_lines(found, 200)),
            "(left out: too long)",
        ],
        note=[told, cut(told, 600)],
        direction=[_DIRECTIONS[direction]],
    )


def named(role: str, interaction: str) -> str:
    """The name of a role's prompt file for suites that are acted in so."""
    return role if interaction == "code" else f"{interaction}_{role}"


def repair_messages(
    reply: Completion, error: str, interaction: str = "code"
) -> tuple[Message, Message]:
    """How a proposer's conversation goes on: its reply, what was wrong with it, and another try."""
    shown = fenced("text", cut(error, MAX_ERROR_CHARS))
    text = _fill(load_prompt(named("proposer", interaction))["repair"], error=shown)
    return _spoken(reply), Message(role="user", content=text)


def ask_again(reply: Completion, error: str) -> tuple[Message, Message]:
    """How a judge's or labeller's conversation goes on when its reply could not be read."""
    text = f"Your reply could not be used: {error}\n\nReply again with the one JSON object and nothing else."
    return _spoken(reply), Message(role="user", content=text)


def solver_messages(briefing: Briefing, suite_name: str) -> tuple[Message, ...]:
    """Opens an attempt: who acts how, and the task. The instruction stands in it as it is."""
    who = briefing.supervisor
    names = " ".join(who[key] for key in ("first_name", "last_name") if key in who)
    rest = [
        f"{key.replace('_', ' ')} {who[key]}" for key in ("email", "phone_number") if key in who
    ]
    sections = load_prompt("solver")
    user = _fill(
        sections["user"],
        suite=suite_name,
        supervisor=", ".join([names, *rest]),
        datetime=briefing.datetime,
        instruction=briefing.instruction,
    )
    return (
        Message(role="system", content=sections["system"]),
        Message(role="user", content=user),
    )


def observation_message(text: str) -> Message:
    """What a solver's action showed, as its next message."""
    shown = text.rstrip("\n") or "(nothing was printed)"
    output = fenced("text", shown)
    return Message(role="user", content=_fill(load_prompt("solver")["observation"], output=output))


def feedback_prompt(
    item: Item,
    trajectories: Sequence[tuple[Attempt, Sequence[Turn]]],
    context_chars: int = DEFAULT_CONTEXT_CHARS,
    interaction: str = "code",
) -> Prompt:
    """Asks for a note on an item's attempts.

    Every attempt has a line. In full are shown the first failed attempt of each cause and difference,
    then further failed ones, at most `MAX_FULL_FAILURES`, and the shortest solved one; how a long one is
    cut stands in `tasks.llm.traces`.
    """
    summary = "\n".join(f"- {attempt_line(attempt)}" for attempt, _ in trajectories)
    levels = [traces_of(trajectories, *level) for level in _TRACE_LEVELS]
    return _fitted(
        named("feedback", interaction),
        context_chars,
        item=_item_levels(item, interaction),
        summary=[summary or "(none)", f"({len(trajectories)} attempts, not listed: too long)"],
        trajectories=[*levels, "(no attempt is shown in full: too long)"],
    )


def judge_prompt(
    item: Item,
    failures: Sequence[Attempt],
    context_chars: int = DEFAULT_CONTEXT_CHARS,
    interaction: str = "code",
    turns: Sequence[Turn] = (),
) -> Prompt:
    """Asks whether an item is sound, given its failed attempts (at most `MAX_JUDGED_FAILURES`).

    `turns`: those of the failures, of whose ends the judge of a dialogue is shown the last turns.
    """
    counts = (MAX_JUDGED_FAILURES, 3, 1, 0)
    return _fitted(
        named("judge", interaction),
        context_chars,
        item=_item_levels(item, interaction),
        failures=[differences_of(failures, count, turns) for count in counts],
    )


def labeller_prompt(
    item: Item,
    features: Sequence[Definition],
    context_chars: int = DEFAULT_CONTEXT_CHARS,
    interaction: str = "code",
) -> Prompt:
    """Asks which of the defined labels hold for an item."""
    lines = [f"- {one.id} ({one.name}): {one.holds_when}" for one in features]
    return _fitted(
        named("labeller", interaction),
        context_chars,
        definitions=["\n".join(lines)],
        item=_item_levels(item, interaction),
    )


def _fitted(role: str, context_chars: int, **levels: Sequence[str]) -> Prompt:
    """The role's conversation with each part at the highest level at which all of it fits."""
    sections = load_prompt(role)
    fixed = len(sections["system"]) + len(_PLACEHOLDER.sub("", sections["user"]))
    values, cut_chars = fit(
        levels, _CUT_ORDER[role.removeprefix("dialogue_")], context_chars - fixed, role
    )
    messages = (
        Message(role="system", content=sections["system"]),
        Message(role="user", content=_fill(sections["user"], **values)),
    )
    return Prompt(messages=messages, cut_chars=cut_chars)


def _item_levels(item: Item, interaction: str) -> list[str]:
    whole = item_text(item, interaction)
    if interaction == "dialogue":
        return [whole, cut(whole, 2 * _GOLD_REST)]
    if item.gold is None:
        return [whole]
    short = item.model_copy(update={"gold": cut(item.gold, _GOLD_REST)})
    return [whole, item_text(short)]


def _api_levels(apis: Sequence[Api], parent: Item, inspirations: Sequence[Item]) -> list[str]:
    """All in full; then only of the apps of the golds shown, of the parent's own, the others left out; at
    last only the APIs that the parent's gold calls."""
    golds = [one.gold or "" for one in (parent, *inspirations)]
    used = {"supervisor", *_APP.findall("\n".join(golds))}
    own = {"supervisor", *_APP.findall(golds[0])}
    called = {"supervisor", *_API.findall(golds[0])}
    levels = [(None, None), (used, None), (own, None), (own, own), (called, own)]
    return [api_list(apis, in_full, named) for in_full, named in levels]


def _borrowed(shown: Sequence[Item], of: int, interaction: str) -> str:
    parts = [
        f"## Item {n}\n\n{item_text(item, interaction)}" for n, item in enumerate(shown, start=1)
    ]
    if len(shown) < of:
        parts.append(f"({of - len(shown)} more left out: too long)")
    return "\n\n".join(parts) or "(none)"


def _short_lines(text: str, max_chars: int) -> str:
    return "\n".join(cut(line, max_chars).replace("\n", " ") for line in text.splitlines())


def _spoken(reply: Completion) -> Message:
    return Message(role="assistant", content=reply.text or "(empty reply)", state=reply.state)


def _fill(template: str, **values: str) -> str:
    """Puts values in place of placeholders, in one pass: a value is never searched for placeholders."""
    return _PLACEHOLDER.sub(lambda match: values[match[1]], template)
