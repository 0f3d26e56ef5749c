"""The offline model: a client behind the same seam that answers without a language model.

It is a *simulation*. It answers the same prompts in the same format as an LLM, so that the parsers, the
agent loop, the simulator and the grader run for real; its numbers show that the machinery works, and say
nothing of any real model. How each role is played stands in tasks/llm/simulated.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any

from tasks.errors import InputError, ProviderRefused
from tasks.llm.base import Completion, LLMSpec, Request, estimated_tokens
from tasks.llm.simulated.dialogues.solver import solve_dialogue
from tasks.llm.simulated.dialogues.user import speak
from tasks.llm.simulated.feedback import write_note
from tasks.llm.simulated.judge import judge
from tasks.llm.simulated.labeller import label
from tasks.llm.simulated.proposer import propose
from tasks.llm.simulated.solver import solve
from warehouse.records import Item


class OfflineClient:
    """Answers all roles but the embedder. Stateless: safe for any number of concurrent calls.

    A completion depends on the rng_seed and the request alone, whatever was asked before or meanwhile.
    Tokens are estimated from lengths; the cost is None, for nothing was bought.
    """

    simulated = True

    def __init__(
        self, rng_seed: int, gold_of: Callable[[str], Item | None], latency_s: float = 0.0
    ) -> None:
        """Makes a client.

        Args:
            rng_seed: Luck of all roles. Skills are the same for every rng_seed.
            gold_of: The item of an id, for the solver, whose request does not hold the gold; None when
                there is no such item, and the solver then solves nothing.
            latency_s: How long each call takes, in seconds.
        """
        self.rng_seed = rng_seed
        self.gold_of = gold_of
        self.latency_s = latency_s

    async def complete(self, request: Request) -> Completion:
        """Answers one request. Raises ProviderRefused for a role that the simulation doesn't play."""
        began = time.monotonic()
        text, calls = self._reply(request)
        await asyncio.sleep(self.latency_s)
        tokens = estimated_tokens(request, text + "".join(call["arguments"] for call in calls))
        return Completion(
            text=text,
            tool_calls=calls,
            finish_reason="tool_calls" if calls else "stop",
            tokens=tokens,
            latency_s=time.monotonic() - began,
        )

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """Always raises InputError: vectors come from a real embedder."""
        raise InputError(
            f"endpoint '{spec.endpoint}' is the offline model, which makes no embeddings: "
            "set the embedder's endpoint to 'local'"
        )

    async def aclose(self) -> None:
        """Nothing to close."""

    def _reply(self, request: Request) -> tuple[str, tuple[dict[str, Any], ...]]:
        """Text and tool calls; a solver that is given tools is in a dialogue."""
        if request.role == "user":
            return speak(request, self.rng_seed)
        if request.role == "solver":
            item_id = request.subject.item_id
            item = self.gold_of(item_id) if item_id is not None else None
            if request.tools:
                return solve_dialogue(request, item, self.rng_seed)
            return solve(request, item, self.rng_seed), ()
        roles = {"proposer": propose, "feedback": write_note, "judge": judge, "labeller": label}
        if request.role not in roles:
            raise ProviderRefused(f"the offline model does not play the role '{request.role}'")
        return roles[request.role](request, self.rng_seed), ()
