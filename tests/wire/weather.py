"""What stands between a campaign and the server's answers: nothing, or a storm of faults."""

import json
import random
from collections import Counter
from collections.abc import Mapping

from tests.wire.formats import gemini_error, json_reply, openai_error
from tests.wire.served import ServedModel
from tests.wire.server import Asked, HttpReply

CALM = {"reply": 1}
"""Shares of what becomes of a try."""

STORM = {
    "reply": 112,
    "limited": 30,
    "limited_with_wait": 30,
    "down": 10,
    "reset": 5,
    "reset_in_reply": 5,
    "stall": 4,
    "truncated": 4,
}
"""Of 200 tries: 30 % 429, 5 % 500, 5 % resets, 2 % stalls, 2 % truncated replies."""

PAID = ("reply", "reset_in_reply", "stall", "truncated")
"""What the model was asked for, whether its reply arrived or not: what a provider would bill."""

ASKED_WAIT_S = 0.02
RNG_SEED = 11


class Weather:
    """Answers as a served model does, or fails: any hand of tries holds the shares exactly, shuffled."""

    def __init__(self, served: ServedModel, shares: Mapping[str, int]) -> None:
        self.fates: Counter[str] = Counter()
        """Tries so far by what became of them."""
        self.tokens: Counter[str] = Counter()
        """"prompt" and "completion" tokens of the completions that were sent whole."""
        self._served = served
        self._shares = shares
        self._luck = random.Random(RNG_SEED)
        self._hand: list[str] = []

    @property
    def paid(self) -> int:
        """Tries for which the model was asked."""
        return sum(self.fates[fate] for fate in PAID)

    async def answer(self, asked: Asked) -> HttpReply:
        """The reply, or what comes instead of it."""
        if not self._hand:
            self._hand = [fate for fate, share in self._shares.items() for _ in range(share)]
            self._luck.shuffle(self._hand)
        fate = self._hand.pop()
        self.fates[fate] += 1
        if fate not in PAID:
            return _unpaid(asked, fate)
        reply = await self._served.answer(asked)
        half = len(reply.body) // 2
        if fate == "truncated":
            return HttpReply(reply.body[:half])
        if fate != "reply":
            return HttpReply(reply.body, cut_at=half, then="hang" if fate == "stall" else "reset")
        self._count_tokens(reply)
        return reply

    def _count_tokens(self, reply: HttpReply) -> None:
        said = json.loads(reply.body)
        if "choices" in said:
            self.tokens["prompt"] += said["usage"]["prompt_tokens"]
            self.tokens["completion"] += said["usage"]["completion_tokens"]
        elif "candidates" in said:
            self.tokens["prompt"] += said["usageMetadata"]["promptTokenCount"]
            self.tokens["completion"] += said["usageMetadata"]["candidatesTokenCount"]


def _unpaid(asked: Asked, fate: str) -> HttpReply:
    if fate == "reset":
        return HttpReply(b"{}", cut_at=0, then="reset")
    status = 500 if fate == "down" else 429
    waits = fate == "limited_with_wait"
    if ":" in asked.path:  # Gemini says in the body how long to wait
        info = {"@type": "type.googleapis.com/google.rpc.RetryInfo"}
        details = [info | {"retryDelay": f"{ASKED_WAIT_S}s"}] if waits else []
        return json_reply(gemini_error(status, "a storm", *details), status)
    headers = {"retry-after": str(ASKED_WAIT_S)} if waits else {}
    return json_reply(openai_error("a storm"), status, headers=headers)
