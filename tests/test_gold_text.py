"""What a gold's text shows: copies, hard-coded values, answers that the instruction gives away."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.golds.copies import normalised, similarity
from tasks.golds.literals import answer_in_instruction, hard_coded_literals
from tests.golds import PREAMBLE, gold

PAY = gold("""
phone_token = login("phone")
roommates = pages(apis.phone.search_contacts, access_token=phone_token, relationship="roommate")
venmo_token = login("venmo")
for roommate in roommates:
    apis.venmo.create_transaction(
        access_token=venmo_token, receiver_email=roommate["email"], amount=12, description="Internet"
    )
apis.supervisor.complete_task()
""")
PAY_SAID_OTHERWISE = (
    PREAMBLE.replace("rows", "found")
    + """
# A comment, other names, another layout, keywords in another order.
first = login('phone')
people = pages(apis.phone.search_contacts, relationship='roommate', access_token=first)
second = login("venmo")
for one in people: apis.venmo.create_transaction(amount=12, description='Internet',
    receiver_email=one["email"], access_token=second)
apis.supervisor.complete_task()
"""
)
LIKE = gold("""
token = login("spotify")
for song in pages(apis.spotify.show_song_library, access_token=token):
    apis.spotify.like_song(access_token=token, song_id=song["song_id"])
apis.supervisor.complete_task()
""")
GOLDS = st.sampled_from([PAY, PAY_SAID_OTHERWISE, LIKE, PREAMBLE, "", "x = 1", "f(2)\nf(2)"])


@given(GOLDS, GOLDS)
def test_similarity_is_symmetric_and_1_on_itself(a: str, b: str) -> None:
    assert similarity(a, b) == similarity(b, a)
    assert 0 <= similarity(a, b) <= 1
    assert similarity(a, a) == 1


@given(st.lists(st.integers(0, 9), max_size=12), st.lists(st.integers(0, 9), max_size=12))
def test_similarity_is_the_share_of_common_statements(a: list[int], b: list[int]) -> None:
    programs = ["\n".join(f"f({n})" for n in numbers) for numbers in (a, b)]
    shared = sum(min(a.count(n), b.count(n)) for n in range(10))
    expected = 2 * shared / (len(a) + len(b)) if a or b else 1
    assert similarity(*programs) == pytest.approx(expected)


def test_one_program_written_twice_is_one() -> None:
    assert normalised(PAY) == normalised(PAY_SAID_OTHERWISE)
    assert similarity(PAY, PAY_SAID_OTHERWISE) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("amount=12", "amount=13"),
        ('"Internet"', '"Power"'),
        ('"roommate"', '"friend"'),
        ("create_transaction", "create_payment_request"),
        ('["email"]', '["phone_number"]'),
    ],
)
def test_every_change_of_content_shows(old: str, new: str) -> None:
    changed = PAY.replace(old, new)
    assert normalised(changed) != normalised(PAY)
    assert 0.5 < similarity(changed, PAY) < 0.99


def test_the_common_opening_makes_no_two_items_alike() -> None:
    assert similarity(PAY, LIKE) < 0.5


LEGAL = [
    ("Send $12 to each of my roommates on Venmo with the note 'Internet'.", PAY),
    ("Log in.", PREAMBLE),
    ("Like my three best songs.", "for s in best[:3]:\n    apis.spotify.like_song(song_id=s)"),
    ("Pay Sam Lee.", 'x = next(c for c in people if c["first_name"] == "Sam")'),
    ("Find 'Low Tide'.", 'x = next(s for s in songs if s["title"].lower() == "low tide")'),
    ("Like the newest songs.", 'x = apis.spotify.show_song_library(sort_by="-created_at")'),
    ("Add a task due on May 18.", 'apis.todoist.create_task(due_date="2023-05-18")'),
    (
        "Which of them came before June 3rd, 2023?",
        'x = [r for r in rows if r["at"] < "2023-06-03"]',
    ),
    ("What did I spend this month?", 'x = [r for r in rows if r["at"] >= "2023-05-01"]'),
    ("Whose birthday is in May?", 'x = [r for r in rows if r["birthday"][5:7] == "05"]'),
    ("Set an alarm for 7:30 pm.", 'apis.phone.create_alarm(time="19:30", label="alarm")'),
    ("Pay twice what I paid.", "apis.venmo.create_transaction(amount=2 * paid)"),
    ("Pay 20% more than I paid.", "apis.venmo.create_transaction(amount=1.2 * paid)"),
    ("Pay a dozen dollars.", "apis.venmo.create_transaction(amount=12)"),
    ("Pay twenty-five dollars.", "apis.venmo.create_transaction(amount=25)"),
    ("Pay $1,250.50.", "apis.venmo.create_transaction(amount=1250.5)"),
    ("Mark order 4711 as returned.", "apis.amazon.initiate_return(order_id=4711)"),
    ("Mail max@example.com.", 'apis.gmail.send_email(email_addresses=["max@example.com"])'),
    ("Text 2065550107.", 'apis.phone.send_text_message(phone_number="2065550107")'),
    ("List their names.", "x = f'{paid} - {paid}, '"),
    (
        "Put it into the folder Bills.",
        'apis.file_system.create_directory(directory_path="~/bills/")',
    ),
    ("Is any of them due?", 'apis.supervisor.complete_task(answer="yes" if rows[0] else "no")'),
    ("Like songs of at least four minutes.", 'x = [s for s in songs if s["duration"] >= 240]'),
    (
        "Which came before 2018?",
        'x = apis.spotify.show_song(song_id=row["song_id"])["at"][:4] < "2018"',
    ),
    ("Find my latest gas bill.", 'x = [p for p in rows if "gas-2023" in p]'),
    ("Which bill is of April 2023?", 'x = "Period: April 2023" in row["content"]'),
    ("How long is it, in minutes?", 'x = row["duration"] // 60'),
    ("How many?", "apis.supervisor.complete_task(answer=None)"),
]
RULES = """
rows = apis.venmo.show_transactions()
song = apis.spotify.show_song(song_id=rows[0]["song_id"])
paid = rows[0]["amount"]
row, people, songs, best = song, rows, rows, rows
"""


@pytest.mark.parametrize(("instruction", "text"), LEGAL, ids=[case[0][:40] for case in LEGAL])
def test_legal_golds_hold_no_hard_coded_value(instruction: str, text: str) -> None:
    assert hard_coded_literals(RULES + text, instruction) == []


HARD_CODED = [
    ("Like the best song.", "apis.spotify.like_song(song_id=45)", ["45"]),
    ("Like the best song.", 'x = [s for s in songs if s["song_id"] == 3]', ["3"]),
    ("Like the best songs.", "apis.spotify.add_to_queue(song_ids=[3, 4])", ["3", "4"]),
    ("Pay Sam.", 'apis.venmo.create_transaction(receiver_email="sam@x.org")', ["'sam@x.org'"]),
    ("Text Sam.", 'apis.phone.send_text_message(phone_number="2065550107")', ["'2065550107'"]),
    ("Text Sam.", 'x = "eyJhbGciOiJIUzI1NiJ9.abc"', ["'eyJhbGciOiJIUzI1NiJ9.abc'"]),
    ("Pay what I paid last.", "apis.venmo.create_transaction(amount=37.5)", ["37.5"]),
    ("Pay what I paid last.", "apis.venmo.create_transaction(amount=37)", ["37"]),
    ("Like my best song.", PREAMBLE + "apis.spotify.like_song(song_id=20)", ["20"]),
    ("Pay the same to her.", 'x = next(p for p in people if p["first_name"] == "Sam")', ["'Sam'"]),
    ("Pay my roommate.", 'x = next(p for p in people if p["first_name"] == "Sam")', ["'Sam'"]),
    ("Like my best song.", 'x = next(s for s in songs if s["title"] == "kite")', ["'kite'"]),
    ("Like my best song.", 'x = apis.spotify.search_songs(query="Low Tide")', ["'Low Tide'"]),
    ("Note my best song.", 'apis.simple_note.create_note(content="It is Kite")', ["'It is Kite'"]),
    ("Add a task for it.", 'apis.todoist.create_task(due_date="2023-05-19")', ["'2023-05-19'"]),
    ("How many?", "apis.supervisor.complete_task(answer=17)", ["answer=17"]),
    ("How many of 17?", "n = 17\napis.supervisor.complete_task(answer=n)", ["answer=n"]),
    ("Which?", 'apis.supervisor.complete_task(answer="jazz")', ["answer='jazz'"]),
]


@pytest.mark.parametrize(
    ("instruction", "text", "expected"), HARD_CODED, ids=[case[1][:50] for case in HARD_CODED]
)
def test_hard_coded_values_are_named(instruction: str, text: str, expected: list[str]) -> None:
    assert hard_coded_literals(RULES + text, instruction) == expected


@pytest.mark.parametrize(
    ("answer", "instruction", "expected"),
    [
        ("Kite", "Which song did I play before Kite?", True),
        ("low tide", 'Who sings "Low Tide"?', True),
        (3, "How many of my three roommates paid?", True),
        ("3", "How many of the 3 paid?", True),
        (1250.5, "Is it more than $1,250.50?", True),
        ("Sam, Kim", "Sam, Ann and Kim: who paid?", True),
        ("Kite", "Which song did I play last?", False),
        ("Tide", "Who sings 'Tidelands'?", False),
        (3, "How many of the 30 paid?", False),
        ("Sam, Kim", "Did Sam pay, and who else?", False),
        ("Sam", "Who paid more, Sam or Kim?", False),
        ("Kim", "Who paid more, Sam or Kim?", False),
        (None, "How many?", False),
        ("", "How many?", False),
    ],
)
def test_answer_in_instruction(answer: object, instruction: str, expected: bool) -> None:
    assert answer_in_instruction(answer, instruction) is expected


def test_a_text_that_is_no_python_is_refused() -> None:
    for function in (normalised, lambda text: hard_coded_literals(text, "")):
        with pytest.raises(SyntaxError):
            function("for x in")
