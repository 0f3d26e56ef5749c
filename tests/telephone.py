"""A dialogue small enough to run in this process: an operator's line, a switch on the caller's telephone.

It speaks as τ-bench's simulator does (whose turn it is, calls of both sides, words that end it), so that
agents, prompts and the simulated pair are tested in milliseconds.
"""

import json
from typing import Any

from tasks.documents import fields_of
from tasks.llm.base import Message
from tasks.suites.base import Call, Difference, Effect, Ended, GradeTest, ModelRequest, Outcome
from warehouse.records import Item

DOCUMENT: dict[str, Any] = {
    "user_scenario": {
        "instructions": {
            "domain": "telephone",
            "reason_for_call": "You cannot call anybody from abroad.",
            "known_info": "You are Ada King with phone number 555-100-2000.",
            "task_instructions": "You want roaming on your line, and on your telephone.",
        }
    },
    "actions": [
        {"requestor": "assistant", "name": "enable_roaming", "arguments": {"line_id": "L1077"}},
        {"requestor": "user", "name": "toggle_roaming", "arguments": {}},
    ],
    "env_assertions": [
        {"env_type": "user", "func_name": "assert_roaming", "arguments": {}, "assert_value": True}
    ],
    "reward_basis": ["ENV_ASSERTION"],
}


def telephone_item(**changed: Any) -> Item:
    """The item, or one whose document is changed so."""
    fields = fields_of(DOCUMENT | changed)
    return Item.of(suite="telephone", world="telephone", start="telephone", **fields)


def _tool(name: str, *parameters: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {one: {"type": "string"} for one in parameters}}
    return {"name": name, "description": name, "parameters": schema | {"required": parameters}}


TOOLS = {
    "solver": (_tool("get_line_by_phone", "phone_number"), _tool("enable_roaming", "line_id")),
    "user": (_tool("toggle_roaming"), _tool("throw_away")),
}
ENDS = {"###STOP###": "user_stopped", "###TRANSFER###": "transferred"}


class TelephoneSession:
    """One call."""

    sandbox = "none"

    def __init__(self, item: Item) -> None:
        self._scenario = item.instruction
        self._state = {"line": False, "switch": False, "thrown_away": False}
        self._calls: list[Call] = []
        self._told: dict[str, list[Message]] = {"solver": [], "user": []}
        self._first = {"solver": True, "user": True}
        self._completed = False
        self._tell("solver", "system", "Policy: help.")
        self._tell("user", "system", f"<scenario>\n{self._scenario}\n</scenario>")
        self._tell("user", "user", "Hi! How can I help you today?")
        self.request = self._turn("user", ())

    async def act(self, action: dict[str, Any], timeout_s: float) -> ModelRequest | Ended:
        """Does the calls, or hands the words to the other side."""
        role, other = action["role"], "solver" if action["role"] == "user" else "user"
        if not action["tool_calls"] and not action["text"].strip():
            return Ended(cause=f"{role}_unusable")
        for word, cause in ENDS.items():
            if role == "user" and word in action["text"]:
                self._completed = cause == "user_stopped"
                return Ended(cause=cause)
        if not action["tool_calls"]:
            self._tell(other, "user", action["text"])
            return self._turn(other, ())
        made = [self._call(role, one) for one in action["tool_calls"]]
        return self._turn(role, tuple(made))

    async def finish(self) -> Outcome:
        """Solved when both are on; what was thrown away is seen beside it."""
        on = self._state["line"] and self._state["switch"]
        lacking = [name for name in ("line", "switch") if not self._state[name]]
        return Outcome(
            solved=on and self._completed,
            partial=1 - len(lacking) / 2,
            completed=self._completed,
            tests=(GradeTest(requirement="roaming", passed=on),),
            difference=Difference(
                missing=tuple(_effect(name) for name in lacking),
                unexpected=(_effect("thrown_away"),) if self._state["thrown_away"] else (),
            ),
            calls=len(self._calls),
        )

    async def close(self) -> None:
        """Nothing is held."""

    def _tell(self, to: str, role: str, text: str, call_id: str | None = None) -> None:
        self._told[to].append(Message(role=role, content=text, tool_call_id=call_id))

    def _turn(self, role: str, calls: tuple[Call, ...]) -> ModelRequest:
        messages, self._told[role] = tuple(self._told[role]), []
        tools = TOOLS[role] if self._first[role] else ()
        self._first[role] = False
        return ModelRequest(role=role, messages=messages, tools=tools, calls=calls)

    def _call(self, role: str, asked: dict[str, Any]) -> Call:
        name, arguments = asked["name"], json.loads(asked["arguments"])
        changed = {
            "enable_roaming": "line",
            "toggle_roaming": "switch",
            "throw_away": "thrown_away",
        }
        answer = "done"
        if name == "get_line_by_phone":
            answer = (
                '{"line_id": "L1077"}' if arguments["phone_number"] == "555-100-2000" else "none"
            )
        elif name == "enable_roaming" and arguments["line_id"] != "L1077":
            answer = "Error: no such line"
        else:
            self._state[changed[name]] ^= True
        self._tell(role, "tool", answer, asked["id"])
        call = Call(
            n=len(self._calls),
            app="lines",
            api=name,
            arguments=arguments,
            ok=not answer.startswith("Error"),
            wrote=name in changed,
            side="user" if role == "user" else "assistant",
        )
        self._calls.append(call)
        return call


def _effect(name: str) -> Effect:
    return Effect(app="agent", table=name, change="changed", row=None, content={"on": True})


class TelephoneSuite:
    """The suite in this process."""

    name = "telephone"

    async def open(self, item: Item, rng_seed: int) -> TelephoneSession:
        """A new call."""
        return TelephoneSession(item)
