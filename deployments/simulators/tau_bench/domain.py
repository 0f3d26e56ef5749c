"""A domain of τ-bench: its environment, its tasks, and which family a tool belongs to.

τ-bench has no apps. What stands for them in our tables are families of tools, about as many as AppWorld has
apps: each domain's file says which tool belongs to which.
"""

import functools
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from tau2.environment.environment import Environment
from tau2.environment.toolkit import ToolKitBase, ToolType
from tau2.registry import registry

import quiet  # noqa: F401 - first


class Domain(ABC):
    """One domain in one variant. Environments are made from data that is read once."""

    suite: str
    """Our name of it."""
    name: str
    """The name under which it is registered with τ-bench."""
    sources: tuple[str, ...]
    """Packages of which it is made, for `version`."""
    start: str
    """Its one initial state: what the base data is."""
    families: dict[str, str]
    """Family by tool, of both sides."""
    splits: tuple[str, ...]
    forbidden_bases: frozenset[str] = frozenset({"NL_ASSERTION"})
    """What a reward may not hang on: no judge is asked here."""
    documents: dict[str, str] = {}
    """Text by id of what an item may require."""

    def register(self) -> None:
        """Makes the domain known to τ-bench's evaluator, which asks for an environment by name."""
        registry.register_domain(lambda solo_mode=False: self.environment(), self.name)

    @abstractmethod
    def environment(self, documents: Sequence[str] = ()) -> Environment:
        """A fresh environment; its policy holds `documents` where the variant shows them."""

    @abstractmethod
    def tasks(self, split: str) -> list[dict[str, Any]]:
        """The split's tasks as the source has them."""

    @abstractmethod
    def world_summary(self) -> str:
        """What a proposer is told of the base data."""

    @abstractmethod
    def world(self) -> bytes:
        """What the base data is made of, for its hash."""

    def family(self, tool: str) -> str:
        """The family of a tool; "other" for one that nobody offers."""
        return self.families.get(tool, "other")

    def is_read(self, kit: ToolKitBase, tool: str, arguments: dict[str, Any]) -> bool:
        """Whether a call of a tool is made to read."""
        return kit.has_tool(tool) and kit.tool_type(tool) == ToolType.READ

    def called(self, tool: str, arguments: dict[str, Any]) -> str:
        """The tool that a call is really of."""
        return tool

    def reads(self, environment: Environment) -> dict[str, Callable[..., Any]]:
        """The functions by which either side can look something up."""
        kits = (environment.tools, environment.user_tools)
        return {
            name: function
            for kit in kits
            for name, function in kit.tools.items()
            if self.is_read(kit, name, {})
        }

    def reading(self, gold: Sequence[tuple[str, dict[str, Any]]]) -> AbstractContextManager[None]:
        """The surroundings in which an item with this gold is played and graded."""
        return nullcontext()

    @functools.cached_property
    def hash(self) -> str:
        """Names the base data."""
        return hashlib.sha256(self.world()).hexdigest()[:24]


def families(**members: str) -> dict[str, str]:
    """Family by tool, from the tools of each family as one text."""
    return {tool: family for family, tools in members.items() for tool in tools.split()}


def as_json(values: Iterable[Any]) -> bytes:
    """One text of values, for a hash."""
    return json.dumps(list(values), sort_keys=True, default=str).encode()
