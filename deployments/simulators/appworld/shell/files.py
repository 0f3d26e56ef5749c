"""The files that a session may read where no bubblewrap hides the others: Landlock (Linux 5.13 and newer).

A process under it reads below the folders that it was given and nowhere else, changes nothing, and looks
into no process outside of it: neither memory nor environment, also where both belong to one user.
"""

import ctypes
import os
from collections.abc import Iterable

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same number on every machine
_ASK_VERSION, _PATH_BENEATH = 1, 1
_READ_FILE, _READ_FOLDER = 4, 8
_EVERY_ACCESS = (1 << 13) - 1  # of the first version: to read, write, run, make, remove
_libc = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = [("handled_access", ctypes.c_uint64)]


class _Rule(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed_access", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def can_restrict() -> bool:
    """Whether the kernel offers Landlock."""
    return _libc.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION) > 0


def restrict_files(readable: Iterable[str]) -> None:
    """Leaves this process, for good, no files but those below `readable`, so far as they are there.

    It must have given up new privileges before, or be root.

    Raises:
        OSError: the kernel refused.
    """
    ruleset = _made(_libc.syscall(_CREATE_RULESET, ctypes.byref(_Ruleset(_EVERY_ACCESS)), 8, 0))
    for path in filter(os.path.exists, readable):
        access = _READ_FILE | _READ_FOLDER if os.path.isdir(path) else _READ_FILE
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = ctypes.byref(_Rule(access, parent))
        _made(_libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
        os.close(parent)
    _made(_libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _made(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "landlock: the kernel refused")
    return result
