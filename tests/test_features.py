"""Minimal pairs for each feature: items that have it, and near ones that do not.

An expected None says that code leaves the feature to the judge.
"""

import tomllib
from pathlib import Path

import pytest

from tasks.labels.features import JUDGED_FEATURES, features
from tasks.suites.base import Call
from tests.golds import PREAMBLE, PROFILE, done, gold, person, read, trace, write

ROOMMATES = [person("Sam", "Lee", "roommate"), person("Kim", "Ode", "roommate")]
ROOMMATES.append(person("Ann", "Poe", "roommate"))
SONGS = [
    {"song_id": 70 + n, "title": title, "rating": rating, "play_count": 40 + n}
    for n, (title, rating) in enumerate([("Low Tide", 2), ("Kite", 4), ("Ember", 5)])
]
TASKS = [
    {"task_id": 31, "title": "Water plants", "due_date": "2023-05-16", "priority": "high"},
    {"task_id": 32, "title": "Call bank", "due_date": "2023-05-25", "priority": "low"},
]
PAYMENTS = [
    {
        "transaction_id": 11,
        "amount": 18.5,
        "description": "Dinner",
        "created_at": "2023-05-02T10:00",
    },
    {
        "transaction_id": 12,
        "amount": 40.25,
        "description": "Rent",
        "created_at": "2023-04-03T10:00",
    },
]
FINISH = "\napis.supervisor.complete_task()\n"

Case = tuple[str, str, str, list[Call], bool | None]
"""Feature, instruction, gold, trace, expected."""

# Golds with their traces that several cases share.

PAY_ROOMMATES = (
    gold("""
roommates = pages(apis.phone.search_contacts, access_token=login("phone"), relationship="roommate")
token = login("venmo")
for roommate in roommates:
    apis.venmo.create_transaction(access_token=token, receiver_email=roommate["email"], amount=12)
""")
    + FINISH,
    trace(
        read("phone.search_contacts", ROOMMATES, relationship="roommate", page_index=0),
        *(
            write("venmo.create_transaction", receiver_email=one["email"], amount=12)
            for one in ROOMMATES
        ),
        done(),
    ),
)
NOTE = (
    gold("""
token = login("simple_note")
apis.simple_note.create_note(access_token=token, title="Shopping", content="Milk")
""")
    + FINISH,
    trace(write("simple_note.create_note", title="Shopping", content="Milk"), done()),
)
COUNT_SONGS = (
    gold("""
songs = pages(apis.spotify.show_song_library, access_token=login("spotify"))
apis.supervisor.complete_task(answer=len(songs))
"""),
    trace(read("spotify.show_song_library", SONGS, page_index=0), done(3)),
)
LIKE_ALL = (
    gold("""
token = login("spotify")
for song in pages(apis.spotify.show_song_library, access_token=token):
    apis.spotify.like_song(access_token=token, song_id=song["song_id"])
""")
    + FINISH,
    trace(
        read("spotify.show_song_library", SONGS, page_index=0),
        *(write("spotify.like_song", song_id=song["song_id"]) for song in SONGS),
        done(),
    ),
)
UNLIKE_BAD = (
    gold("""
token = login("spotify")
for song in pages(apis.spotify.show_liked_songs, access_token=token):
    if song["rating"] < 3:
        apis.spotify.unlike_song(access_token=token, song_id=song["song_id"])
""")
    + FINISH,
    trace(
        read("spotify.show_liked_songs", SONGS, page_index=0),
        write("spotify.unlike_song", song_id=70),
        done(),
    ),
)
LIKE_BEST = (
    gold("""
token = login("spotify")
songs = pages(apis.spotify.show_song_library, access_token=token)
best = max(songs, key=lambda song: song["play_count"])
apis.spotify.like_song(access_token=token, song_id=best["song_id"])
""")
    + FINISH,
    trace(
        read("spotify.show_song_library", SONGS, page_index=0),
        write("spotify.like_song", song_id=72),
        done(),
    ),
)
LIKE_NAMED = (
    gold("""
token = login("spotify")
songs = pages(apis.spotify.show_song_library, access_token=token)
kite = next(song for song in songs if song["title"] == "Kite")
apis.spotify.like_song(access_token=token, song_id=kite["song_id"])
""")
    + FINISH,
    trace(
        read("spotify.show_song_library", SONGS, page_index=0),
        write("spotify.like_song", song_id=71),
        done(),
    ),
)
REPEAT_PAYMENT = (
    gold("""
token = login("venmo")
paid = pages(apis.venmo.show_transactions, access_token=token)
dinner = [one for one in paid if one["description"] == "Dinner"][0]
apis.venmo.create_transaction(
    access_token=token, receiver_email="kim.ode@example.com", amount=dinner["amount"]
)
""")
    + FINISH,
    trace(
        read("venmo.show_transactions", PAYMENTS, page_index=0),
        write("venmo.create_transaction", receiver_email="kim.ode@example.com", amount=18.5),
        done(),
    ),
)
SUM_PAYMENTS = (
    gold("""
paid = pages(apis.venmo.show_transactions, access_token=login("venmo"))
total = 0
for one in paid:
    total += one["amount"]
apis.supervisor.complete_task(answer=total)
"""),
    trace(read("venmo.show_transactions", PAYMENTS, page_index=0), done(58.75)),
)
TASK_BY_DATE = (
    gold("""
token = login("todoist")
apis.todoist.create_task(access_token=token, title="Renew pass", due_date="2023-05-18")
""")
    + FINISH,
    trace(write("todoist.create_task", title="Renew pass", due_date="2023-05-18"), done()),
)
FINISH_OVERDUE = (
    gold("""
token = login("todoist")
for task in apis.todoist.show_tasks(access_token=token, project_id=3):
    if task["due_date"] < "2023-05-18":
        apis.todoist.update_task(access_token=token, task_id=task["task_id"], is_completed=True)
""")
    + FINISH,
    trace(
        read("todoist.show_tasks", TASKS, project_id=3),
        write("todoist.update_task", task_id=31, is_completed=True),
        done(),
    ),
)

F1: list[Case] = [
    ("F1", "Send $12 to each of my roommates on Venmo.", *PAY_ROOMMATES, True),
    ("F1", "Like every song in my library.", *LIKE_ALL, True),
    (
        "F1",
        "Write a note titled Hello that greets Sam by his last name.",
        gold("""
sam = apis.phone.search_contacts(access_token=login("phone"), query="Sam")[0]
text = "Dear Mr " + sam["last_name"].upper()
apis.simple_note.create_note(access_token=login("simple_note"), title="Hello", content=text)
""")
        + FINISH,
        # Altered on its way: only the program's text shows the flow.
        trace(
            read("phone.search_contacts", [person("Sam", "Lee")], query="Sam"),
            write("simple_note.create_note", title="Hello", content="Dear Mr LEE"),
            done(),
        ),
        True,
    ),
    ("F1", "Write a note titled Shopping that says Milk.", *NOTE, False),
    ("F1", "How many songs are in my library?", *COUNT_SONGS, False),
    (
        "F1",
        "Check that kim.ode@example.com is a contact, and send her $3 either way.",
        gold("""
apis.phone.search_contacts(access_token=login("phone"), query="Kim")
apis.venmo.create_transaction(
    access_token=login("venmo"), receiver_email="kim.ode@example.com", amount=3
)
""")
        + FINISH,
        # What the instruction states, and a small number that meets by chance, show no flow.
        trace(
            read("phone.search_contacts", [person("Kim", "Ode", num_texts=3)], query="Kim"),
            write("venmo.create_transaction", receiver_email="kim.ode@example.com", amount=3),
            done(),
        ),
        False,
    ),
]

F2: list[Case] = [
    ("F2", "Send $12 to each of my roommates on Venmo.", *PAY_ROOMMATES, True),
    (
        "F2",
        "Mail the text of my note Plan to max@example.com.",
        gold("""
note_token = login("simple_note")
found = apis.simple_note.search_notes(access_token=note_token, query="Plan")[0]
note = apis.simple_note.show_note(access_token=note_token, note_id=found["note_id"])
apis.gmail.send_email(
    access_token=login("gmail"), email_addresses=["max@example.com"], subject="Plan",
    body=note["content"],
)
""")
        + FINISH,
        trace(
            read("simple_note.search_notes", [{"note_id": 5, "title": "Plan"}], query="Plan"),
            read("simple_note.show_note", {"note_id": 5, "content": "Buy a tent"}, note_id=5),
            write(
                "gmail.send_email",
                email_addresses=["max@example.com"],
                subject="Plan",
                body="Buy a tent",
            ),
            done(),
        ),
        True,
    ),
    (
        "F2",
        "Note in Splitwise group 'Flat' what I paid last on Venmo.",
        gold("""
paid = apis.venmo.show_transactions(access_token=login("venmo"), sort_by="-created_at")[0]
token = login("splitwise")
flat = [one for one in apis.splitwise.show_groups(access_token=token) if one["name"] == "Flat"][0]
apis.splitwise.record_expense(
    access_token=token, group_id=flat["group_id"], paid_amount=paid["amount"] / 2
)
""")
        + FINISH,
        trace(
            read("venmo.show_transactions", PAYMENTS, sort_by="-created_at"),
            read("splitwise.show_groups", [{"group_id": 9, "name": "Flat"}]),
            write("splitwise.record_expense", group_id=9, paid_amount=9.25),
            done(),
        ),
        True,
    ),
    ("F2", "Like every song in my library.", *LIKE_ALL, False),
    (
        "F2",
        "Like the song Kite and write a note titled Kite.",
        LIKE_NAMED[0].replace(
            FINISH,
            'apis.simple_note.create_note(access_token=login("simple_note"), title="Kite")'
            + FINISH,
        ),
        [*LIKE_NAMED[1][:-1], *trace(write("simple_note.create_note", title="Kite"))[3:]],
        False,
    ),
    (
        "F2",
        "Mail me the word hello.",
        gold("""
apis.gmail.send_email(
    access_token=login("gmail"), email_addresses=[me["email"]], subject="hello", body="hello"
)
""")
        + FINISH,
        # Who asks is known beforehand: the supervisor is no app of the world.
        trace(
            write(
                "gmail.send_email",
                email_addresses=[PROFILE["email"]],
                subject="hello",
                body="hello",
            ),
            done(),
        ),
        False,
    ),
]

F3: list[Case] = [
    ("F3", "Send $12 to each of my roommates on Venmo.", *PAY_ROOMMATES, True),
    ("F3", "Like every song in my library.", *LIKE_ALL, True),
    (
        "F3",
        "Write notes titled A1, A2 and A3.",
        gold("""
token = login("simple_note")
apis.simple_note.create_note(access_token=token, title="A1")
apis.simple_note.create_note(access_token=token, title="A2")
apis.simple_note.create_note(access_token=token, title="A3")
""")
        + FINISH,
        trace(*(write("simple_note.create_note", title=f"A{n}") for n in (1, 2, 3)), done()),
        True,
    ),
    (
        "F3",
        "Write notes titled A1 and A2.",
        gold("""
token = login("simple_note")
apis.simple_note.create_note(access_token=token, title="A1")
apis.simple_note.create_note(access_token=token, title="A2")
""")
        + FINISH,
        trace(*(write("simple_note.create_note", title=f"A{n}") for n in (1, 2)), done()),
        False,
    ),
    (
        "F3",
        "How many songs are in my library?",
        COUNT_SONGS[0],
        # Four pages of one list.
        trace(
            *(
                read("spotify.show_song_library", SONGS, page_index=n, page_limit=20)
                for n in range(4)
            ),
            done(12),
        ),
        False,
    ),
    (
        "F3",
        "Write a note titled Shopping that says Milk.",
        NOTE[0],
        # Three logins.
        [*trace(apps=("phone", "venmo", "simple_note")), *NOTE[1][3:]],
        False,
    ),
]

F4: list[Case] = [
    ("F4", "Unlike the songs that I rated below 3.", *UNLIKE_BAD, True),
    (
        "F4",
        "If I have less than $100 on Venmo, add $50 to it.",
        gold("""
token = login("venmo")
balance = apis.venmo.show_venmo_balance(access_token=token)["venmo_balance"]
if balance < 100:
    apis.venmo.add_to_venmo_balance(access_token=token, amount=50)
""")
        + FINISH,
        trace(
            read("venmo.show_venmo_balance", {"venmo_balance": 60.0}),
            write("venmo.add_to_venmo_balance", amount=50),
            done(),
        ),
        True,
    ),
    (
        "F4",
        "Add $50 on Venmo, or $80 if I have less than $100 there.",
        gold("""
token = login("venmo")
balance = apis.venmo.show_venmo_balance(access_token=token)["venmo_balance"]
amount = 80 if balance < 100 else 50
apis.venmo.add_to_venmo_balance(access_token=token, amount=amount)
""")
        + FINISH,
        trace(
            read("venmo.show_venmo_balance", {"venmo_balance": 60.0}),
            write("venmo.add_to_venmo_balance", amount=80),
            done(),
        ),
        True,
    ),
    (
        "F4",
        "Unlike the songs that I rated below 3.",
        gold("""
token = login("spotify")
bad = [one for one in pages(apis.spotify.show_liked_songs, access_token=token) if one["rating"] < 3]
for song in bad:
    apis.spotify.unlike_song(access_token=token, song_id=song["song_id"])
""")
        + FINISH,
        UNLIKE_BAD[1],
        True,
    ),
    (
        "F4",
        "Unlike the songs that I rated below 3.",
        gold("""
token = login("spotify")
for song in pages(apis.spotify.show_liked_songs, access_token=token):
    if song["rating"] >= 3:
        continue
    apis.spotify.unlike_song(access_token=token, song_id=song["song_id"])
""")
        + FINISH,
        UNLIKE_BAD[1],
        True,
    ),
    ("F4", "Like every song in my library.", *LIKE_ALL, False),
    ("F4", "Like the song Kite in my library.", *LIKE_NAMED, False),
    ("F4", "Like the song in my library that I played most.", *LIKE_BEST, False),
    (
        "F4",
        "How many songs did I rate below 3?",
        gold("""
count = 0
for song in pages(apis.spotify.show_liked_songs, access_token=login("spotify")):
    if song["rating"] < 3:
        count += 1
apis.supervisor.complete_task(answer=count)
"""),
        trace(read("spotify.show_liked_songs", SONGS, page_index=0), done(1)),
        False,
    ),
    (
        "F4",
        "Like the song Kite in my library.",
        gold("""
token = login("spotify")
for song in pages(apis.spotify.show_song_library, access_token=token):
    if song["title"] == "Kite":
        kite = song
        break
apis.spotify.like_song(access_token=token, song_id=kite["song_id"])
""")
        + FINISH,
        LIKE_NAMED[1],
        False,
    ),
]

F5: list[Case] = [
    ("F5", "Unlike the songs that I rated below 3.", *UNLIKE_BAD, True),
    ("F5", "Like the song in my library that I played most.", *LIKE_BEST, True),
    (
        "F5",
        "Like my three most played songs.",
        gold("""
token = login("spotify")
songs = pages(apis.spotify.show_song_library, access_token=token)
songs.sort(key=lambda song: -song["play_count"])
for song in songs[:3]:
    apis.spotify.like_song(access_token=token, song_id=song["song_id"])
""")
        + FINISH,
        LIKE_ALL[1],
        True,
    ),
    (
        "F5",
        "What is the last thing that I paid for?",
        gold("""
paid = apis.venmo.show_transactions(access_token=login("venmo"), sort_by="-created_at")
apis.supervisor.complete_task(answer=paid[0]["description"])
"""),
        trace(read("venmo.show_transactions", PAYMENTS, sort_by="-created_at"), done("Dinner")),
        True,
    ),
    ("F5", "Like every song in my library.", *LIKE_ALL, False),
    ("F5", "Like the song Kite in my library.", *LIKE_NAMED, False),
    ("F5", "Pay again to kim.ode@example.com what I paid for Dinner.", *REPEAT_PAYMENT, False),
    ("F5", "Write a note titled Shopping that says Milk.", *NOTE, False),
    (
        "F5",
        "Complete the overdue tasks of project 3.",
        # The API filters.
        gold("""
token = login("todoist")
for task in apis.todoist.show_tasks(access_token=token, project_id=3, overdue=True):
    apis.todoist.update_task(access_token=token, task_id=task["task_id"], is_completed=True)
""")
        + FINISH,
        trace(
            read("todoist.show_tasks", TASKS[:1], project_id=3, overdue=True),
            write("todoist.update_task", task_id=31, is_completed=True),
            done(),
        ),
        True,
    ),
    (
        "F5",
        "Complete the tasks of project 3, those with short titles first.",
        # Putting in order chooses nothing.
        gold("""
token = login("todoist")
tasks = apis.todoist.show_tasks(access_token=token, project_id=3)
for task in sorted(tasks, key=lambda task: len(task["title"])):
    apis.todoist.update_task(access_token=token, task_id=task["task_id"], is_completed=True)
""")
        + FINISH,
        trace(
            read("todoist.show_tasks", TASKS, project_id=3),
            *(write("todoist.update_task", task_id=n, is_completed=True) for n in (32, 31)),
            done(),
        ),
        False,
    ),
    # Only a relation selects: the judge says whether "my roommates" are a subset of what is meant.
    ("F5", "Send $12 to each of my roommates on Venmo.", *PAY_ROOMMATES, None),
]

F6: list[Case] = [
    ("F6", "How much have I paid on Venmo in all?", *SUM_PAYMENTS, True),
    ("F6", "How many songs are in my library?", *COUNT_SONGS, True),
    (
        "F6",
        "Pay half of what I paid for Dinner to kim.ode@example.com.",
        REPEAT_PAYMENT[0].replace('dinner["amount"]', 'round(dinner["amount"] / 2, 2)'),
        trace(
            read("venmo.show_transactions", PAYMENTS, page_index=0),
            write("venmo.create_transaction", receiver_email="kim.ode@example.com", amount=9.25),
            done(),
        ),
        True,
    ),
    (
        "F6",
        "Pay 12 dollars for each of my tickets to kim.ode@example.com.",
        # A number worked out beforehand shows in the trace alone.
        gold("""
apis.venmo.create_transaction(
    access_token=login("venmo"), receiver_email="kim.ode@example.com", amount=36
)
""")
        + FINISH,
        trace(
            write("venmo.create_transaction", receiver_email="kim.ode@example.com", amount=36),
            done(),
        ),
        True,
    ),
    ("F6", "Send $12 to each of my roommates on Venmo.", *PAY_ROOMMATES, False),
    ("F6", "Pay again to kim.ode@example.com what I paid for Dinner.", *REPEAT_PAYMENT, False),
    ("F6", "Like every song in my library.", *LIKE_ALL, False),
    (
        "F6",
        "Write a note titled Hello with Sam's full name.",
        gold("""
sam = apis.phone.search_contacts(access_token=login("phone"), query="Sam")[0]
name = sam["first_name"] + " " + sam["last_name"]
apis.simple_note.create_note(access_token=login("simple_note"), title="Hello", content=name)
""")
        + FINISH,
        trace(
            read("phone.search_contacts", [person("Sam", "Lee")], query="Sam"),
            write("simple_note.create_note", title="Hello", content="Sam Lee"),
            done(),
        ),
        False,
    ),
]

F7: list[Case] = [
    (
        "F7",
        "Complete the tasks of project 3 that were due before May 18, 2023.",
        *FINISH_OVERDUE,
        True,
    ),
    (
        "F7",
        "How much did I pay in May?",
        gold("""
paid = pages(apis.venmo.show_transactions, access_token=login("venmo"))
total = sum(one["amount"] for one in paid if one["created_at"][5:7] == "05")
apis.supervisor.complete_task(answer=total)
"""),
        trace(read("venmo.show_transactions", PAYMENTS, page_index=0), done(18.5)),
        True,
    ),
    (
        "F7",
        "Add a task 'Renew pass' that is due tomorrow.",
        gold("""
from datetime import datetime, timedelta
token = login("todoist")
due = (datetime.now() + timedelta(days=1)).strftime("%Y-%m-%d")
apis.todoist.create_task(access_token=token, title="Renew pass", due_date=due)
""")
        + FINISH,
        trace(write("todoist.create_task", title="Renew pass", due_date="2023-05-19"), done()),
        True,
    ),
    (
        "F7",
        "What did I pay for since May 1?",
        # The API compares.
        gold("""
paid = pages(apis.venmo.show_transactions, access_token=login("venmo"), min_created_at="2023-05-01")
apis.supervisor.complete_task(answer=", ".join(one["description"] for one in paid))
"""),
        trace(
            read(
                "venmo.show_transactions", PAYMENTS[:1], min_created_at="2023-05-01", page_index=0
            ),
            done("Dinner"),
        ),
        True,
    ),
    ("F7", "Add a task 'Renew pass' that is due on May 18.", *TASK_BY_DATE, False),
    ("F7", "How much have I paid on Venmo in all?", *SUM_PAYMENTS, False),
    (
        "F7",
        "Write a note titled Plants that says when 'Water plants' is due.",
        gold("""
tasks = apis.todoist.show_tasks(access_token=login("todoist"), project_id=3)
task = next(one for one in tasks if one["title"] == "Water plants")
token = login("simple_note")
apis.simple_note.create_note(access_token=token, title="Plants", content=task["due_date"])
""")
        + FINISH,
        trace(
            read("todoist.show_tasks", TASKS, project_id=3),
            write("simple_note.create_note", title="Plants", content="2023-05-16"),
            done(),
        ),
        False,
    ),
    ("F7", "Unlike the songs that I rated below 3.", *UNLIKE_BAD, False),
]

TWO_SAMS = [person("Sam", "Lee", "roommate"), person("Sam", "Orr", "coworker")]
PAY_SAM = gold("""
people = pages(apis.phone.search_contacts, access_token=login("phone"))
sam = next(one for one in people if one["first_name"] == "Sam" and "roommate" in one["relationships"])
apis.venmo.create_transaction(
    access_token=login("venmo"), receiver_email=sam["email"], amount=5
)
apis.supervisor.complete_task()
""")


def _pay_sam(*people: dict[str, object]) -> tuple[str, list[Call]]:
    sam = next(one for one in people if one["first_name"] == "Sam")
    return PAY_SAM, trace(
        read("phone.search_contacts", list(people), page_index=0),
        write("venmo.create_transaction", receiver_email=sam["email"], amount=5),
        done(),
    )


TWO_KITES = [{"song_id": 7, "title": "Kite"}, {"song_id": 8, "title": "Kite"}]

F8: list[Case] = [
    ("F8", "Send $5 to my roommate Sam.", *_pay_sam(*TWO_SAMS), True),
    (
        "F8",
        "Like the song 'Kite' that is longer.",
        LIKE_BEST[0],
        trace(
            read("spotify.search_songs", TWO_KITES, query="Kite"),
            write("spotify.like_song", song_id=8),
            done(),
        ),
        True,
    ),
    (
        "F8",
        "Archive the note Trip in which the hotel stands.",
        NOTE[0],
        trace(
            read(
                "simple_note.search_notes",
                [{"note_id": 1, "title": "Trip to Oslo"}, {"note_id": 2, "title": "Trip to Rome"}],
                query="Trip",
            ),
            write("simple_note.delete_note", note_id=2),
            done(),
        ),
        True,
    ),
    ("F8", "Pay my roommate Sam's share of $5.", *_pay_sam(*TWO_SAMS), True),
    ("F8", "Send $5 to Sam Lee.", *_pay_sam(*TWO_SAMS), None),
    (
        "F8",
        "Write a note 'Kite'.",
        NOTE[0],
        trace(
            read("spotify.search_songs", TWO_KITES, query="Kite"),
            write("simple_note.create_note", title="Kite"),
            done(),
        ),
        None,
    ),
    ("F8", "Send $5 to my roommate Sam.", *_pay_sam(TWO_SAMS[0], person("Kim")), None),
    (
        "F8",
        "Like the song 'Kite'.",
        LIKE_NAMED[0],
        # One song, seen twice in one list and once in another.
        trace(
            read("spotify.search_songs", [TWO_KITES[0], TWO_KITES[0]], query="Kite"),
            read("spotify.show_song_library", [TWO_KITES[0]]),
            write("spotify.like_song", song_id=7),
            done(),
        ),
        None,
    ),
]


def _unlike_except(test: str) -> str:
    return gold(f"""
token = login("spotify")
for song in pages(apis.spotify.show_liked_songs, access_token=token):
    {test}
        apis.spotify.unlike_song(access_token=token, song_id=song["song_id"])
apis.supervisor.complete_task()
""")


F9: list[Case] = [
    (
        "F9",
        "Unlike all my liked songs except Kite.",
        _unlike_except('if song["title"] != "Kite":'),
        UNLIKE_BAD[1],
        True,
    ),
    (
        "F9",
        "Unlike all my liked songs. Do not touch Kite or Ember.",
        _unlike_except('if song["title"] not in ("Kite", "Ember"):'),
        UNLIKE_BAD[1],
        True,
    ),
    (
        "F9",
        "Unlike all my liked songs, but leave the ones that I reviewed alone.",
        _unlike_except('if not song["reviewed"]:'),
        UNLIKE_BAD[1],
        True,
    ),
    ("F9", "Unlike the songs that I rated below 3.", *UNLIKE_BAD, False),
    (
        "F9",
        "Unlike the songs that I have not reviewed.",
        # Data decides, but nothing is forbidden.
        _unlike_except('if not song["reviewed"]:'),
        UNLIKE_BAD[1],
        False,
    ),
    ("F9", "Like every song in my library.", *LIKE_ALL, False),
    # A clause that changes nothing in the gold: whether it could is the judge's to say.
    ("F9", "Like every song in my library. Do not send anything to anybody.", *LIKE_ALL, None),
]

F10: list[Case] = [
    ("F10", "Send $12 to each of my roommates on Venmo.", *PAY_ROOMMATES, True),
    (
        "F10",
        "Text my manager 'Running late'.",
        NOTE[0],
        trace(
            read(
                "phone.search_contacts", [person("Ida", "Voss", "manager")], relationship="manager"
            ),
            write("phone.send_text_message", phone_number="2065550107", message="Running late"),
            done(),
        ),
        True,
    ),
    ("F10", "Send $5 to the account of my sister's bank.", *NOTE, True),
    ("F10", "Send $5 to my roommate Sam.", *_pay_sam(*TWO_SAMS), None),
    ("F10", "Send $5 to Sam, my roommate.", *_pay_sam(person("Sam", "Lee")), None),
    ("F10", "Write a note titled Shopping that says Milk.", *NOTE, None),
]

CASES = [*F1, *F2, *F3, *F4, *F5, *F6, *F7, *F8, *F9, *F10]


@pytest.mark.parametrize(
    ("feature", "instruction", "program", "calls", "expected"),
    CASES,
    ids=[f"{case[0]}-{case[4]}-{case[1][:40]}" for case in CASES],
)
def test_feature(
    feature: str, instruction: str, program: str, calls: list[Call], expected: bool | None
) -> None:
    assert features(instruction, program, calls).get(feature) is expected


def test_each_feature_has_three_items_with_it_and_three_near_ones_without() -> None:
    for number in range(1, 11):
        expected = [case[4] for case in CASES if case[0] == f"F{number}"]
        assert sum(one is True for one in expected) >= 3, f"F{number}"
        assert sum(one is not True for one in expected) >= 3, f"F{number}"


def test_a_list_of_actions_is_labelled_from_its_trace_alone() -> None:
    found = features("Like every song.", '[{"name": "like"}]', LIKE_ALL[1], interaction="tools")
    assert found["F1"] and found["F3"]
    assert not {"F4", "F5", "F6", "F7"} & set(found)


def test_reading_in_pages_and_logging_in_show_nothing() -> None:
    program = PREAMBLE + "apis.supervisor.complete_task()\n"
    found = features("Do nothing.", program, trace(done()))
    assert not any(found.values())


def test_labels_are_the_ones_of_the_data_file(checkout: Path) -> None:
    labels = tomllib.loads(
        (checkout / "tasks" / "labels" / "labels.toml").read_text(encoding="utf-8")
    )
    names = {kind: {one["id"]: one["name"] for one in entries} for kind, entries in labels.items()}
    assert names == {
        "difficulty": {one: one for one in ("interaction", "reasoning", "difficulty")},
        "feature": {
            "F1": "intermediate_call",
            "F2": "cross_app_flow",
            "F3": "iteration",
            "F4": "condition",
            "F5": "filter_or_superlative",
            "F6": "arithmetic",
            "F7": "dates",
            "F8": "ambiguous_mention",
            "F9": "exclusion",
            "F10": "indirect_reference",
        },
        "failure_reason": {
            "R1": "wrong_entity",
            "R2": "wrong_value",
            "R3": "missing_effect",
            "R4": "extra_effect",
            "R5": "unrecovered_error",
            "R6": "unfinished",
        },
    }
    assert [one.id for one in JUDGED_FEATURES] == ["F5", "F8", "F9", "F10"]


@pytest.mark.parametrize(
    ("test", "excludes"),
    [
        ('if song["title"] == "Kite":\n        continue\n    if True:', True),
        ('if song["rating"] >= 3:\n        continue\n    if True:', None),
        ('if song["genre"] == "jazz":', None),
    ],
)
def test_an_exclusion_is_what_keeps_something_out(test: str, excludes: bool | None) -> None:
    found = features("Unlike my songs, never jazz.", _unlike_except(test), UNLIKE_BAD[1])
    assert found.get("F9") is excludes


@pytest.mark.parametrize(
    ("instruction", "titles", "ambiguous"),
    [
        ("Play Kite.", ["Kite", "Kite Runner"], False),
        ("Play Kite.", ["Red Kite", "Kite Runner"], True),
        ("Add it in May.", ["May rent", "May trip"], False),
        ("Add it. Trip is the name.", ["Trip A", "Trip B"], False),
    ],
)
def test_only_names_are_mentions(instruction: str, titles: list[str], ambiguous: bool) -> None:
    notes = [{"note_id": n, "title": title} for n, title in enumerate(titles)]
    calls = trace(read("simple_note.search_notes", notes), done())
    assert ("F8" in features(instruction, NOTE[0], calls)) is ambiguous
