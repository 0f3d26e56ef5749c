"""What the kernel takes from a session's processes. Linux only."""

import ctypes
import os
import resource
import signal
import socket
from collections.abc import Iterable

ADDRESS_SPACE_BYTES = 1 << 30
CPU_SECONDS = 600
FILE_BYTES = 1 << 20
OPEN_FILES = 64

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CAPABILITIES_HEADER = (0x20080522, 0)  # version 3, this process
_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWPID = 1 << 17, 1 << 27, 1 << 28, 1 << 29
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_REMOUNT, _MS_BIND = 1, 2, 4, 32, 4096
_libc = ctypes.CDLL(None, use_errno=True)


def die_with_parent() -> None:
    """Has the kernel kill this process as soon as its parent ends, however that ends."""
    _check(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL), "prctl")


def limit_address_space(most: int) -> None:
    """Bounds the memory that this process can ask for, in bytes; beyond it, it gets a MemoryError."""
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def give_up_privileges() -> None:
    """Drops every capability and the way to new ones, for good.

    Root keeps its files by their owner's rights only, and sees into no process that has kept its own.
    """
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    header = (ctypes.c_uint32 * 2)(*_CAPABILITIES_HEADER)
    _check(_libc.capset(header, (ctypes.c_uint32 * 6)()), "capset")


def limit_resources() -> None:
    """Bounds memory, CPU time, file size, open files and processes of this process, for good."""
    limit_address_space(ADDRESS_SPACE_BYTES)
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(kind, (most, most))


def enter_own_namespaces(read_only: str, sockets: Iterable[socket.socket]) -> None:
    """Goes on in a child that sees no process but itself and cannot write to the folder `read_only`.

    Meant for a process inside bubblewrap, where a neighbour's session could otherwise be signalled. The
    calling process closes its `sockets`, waits for the child and exits; killing it kills the child.
    """
    _check(_libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWPID | _CLONE_NEWIPC), "unshare")
    flags = _MS_REMOUNT | _MS_BIND | _MS_RDONLY | _MS_NOSUID | _MS_NODEV
    _check(_libc.mount(None, read_only.encode(), None, flags, None), "mount")
    pid = os.fork()
    if pid:
        for inherited in sockets:
            inherited.close()
        os.waitpid(pid, 0)
        os._exit(0)
    die_with_parent()


def _check(result: int, call: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
