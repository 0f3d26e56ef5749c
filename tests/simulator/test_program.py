"""The simulator's program: sessions apart from one another, deadlines, secrets, bad requests, its end."""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.simulator.running import PROGRAM, Refused, RunningSimulator, cell, result

STUBBORN = "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
LOGIN_VENMO = """
passwords = {row["account_name"]: row["password"] for row in apis.supervisor.show_account_passwords()}
me = apis.supervisor.show_profile()
token = apis.venmo.login(username=me["email"], password=passwords["venmo"])["access_token"]
"""
PAY = """
friend = apis.venmo.search_users(access_token=token, query="a")[0]
apis.venmo.create_transaction(
    access_token=token, receiver_email=friend["email"], amount=1, description="{text}"
)
"""
COUNT_PAYMENTS = """
newest = apis.venmo.show_transactions(access_token=token, sort_by="-created_at", page_limit=20)
print(sum(payment["description"] == "{text}" for payment in newest))
"""


@pytest.fixture(params=["as installed", "without bubblewrap"])
def either_level(
    request: pytest.FixtureRequest,
    simulator: RunningSimulator,
    bare_simulator: RunningSimulator,
) -> RunningSimulator:
    """A simulator behind the walls that this machine has, and one behind resource limits only."""
    return simulator if request.param == "as installed" else bare_simulator


@pytest.fixture(scope="module")
def bare_simulator(appworld_python: Path, appworld_home: Path) -> Iterator[RunningSimulator]:
    """A simulator that is told to do without bubblewrap."""
    with RunningSimulator(appworld_python, appworld_home, "--sandbox=rlimits") as running:
        yield running


def test_describe_tells_what_a_proposer_needs(simulator: RunningSimulator) -> None:
    said = simulator.ask("describe")
    assert said["suite"] == "appworld" and said["interaction"] == "code"
    assert said["edits"] == ["instruction", "gold"]
    by_app = {api["app"] for api in said["apis"]}
    assert {"venmo", "todoist", "supervisor"} <= by_app and "admin" not in by_app
    assert all(set(api["required"]) <= set(api["parameters"]) for api in said["apis"])
    assert "roommates" in said["world_summary"] and "transactions" in said["world_summary"]
    pending = next(api for api in said["apis"] if api["api"] == "show_received_payment_requests")
    assert pending["values"] == {"status": ["pending", "approved", "denied"]}
    returns = {f"{api['app']}.{api['api']}": api["returns"] for api in said["apis"]}
    assert returns["simple_note.show_note"].startswith("{note_id, title, ")
    assert returns["venmo.show_social_feed"].endswith("receiver: {name, email}}]")
    assert returns["venmo.like_transaction"] == "", "a message says nothing of a result"


def test_the_survey_tells_what_a_start_holds(simulator: RunningSimulator) -> None:
    survey = simulator.ask("describe")["survey"]
    session = simulator.open(simulator.seed("duskplaylist"))
    shown = simulator.ask("act", session=session, action=survey, timeout_s=300)
    assert not shown["error"], shown["text"]
    assert not any(call["wrote"] for call in shown["calls"])
    for app in ("phone", "simple_note", "todoist", "spotify", "venmo", "gmail", "amazon"):
        assert f"\n- {app}, " in shown["text"]
    assert "password" not in shown["text"] and len(shown["text"]) < 16_000


def test_sandbox_level_is_reported_as_it_is(
    simulator: RunningSimulator, bare_simulator: RunningSimulator
) -> None:
    # The four tests that need the walls fail on a machine that has none, and should.
    assert simulator.ask("describe")["sandbox"] == "bubblewrap", "no bubblewrap on this machine"
    assert bare_simulator.ask("describe")["sandbox"] == "rlimits"


def test_many_sessions_at_once_keep_states_of_their_own(simulator: RunningSimulator) -> None:
    item = simulator.seed()
    opened = simulator.ask_all([("open", {"item": item, "rng_seed": 0})] * 6)
    sessions = [result(answer)["session"] for answer in opened]
    texts = [f"payment{number}" for number in range(6)]
    paid = simulator.ask_all(
        [
            _act(session, LOGIN_VENMO + PAY.format(text=text))
            for session, text in zip(sessions, texts, strict=True)
        ]
    )
    assert not [answer for answer in paid if result(answer)["error"]]
    own, others = [
        simulator.ask_all(
            [
                _act(session, COUNT_PAYMENTS.format(text=texts[(place + shift) % 6]))
                for place, session in enumerate(sessions)
            ]
        )
        for shift in (0, 1)
    ]
    assert [result(answer)["text"].strip() for answer in own] == ["1"] * 6
    assert [result(answer)["text"].strip() for answer in others] == ["0"] * 6
    simulator.ask_all([("close", {"session": session}) for session in sessions])


def test_gold_solves_and_nothing_does_not(simulator: RunningSimulator) -> None:
    item = simulator.seed()
    right, idle = simulator.open(item), simulator.open(item)
    seen = simulator.run(right, item["gold"])
    assert seen["done"] and not seen["error"]
    solved = simulator.ask("finish", session=right)
    assert solved["solved"] and solved["completed"] and solved["partial"] == 1
    assert solved["calls"] == len(seen["calls"])
    assert solved["difference"] == {"missing": [], "unexpected": [], "answer": None}
    unsolved = simulator.ask("finish", session=idle)
    assert not unsolved["solved"] and not unsolved["completed"] and unsolved["calls"] == 0
    with pytest.raises(Refused, match="session_lost"):
        simulator.run(right, "1")


def test_check_undoes_one_write_at_a_time(simulator: RunningSimulator) -> None:
    item = simulator.seed()
    report = simulator.ask("check", item=item, timeout_s=60)
    assert report["gold"]["outcome"]["solved"] and report["gold"]["error"] is None
    assert not report["do_nothing"]["outcome"]["solved"]
    writes = [call["n"] for call in report["gold"]["calls"] if call["wrote"]]
    assert writes and [run["call"] for run in report["suppressed"]] == writes
    for suppressed in report["suppressed"]:
        run = suppressed["run"]
        assert run["error"] is None and run["outcome"]["completed"]
        assert not run["outcome"]["solved"] and run["outcome"]["difference"]["missing"]
        assert [call["api"] for call in run["calls"]] == [
            call["api"] for call in report["gold"]["calls"]
        ], "the program must not notice that its write was undone"


def test_later_calls_see_the_world_without_a_suppressed_write(simulator: RunningSimulator) -> None:
    item = simulator.seed()
    gold = LOGIN_VENMO + PAY.format(text="one") + COUNT_PAYMENTS.format(text="one")
    gold += "apis.supervisor.complete_task()"
    report = simulator.ask("check", item=item | {"gold": gold}, timeout_s=60)
    (suppressed,) = report["suppressed"]
    found = [
        [payment["description"] for call in run["calls"] for payment in _outputs(call)].count("one")
        for run in (report["gold"], suppressed["run"])
    ]
    assert found == [1, 0]
    payments = [
        [call["output"] for call in run["calls"] if call["api"] == "create_transaction"]
        for run in (report["gold"], suppressed["run"])
    ]
    assert payments[0] == payments[1], "the answer of the undone call is the real one"


def test_check_may_be_asked_for_the_gold_only(simulator: RunningSimulator) -> None:
    item = simulator.seed() | {"instruction": "An item that nobody has checked."}
    report = simulator.ask("check", item=item, timeout_s=60, gold_only=True)
    assert report["gold"]["outcome"]["completed"] and report["gold"]["error"] is None
    assert report["gold"]["calls"][1]["output"]["first_name"], "calls of a check keep their results"
    assert report["do_nothing"] is report["suppressed"] is report["expects_answer"] is None


def test_check_of_a_gold_that_errs_has_the_gold_only(simulator: RunningSimulator) -> None:
    item = simulator.seed() | {"gold": "print(1)\nundefined_name"}
    report = simulator.ask("check", item=item, timeout_s=60)
    assert "NameError" in report["gold"]["error"] and not report["gold"]["outcome"]["solved"]
    assert report["do_nothing"] is report["suppressed"] is report["state_changes"] is None
    unfinished = simulator.ask("check", item=item | {"gold": "print(1)"}, timeout_s=60)
    assert unfinished["gold"]["error"] is None and unfinished["do_nothing"] is None
    with pytest.raises(Refused, match=r"bad_request.*gold"):
        simulator.open(item)


MANY_RESULTS = """
words = {{row["account_name"]: row["password"] for row in apis.supervisor.show_account_passwords()}}
me = apis.supervisor.show_profile()
token = apis.file_system.login(username=me["email"], password=words["file_system"])["access_token"]
for name in ("a", "b", "c", "d"):
    path = f"~/{{name}}.txt"
    apis.file_system.create_file(access_token=token, file_path=path, content="x" * 500_000)
for _ in range({reads}): apis.file_system.show_file(access_token=token, file_path=path)
apis.supervisor.complete_task()
"""


@pytest.mark.parametrize(("reads", "said"), [(24, "return more than"), (36, "moved more than")])
def test_check_of_a_gold_with_results_beyond_bounds_has_an_error(
    simulator: RunningSimulator, reads: int, said: str
) -> None:
    item = simulator.seed() | {"gold": MANY_RESULTS.format(reads=reads)}
    report = simulator.ask("check", item=item, timeout_s=60)
    assert said in report["gold"]["error"] and report["do_nothing"] is None


def test_check_survives_a_gold_that_never_ends(simulator: RunningSimulator) -> None:
    item = simulator.seed() | {"gold": STUBBORN}
    report = simulator.ask("check", item=item, timeout_s=2)
    assert "killed at its deadline" in report["gold"]["error"] and report["suppressed"] is None


def test_deadline_kills_one_session_only(either_level: RunningSimulator) -> None:
    hung, other = (either_level.open(either_level.seed()) for _ in range(2))
    with pytest.raises(Refused, match="session_lost: killed at its deadline of"):
        either_level.run(hung, STUBBORN, timeout_s=1)
    assert either_level.run(other, "print('alive')")["text"] == "alive\n"
    with pytest.raises(Refused, match="session_lost"):
        either_level.run(hung, "1")
    either_level.ask("close", session=hung)
    either_level.ask("close", session=other)


@pytest.mark.parametrize(
    "last_words",
    [
        "import os\nos.abort()",
        "__import__('ctypes').string_at(0)",
        "import os\nos.execv('/bin/true', ['true'])",
        "x = [bytearray(1 << 28) for _ in range(64)]\nimport os\nos.abort()",
    ],
)
def test_a_session_that_dies_leaves_the_others(
    last_words: str, either_level: RunningSimulator
) -> None:
    dying, other = (either_level.open(either_level.seed()) for _ in range(2))
    either_level.run(other, "kept = 1")
    with contextlib.suppress(Refused):  # out of memory is an error of the cell, not of the session
        either_level.run(dying, last_words)
        either_level.run(dying, "import os\nos.abort()")
    with pytest.raises(Refused, match="session_lost"):
        either_level.run(dying, "1")
    assert either_level.run(other, "print(kept)")["text"] == "1\n"
    either_level.ask("close", session=other)


def test_a_session_reaches_no_other_process(simulator: RunningSimulator) -> None:
    killer, other = (simulator.open(simulator.seed()) for _ in range(2))
    # Its own process has number 1 there, and no other has a number.
    seen = simulator.run(
        killer,
        "kill = __import__('ctypes').CDLL(None).kill\n"
        "print([number for number in range(2, 40000) if kill(number, 9) == 0], kill(-1, 9))",
    )
    assert seen["text"] == "[] -1\n"
    assert simulator.run(other, "print(1)")["text"] == "1\n"
    for session in (killer, other):
        simulator.ask("close", session=session)


def test_secrets_are_blanked_in_calls_and_kept_in_the_shell(simulator: RunningSimulator) -> None:
    session = simulator.open(simulator.seed())
    seen = simulator.run(session, LOGIN_VENMO + "print(passwords['venmo'], token)")
    password, token = seen["text"].split()
    assert (
        len(token) > 40 and password not in str(seen["calls"]) and token not in str(seen["calls"])
    )
    assert seen["calls"][2]["arguments"]["password"] == "<secret>"
    used = simulator.run(session, "apis.venmo.show_account(access_token=token)")
    assert used["calls"][0]["arguments"] == {"access_token": "<secret>"}
    assert used["calls"][0]["n"] == 3 and used["calls"][0]["output"] is None
    simulator.ask("close", session=session)


def test_calls_say_whether_they_worked_and_wrote(simulator: RunningSimulator) -> None:
    session = simulator.open(simulator.seed())
    paid = simulator.run(session, LOGIN_VENMO + PAY.format(text="x"))["calls"]
    assert [call["api"] for call in paid if call["wrote"]] == ["create_transaction"]
    failed = simulator.run(session, "apis.venmo.show_account(access_token='no')")
    assert failed["error"] and [call["ok"] for call in failed["calls"]] == [False]
    simulator.ask("close", session=session)


@pytest.mark.parametrize("call", ["apis.admin.credit_to_card()", "apis['admin']"])
def test_apis_of_admin_are_gone(call: str, simulator: RunningSimulator) -> None:
    session = simulator.open(simulator.seed())
    seen = simulator.run(session, call)
    simulator.ask("close", session=session)
    assert seen["error"] and not seen["calls"]


FORGE = """
cells = apis.venmo.login.__closure__
exchange = next(cell.cell_contents for cell in cells if callable(cell.cell_contents))
print(exchange({message}))
"""


@pytest.mark.parametrize(
    "message",
    [
        {"app": "admin", "api": "credit_to_card", "arguments": {}},
        {"app": "venmo", "api": "nosuch", "arguments": {}},
        {"app": "venmo", "api": ["login"], "arguments": {}},
        {"app": {}, "api": None, "arguments": []},
    ],
)
def test_a_forged_message_gets_nothing(message: dict, either_level: RunningSimulator) -> None:
    session = either_level.open(either_level.seed())
    try:
        seen = either_level.run(session, FORGE.format(message=message))
        assert '"error"' in seen["text"] and not seen["calls"]
    except Refused as refused:
        assert refused.kind == "session_lost"
    either_level.ask("close", session=session)


@pytest.mark.parametrize("address", ["../../admin/main_users", "1/../..", "..", "1?x=2", "1#x"])
def test_a_path_parameter_does_not_leave_its_path(
    address: str, simulator: RunningSimulator
) -> None:
    session = simulator.open(simulator.seed())
    code = (
        f"{LOGIN_VENMO}apis.venmo.show_transaction(access_token=token, transaction_id={address!r})"
    )
    seen = simulator.run(session, code)
    simulator.ask("close", session=session)
    assert seen["error"] and "status code is 404" in seen["text"]


IN_MEMORY = """
gc, sys = __import__("gc"), __import__("sys")
print([type(thing) for thing in gc.get_objects() if "sqlite" in str(type(thing)).lower()])
print([name for name in sys.modules if name.split(".")[0] in ("sqlmodel", "sqlalchemy", "uvicorn")])
"""


def test_the_shell_has_no_environment_and_no_engine(either_level: RunningSimulator) -> None:
    session = either_level.open(either_level.seed())
    assert either_level.run(session, "import os\nprint(dict(os.environ))")["text"] == "{}\n"
    here = either_level.run(session, "import os\nprint(os.getcwd().split('/')[-1])")["text"]
    assert here in ("empty\n", "scratch\n")
    assert either_level.run(session, IN_MEMORY)["text"] == "[]\n[]\n"
    for engine in ("appworld", "appworld.apps.venmo.models", "appworld.task"):
        seen = either_level.run(session, f"import {engine}")
        assert "ModuleNotFoundError: No module named 'appworld" in seen["text"]
    either_level.ask("close", session=session)


def test_files_of_the_world_are_out_of_sight(
    simulator: RunningSimulator, appworld_home: Path
) -> None:
    session = simulator.open(simulator.seed())
    looked_for = [appworld_home / "root", appworld_home / "items", PROGRAM.parent / "seeds"]
    found = simulator.run(
        session,
        f"from pathlib import Path\nprint([Path(p).exists() for p in {[str(p) for p in looked_for]}])",
    )
    assert found["text"] == "[false, false, false]\n"
    written = simulator.run(session, "o = open\no('/scratch/mark', 'w')")
    assert "Operation not permitted" in written["text"]
    network = simulator.run(
        session, "__import__('socket').create_connection(('127.0.0.1', 22), timeout=1)"
    )
    assert network["error"]
    simulator.ask("close", session=session)


def test_bad_requests_are_answered_in_one_line(simulator: RunningSimulator) -> None:
    item = simulator.seed()
    session = simulator.open(item)
    for method, params in [
        ("nosuch", {}),
        ("seeds", {}),
        ("seeds", {"split": "test"}),
        ("open", {"rng_seed": 0}),
        ("open", {"item": item}),
        ("open", {"item": item | {"gold": ""}, "rng_seed": 0}),
        ("open", {"item": item | {"setup": {}}, "rng_seed": 0}),
        ("check", {"item": item | {"start": "../../etc"}, "timeout_s": 1}),
        ("check", {"item": item | {"start": "nosuch"}, "timeout_s": 1}),
        ("check", {"item": item}),
        ("act", {"session": session, "action": {"kind": "message", "text": "hi"}, "timeout_s": 1}),
        ("act", {"session": session, "action": cell("1"), "timeout_s": -1}),
        ("finish", {}),
    ]:
        with pytest.raises(Refused) as refused:
            simulator.ask(method, **params)
        assert refused.value.kind == "bad_request" and "\n" not in refused.value.message, method
    for line in (b"not json", b"[]", b'{"id": 5, "method": "describe", "params": []}'):
        assert simulator.send(line)["error"]["kind"] == "bad_request"
    assert simulator.run(session, "print(1)")["text"] == "1\n"
    simulator.ask("close", session=session)


def test_a_killed_program_leaves_no_process_behind(
    appworld_python: Path, appworld_home: Path
) -> None:
    running = RunningSimulator(appworld_python, appworld_home)
    pid = _made_busy(running)
    os.kill(pid, signal.SIGKILL)
    running.process.wait(5)
    _assert_all_end(pid)


def test_a_program_without_a_home_says_so_and_ends(appworld_python: Path, tmp_path: Path) -> None:
    for home, said in ((None, "TURTLE_SIMULATOR_HOME"), (tmp_path, "build_world.py")):
        environment = {} if home is None else {"TURTLE_SIMULATOR_HOME": str(home)}
        ended = subprocess.run(
            [str(appworld_python), str(PROGRAM)],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert ended.returncode == 2 and ended.stdout == ""
        assert said in ended.stderr and ended.stderr.count("\n") == 1


def test_a_program_whose_stdin_ends_leaves_no_process_and_no_scratch_behind(
    bare_simulator: RunningSimulator, appworld_home: Path
) -> None:
    """The last test here, as it ends the simulator of others."""
    pid = _made_busy(bare_simulator)
    assert bare_simulator.end() == 0
    assert not (appworld_home / "runs" / str(pid)).exists()
    _assert_all_end(pid)


def _made_busy(running: RunningSimulator) -> int:
    """Has a program run a cell that never ends; its process id."""
    pid = running.process.pid
    session = running.open(running.seed())
    action = {"session": session, "action": cell(STUBBORN), "timeout_s": 600}
    running.process.stdin.write(json.dumps({"id": 0, "method": "act", "params": action}).encode())
    running.process.stdin.write(b"\n")
    running.process.stdin.flush()
    time.sleep(0.5)  # until the cell runs
    assert len(_of_session(pid)) >= 5, "program, two warm processes, world and shell"
    return pid


def _assert_all_end(leader: int) -> None:
    deadline = time.monotonic() + 5
    while _of_session(leader) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert _of_session(leader) == []


def _act(session: str, code: str) -> tuple[str, dict]:
    return "act", {"session": session, "action": cell(code), "timeout_s": 60}


def _outputs(call: dict) -> list[dict]:
    return call["output"] if call["api"] == "show_transactions" else []


def _of_session(leader: int) -> list[int]:
    """The living processes of the session that a process leads (zombies are dead)."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, _, _, session = path.read_text().rpartition(")")[2].split()[:4]
            if int(session) == leader and state != "Z":
                found.append(int(path.parent.name))
    return found
