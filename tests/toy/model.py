"""A model that answers the toy suite's prompts in every role, by dice over the request's subject.

It writes a line into a journal for each call that it answered, so that a test can count what was paid.
"""

import asyncio
import json
import random
from pathlib import Path

from tasks.errors import ProviderRefused
from tasks.llm.base import Completion, LLMSpec, Request, Tokens
from tasks.llm.endpoints import GoldOf
from warehouse.records import Item, digest_of

FRUITS = ("apples", "pears", "plums", "figs", "limes", "dates", "kiwis", "quinces")


class ToyModel:
    """Answers deterministically in the request, whatever the order or the time."""

    simulated = True

    def __init__(
        self, gold_of: GoldOf, journal: Path, latency_s: float, fails_at: int | None = None
    ) -> None:
        """`fails_at`: the number of the call that the provider refuses; None for none."""
        self._fails_at = fails_at
        self._asked = 0
        self._gold_of = gold_of
        self._journal = journal
        self._latency_s = latency_s

    async def complete(self, request: Request) -> Completion:
        """Sleeps, answers, and notes the call in the journal."""
        await asyncio.sleep(self._latency_s)
        self._asked += 1
        if self._asked == self._fails_at:
            raise ProviderRefused("endpoint toy: the key is unknown")
        subject = request.subject
        item = self._gold_of(subject.item_id or "")
        if item is None:
            raise AssertionError(f"the toy model was asked about an item nobody loaded: {subject}")
        text = {
            "proposer": _edit,
            "solver": _cell,
            "feedback": lambda item, rng: f"Boxes go wrong in {item.start}.",
            "judge": _verdict,
            "labeller": lambda item, rng: _labels(request),
        }[request.role](item, random.Random(digest_of(subject.model_dump(mode="json"))))
        line = json.dumps([request.role, request.prompt_hash, subject.model_dump(mode="json")])
        with self._journal.open("a", encoding="utf-8") as journal:
            journal.write(line + "\n")
        return Completion(
            text=text, tokens=Tokens(prompt=100, completion=len(text) // 4 + 1), cost_usd=0.001
        )

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """A vector of eight numbers from the text's hash."""
        return [[float(byte) for byte in bytes.fromhex(digest_of(text))[:8]] for text in texts]

    async def aclose(self) -> None:
        """Nothing is held."""


def _edit(item: Item, rng: random.Random) -> str:
    """Adds a box to the parent's; now and then the gold does not compile or the edit pads."""
    box, count = rng.choice(FRUITS), rng.randint(2, 99)
    instruction = f'{item.instruction} Then put {count} into the box "{box}".'
    line = f'apis.shelf.put(box="{box}", count={count})'
    fate = rng.random()
    if fate < 0.15:
        line += ")"
    elif fate < 0.3:
        line += f'\napis.shelf.put(box="{box}", count={count + 1})\n{line}'
    gold = item.gold.replace("apis.supervisor", f"{line}\napis.supervisor")
    return f"I add a box.\n\n```instruction\n{instruction}\n```\n\n```python\n{gold}```\n"


def _cell(item: Item, rng: random.Random) -> str:
    """Plays the gold, or forgets its first line; how often depends on the item alone."""
    gold = item.gold
    if rng.random() > int(item.item_id[:4], 16) / 0xFFFF:
        gold = "\n".join(gold.splitlines()[1:])
    return f"I act.\n\n```python\n{gold}\n```\n"


def _verdict(item: Item, rng: random.Random) -> str:
    vague = int(item.item_id[-2:], 16) < 64
    return json.dumps({"reason": "by the id", "verdict": "vague" if vague else "valid"})


def _labels(request: Request) -> str:
    assert request.response_schema is not None
    asked = request.response_schema["properties"]["labels"]["required"]
    return json.dumps({"reason": "none holds", "labels": dict.fromkeys(asked, False)})
