"""Runs a cell and words its output as the stock engine's `AppWorld.execute` does, to the letter."""

import ast
import re
import sys
from textwrap import dedent
from traceback import TracebackException
from typing import Any

from fastapi.exceptions import HTTPException
from IPython.terminal.embed import InteractiveShellEmbed
from IPython.utils.capture import capture_output
from traitlets.config.loader import Config

from shell.guard import Guard

_IMPORTS = """
import builtins
import calendar
import datetime
import itertools
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from copy import deepcopy
from functools import reduce

import pendulum
from pendulum import MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY, SATURDAY, SUNDAY
"""
_FUNCTIONS = """
def print(*args, **kwargs):
    if not kwargs and len(args) == 1 and isinstance(args[0], (list, tuple, dict)):
        indent = 1 if len(json.dumps(args[0])) >= 100 else None
        builtins.print(json.dumps(args[0], indent=indent))
    else:
        builtins.print(*args, **kwargs)

def input(*args, **kwargs):
    raise Exception("input(..) is not allowed. All decisions must be made autonomously.")
"""
PREAMBLE = _IMPORTS + 9 * "\n" + _FUNCTIONS
"""What stands in the shell before the first cell.

A traceback that passes `print` shows its line numbers, so the engine's imports are blank lines here.
"""

TEXT_CHARS = 1 << 20
"""Longest output of a cell; what is beyond it is counted and dropped."""

_FAILED = "Execution failed. Traceback:\n"
_STRAY_CHAIN = dedent("""
    During handling of the above exception, another exception occurred:

    Traceback (most recent call last):
    AttributeError: 'tuple' object has no attribute 'tb_frame'
""").strip()


def make_shell(names: dict[str, Any]) -> InteractiveShellEmbed:
    """An IPython shell as stock configures it, with the preamble run and `names` added."""
    config = Config()
    config.HistoryManager.enabled = False
    hook = sys.excepthook
    shell = InteractiveShellEmbed(config=config)
    sys.excepthook = hook  # IPython changes it for the whole process
    shell.ast_node_interactivity = "none"
    # IPython's own coloured traceback goes where nobody reads it, and costs 20 ms an error.
    shell.showtraceback = shell.showsyntaxerror = lambda *args, **kwargs: None
    shell.run_cell(PREAMBLE)
    shell.user_ns.update(names)
    return shell


def run_cell(shell: InteractiveShellEmbed, guard: Guard, code: str) -> tuple[str, bool]:
    """Runs one cell; returns its output, cut where it is longer than TEXT_CHARS, and whether it failed."""
    text, error = _run_whole(shell, guard, code.strip())
    beyond = len(text) - TEXT_CHARS
    return text if beyond <= 0 else f"{text[:TEXT_CHARS]}\n[... {beyond} more characters]", error


def _run_whole(shell: InteractiveShellEmbed, guard: Guard, code: str) -> tuple[str, bool]:
    try:
        ast.parse(code)
    except SyntaxError as error:
        line = (error.text or "").rstrip()
        return f"{_FAILED}Syntax error in line:\n{line}\nMessage: {error.msg}", True
    except (ValueError, RecursionError, MemoryError) as error:
        return f"{_FAILED}{type(error).__name__}: {error}", True  # stock ends with it
    if not code:
        return "No code available to execute.", False
    guard.enable()
    try:
        with capture_output(stdout=True, stderr=True, display=True) as captured:
            result = shell.run_cell(code)
    finally:
        guard.disable()
    if result.success:
        text = captured.stdout
        return (text if text.strip() else "Execution successful."), False
    return _FAILED + _describe(result.error_before_exec or result.error_in_exec), True


def _describe(error: BaseException) -> str:
    """The error's traceback from the first line of the cell on, frames of other files left out."""
    trace = "".join(TracebackException.from_exception(error).format())
    kept, in_cell = [], False
    for line in trace.splitlines():
        frame = re.match(r' +File "(.*?)", line (\d+), in .+', line)
        if frame:
            in_cell = "python-input" in frame.group(1)
        if in_cell or not line.startswith("  "):
            kept.append(line)
    trace = "\n".join(kept)
    if isinstance(error, HTTPException) and str(error.detail) not in trace:
        trace = f"{trace}: {error.detail}"
    trace = trace.replace("fastapi.exceptions.HTTPException", "Exception")
    trace = trace.replace("Exception: 422:", "Exception:").replace(_STRAY_CHAIN, "")
    if "ipython-input" in trace:  # not so where the cell failed to compile
        lines = trace.splitlines()
        first = next(index for index, line in enumerate(lines) if "ipython-input" in line)
        trace = re.sub(
            r'File "<ipython-input-\d+-\w+>"', 'File "<python-input>"', "\n".join(lines[first:])
        )
    return dedent(trace.replace("appworld.requester.NumRequestsLimitError", "Exception"))
