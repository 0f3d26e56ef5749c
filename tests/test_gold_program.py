"""Reading gold programs: data flow over the program's text, and its bounds."""

import pytest

from tasks.golds.program import read_program
from tests.golds import gold

CONTACTS, NOTE, SONG = (
    ("phone", "search_contacts"),
    ("simple_note", "create_note"),
    ("spotify", "show_song"),
)


@pytest.mark.parametrize(
    "body",
    [
        'for c in pages(apis.phone.search_contacts):\n    apis.simple_note.create_note(title=c["email"])',
        """
names = []
for c in apis.phone.search_contacts():
    names.append(c["first_name"])
apis.simple_note.create_note(title=", ".join(names))""",
        """
by_name = {c["first_name"]: c for c in apis.phone.search_contacts()}
apis.simple_note.create_note(title=by_name["Sam"]["email"])""",
        """
def text_of(contact):
    return f"Call {contact['first_name']}"
found, *rest = apis.phone.search_contacts()
apis.simple_note.create_note(title=text_of(contact=found))""",
        """
search = apis.phone.search_contacts
if (found := search(query="Sam")):
    note = dict(title="x")
    note["content"] = found[0]["email"]
    apis.simple_note.create_note(**note)""",
        """
def names(api, **arguments):
    return [row["first_name"] for row in api(**arguments)]
apis.simple_note.create_note(title=sorted(names(apis.phone.search_contacts, query="S"))[0])""",
        """
total = {}
try:
    for c in getattr(apis.phone, "search_contacts")():
        total[c["email"]] = total.get(c["email"], 0) + 1
finally:
    apis.simple_note.create_note(title=max(total, key=total.get))""",
    ],
)
def test_outputs_are_followed_to_arguments(body: str) -> None:
    assert (CONTACTS, NOTE) in read_program(gold(body)).feeds()


@pytest.mark.parametrize(
    "body",
    [
        'apis.phone.search_contacts()\napis.simple_note.create_note(title="x")',
        """
found = apis.phone.search_contacts()
found = "Sam"
apis.simple_note.create_note(title=found)""",
        """
for c in apis.phone.search_contacts():
    apis.simple_note.create_note(title="x")""",
        'apis.simple_note.create_note(access_token=login("phone"), title="x")',
    ],
)
def test_what_does_not_flow_is_not_followed(body: str) -> None:
    assert not [pair for pair in read_program(gold(body)).feeds() if pair[1] == NOTE]


def test_functions_that_call_one_another_without_end_are_left() -> None:
    calls = "; ".join(["f{k}(x)"] * 9)
    functions = "".join(
        f"def f{k}(x):\n    for y in apis.spotify.show_song(song_id=x):\n        "
        + calls.format(k=(k + 1) % 9)
        + "\n"
        for k in range(9)
    )
    program = read_program(functions + "f0(apis.phone.search_contacts())\n")
    assert (CONTACTS, SONG) in program.feeds()


def test_loops_in_loops_take_no_exponential_time() -> None:
    loops = "".join(f"{' ' * k}for x{k} in apis.phone.search_contacts():\n" for k in range(18))
    program = read_program(loops + " " * 18 + "apis.simple_note.create_note(title=x0)\n")
    assert program.feeds() == {(CONTACTS, NOTE)}


@pytest.mark.parametrize("text", ["x = " + "+".join(["a"] * 900), "x = " + "-" * 400 + "1", "\0"])
def test_what_nobody_writes_is_refused_as_no_program(text: str) -> None:
    with pytest.raises(SyntaxError):
        read_program(text)
