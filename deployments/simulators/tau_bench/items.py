"""Items and τ-bench's tasks: one into the other, and what of a written item τ-bench would not take.

An item's fields hold JSON texts: `instruction` is the task's user_scenario, `setup` its initial_state,
required_documents and user_tools, `gold` its actions, `grading` the rest of its evaluation_criteria. τ-bench
ignores unknown fields and logs a gold that fails; here each is a fault.
"""

import inspect
import json
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from tau2.data_model.tasks import Task
from tau2.environment.environment import Environment

import quiet  # noqa: F401 - first
from domain import Domain

Side = Literal["user", "assistant"]


class Fault(Exception):
    """Why a written item is none; `cause` is from the list in the protocol."""

    def __init__(self, cause: str, detail: str) -> None:
        super().__init__(detail)
        self.cause = cause


class Strict(BaseModel):
    """Refuses unknown keys."""

    model_config = ConfigDict(extra="forbid")


class Instructions(Strict):
    """What the user is told, in parts."""

    domain: str
    reason_for_call: str
    known_info: str | None = None
    unknown_info: str | None = None
    task_instructions: str


class Scenario(Strict):
    """All that the simulated user knows."""

    persona: str | None = None
    instructions: Instructions | str


class Call(Strict):
    """A function that sets the start up."""

    env_type: Side
    func_name: str
    arguments: dict[str, Any]


class Assertion(Call):
    """A function that looks at the end, and what it has to say."""

    assert_value: bool = True
    message: str | None = None


class Data(Strict):
    """Rows that the start has beyond the base data."""

    agent_data: dict[str, Any] | None = None
    user_data: dict[str, Any] | None = None


class InitialState(Strict):
    """How the start differs from the base data."""

    initialization_data: Data | None = None
    initialization_actions: list[Call] | None = None
    message_history: None = None


class Setup(Strict):
    """An item's `setup`."""

    initial_state: InitialState | None = None
    required_documents: list[str] | None = None
    user_tools: list[str] | None = None


class Action(Strict):
    """One call of the gold."""

    action_id: str | None = None
    requestor: Side = "assistant"
    name: str
    arguments: dict[str, Any]
    info: str | None = None
    compare_args: list[str] | None = None


class Gold(Strict):
    """An item's `gold`."""

    actions: list[Action]


class Grading(Strict):
    """An item's `grading`."""

    env_assertions: list[Assertion] | None = None
    communicate_info: list[str] | None = None
    nl_assertions: list[str] | None = None
    reward_basis: list[Literal["DB", "ENV_ASSERTION", "NL_ASSERTION", "ACTION", "COMMUNICATE"]]


def item_of(task: dict[str, Any]) -> dict[str, Any]:
    """A task of the source as an item's fields."""
    criteria = task["evaluation_criteria"]
    scenario = task["user_scenario"]
    # What is wanted first: an embedder reads the beginning of a text only.
    scenario = {name: scenario.get(name) for name in ("instructions", "persona")}
    setup = {name: task.get(name) for name in ("initial_state", "required_documents", "user_tools")}
    grading = {
        name: criteria.get(name)
        for name in ("env_assertions", "communicate_info", "nl_assertions", "reward_basis")
    }
    return {
        "setup": written(without_nulls(setup)),
        "instruction": written(without_nulls(scenario)),
        "gold": written([without_nulls(action) for action in criteria["actions"] or []]),
        "grading": written(without_nulls(grading)),
    }


def written(value: Any) -> str:
    """The one text of a part of an item."""
    return json.dumps(value, ensure_ascii=False, indent=1)


def without_nulls(value: Any) -> Any:
    """The value without the fields that hold nothing."""
    if isinstance(value, dict):
        return {name: without_nulls(one) for name, one in value.items() if one is not None}
    if isinstance(value, list):
        return [without_nulls(one) for one in value]
    return value


class ReadItem:
    """An item as τ-bench's task, with what the task does not hold."""

    def __init__(self, item: dict[str, Any]) -> None:
        """Raises Fault unknown_key or wrong_type for what is not of the schema."""
        scenario = _part(Scenario, item["instruction"], "user_scenario")
        setup = _part(Setup, item["setup"] or "{}", "setup")
        gold = _part(Gold, f'{{"actions": {item["gold"]}}}', "")
        self.grading = _part(Grading, item["grading"], "evaluation")
        self.setup = setup
        self.actions = gold.actions
        self.documents = setup.required_documents or []
        self.user_tools = setup.user_tools
        state = setup.initial_state
        self.task = Task.model_validate(
            {
                "id": item.get("item_id") or "item",
                "user_scenario": scenario.model_dump(),
                "initial_state": state and state.model_dump(),
                "evaluation_criteria": {
                    "actions": [
                        action.model_dump()
                        | {"action_id": action.action_id or f"{action.name}_{n}"}
                        for n, action in enumerate(gold.actions)
                    ],
                    **self.grading.model_dump(),
                },
            }
        )

    def require(self, domain: Domain) -> None:
        """Raises Fault for what the domain does not know: tools, arguments, documents, bases, tables."""
        missing = [name for name in self.documents if name not in domain.documents]
        if missing:
            raise Fault("dangling_document", f"required_documents: there is no {missing[0]}")
        environment = domain.environment(self.documents)
        self._require_tools(environment)
        self._require_basis(domain)
        data = self.setup.initial_state and self.setup.initial_state.initialization_data
        for side, kit in (("agent_data", environment.tools), ("user_data", environment.user_tools)):
            tables = set(type(kit.db).model_fields)
            for name in (data and getattr(data, side)) or {}:
                if name not in tables:
                    raise Fault("unknown_key", f"{side}.{name}: there are {', '.join(tables)}")

    def _require_tools(self, environment: Environment) -> None:
        offered = environment.user_tools.tools
        for name in self.user_tools or []:
            if name not in offered:
                raise Fault("unknown_tool", f"user_tools: there is no {name}")
        for n, action in enumerate(self.actions):
            kit = environment.user_tools if action.requestor == "user" else environment.tools
            where = f"actions.{n} ({action.requestor}'s {action.name})"
            if not kit.has_tool(action.name):
                raise Fault("unknown_tool", f"{where}: the {action.requestor} has no such tool")
            hidden = self.user_tools is not None and action.name not in self.user_tools
            if action.requestor == "user" and hidden:
                raise Fault("unknown_tool", f"{where}: user_tools does not give it to the user")
            _require_arguments(getattr(kit, action.name), action.arguments, where)
        state = self.setup.initial_state
        for part, calls in (
            ("initialization_actions", (state and state.initialization_actions) or []),
            ("env_assertions", self.grading.env_assertions or []),
        ):
            for n, call in enumerate(calls):
                kit = environment.user_tools if call.env_type == "user" else environment.tools
                function = getattr(kit, call.func_name, None)
                wanted = call.func_name.startswith("assert_") == (part == "env_assertions")
                where = f"{part}.{n} ({call.func_name})"
                if not inspect.ismethod(function) or call.func_name.startswith("_") or not wanted:
                    raise Fault(
                        "unknown_tool", f"{where}: the {call.env_type} has no such function"
                    )
                _require_arguments(function, call.arguments, where)

    def _require_basis(self, domain: Domain) -> None:
        basis = set(self.grading.reward_basis)
        for name in sorted(basis & domain.forbidden_bases):
            raise Fault("wrong_basis", f"reward_basis: {name} cannot grade an item here")
        if not basis:
            raise Fault("wrong_basis", "reward_basis: is empty, so that everything is right")
        for name, needed in (
            ("ENV_ASSERTION", self.grading.env_assertions),
            ("ACTION", self.actions),
            ("COMMUNICATE", self.grading.communicate_info),
        ):
            if name in basis and not needed:
                raise Fault("wrong_basis", f"reward_basis: {name}, but there is none")


def _part(shape: type[Strict], text: str, where: str) -> Any:
    """A part of an item, read strictly."""
    try:
        return shape.model_validate_json(text)
    except ValidationError as error:
        raise _fault(error, where) from error


def _fault(error: ValidationError, where: str) -> Fault:
    first = error.errors()[0]
    place = ".".join(str(part) for part in (where, *first["loc"]) if part != "")
    extra = first["type"] == "extra_forbidden"
    return Fault(
        "unknown_key" if extra else "wrong_type",
        f"{place}: {'is no key that τ-bench knows' if extra else first['msg']}",
    )


def _require_arguments(function: Callable[..., Any], arguments: dict[str, Any], where: str) -> None:
    """Raises Fault wrong_type unless the function takes these arguments, as JSON has them."""
    parameters = inspect.signature(function).parameters
    fields = {
        name: (
            Any if one.annotation is one.empty else one.annotation,
            ... if one.default is one.empty else one.default,
        )
        for name, one in parameters.items()
    }
    shape = create_model("Arguments", __config__=ConfigDict(extra="forbid", strict=True), **fields)
    try:
        shape.model_validate_json(json.dumps(arguments))
    except ValidationError as error:
        fault = _fault(error, where)
        raise Fault("wrong_type", str(fault)) from error
