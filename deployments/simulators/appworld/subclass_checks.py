"""Cheap subclass checks of pydantic's models, of which the engine makes 400,000 while it starts."""

import pydantic.main


def plain_subclass_checks() -> None:
    """Lets pydantic's models tell subclasses by their bases alone.

    Their metaclass is an ABCMeta, which asks every known subclass about each new type: a third of the
    engine's start (3.5 s of 10 CPU). No class is a virtual subclass of a model, so the answers are the same.
    Call it before the engine's apps are imported.
    """
    pydantic.main.ModelMetaclass.__subclasscheck__ = type.__subclasscheck__
