"""A warm process that forks one child a session, for both kinds of children: worlds and shells.

The owner speaks to it over a SOCK_SEQPACKET unix socket, one JSON object a packet:

    -> {"fork": {...spec}} with file descriptors     <- {"pid": pid of the child, as the forker sees it}
    -> {"kill": pid}                                 <- {"killed": whether that child was still there}

End of the socket: the forker kills its children, waits for them and returns. It must be
single-threaded, and it stays responsive because it does nothing but fork, kill and reap.
"""

import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable

from shell.limits import die_with_parent

PACKET_BYTES = 1 << 20
"""Largest packet on a control socket."""


def serve(control: socket.socket, run: Callable[[dict, list[socket.socket]], None]) -> None:
    """Forks and kills on request until the control socket ends.

    `run` is called in each child with the spec and the sockets that came with it; the child exits when
    it returns. What it raises is written to stderr and ends that child only.
    """
    wake, wakeup = socket.socketpair()
    wakeup.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakeup.fileno(), warn_on_full_buffer=False)
    children: set[int] = set()
    while True:
        ready, _, _ = select.select([control, wake], [], [])
        if wake in ready:
            wake.recv(4096)
            _reap(children)
        if control not in ready:
            continue
        packet, descriptors, _, _ = socket.recv_fds(control, PACKET_BYTES, 8)
        if not packet:
            break
        request = json.loads(packet)
        sockets = [socket.socket(fileno=descriptor) for descriptor in descriptors]
        if "kill" in request:
            reply = {"killed": _kill(request["kill"], children)}
        else:
            pid = os.fork()
            if pid == 0:
                _become_child(run, request["fork"], sockets, [control, wake, wakeup])
            children.add(pid)
            reply = {"pid": pid}
        for inherited in sockets:
            inherited.close()
        control.send(json.dumps(reply).encode())
    for pid in children:
        os.kill(pid, signal.SIGKILL)
    for pid in children:
        os.waitpid(pid, 0)


def _reap(children: set[int]) -> None:
    for pid in list(children):
        if os.waitpid(pid, os.WNOHANG)[0]:
            children.discard(pid)


def _kill(pid: int, children: set[int]) -> bool:
    """Kills a child that is still ours; a pid that was reaped may belong to a stranger by now."""
    if pid not in children:
        return False
    os.kill(pid, signal.SIGKILL)
    return True


def _become_child(
    run: Callable[[dict, list[socket.socket]], None],
    spec: dict,
    sockets: list[socket.socket],
    of_the_forker: list[socket.socket],
) -> None:
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for inherited in of_the_forker:
            inherited.close()
        die_with_parent()
        run(spec, sockets)
    except BaseException:  # a forked child must never return into the forker's loop
        traceback.print_exc(file=sys.stderr)
        os._exit(1)
    os._exit(0)
