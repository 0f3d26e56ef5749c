"""Cheap classes of pydantic's models: the engine makes 600 while it starts, and in each world some more."""

import copy
from typing import Any

import pydantic.main
from pydantic.fields import ModelField


def cheap_model_classes() -> None:
    """Call it before the engine's apps are imported."""
    _plain_subclass_checks()
    _shallow_field_copies()


def _plain_subclass_checks() -> None:
    """Lets pydantic's models tell subclasses by their bases alone.

    Their metaclass is an ABCMeta, which asks every known subclass about each new type: a third of the
    engine's start (3.5 s of 10 CPU). No class is a virtual subclass of a model, so the answers are the same.
    """
    pydantic.main.ModelMetaclass.__subclasscheck__ = type.__subclasscheck__


def _shallow_field_copies() -> None:
    """Has a model's subclass copy what it can change of the inherited fields, and not all that hangs on them.

    That is the field, its description and its dict of validators; pydantic sets nothing below. A deep copy
    of a table's fields, with its columns, takes 41 ms CPU: a world pays that for each table it adds rows to.
    """
    deep_copy = pydantic.main.smart_deepcopy

    def copied(value: Any) -> Any:
        are_fields = isinstance(value, dict) and all(
            isinstance(field, ModelField) for field in value.values()
        )
        return (
            {name: _copy(field) for name, field in value.items()}
            if are_fields
            else deep_copy(value)
        )

    pydantic.main.smart_deepcopy = copied


def _copy(field: ModelField) -> ModelField:
    made = copy.copy(field)
    made.field_info = copy.copy(field.field_info)
    made.class_validators = dict(field.class_validators)
    return made
