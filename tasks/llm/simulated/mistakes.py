"""Mistakes that a real proposer makes now and then, made on purpose and about as often."""

import re
from random import Random

from tasks.llm.simulated.program import Clause, Program

WEIGHTS: dict[str, float] = {
    "syntax": 0.05,
    "unknown_api": 0.06,
    "unknown_name": 0.04,
    "padded": 0.05,
    "hard_coded": 0.04,
    "copy": 0.04,
    "broken_fence": 0.03,
    "cut_off": 0.02,
    "answer_stated": 0.02,
    "refusal": 0.005,
}
"""Chance of each mistake in a reply; together about 35 %."""

MENDED = 0.8
"""Chance that a mistake is gone after the error was shown."""

_API_CALL = re.compile(r"apis\.(?!supervisor\b)(\w+)\.(\w+)")
_ID_ARGUMENT = re.compile(r"(\w+_id)=(?!\w*\d)[^,()]+(?=[,)])")


def draw(rng: Random) -> str | None:
    """A mistake, or None for a reply without one."""
    names = [*WEIGHTS, None]
    return rng.choices(names, [*WEIGHTS.values(), 1 - sum(WEIGHTS.values())])[0]


def spoil_program(program: Program, parent: Program, mistake: str | None, rng: Random) -> Program:
    """The program with a mistake that lies in its clauses; the same where it has no place for it."""
    if mistake == "copy":
        return parent
    if mistake == "padded":
        return _padded(program, rng)
    if mistake == "answer_stated" and "answer=" in program.finish:
        number = rng.randrange(3, 40)
        told = Clause(f"(I believe that the answer is {number}.)", "")
        finish = f"apis.supervisor.complete_task(answer={number})"
        return Program(program.preamble, (*program.clauses, told), finish)
    return program


def spoil_gold(gold: str, mistake: str | None, rng: Random) -> str:
    """The gold's text with a mistake in it; the same where it has no place for it."""
    if mistake == "syntax":
        colons = [match.start() for match in re.finditer(r":\n", gold)]
        at = rng.choice(colons) if colons else 0
        return gold[:at] + gold[at + 1 :]
    if mistake == "unknown_api":
        call = rng.choice(list(_API_CALL.finditer(gold)) or [None])
        wrong = rng.choice(("_all", "_by_name", "_bulk"))
        return gold if call is None else gold[: call.end()] + wrong + gold[call.end() :]
    if mistake == "unknown_name":
        return gold.replace("# Finish\n", "# Finish\nprint(results)\n", 1)
    if mistake == "hard_coded":
        return _hard_coded(gold, rng)
    return gold


def spoil_reply(reply: str, mistake: str | None, rng: Random) -> str:
    """The reply's text with a mistake in its form."""
    if mistake == "broken_fence":
        return reply.replace("```python", "``python", 1)
    if mistake == "cut_off":
        return reply[: len(reply) - rng.randrange(40, 200)]
    if mistake == "refusal":
        return "I'm sorry, but I can't help with editing this item."
    return reply


def _padded(program: Program, rng: Random) -> Program:
    """A block that writes twice where once would do: the first write changes nothing in the end."""
    first, last = rng.sample(range(1, 10), 2)
    block = (
        f'apis.spotify.set_volume(access_token=login("spotify"), volume={first})\n'
        f'apis.spotify.set_volume(access_token=login("spotify"), volume={last})'
    )
    return program.with_clauses(
        (*program.clauses, Clause(f"Set the volume on Spotify to {last}.", block))
    )


def _hard_coded(gold: str, rng: Random) -> str:
    """An id in place of what the gold looks up, else an address that it never read."""
    head, mark, body = gold.partition("# Clause:")
    found = list(_ID_ARGUMENT.finditer(body))
    if found:
        one = rng.choice(found)
        return (
            f"{head}{mark}{body[: one.start()]}{one[1]}={rng.randrange(2, 90)}{body[one.end() :]}"
        )
    wrong = re.sub(r'\w+\["email"\]', '"owen.brandt@example.com"', body, count=1)
    return f"{head}{mark}{wrong}"
