"""Escapes of our own; what a cell knows and how it reports stands in named.py."""

FORK_BOMB = """
fork, made = __import__("ctypes").CDLL(None).fork, 0
for _ in range(200):
    child = fork()
    if child == 0:
        while True: pass
    made += child > 0
if made: print("REACHED:", "processes")
"""

SPAWNED_INTERPRETERS = """
sys = __import__("sys")
for module in ("multiprocessing", "subprocess", "concurrent.futures"):
    try: __import__(module)
    except Exception as error: print(error)
for fork in (__import__("posix").fork, __import__("posix").forkpty):
    try:
        child = fork()
        if child == 0 or isinstance(child, tuple) and child[0] == 0:
            while True: pass
        print("REACHED:", "processes")
    except OSError as error: print(error)
"""

MEMORY_BOMB = """
held = []
try:
    while True: held.append(bytearray(1 << 26))
except MemoryError:
    size = len(held) << 6
    del held
    print(size)
    if size > 4096: print("REACHED: more memory than its share")
"""

SHARED_MEMORY_BOMB = """
ctypes = __import__("ctypes")
libc = ctypes.CDLL(None)
libc.shmat.restype = ctypes.c_void_p
kept = 0
for _ in range(64):
    segment = libc.shmget(0, 1 << 26, 0o1600)
    if segment < 0: break
    there = libc.shmat(segment, None, 0)
    ctypes.memset(there, 1, 1 << 20)
    libc.shmdt(ctypes.c_void_p(there))
    kept += 1
if kept: print("REACHED: memory beyond its limit")
"""

STUBBORN_LOOP = """
signal = __import__("signal")
for number in range(1, 65):
    try: signal.signal(number, lambda *_: None)
    except (OSError, ValueError): pass
signal.pthread_sigmask(0, range(1, 65))
while True:
    try:
        while True: pass
    except BaseException: pass
"""

GIGABYTE_OF_OUTPUT = """
for _ in range(1024): print("x" * (1 << 20))
"""

LINE_WITHOUT_END = """
wire = next(t for t in __import__("gc").get_objects() if type(t).__name__ == "socket" and t.fileno() > 0)
wire.sendall(b"x" * (20 << 20))
"""

DESCRIPTORS = """
import os
made, stat = [], os.fstat
try:
    while True: made.append(os.dup(0))
except OSError as error: print(error, len(made))
if len(made) > 64: print("REACHED: more descriptors than its share")
sockets = [fd for fd in range(64) if fd not in made and (stat(fd).st_mode & 0o170000) == 0o140000]
if len(sockets) > 1: print("REACHED: sockets that are not its own")
files = [fd for fd in range(64) if fd not in made + sockets and (stat(fd).st_mode & 0o170000) == 0o100000]
if files: print("REACHED: files that are open already")
"""

PROC = """
import os
o, known = open, []
for pid in range(1, 1 << 15):
    try: known.append(o(f"/proc/{pid}/cmdline").read())
    except OSError: pass
others = [line for line in known if "shell.serve" not in line]
if others: print("REACHED: names of other processes")
for path in (f"/proc/{KEEPER}/root{PLANTED}", f"/proc/{KEEPER}/cwd/planted", "/proc/1/root" + PLANTED):
    try: print(o(path).read())
    except OSError as error: print(error)
"""

MEMORY_OF_OTHERS = """
ctypes = __import__("ctypes")
libc = ctypes.CDLL(None)
libc.ptrace.argtypes = [ctypes.c_long] * 4
if libc.ptrace(16, KEEPER, 0, 0) == 0: print("REACHED: traced a process")
o = open
try:
    ranges = [line.split()[0] for line in o(f"/proc/{KEEPER}/maps") if "[stack]" in line or "[heap]" in line]
    with o(f"/proc/{KEEPER}/mem", "rb", 0) as memory:
        for start, end in (map(lambda n: int(n, 16), each.split("-")) for each in ranges):
            memory.seek(start)
            if SECRET_START in memory.read(end - start): print("REACHED: memory of another process")
except OSError as error: print(error)
local = ctypes.create_string_buffer(64)
class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
ours, theirs = Part(ctypes.addressof(local), 64), Part(0x400000, 64)
libc.process_vm_readv.restype = ctypes.c_ssize_t
print(libc.process_vm_readv(KEEPER, ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0))
"""

SIGNALS = """
libc = __import__("ctypes").CDLL(None)
sent = [libc.kill(KEEPER, 0), libc.kill(KEEPER, 19), libc.kill(-1, 23), libc.tgkill(KEEPER, KEEPER, 19)]
if 0 in sent: print("REACHED: signalled a process")
fcntl, socket = __import__("fcntl"), __import__("socket")
one, other = socket.socketpair()
try:
    fcntl.fcntl(one, 8, KEEPER)  # F_SETOWN
    fcntl.fcntl(one, 10, 9)  # F_SETSIG
    fcntl.fcntl(one, 4, 0o20000)  # O_ASYNC
    other.send(b"x")
    print("REACHED: signalled a process")
except OSError as error: print(error)
"""

SYMLINKS = """
p, o = __import__("posix"), open
for link in (p.symlink, p.link):
    try:
        link(PLANTED, TARGET + "/" + link.__name__)
        print("REACHED: made a link")
    except OSError as error: print(error)
for name in ("/scratch/link", "/empty/link", "link"):
    try: p.symlink(PLANTED, name); print(o(name).read())
    except OSError as error: print(error)
"""

BYTECODE = """
import json, os
w = __import__("posix")
sys = __import__("sys")
for folder in [os.path.dirname(json.__file__), *sys.path, "/turtle/shell", HOME]:
    path = os.path.join(folder, "__pycache__", "turtle_planted.pyc")
    try: w.close(w.open(path, 0o101)); w.unlink(path); print("REACHED: wrote bytecode")
    except OSError as error: print(error)
sys.dont_write_bytecode = False
sys.pycache_prefix = TARGET
__import__("turtledemo")
"""

CHANGED_FILES = """
p = __import__("posix")
for change in (
    lambda: p.unlink(PLANTED), lambda: p.rename(PLANTED, TARGET + "/moved"), lambda: p.chmod(PLANTED, 0o777),
    lambda: p.truncate(PLANTED, 0), lambda: p.open(PLANTED, 0o1000), lambda: p.mkdir(TARGET + "/made"),
    lambda: p.utime(PLANTED, (1, 1)), lambda: p.mkfifo(TARGET + "/fifo"),
    lambda: p.setxattr(PLANTED, "user.x", b"x"), lambda: p.chdir(TARGET),
):
    try: change()
    except OSError as error: print(error)
"""

FULL_DISK = """
p, wrote = __import__("posix"), 0
for folder in (TARGET, "/scratch", "/empty", "/dev", "/dev/shm", "/tmp", "/var/tmp", ".", HOME):
    for number in range(64):
        try:
            fd = p.open(f"{folder}/{number}", 0o101)
            wrote += p.write(fd, b"x" * (1 << 19))
            p.close(fd); p.unlink(f"{folder}/{number}")
        except OSError: break
if wrote: print("REACHED: wrote files")
"""

LETTERBOX = """
p, libc = __import__("posix"), __import__("ctypes").CDLL(None)
libc.unshare(0x10020000)
libc.mount(None, b"/scratch", None, 32 | 4096, None)
libc.mount(None, b"/", None, 32 | 4096, None)
for folder in ("/scratch", "/empty", "/dev", "/dev/shm", "/tmp", "."):
    try: p.close(p.open(folder + "/turtle-letter", 0o101))
    except OSError as error: print(error)
libc.shmget(0x7075727, 4096, 0o1666)
libc.mq_open(b"/turtle-letter", 0o102, 0o666, None)
"""

MONKEYPATCHED_APIS = """
apis.supervisor.complete_task = lambda **_: None
for app in list(apis): apis[app] = None
import json, builtins
builtins.print = json.dumps = json.loads = None
__import__("sys").modules["json"] = None
"""

PICKLED_OBJECT = """
pickle = __import__("pickle")
class Bomb:
    def __reduce__(self): return eval, (f"__import__('os').system('touch \\"{TARGET}/pickled\\"')",)
wire = next(t for t in __import__("gc").get_objects() if type(t).__name__ == "socket" and t.fileno() > 0)
wire.sendall(pickle.dumps(Bomb()) + b"\\n")
"""

FORGED = """
wire = next(t for t in __import__("gc").get_objects() if type(t).__name__ == "socket" and t.fileno() > 0)
wire.sendall({line!r})
apis.supervisor.show_profile()
"""

NESTED_MESSAGE = FORGED.format(line=b"[").replace("b'['", "b'[' * 100_000 + b'\\n'")

UNREAD_REPLIES = """
wire = next(t for t in __import__("gc").get_objects() if type(t).__name__ == "socket" and t.fileno() > 0)
line = b'{"app": "api_docs", "api": "show_app_descriptions", "arguments": {}}\\n'
while True: wire.sendall(line * 100)
"""

STRANGE_OUTPUT = r"""
print("\x1b]0;owned\x07\x1b[2J\x1b[31m\x9b2J \ud800 \udfff\ud800 \x00 \u202e [/red] \r\n\x85\u2028")
raise ValueError("\ud800 \x1b[2J \x00")
"""

STRANGE_ARGUMENTS = """
for odd in (float("nan"), float("-inf"), 10 ** 400, 1 << 64, "\\ud800", "\\x00", {"\\ud800": 1}, [[[]]] * 9):
    try: apis.venmo.login(username=odd, password=odd)
    except Exception as error: print(str(error)[:80])
odd = type("\\x1b[2J" + "x" * 1000, (), {"__str__": lambda self: "\\ud800\\x00"})()
try: apis.venmo.login(username=odd, password={1, 2})
except Exception as error: print(str(error)[:80])
"""

DEEP_RECURSION = """
__import__("sys").setrecursionlimit(1 << 30)
def deep(): return deep()
deep()
"""

DEEP_RECURSION_IN_C = """
deep = []
for _ in range(200_000): deep = [deep]
__import__("sys").setrecursionlimit(1 << 30)
repr(deep)
"""

DEEP_ARGUMENT = """
deep = []
for _ in range(400): deep = [deep]
try: apis.venmo.login(username=deep, password="x")
except Exception as error: print(error)
"""

DEEP_CODE = "x = " + "(" * 3000 + ")" * 3000
DEEP_SIGNS = "x = " + "-" * 50_000 + "1"
NUL_IN_CODE = "print(1)\0"
SURROGATE_IN_CODE = "print('\ud800')"

THREADS = """
threading, time = __import__("threading"), __import__("time")
def go_on():
    while True: apis.supervisor.show_profile()
for _ in range(4): threading.Thread(target=go_on, daemon=True).start()
"""

TIMER = """
signal = __import__("signal")
def again(*_):
    while True: pass
signal.signal(signal.SIGALRM, again)
signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
"""

TIME_OUT_IN_A_CALL = """
while True:
    try:
        while True: apis.api_docs.search_api_docs(query="pay")
    except BaseException: pass
"""

SOCKETS_OF_OTHERS = """
import os
libc = __import__("ctypes").CDLL(None)
got = 0
for pid in [*range(1, 200), KEEPER, os.getppid()]:
    held = libc.syscall(434, pid, 0)
    for fd in range(3, 32) if held >= 0 else ():
        if pid != os.getpid() and libc.syscall(438, held, fd, 0) >= 0: got += 1
if got: print("REACHED: descriptors of other processes")
socket, o = __import__("socket"), open
try: names = [line.split()[-1] for line in o("/proc/net/unix")]
except OSError: names = []
for name in [*names, "@" + NAME, "\\0" + NAME]:
    try: socket.socket(socket.AF_UNIX).connect(name.replace("@", "\\0")); print("REACHED: a local socket")
    except OSError: pass
"""

DOORS_OF_THE_KERNEL = """
ctypes, platform = __import__("ctypes"), __import__("platform")
libc = ctypes.CDLL(None, use_errno=True)
numbers = {"x86_64": (321, 298, 323, 304, 246, 175), "aarch64": (280, 241, 282, 265, 104, 105)}
for number in (425, 428, 430, 442, *numbers[platform.machine()]):
    if libc.syscall(number, 1, 0, 0, 0, 0) >= 0: print("REACHED: system call", number)
for name, *given in (
    ("unshare", 1 << 28), ("unshare", 1 << 17), ("chroot", b"/"), ("swapon", b"/", 0), ("setns", 0, 0),
    ("mount", b"none", b"/empty", b"tmpfs", 0, None), ("umount2", b"/scratch", 2), ("personality", 0x40000),
    ("sethostname", b"owned", 5), ("nice", -5), ("mlockall", 3), ("acct", None), ("setsid",),
):
    if getattr(libc, name)(*given) not in (-1,): print("REACHED:", name)
"""

KEYRING = """
ctypes, platform = __import__("ctypes"), __import__("platform")
libc = ctypes.CDLL(None)
keyctl = {"x86_64": 250, "aarch64": 219}[platform.machine()]
for ring in (-1, -2, -3, -4, -5):
    key = libc.syscall(keyctl, 10, ring, b"user", b"turtle-canary", 0)
    text = ctypes.create_string_buffer(100)
    if key > 0 and libc.syscall(keyctl, 11, key, text, 100) > 0: print(text.value.decode())
"""

MORE_FOR_ITSELF = """
r, libc = __import__("resource"), __import__("ctypes").CDLL(None)
for kind in (r.RLIMIT_NPROC, r.RLIMIT_AS, r.RLIMIT_FSIZE, r.RLIMIT_NOFILE, r.RLIMIT_CPU):
    try: r.setrlimit(kind, (1 << 30, 1 << 30)); print("REACHED: a limit of its own")
    except (OSError, ValueError) as error: print(error)
if 0 in (libc.setuid(0), libc.setgid(0), libc.setresuid(1, 1, 1)): print("REACHED: another user")
if libc.prctl(1, 0, 0, 0, 0) == 0: print("REACHED: may outlive its parent")
"""

PROTOCOL_FORGED = """
import os
posix = __import__("posix")
put, take = getattr(posix, "write"), getattr(posix, "open")
for fd in range(3):
    try: put(fd, b'{"id": 0, "result": {"forged": true}}\\n')
    except OSError as error: print(error)
for pid in (os.getppid(), 1, KEEPER):
    for fd in (1, 2):
        try:
            put(take(f"/proc/{pid}/fd/{fd}", 1), b"forged")
            print("REACHED: a pipe")
        except OSError as error: print(error)
"""

TERMINAL = """
fcntl, o = __import__("fcntl"), open
for path in ("/dev/tty", "/dev/console", "/dev/pts/0", "/dev/tty1"):
    try: fcntl.ioctl(o(path), 0x5412, b"x"); print("REACHED: a terminal")
    except OSError as error: print(error)
"""

DEVICES = """
import os
p = __import__("posix")
for name in ("mem", "kmsg", "kvm", "fuse", "sda", "vda", "nvme0n1", "loop0", "net/tun", "port", "random"):
    for flags in (0, 2):
        try:
            fd = p.open("/dev/" + name, flags)
            if name != "random" or flags: print("REACHED: a device")
        except OSError: pass
"""

SECRETS_OF_THE_SYSTEM = """
import os
o, walk = open, __import__("os").scandir
for path in ("/etc/shadow", "/etc/passwd", "/etc/hostname", "/etc/gshadow", "/var/log/dpkg.log", HOME):
    try:
        (walk if path == HOME else o)(path)
        print("REACHED: files of the system beyond the interpreter's")
        break
    except OSError as error: print(error)
"""

FILES_OF_THE_ENGINE = """
o, walk = open, __import__("os").scandir
def files(folder):
    for entry in walk(folder):
        if entry.is_dir(follow_symlinks=False): yield from files(entry.path)
        elif entry.name.endswith((".py", ".json")): yield entry.path
looked = [b"/account_passwords" in o(path, "rb").read() for path in files(__import__("sys").prefix)]
print(len(looked), "files")
if any(looked): print("REACHED: the engine's files")
"""

GROWING_FOLDERS = """
words = {row["account_name"]: row["password"] for row in apis.supervisor.show_account_passwords()}
me = apis.supervisor.show_profile()
token = apis.file_system.login(username=me["email"], password=words["file_system"])["access_token"]
text = "x" * 500_000
for number in range(1000):
    apis.file_system.create_file(access_token=token, file_path=f"~/bomb/{number}.txt", content=text)
"""

PATH_OF_AN_API = """
words = {row["account_name"]: row["password"] for row in apis.supervisor.show_account_passwords()}
me = apis.supervisor.show_profile()
token = apis.file_system.login(username=me["email"], password=words["file_system"])["access_token"]
for path in (PLANTED, "~/../../../../.." + PLANTED, "/../.." + PLANTED, "file://" + PLANTED):
    try: print(apis.file_system.show_file(access_token=token, file_path=path))
    except Exception as error: print(error)
    try: apis.file_system.create_file(access_token=token, file_path=TARGET + "/api", content="x")
    except Exception as error: print(error)
"""

CALLS_WITHOUT_END = """
for _ in range(5000):
    try: apis.supervisor.show_profile()
    except Exception as error: last = error
print(last)
"""

FURTHER = {
    "fork bomb": FORK_BOMB,
    "processes by other names": SPAWNED_INTERPRETERS,
    "memory bomb": MEMORY_BOMB,
    "shared memory that outlives its mapping": SHARED_MEMORY_BOMB,
    "endless loop that swallows signals": STUBBORN_LOOP,
    "1 GB of output": GIGABYTE_OF_OUTPUT,
    "20 MB without a line's end to the world": LINE_WITHOUT_END,
    "file descriptors": DESCRIPTORS,
    "/proc": PROC,
    "memory of others": MEMORY_OF_OTHERS,
    "signals to others": SIGNALS,
    "symlinks": SYMLINKS,
    "bytecode of modules": BYTECODE,
    "changes to files": CHANGED_FILES,
    "a full disk": FULL_DISK,
    "a letter to the next session": LETTERBOX,
    "monkeypatched apis and builtins": MONKEYPATCHED_APIS,
    "a pickled object over the socket": PICKLED_OBJECT,
    "a message that is a list": FORGED.format(line=b"[]\n"),
    "a message without its fields": FORGED.format(line=b'{"text": 1}\n'),
    "a call without its fields": FORGED.format(line=b'{"app": {}, "api": [], "arguments": 1}\n'),
    "a message nested 100,000 deep": NESTED_MESSAGE,
    "replies that nobody reads": UNREAD_REPLIES,
    "terminal escapes and lone surrogates in output": STRANGE_OUTPUT,
    "arguments that no table holds": STRANGE_ARGUMENTS,
    "deep recursion": DEEP_RECURSION,
    "deep recursion in C": DEEP_RECURSION_IN_C,
    "an argument nested 400 deep": DEEP_ARGUMENT,
    "code nested 3,000 deep": DEEP_CODE,
    "code of 50,000 signs": DEEP_SIGNS,
    "a NUL in the code": NUL_IN_CODE,
    "a lone surrogate in the code": SURROGATE_IN_CODE,
    "threads left running": THREADS,
    "a timer left running": TIMER,
    "timing out inside a call": TIME_OUT_IN_A_CALL,
    "other sessions' sockets": SOCKETS_OF_OTHERS,
    "doors of the kernel": DOORS_OF_THE_KERNEL,
    "the user's keyring": KEYRING,
    "its own limits and user": MORE_FOR_ITSELF,
    "lines of the protocol forged": PROTOCOL_FORGED,
    "the terminal's input": TERMINAL,
    "devices": DEVICES,
    "files of the system": SECRETS_OF_THE_SYSTEM,
    "files of the engine": FILES_OF_THE_ENGINE,
    "500 MB through an API": GROWING_FOLDERS,
    "paths given to an API": PATH_OF_AN_API,
    "calls without end": CALLS_WITHOUT_END,
}
