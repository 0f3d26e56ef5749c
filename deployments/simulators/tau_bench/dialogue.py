"""One conversation: τ-bench's own orchestrator, agent and simulated user, whose model turns the parent makes.

The stock `Orchestrator.run` goes its way in a thread of its own. Where the stock agent or user would call a
model, the thread hands the request over and waits for the reply. So nothing of τ-bench's loop is rewritten,
and no key is needed here.
"""

import json
import queue
import threading
from collections.abc import Sequence
from typing import Any

import tau2.agent.llm_agent
import tau2.user.user_simulator
from tau2.agent.llm_agent import LLMAgent
from tau2.data_model.message import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from tau2.data_model.simulation import TerminationReason
from tau2.environment.tool import Tool
from tau2.orchestrator.orchestrator import Orchestrator
from tau2.user.base import OUT_OF_SCOPE, TRANSFER
from tau2.user.user_simulator import UserSimulator

import quiet  # noqa: F401 - first
from check import surroundings
from differences import effects_of, rows_of
from domain import Domain
from grade import outcome
from items import ReadItem
from playing import call_of, ends_of, failed

MAX_STEPS = 200
MAX_ERRORS = 10
"""τ-bench's own limits of a simulation."""

ENDINGS = {
    TerminationReason.AGENT_STOP: "agent_stopped",
    TerminationReason.MAX_STEPS: "step_limit",
    TerminationReason.TOO_MANY_ERRORS: "tool_errors",
    TerminationReason.AGENT_ERROR: "solver_unusable",
    TerminationReason.USER_ERROR: "user_unusable",
}
"""How a conversation ended, in the protocol's words; what a user's stop means, its words tell."""

_CURRENT = threading.local()


class GivenUp(BaseException):
    """Unwinds an dialogue's thread: its session was closed. Nothing of τ-bench's may catch it."""


class Unusable(Exception):
    """A reply that τ-bench cannot take: neither text nor call, or a call whose arguments are no object."""


def _generate(
    model: str, messages: list[Message], tools: list[Tool] | None = None, **_: Any
) -> AssistantMessage:
    """Stands in for τ-bench's call of a model; `model` is the role that has its turn."""
    return _CURRENT.dialogue.ask(model, messages, tools or [])


tau2.agent.llm_agent.generate = _generate
tau2.user.user_simulator.generate = _generate


class Dialogue:
    """A conversation while it is made. One caller at a time."""

    def __init__(self, domain: Domain, item: ReadItem) -> None:
        """Starts nothing yet. Raises Fault where the item's start cannot be made."""
        self._domain, self._item = domain, item
        self._environment = domain.environment(item.documents)
        self._stock_response = self._environment.get_response
        self._environment.get_response = self._respond
        self._orchestrator = self._orchestrated()
        self._requests: queue.Queue[dict[str, Any]] = queue.Queue()
        self._replies: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._sent: dict[str, int] = {}
        self._calls: list[dict[str, Any]] = []
        self._told = 0
        self._ended: TerminationReason | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self, timeout_s: float) -> dict[str, Any]:
        """Begins; returns the first request of a model turn. Raises TimeoutError."""
        self._thread.start()
        return self._next(timeout_s)

    def answer(self, reply: dict[str, Any], timeout_s: float) -> dict[str, Any]:
        """Goes on with a model's reply; returns the next request, or how it ended. Raises TimeoutError."""
        if self._ended is not None:
            return self._ending()
        self._replies.put(reply)
        return self._next(timeout_s)

    def finish(self) -> dict[str, Any]:
        """The Outcome of what was said and done so far; the conversation is over then."""
        self.close()
        domain, item = self._domain, self._item
        with surroundings(domain, item):
            start, wanted = ends_of(domain, item)
            return outcome(
                domain,
                item,
                _answered(self._orchestrator.trajectory),
                self._ended or TerminationReason.MAX_STEPS,
                effects_of(start, wanted),
                effects_of(start, rows_of(self._environment)),
                len(self._calls),
            )

    def close(self) -> None:
        """Ends the thread; harmless when it has ended."""
        if self._thread.is_alive():
            self._replies.put(None)
            self._thread.join()

    def ask(self, role: str, messages: list[Message], tools: list[Tool]) -> AssistantMessage:
        """Called in the thread: hands a request over and waits for its reply."""
        first = role not in self._sent
        new = messages[self._sent.get(role, 0) :]
        self._sent[role] = len(messages) + 1  # the reply is the role's own, and is not sent back
        self._requests.put(
            {
                "kind": "model_request",
                "role": role,
                "messages": [_wire(message) for message in new],
                "tools": [_tool(tool) for tool in tools] if first else [],
            }
        )
        reply = self._replies.get()
        if reply is None:
            raise GivenUp
        return _message(reply)

    def _orchestrated(self) -> Orchestrator:
        environment, item = self._environment, self._item
        allowed = item.user_tools
        user_tools = [
            tool for tool in environment.get_user_tools() if allowed is None or tool.name in allowed
        ]
        return Orchestrator(
            domain=self._domain.name,
            agent=LLMAgent(environment.get_tools(), environment.get_policy(), llm="solver"),
            user=UserSimulator(
                tools=user_tools or None,
                instructions=str(item.task.user_scenario),
                llm="user",
                llm_args={},
            ),
            environment=environment,
            task=item.task,
            max_steps=MAX_STEPS,
            max_errors=MAX_ERRORS,
        )

    def _run(self) -> None:
        _CURRENT.dialogue = self
        try:
            with surroundings(self._domain, self._item):
                self._orchestrator.run()
            self._ended = self._orchestrator.termination_reason
        except GivenUp:
            return
        except Unusable as fault:
            of_user = str(fault) == "user"
            self._ended = TerminationReason.USER_ERROR if of_user else TerminationReason.AGENT_ERROR
        except Exception as error:  # the parent has to hear of it: the program answers for it
            self._requests.put({"kind": "broken", "message": f"{type(error).__name__}: {error}"})
            return
        self._requests.put(self._ending())

    def _next(self, timeout_s: float) -> dict[str, Any]:
        try:
            found = self._requests.get(timeout=timeout_s)
        except queue.Empty:
            raise TimeoutError from None
        if found["kind"] == "broken":
            raise RuntimeError(found["message"])
        new, self._told = self._calls[self._told :], len(self._calls)
        return found | {"calls": new}

    def _ending(self) -> dict[str, Any]:
        assert self._ended is not None
        words = ENDINGS.get(self._ended, "user_stopped")
        if self._ended == TerminationReason.USER_STOP:
            last = self._orchestrator.trajectory[-1].content or ""
            words = "transferred" if TRANSFER in last else words
            words = "out_of_scope" if OUT_OF_SCOPE in last else words
        return {"kind": "ended", "cause": words, "calls": []}

    def _respond(self, asked: ToolCall) -> ToolMessage:
        """The environment's own response, noted."""
        answer = self._stock_response(asked)
        user = asked.requestor == "user"
        kit = self._environment.user_tools if user else self._environment.tools
        reads = self._domain.is_read(kit, asked.name, asked.arguments)
        wrote = not reads and not failed(answer)
        n = len(self._calls)
        self._calls.append(
            call_of(self._domain, n, asked, answer, wrote) | {"side": asked.requestor}
        )
        return answer


def _answered(trajectory: Sequence[Message]) -> list[Message]:
    """The trajectory without a call at its end that no answer follows, which τ-bench cannot replay."""
    messages = list(trajectory)
    while messages and getattr(messages[-1], "tool_calls", None):
        messages.pop()
    return messages


def _message(reply: dict[str, Any]) -> AssistantMessage:
    """A reply as τ-bench's message. Raises Unusable with the role that gave it."""
    calls = []
    for call in reply["tool_calls"]:
        try:
            arguments = json.loads(call["arguments"] or "{}")
        except ValueError:
            arguments = None
        if not isinstance(arguments, dict):
            raise Unusable(reply["role"])
        calls.append(ToolCall(id=call["id"], name=call["name"], arguments=arguments))
    if not calls and not reply["text"].strip():
        raise Unusable(reply["role"])
    return AssistantMessage(
        role="assistant", content=reply["text"] or None, tool_calls=calls or None, cost=0.0
    )


def _wire(message: Message) -> dict[str, Any]:
    """A message in the form of the seam to language models."""
    calls = [
        {"id": call.id, "name": call.name, "arguments": json.dumps(call.arguments)}
        for call in getattr(message, "tool_calls", None) or ()
    ]
    wired: dict[str, Any] = {"role": message.role, "content": message.content or ""}
    if calls:
        wired["tool_calls"] = calls
    if isinstance(message, ToolMessage):
        wired["tool_call_id"] = message.id
    assert isinstance(message, SystemMessage | UserMessage | AssistantMessage | ToolMessage)
    return wired


def _tool(tool: Tool) -> dict[str, Any]:
    return tool.openai_schema["function"]
