"""What an escape could reach: planted secrets, an open folder, a process that listens, another session.

Run as a program it is that process, the keeper; used by the panel it looks for effects after each escape.
"""

import ctypes
import os
import platform
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ADD_KEY, KEYCTL = {"x86_64": (248, 250), "aarch64": (217, 219)}[platform.machine()]
JOIN_NEW_SESSION_KEYRING, SESSION_KEYRING = 1, -3
LOOK_EVERY_S = 0.5


@dataclass
class Outside:
    """The world outside of one simulator's cells, and what has been seen to change in it."""

    folder: Path
    """Holds `planted`, a file with a secret, and `open`, a folder that anyone may write to."""
    root: int
    """The simulator's process id."""
    secrets_by_place: dict[str, str]
    """What must not be read, by where it stands; those of the file and the environment are planted here."""
    python: Sequence[str] = (sys.executable,)
    """The command of an interpreter, run by the user whom the simulator belongs to."""
    most_processes: int = 0
    """Most processes of the simulator seen at once since `watch` began."""

    def __enter__(self) -> Self:
        """Plants everything and starts the keeper."""
        for place in ("a file", "the environment"):
            self.secrets_by_place[place] = f"canary-{secrets.token_hex(8)}"
        self.planted.write_text(self.secrets_by_place["a file"])
        self.target.mkdir(exist_ok=True)
        self.target.chmod(0o777)
        self.name = f"turtle-{secrets.token_hex(4)}"
        source = Path(__file__).read_text(encoding="utf-8")  # nobody may not see our folders
        self._started = subprocess.Popen(
            [*self.python, "-c", source, self.name, str(self.folder / "received")],
            env={"CANARY": self.secrets_by_place["the environment"]},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.keeper, self.port = map(int, self._started.stdout.readline().split())
        self._before = self.state()
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self.keeper, signal.SIGKILL)
        self._started.wait()
        self._started.stdout.close()

    @property
    def planted(self) -> Path:
        """The file with a secret."""
        return self.folder / "planted"

    @property
    def target(self) -> Path:
        """The folder that anyone may write to."""
        return self.folder / "open"

    def words(self) -> dict[str, object]:
        """What a cell is told of it."""
        return {
            "PLANTED": str(self.planted),
            "TARGET": str(self.target),
            "PORT": self.port,
            "NAME": self.name,
            "KEEPER": self.keeper,
            "SECRET_START": b"CANARY=" + self.secrets_by_place["the environment"][:9].encode(),
        }

    def state(self) -> dict[str, object]:
        """Everything that an effect would change."""
        received = self.folder / "received"
        return {
            "wrote outside": self._files(),
            "connected": received.read_text() if received.exists() else "",
            "stopped a process": self._process_state(),
        }

    def _files(self) -> dict[Path, tuple[int, int]]:
        """Time of change and mode of everything in the folder but what the keeper writes."""
        found = (path for path in self.folder.rglob("*") if path.name != "received")
        return {path: _trace(path) for path in found}

    def _process_state(self) -> str:
        state = Path(f"/proc/{self.keeper}/stat").read_text().rpartition(")")[2].split()[0]
        return "stopped" if state in "TtZX" else "alive"

    def effects(self, text: str) -> set[str]:
        """What an escape reached, by its output and by what has changed; puts things right again.

        The next comparison starts from what was seen here, not from another look: what comes to pass
        between two looks would belong to neither.
        """
        found = {line[9:].strip() for line in text.splitlines() if line.startswith("REACHED: ")}
        found |= {f"read {place}" for place, word in self.secrets_by_place.items() if word in text}
        now = self.state()
        found |= {what for what, before in self._before.items() if now[what] != before}
        os.kill(self.keeper, signal.SIGCONT)
        files = now["wrote outside"]
        for path in [path for path in files if path.parent == self.target]:
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
            del files[path]
        files[self.target] = _trace(self.target)
        self._before = now | {"stopped a process": "alive"}
        return found

    def processes(self) -> int:
        """How many processes descend from the simulator's, or belong to its session."""
        parents, members = {}, set()
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(path.parent.name)] = int(fields[1])
            if int(fields[3]) == self.root:
                members.add(int(path.parent.name))
        members.add(self.root)
        while new := {pid for pid, parent in parents.items() if parent in members} - members:
            members |= new
        return len(members)

    def watch(self) -> "Watch":
        """Counts processes while the block runs."""
        return Watch(self)


def _trace(path: Path) -> tuple[int, int]:
    seen = path.lstat()
    return seen.st_mtime_ns, seen.st_mode


class Watch:
    """Looks at the simulator's processes now and then, from a thread of the tests' own."""

    def __init__(self, outside: Outside) -> None:
        self._outside = outside
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._over.wait(LOOK_EVERY_S):
            count = self._outside.processes()
            self._outside.most_processes = max(self._outside.most_processes, count)

    def __enter__(self) -> Self:
        self._outside.most_processes = 0
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def plant_key(secret: str) -> None:
    """Puts a key into a keyring of this process's own; whoever it starts from then on holds that too."""
    libc = ctypes.CDLL(None)
    libc.syscall(KEYCTL, JOIN_NEW_SESSION_KEYRING, None)
    libc.syscall(ADD_KEY, b"user", b"turtle-canary", secret.encode(), len(secret), SESSION_KEYRING)


def keep(name: str, received: Path) -> None:
    """Listens on TCP and UDP of loopback and on an abstract socket; writes down that something came."""
    tcp, udp, unix = (
        socket.socket(),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
        socket.socket(socket.AF_UNIX),
    )
    tcp.bind(("127.0.0.1", 0))
    udp.bind(tcp.getsockname())
    unix.bind(f"\0{name}")
    for listening in (tcp, unix):
        listening.listen()

    def note(what: str) -> None:
        with received.open("a") as file:
            file.write(f"{what}\n")

    def accept(listening: socket.socket) -> None:
        while True:
            listening.accept()
            note("connection")

    for listening in (tcp, unix):
        threading.Thread(target=accept, args=(listening,), daemon=True).start()
    print(os.getpid(), tcp.getsockname()[1], flush=True)
    while udp.recv(100):
        note("datagram")


if __name__ == "__main__":
    keep(sys.argv[1], Path(sys.argv[2]))
