"""The program's two warm processes, seen from the program: started, asked to fork, asked to kill."""

import asyncio
import json
import socket
import subprocess
from pathlib import Path

from shell.forker import PACKET_BYTES


class WarmProcess:
    """A process that runs shell/forker.py's loop; see there for what it is asked."""

    def __init__(self, command: list[str], control: socket.socket, **start: object) -> None:
        """Starts `command`, which inherits its end of the control socket."""
        self._control = control
        self._control.setblocking(False)
        self._turn = asyncio.Lock()
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, **start)
        self._ready: dict | None = None

    async def set_up(self, message: dict) -> dict:
        """Sends the first packet and waits for the process to be warm; returns what it says.

        Raises:
            ChildProcessError: it ended instead; its stderr says why.
        """
        return await self._ask(message, [])

    async def fork(self, spec: dict, sockets: list[socket.socket]) -> int:
        """Forks a session that gets `sockets`, which are closed here; returns the child's pid there."""
        try:
            return (await self._ask({"fork": spec}, sockets))["pid"]
        finally:
            for passed in sockets:
                passed.close()

    async def kill(self, pid: int) -> None:
        """Kills a forked session; harmless when it has ended."""
        await self._ask({"kill": pid}, [])

    async def _ask(self, message: dict, sockets: list[socket.socket]) -> dict:
        async with self._turn:
            try:
                descriptors = [passed.fileno() for passed in sockets]
                socket.send_fds(self._control, [json.dumps(message).encode()], descriptors)
                reply = await asyncio.get_running_loop().sock_recv(self._control, PACKET_BYTES)
            except ConnectionError:
                reply = b""
        if not reply:
            raise ChildProcessError(f"{self._process.args[-2]} ended; its log above says why")
        return json.loads(reply)

    def leave(self) -> None:
        """Tells the process to end, with all that it forked."""
        self._control.close()

    def stop(self, grace_s: float = 1.0) -> None:
        """Waits for a process that was told to end; kills it when it takes longer than `grace_s`."""
        try:
            self._process.wait(grace_s)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def start(command_for, folder: Path, environment: dict[str, str]) -> WarmProcess:
    """Starts a warm process in `folder`; `command_for` makes the command from the inherited descriptor."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in (ours, theirs):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PACKET_BYTES)
    with theirs:
        return WarmProcess(
            command_for(theirs.fileno()),
            ours,
            cwd=folder,
            env=environment,
            pass_fds=[theirs.fileno()],
        )
