"""The simulated proposer: reads the rendered prompt, edits the item, and replies as a model would.

It sees what a proposer sees and nothing else. By the direction it adds a clause (borrowed from an
inspiration, hinted at by the note, or from its own repertoire), drops one, or alters parameters; about
one reply in three has a mistake. Shown the error, it mends most of them.
"""

import re
from dataclasses import dataclass
from random import Random

from tasks.llm.base import Request
from tasks.llm.rendering import fenced
from tasks.llm.simulated import edits, mistakes
from tasks.llm.simulated.dialogues.proposer import propose_document
from tasks.llm.simulated.dice import dice
from tasks.llm.simulated.program import Clause, Program, take_apart
from tasks.llm.simulated.reading import (
    asked,
    documents_in,
    items_in,
    replies_so_far,
    section,
)
from tasks.llm.simulated.repertoire import repertoire

_BORROWS = 0.3
"""Share of added clauses that come from the inspirations, where these offer one."""
_LISTENS = 0.5
"""Share of own clauses for which the note's apps are preferred."""
_MANY_CLAUSES = 7
"""An item of so many clauses isn't given another one."""


@dataclass(frozen=True)
class Seen:
    """What the prompt says."""

    parent: Program
    inspirations: tuple[Program, ...]
    note: str
    direction: str
    apis: frozenset[tuple[str, str]]


def propose(request: Request, rng_seed: int) -> str:
    """The proposer's reply to a first request, or to one that shows an error."""
    prompt = asked(request.messages)
    if documents_in(section(prompt, "The item to edit")):
        return propose_document(request, rng_seed)
    seen = _seen(prompt)
    round_ = replies_so_far(request.messages)
    words = (rng_seed, "proposer", prompt, request.subject.item_id, request.subject.step)
    first_mistake = mistakes.draw(dice(*words, "mistake", 0))
    if round_ == 0:
        return _reply(seen, dice(*words, "edit", 0), first_mistake)
    mended = dice(*words, "mended", round_).random() < mistakes.MENDED
    if not mended:
        again = first_mistake or mistakes.draw(dice(*words, "mistake", round_))
        return _reply(seen, dice(*words, "edit", round_), again)
    # A known mistake is taken out of the same edit; what else went wrong is answered by another edit.
    edit = 0 if first_mistake else round_
    return _reply(seen, dice(*words, "edit", edit), None)


def _seen(prompt: str) -> Seen:
    parents = items_in(section(prompt, "The item to edit"))
    instruction, gold = parents[0] if parents else ("", "")
    borrowed = items_in(section(prompt, "Other items of this world, to borrow ideas from"))
    wish = section(prompt, "The edit").lower()
    direction = "harder" if "harder" in wish else "easier" if "easier" in wish else "sideways"
    return Seen(
        parent=take_apart(gold, instruction),
        inspirations=tuple(take_apart(code, text) for text, code in borrowed),
        note=section(prompt, "What attempts on it have shown"),
        direction=direction,
        apis=frozenset(re.findall(r"^- (\w+)\.(\w+)\(", section(prompt, "The APIs"), re.MULTILINE)),
    )


def _reply(seen: Seen, rng: Random, mistake: str | None) -> str:
    program, reasoning = _edited(seen, rng)
    program = mistakes.spoil_program(program, seen.parent, mistake, rng)
    gold = mistakes.spoil_gold(program.text, mistake, rng)
    instruction = fenced("instruction", program.instruction)
    reply = f"{reasoning}\n\n{instruction}\n\n{fenced('python', gold.strip(chr(10)))}"
    return mistakes.spoil_reply(reply, mistake, rng)


def _edited(seen: Seen, rng: Random) -> tuple[Program, str]:
    """The edited program, and a line on what was done."""
    ways = {
        "harder": (_added, _swapped),
        "easier": (_dropped, _swapped),
        "sideways": (_altered, _swapped),
    }
    first, second = ways[seen.direction]
    order = (first, second) if rng.random() < 0.75 else (second, first)
    for way in (*order, _added):
        program = way(seen, rng)
        if program is not None:
            done = {
                _added: "I add",
                _dropped: "I take out",
                _altered: "I alter",
                _swapped: "I exchange",
            }
            return (
                program,
                f"To make the item {seen.direction}, {done[way].lower()} one thing it asks for.",
            )
    return seen.parent, "I see nothing to edit."


def _added(seen: Seen, rng: Random) -> Program | None:
    if len(seen.parent.clauses) >= _MANY_CLAUSES:
        return None
    clause = _new_clause(seen, seen.parent, rng)
    return clause and edits.add(seen.parent, clause)


def _dropped(seen: Seen, rng: Random) -> Program | None:
    places = edits.droppable(seen.parent)
    return edits.drop(seen.parent, rng.choice(places)) if places else None


def _altered(seen: Seen, rng: Random) -> Program | None:
    """Some parameters altered, one after the other; fewer where the item has no more."""
    program = seen.parent
    for _ in range(rng.choice((1, 2, 3))):
        programs = edits.alterations(program, rng)
        program = rng.choice(programs) if programs else program
    return program if program != seen.parent else None


def _swapped(seen: Seen, rng: Random) -> Program | None:
    """One clause out, another one in; a single clause that does everything goes too."""
    places = edits.droppable(seen.parent)
    if not places and "answer=" in seen.parent.finish:
        return None
    rest = edits.drop(seen.parent, rng.choice(places)) if places else seen.parent.with_clauses(())
    clause = _new_clause(seen, seen.parent, rng)
    return clause and edits.add(rest, clause)


def _new_clause(seen: Seen, program: Program, rng: Random) -> Clause | None:
    """A clause unlike those that are there, whose APIs the prompt lists."""
    known = {edits.skeleton(clause) for clause in program.clauses}

    def fits(clause: Clause) -> bool:
        return edits.skeleton(clause) not in known and seen.apis.issuperset(clause.apis)

    borrowed = [
        clause
        for one in seen.inspirations
        for clause in one.clauses
        if edits.stands_alone(clause) and not clause.defined & Clause("", one.finish).used
    ]
    borrowed = [clause for clause in borrowed if fits(clause)]
    if borrowed and rng.random() < _BORROWS:
        return rng.choice(borrowed)
    own = [(one.app, one.drawn(rng)) for one in repertoire()]
    own = [(app, clause) for app, clause in own if fits(clause)]
    hinted = [(app, clause) for app, clause in own if app.replace("_", " ") in seen.note.lower()]
    if hinted and rng.random() < _LISTENS:
        own = hinted
    return rng.choice(own)[1] if own else None
