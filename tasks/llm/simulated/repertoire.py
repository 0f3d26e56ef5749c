"""Clauses that the simulated proposer knows by itself: sentence and block, with drawn parameters.

They stand in the Markdown files of repertoire/, a file an app: `## name`, then lines `- parameter: one | two`
(or `one = 1 | two = 2` where the sentence says a value in other words than the block), the quoted
sentence, and the block, in which `{{parameter}}` stands for the drawn value.
"""

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from random import Random

from tasks.llm.simulated.program import Clause

_PARAMETER = re.compile(r"^- (\w+): (.+)$", re.MULTILINE)
_SENTENCE = re.compile(r"^> (.+)$", re.MULTILINE)
_BLOCK = re.compile(r"```python\n(.*?)```", re.DOTALL)
_PLACE = re.compile(r"\{\{(\w+)\}\}")


@dataclass(frozen=True)
class Template:
    """A clause whose parameters are open."""

    name: str
    app: str
    """The file that it stands in."""
    parameters: dict[str, tuple[tuple[str, str], ...]]
    """The choices of each parameter: what the sentence says, and what the block says."""
    sentence: str
    block: str

    def drawn(self, rng: Random) -> Clause:
        """The clause with drawn parameters."""
        chosen = {name: rng.choice(choices) for name, choices in self.parameters.items()}
        sentence = _PLACE.sub(lambda match: chosen[match[1]][0], self.sentence)
        return Clause(sentence, _PLACE.sub(lambda match: chosen[match[1]][1], self.block))


@cache
def repertoire() -> tuple[Template, ...]:
    """All templates, ordered by file and place.

    Raises:
        ValueError: a file is not written as the module says; the message names the template.
    """
    folder = files("tasks.llm.simulated") / "repertoire"
    texts = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    return tuple(
        _template(name.removesuffix(".md"), section)
        for name, text in sorted(texts.items())
        for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    )


def _template(app: str, section: str) -> Template:
    name = section.splitlines()[0].strip()
    sentences, blocks = _SENTENCE.findall(section), _BLOCK.findall(section)
    parameters = {
        key: tuple(_choice(choice) for choice in choices.split("|"))
        for key, choices in _PARAMETER.findall(section)
    }
    if len(sentences) != 1 or len(blocks) != 1:
        raise ValueError(f"repertoire/{app}.md: '{name}' wants one sentence and one block")
    if set(_PLACE.findall(sentences[0] + blocks[0])) != set(parameters):
        raise ValueError(f"repertoire/{app}.md: '{name}' does not use just the parameters it names")
    return Template(name, app, parameters, sentences[0].strip(), blocks[0].strip("\n"))


def _choice(text: str) -> tuple[str, str]:
    said, equals, meant = text.strip().partition(" = ")
    return said, meant if equals else said
