"""The simulated feedback: a short note, made from the attempts that the prompt shows."""

import re
from collections import Counter

from tasks.llm.base import Request
from tasks.llm.simulated.dice import dice
from tasks.llm.simulated.reading import asked, section

_ATTEMPT = re.compile(r"^- Attempt \d+: (\w+)(?:, ([a-z_]+))?", re.MULTILINE)
_EFFECT = re.compile(r"^(missing|unexpected): (\w+) (\w+)\.", re.MULTILINE)
_ANSWER = re.compile(r"^answer: expected ", re.MULTILINE)

_ADVICE = (
    "Asking for something about {app} less, or naming it more plainly, would make it easier.",
    "Making what happens in {app} hang on what is found in another app would make it harder.",
    "A second thing to find before {app} is touched would move it towards one half.",
)


def write_note(request: Request, rng_seed: int) -> str:
    """The note: how many are solved, what is wrong most often, where, and one piece of advice."""
    prompt = asked(request.messages)
    outcomes = _ATTEMPT.findall(section(prompt, "All attempts"))
    shown = section(prompt, "Attempts in full")
    solved = sum(outcome == "solved" for outcome, _ in outcomes)
    lines = [f"{solved} of {len(outcomes)} attempts solve the item."]
    if solved == len(outcomes):
        lines.append("The agent does all of it reliably; nothing in it makes it think.")
    causes = Counter(cause for _, cause in outcomes if cause)
    if causes:
        named = ", ".join(f"{cause.replace('_', ' ')} ({n})" for cause, n in causes.most_common(2))
        lines.append(f"Failures end by {named}.")
    effects = Counter(_EFFECT.findall(shown))
    for (side, change, app), n in effects.most_common(2):
        what = "is left out" if side == "missing" else "should not be there"
        lines.append(f"Most often something {change} in {_spoken(app)} {what} ({n} times shown).")
    if _ANSWER.search(shown):
        lines.append("The answer given is wrong.")
    rng = dice(rng_seed, "feedback", prompt)
    app = effects.most_common(1)[0][0][2] if effects else "the app in use"
    lines.append(rng.choice(_ADVICE).format(app=_spoken(app)))
    return " ".join(lines)


def _spoken(app: str) -> str:
    return app.replace("_", " ")
