"""The toy suite's models behind a socket, as a provider has them: they know what they are sent, no more.

An item is read out of the prompt: on the shelf an instruction says all that its gold does.
"""

import json
import random
import re
from collections import Counter
from typing import Any

from tasks.llm.base import Tokens
from tasks.llm.prices import Prices, cost_usd
from tasks.llm.prompting import load_prompt
from tests.toy.model import FRUITS
from tests.wire.formats import json_reply, openai_embeddings, openai_reply
from tests.wire.server import Asked, HttpReply
from warehouse.records import digest_of

PRICES = Prices(input=100.0, cached_input=10.0, output=400.0)
"""US dollars for a million tokens: dear, so that a small campaign costs dollars."""

_PUT = re.compile(r'[Pp]ut (\d+) into the box "(\w+)"')


class ToyProvider:
    """Answers in OpenAI's protocol, each time anew, and counts what it bills."""

    def __init__(self, delay_s: float = 0.0) -> None:
        self.delay_s = delay_s
        self.billed_usd = 0.0
        self.tokens: Counter[str] = Counter()
        """Of all replies, by the ledger's column."""
        self.answered = 0
        self._times: Counter[str] = Counter()
        self._seen: set[str] = set()

    def answer(self, asked: Asked) -> HttpReply:
        """The reply to one request."""
        if asked.path.endswith("/embeddings"):
            self._bill(Tokens(prompt=5, cached=0, completion=0))
            return openai_embeddings(asked)
        body = digest_of(asked.body)
        self._times[body] += 1
        text = self._text(asked.body, random.Random(f"{body}/{self._times[body]}"))
        system = asked.body["messages"][0]["content"]
        cached = len(system) // 4 if system in self._seen else 0
        self._seen.add(system)
        sent = sum(len(message["content"]) for message in asked.body["messages"]) // 4
        tokens = Tokens(prompt=sent, cached=cached, completion=len(text) // 4 + 1)
        self._bill(tokens)
        usage = {
            "prompt_tokens": tokens.prompt,
            "completion_tokens": tokens.completion,
            "prompt_tokens_details": {"cached_tokens": cached},
        }
        return json_reply(openai_reply(text, usage=usage), delay_s=self.delay_s)

    def _bill(self, tokens: Tokens) -> None:
        self.answered += 1
        self.billed_usd += cost_usd(PRICES, tokens) or 0.0
        for name in ("prompt", "cached", "completion"):
            self.tokens[f"{name}_tokens"] += getattr(tokens, name) or 0

    def _text(self, body: dict[str, Any], rng: random.Random) -> str:
        role = _role_of(body)
        instruction = _last_instruction(body["messages"][-1]["content"])
        if role == "proposer":
            more = f'Then put {rng.randint(2, 99)} into the box "{rng.choice(FRUITS)}".'
            return _edit(f"{instruction} {more}")
        if role == "solver":
            return f"I act.\n\n```python\n{_played(instruction, rng)}```\n"
        if role == "judge":
            return json.dumps({"reason": "It is.", "verdict": "valid"})
        if role == "labeller":
            schema = body["response_format"]["json_schema"]["schema"]
            asked = schema["properties"]["labels"]["required"]
            return json.dumps({"reason": "none", "labels": dict.fromkeys(asked, False)})
        return f"Boxes go wrong, {rng.random()}."


def _role_of(body: dict[str, Any]) -> str | None:
    first = body["messages"][0]["content"]
    for role in ("proposer", "solver", "feedback", "judge", "labeller"):
        if first == load_prompt(role)["system"]:
            return role
    return None


def _last_instruction(prompt: str) -> str:
    """The item that a prompt is about comes after those that it borrows from."""
    return next((line for line in prompt.splitlines()[::-1] if _PUT.match(line)), "")


def _gold(instruction: str) -> list[str]:
    puts = [f'apis.shelf.put(box="{box}", count={n})' for n, box in _PUT.findall(instruction)]
    return [*puts, "apis.supervisor.complete_task()"]


def _edit(instruction: str) -> str:
    gold = "\n".join(_gold(instruction))
    return f"I add.\n\n```instruction\n{instruction}\n```\n\n```python\n{gold}\n```\n"


def _played(instruction: str, rng: random.Random) -> str:
    """The gold, or in four cases of ten without its first line."""
    lines = _gold(instruction)
    return "\n".join(lines if rng.random() < 0.6 else lines[1:]) + "\n"
