"""The system calls that a session may make; every other one fails with EPERM. Linux only.

A filter of the kernel's (seccomp, in the classic BPF that it takes), so it binds root and an ordinary user,
with bubblewrap and without. What a cell needs is to compute, to look at files and to speak on the one
socket that it was given. What it cannot do: start a process or a thread, execute a program, open a file
for writing, make a socket that leads elsewhere, signal or trace another process, enter a namespace, change
its own limits. Resource limits alone do not hold root, whom the kernel exempts from the number of processes.
"""

import ctypes
import errno
import platform
from pathlib import Path

NUMBERS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "close": (3, 57),
    "stat": (4, None),
    "fstat": (5, 80),
    "lstat": (6, None),
    "poll": (7, None),
    "lseek": (8, 62),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "pread64": (17, 67),
    "readv": (19, 65),
    "writev": (20, 66),
    "access": (21, None),
    "pipe": (22, None),
    "select": (23, None),
    "sched_yield": (24, 124),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "dup": (32, 23),
    "dup2": (33, None),
    "pause": (34, None),
    "nanosleep": (35, 101),
    "getitimer": (36, 102),
    "alarm": (37, None),
    "setitimer": (38, 103),
    "getpid": (39, 172),
    "sendto": (44, 206),
    "recvfrom": (45, 207),
    "shutdown": (48, 210),
    "socketpair": (53, 199),
    "exit": (60, 93),
    "uname": (63, 160),
    "getcwd": (79, 17),
    "readlink": (89, None),
    "gettimeofday": (96, 169),
    "getrlimit": (97, 163),
    "getrusage": (98, 165),
    "sysinfo": (99, 179),
    "times": (100, 153),
    "getuid": (102, 174),
    "getgid": (104, 176),
    "geteuid": (107, 175),
    "getegid": (108, 177),
    "getppid": (110, 173),
    "getgroups": (115, 158),
    "rt_sigpending": (127, 136),
    "rt_sigtimedwait": (128, 137),
    "sigaltstack": (131, 132),
    "statfs": (137, 43),
    "fstatfs": (138, 44),
    "gettid": (186, 178),
    "time": (201, None),
    "futex": (202, 98),
    "sched_getaffinity": (204, 123),
    "getdents64": (217, 61),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115),
    "exit_group": (231, 94),
    "epoll_wait": (232, None),
    "epoll_ctl": (233, 21),
    "newfstatat": (262, 79),
    "readlinkat": (267, 78),
    "faccessat": (269, 48),
    "pselect6": (270, 72),
    "ppoll": (271, 73),
    "epoll_pwait": (281, 22),
    "eventfd2": (290, 19),
    "epoll_create1": (291, 20),
    "dup3": (292, 24),
    "pipe2": (293, 59),
    "getrandom": (318, 278),
    "statx": (332, 291),
    "faccessat2": (439, 439),
}
"""Number on x86_64 and on aarch64 (None: not there), by name."""

_WRITES = 0o3 | 0o100 | 0o1000  # any access mode but reading, O_CREAT, O_TRUNC
NO_BITS: dict[str, tuple[int | None, int | None, int, int]] = {
    "open": (2, None, 1, _WRITES),
    "openat": (257, 56, 2, _WRITES),
}
"""Numbers, the argument that is looked at, and the bits that must not be set in it."""

ONE_OF: dict[str, tuple[int, int, int, tuple[int, ...]]] = {
    # Terminal attributes and size, bytes to read, non-blocking: no command that pushes input or sets owners.
    "ioctl": (16, 29, 1, (0x5401, 0x5413, 0x541B, 0x5421)),
    # Duplicates and flags; an owner and a signal of one's choice would be a way to kill others.
    "fcntl": (72, 25, 1, (0, 1, 2, 3, 4, 1030)),
}
"""Numbers, the argument that is looked at, and the values that it may have."""

_MACHINES = ("x86_64", "aarch64")
_AUDIT_ARCHITECTURES = (0xC000003E, 0xC00000B7)
_LOAD, _JUMP_IF_EQUAL, _AND, _RETURN = 0x20, 0x15, 0x54, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000 | errno.EPERM, 0x80000000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_PR_SET_SECCOMP, _FILTER_MODE = 22, 2
_libc = ctypes.CDLL(None, use_errno=True)


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_ushort),
        ("if_true", ctypes.c_ubyte),
        ("if_false", ctypes.c_ubyte),
        ("value", ctypes.c_uint),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("first", ctypes.POINTER(_Instruction))]


def can_filter() -> bool:
    """Whether this processor's numbers are known here and the kernel takes filters."""
    offered = Path("/proc/sys/kernel/seccomp/actions_avail")
    return platform.machine() in _MACHINES and offered.exists()


def filter_system_calls() -> None:
    """Leaves this process, for good, the system calls listed above; new privileges it has given up before.

    Raises:
        OSError: the kernel refused the filter.
    """
    lines = _filter(_MACHINES.index(platform.machine()))
    program = _Program(len(lines), (_Instruction * len(lines))(*lines))
    if _libc.prctl(_PR_SET_SECCOMP, _FILTER_MODE, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl: the system call filter was refused")


def _filter(machine: int) -> list[tuple[int, int, int, int]]:
    """The filter's instructions: (code, lines to jump if true, if false, value)."""
    lines = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_JUMP_IF_EQUAL, 1, 0, _AUDIT_ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    rules = [(numbers[machine], []) for numbers in NUMBERS.values()]
    for *numbers, argument, bits in NO_BITS.values():
        test = [(_LOAD, 0, 0, _argument_at(argument)), (_AND, 0, 0, bits)]
        rules.append((numbers[machine], [*test, *_allow_if(0), (_RETURN, 0, 0, _REFUSE)]))
    for *numbers, argument, values in ONE_OF.values():
        test = [(_LOAD, 0, 0, _argument_at(argument))]
        test += [line for value in values for line in _allow_if(value)]
        rules.append((numbers[machine], [*test, (_RETURN, 0, 0, _REFUSE)]))
    for number, rule in rules:
        if number is not None:
            rule = rule or [(_RETURN, 0, 0, _ALLOW)]
            lines += [(_JUMP_IF_EQUAL, 0, len(rule), number), *rule]
    return [*lines, (_RETURN, 0, 0, _REFUSE)]


def _allow_if(value: int) -> list[tuple[int, int, int, int]]:
    return [(_JUMP_IF_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]


def _argument_at(position: int) -> int:
    """Offset of an argument's lower half: all of an int on these machines, which are little-endian."""
    return _ARGUMENTS_AT + 8 * position
