"""Which cells stock's guard has to read: it parses each twice (8 ms CPU for four lines, 100 for sixty)."""

import re

from appworld.common import safety_guard

_CALLED = [
    (module.rpartition(".")[2], frozenset(functions))
    for module, functions in safety_guard.DISALLOWED_MODULE_TO_FUNCTION_NAMES.items()
]


def may_be_refused(code: str) -> bool:
    """Whether the guard could refuse `code`; what it refuses is in the code word for word.

    It refuses imports, and calls of forbidden functions by their module's path, for built-in ones by their
    name alone. Only an import can give one of them another name.
    """
    words = set(re.findall(r"\w+", code))
    return "import" in words or any(
        (module in words or module == "builtins") and not functions.isdisjoint(words)
        for module, functions in _CALLED
    )
