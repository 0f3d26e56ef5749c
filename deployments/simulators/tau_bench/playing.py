"""An item's gold played on a fresh environment, call by call, each through the stock `get_response`."""

import json
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from tau2.data_model.message import AssistantMessage, Message, ToolCall, ToolMessage, UserMessage
from tau2.environment.environment import Environment
from tau2.user.base import STOP

import quiet  # noqa: F401 - first
from differences import Rows, rows_of
from domain import Domain
from items import Fault, ReadItem


@dataclass
class Played:
    """What a play came to."""

    start: Rows
    end: Rows = field(default_factory=dict)
    calls: list[dict[str, Any]] = field(default_factory=list)
    """The protocol's Call records."""
    errors: dict[int, str] = field(default_factory=dict)
    """By the number of the action, what its call said went wrong."""
    messages: list[Message] = field(default_factory=list)
    """The play as a conversation that its user ends."""


def opened(domain: Domain, item: ReadItem) -> Environment:
    """A fresh environment at the item's start, synced. Raises Fault setup_error where it cannot be made."""
    environment = domain.environment(item.documents)
    state = item.task.initial_state
    try:
        environment.set_state(
            state and state.initialization_data, state and state.initialization_actions, []
        )
    except Exception as error:  # whatever the item's own calls raise
        raise Fault("setup_error", f"initial_state: {error}") from error
    return environment


def play(domain: Domain, item: ReadItem, without: Collection[int] = ()) -> Played:
    """Plays the gold's actions but those numbered in `without`."""
    environment = opened(domain, item)
    played = Played(rows_of(environment))
    before = played.start
    for n, action in enumerate(item.actions):
        if n in without:
            continue
        asked = ToolCall(
            id=str(n), name=action.name, arguments=action.arguments, requestor=action.requestor
        )
        answer = environment.get_response(asked)
        environment.sync_tools()
        after = rows_of(environment)
        if failed(answer):
            played.errors[n] = f"{action.name} says {answer.content}"
        played.calls.append(call_of(domain, n, asked, answer, after != before, with_output=True))
        before = after
        said = UserMessage if action.requestor == "user" else AssistantMessage
        played.messages += [said(role=action.requestor, tool_calls=[asked]), answer]
    played.end = before
    played.messages.append(UserMessage(role="user", content=STOP))
    return played


def ends_of(domain: Domain, item: ReadItem) -> tuple[Rows, Rows]:
    """The item's start, and the state that its gold leaves."""
    environment = opened(domain, item)
    start = rows_of(environment)
    for n, action in enumerate(item.actions):
        call = {"name": action.name, "arguments": action.arguments}
        environment.get_response(ToolCall(id=str(n), requestor=action.requestor, **call))
    environment.sync_tools()
    return start, rows_of(environment)


def failed(answer: ToolMessage) -> bool:
    """Whether a call came to nothing: it raised, or the tool says so in words only."""
    return answer.error or (answer.content or "").startswith("Error")


def call_of(
    domain: Domain,
    n: int,
    asked: ToolCall,
    answer: ToolMessage,
    wrote: bool,
    with_output: bool = False,
) -> dict[str, Any]:
    """The protocol's Call; of a discoverable tool's call, that tool's."""
    tool = domain.called(asked.name, asked.arguments)
    return {
        "n": n,
        "app": domain.family(tool),
        "api": tool,
        "arguments": asked.arguments,
        "ok": not failed(answer),
        "wrote": wrote,
        "output": _json(answer.content) if with_output else None,
    }


def _json(text: str | None) -> Any:
    try:
        return json.loads(text or "null")
    except ValueError:
        return text
