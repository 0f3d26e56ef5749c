"""What the simulator says of itself."""

from importlib.metadata import version
from typing import Any

from tau2.environment.toolkit import ToolKitBase

import checkout
from domain import Domain


def describe(domain: Domain) -> dict[str, Any]:
    """The protocol's result of `describe`."""
    environment = domain.environment()
    packages = [f"{name} {version(name)}" for name in domain.sources]
    apis = [
        _api(domain, side, tool)
        for side, kit in (("assistant", environment.tools), ("user", environment.user_tools))
        for tool in kit.get_tools().values()
    ]
    return {
        "suite": domain.suite,
        "version": " ".join(filter(None, [*packages, checkout.source()])),
        "world": domain.hash,
        "interaction": "dialogue",
        "edits": ["instruction", "setup", "gold", "grading"],
        "sandbox": "none",
        "apis": apis,
        "world_summary": "\n\n".join(
            [
                domain.world_summary(),
                _functions(environment.tools, "assistant"),
                _functions(environment.user_tools, "user"),
            ]
        ),
        "survey": None,
    }


def _api(domain: Domain, side: str, tool: Any) -> dict[str, Any]:
    schema = tool.openai_schema["function"]
    properties = schema["parameters"].get("properties", {})
    return {
        "app": domain.family(tool.name),
        "api": tool.name,
        "method": side,
        "description": " ".join(schema["description"].split()),
        "parameters": list(properties),
        "required": schema["parameters"].get("required", []),
        "values": {
            name: [str(value) for value in one["enum"]]
            for name, one in properties.items()
            if "enum" in one
        },
        "returns": "",
    }


def _functions(kit: ToolKitBase, side: str) -> str:
    """Functions by which an item sets its start up or checks its end, that are no tools of anybody."""
    import inspect

    lines = []
    for name, function in inspect.getmembers(kit, inspect.ismethod):
        own = name in vars(type(kit)) and not name.startswith(("_", "get_", "use_", "update_"))
        if own and not kit.has_tool(name):
            lines.append(f"- {name}{inspect.signature(function)}")
    return f"Functions of the {side}'s side for initialization_actions and env_assertions:\n" + (
        "\n".join(lines) or "- (none)"
    )
