"""An attempt's turns as text for a prompt, cut to a length, never silently.

Cutting goes in this order, until the trace fits: observations of turns without an error are shortened,
the earliest first; then observations of turns with an error; then whole turns are left out from the
middle, the last third is kept longest. Each cut is marked where it happened, with its size.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from tasks.llm.context import cut
from warehouse.records import Turn

MAX_TRACE_CHARS = 12_000
"""Length to which one attempt is cut; about 3,000 tokens."""

_SHORT_OBSERVATION = 300
"""Characters that stay of a shortened observation: half from its start, half from its end."""

_TOKEN = re.compile(r"\b[\w-]{16,}\.[\w-]{16,}\.[\w-]{16,}")
"""An access token, which tells a reader nothing and is shown again and again."""

_MAX_THOUGHT = 1_500
_MAX_ACTION = 3_000


def trace_text(turns: Sequence[Turn], max_chars: int = MAX_TRACE_CHARS) -> str:
    """The turns in order, as `Turn n` with thought, action and observation."""
    if not turns:
        return "(the attempt has no turn)"
    turns = [_without_tokens(turn) for turn in turns]
    observations = [turn.observation for turn in turns]
    order = sorted(range(len(turns)), key=lambda n: (turns[n].error, n))
    for n in order:
        if sum(map(len, _rendered(turns, observations))) <= max_chars:
            break
        observations[n] = cut(observations[n], _SHORT_OBSERVATION)
    return "\n\n".join(_without_middle(_rendered(turns, observations), max_chars))


def _without_tokens(turn: Turn) -> Turn:
    shown = {name: _TOKEN.sub("<token>", getattr(turn, name)) for name in ("action", "observation")}
    return turn.model_copy(update=shown)


def _rendered(turns: Sequence[Turn], observations: Sequence[str]) -> list[str]:
    return [
        f"### Turn {turn.turn}\n\n{cut(turn.thought.strip(), _MAX_THOUGHT)}\n\n"
        f"Ran:\n{_indented(cut(turn.action, _MAX_ACTION))}\n\n"
        f"Saw{' (an error)' if turn.error else ''}:\n{_indented(observation)}"
        for turn, observation in zip(turns, observations, strict=True)
    ]


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines()) or "    (nothing)"


def _without_middle(parts: list[str], max_chars: int) -> list[str]:
    """Leaves out turns from the middle until the rest fits; the first and the last always stay."""
    kept = list(range(len(parts)))
    while len(kept) > 2 and sum(len(parts[n]) for n in kept) > max_chars:
        kept.pop(min(len(kept) - 2, max(1, len(kept) // 3)))
    left_out = len(parts) - len(kept)
    if not left_out:
        return parts
    gap = next(n for n, (one, two) in enumerate(pairwise(kept)) if two > one + 1)
    shown = [parts[n] for n in kept]
    return [*shown[: gap + 1], f"[... {left_out} turns left out ...]", *shown[gap + 1 :]]
