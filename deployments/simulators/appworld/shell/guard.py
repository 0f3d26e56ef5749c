"""The stock engine's seat-belt in the shell: while a cell runs, listed functions do nothing.

It keeps honest code from touching files and processes, and outputs equal to stock. It stops no one who
means harm; the sandbox does. The list comes from the trusted process, which reads it from the engine.
"""

import builtins
import faulthandler
import importlib
import io
import pathlib
from collections.abc import Callable
from typing import Any

_READ_ONLY = {"builtins.open", "io.open", "pathlib.Path.open"}


class Guard:
    """Switches the listed functions off and on again."""

    def __init__(self, disallowed: dict[str, list[str]]) -> None:
        """Looks the functions up. `disallowed` maps a module, or a class in one, to function names."""
        self._originals: list[tuple[Any, str, str, Callable]] = []
        for path, names in disallowed.items():
            module_name, *inner = path.split(".")
            owner = importlib.import_module(module_name)
            for part in inner:
                owner = getattr(owner, part)
            for name in names:
                self._originals.append((owner, name, f"{path}.{name}", getattr(owner, name, None)))
        builtins.SystemExit = Exception  # as stock does: a cell's exit is an error of that cell
        self._open, self._path_open = builtins.open, pathlib.Path.open

    def enable(self) -> None:
        """Puts a function that does nothing in the place of each; `open` reads but does not write."""
        faulthandler.disable()
        for owner, name, path, _ in self._originals:
            if path not in _READ_ONLY:
                setattr(owner, name, lambda *args, **kwargs: None)
        builtins.open = io.open = self._read_only_open
        path_open = self._path_open

        def read_only_path_open(self: pathlib.Path, *args: Any, **kwargs: Any) -> Any:
            if "mode" in kwargs:
                kwargs["mode"] = "r"
            else:
                args = ("r", *args[1:])
            return path_open(self, *args, **kwargs)

        pathlib.Path.open = read_only_path_open

    def disable(self) -> None:
        """Puts the functions back."""
        for owner, name, _, original in self._originals:
            if original is not None:
                setattr(owner, name, original)

    def _read_only_open(self, file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if set(mode) & set("wax+"):
            raise PermissionError("Writing to OS file system is disabled.")
        return self._open(file, mode, *args, **kwargs)
