"""Difficulty: thresholds to the letter of labels.toml, and whole golds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.golds.api_trace import depth, work_calls
from tasks.golds.program import read_program
from tasks.labels.difficulty import (
    Difficulty,
    difficulty,
    interaction_level,
    reasoning_level,
    total_level,
)
from tasks.labels.features import links_of
from tasks.suites.base import Call
from tests.golds import done, gold, person, read, trace, write

COUNTS = st.integers(min_value=0, max_value=20)


@pytest.mark.parametrize(
    ("apps", "apis", "longest", "level"),
    [
        (1, 3, 9, 1),
        (0, 0, 0, 1),
        (1, 4, 1, 2),
        (2, 2, 1, 2),
        (1, 8, 3, 2),
        (1, 7, 4, 2),
        (1, 8, 4, 3),
        (2, 9, 5, 3),
        (3, 3, 1, 3),
    ],
)
def test_interaction_level(apps: int, apis: int, longest: int, level: int) -> None:
    assert interaction_level(apps, apis, longest) == level


@pytest.mark.parametrize(("count", "level"), [(0, 1), (1, 1), (2, 2), (3, 2), (4, 3), (9, 3)])
def test_reasoning_level(count: int, level: int) -> None:
    assert reasoning_level(count) == level


@pytest.mark.parametrize(
    ("interaction", "reasoning", "level"),
    [(1, 1, 1), (1, 2, 1), (2, 1, 1), (2, 2, 2), (1, 3, 2), (3, 1, 2), (3, 2, 3), (3, 3, 3)],
)
def test_total_level(interaction: int, reasoning: int, level: int) -> None:
    assert total_level(interaction, reasoning) == level


@given(COUNTS, COUNTS, COUNTS, COUNTS, st.tuples(COUNTS, COUNTS, COUNTS, COUNTS))
def test_more_to_touch_or_to_think_of_is_never_easier(
    apps: int, apis: int, longest: int, count: int, more: tuple[int, int, int, int]
) -> None:
    before = interaction_level(apps, apis, longest)
    after = interaction_level(apps + more[0], apis + more[1], longest + more[2])
    assert before <= after
    thought = reasoning_level(count), reasoning_level(count + more[3])
    assert thought[0] <= thought[1]
    assert total_level(before, thought[0]) <= total_level(after, thought[1])


SONGS = [{"song_id": 70 + n, "title": f"Song {n}", "rating": n % 5} for n in range(25)]
ROOMMATES = [person(name, "Lee", "roommate") for name in ("Sam", "Kim", "Ann")]

LIKE_ONE = (
    gold("""
token = login("spotify")
songs = pages(apis.spotify.show_song_library, access_token=token)
song = next(one for one in songs if one["title"] == "Song 3")
apis.spotify.like_song(access_token=token, song_id=song["song_id"])
apis.supervisor.complete_task()
"""),
    # A list of two pages is one call; the login and the completion are none.
    trace(
        read("spotify.show_song_library", SONGS[:20], page_index=0, page_limit=20),
        read("spotify.show_song_library", SONGS[20:], page_index=1, page_limit=20),
        write("spotify.like_song", song_id=73),
        done(),
    ),
)
SPLIT_BILL = (
    gold("""
bills = apis.splitwise.show_expenses(access_token=login("splitwise"))
unpaid = [one for one in bills if not one["settled"] and one["date"] >= "2023-05-01"]
roommates = pages(apis.phone.search_contacts, access_token=login("phone"), relationship="roommate")
share = round(sum(one["amount"] for one in unpaid) / (len(roommates) + 1), 2)
token = login("venmo")
for roommate in sorted(roommates, key=lambda one: one["last_name"])[:2]:
    apis.venmo.create_payment_request(
        access_token=token, user_email=roommate["email"], amount=share
    )
apis.supervisor.complete_task()
"""),
    trace(
        read(
            "splitwise.show_expenses",
            [{"expense_id": 4, "amount": 80.6, "date": "2023-05-04", "settled": False}],
        ),
        read("phone.search_contacts", ROOMMATES, relationship="roommate", page_index=0),
        *(
            write("venmo.create_payment_request", user_email=one["email"], amount=20.15)
            for one in ROOMMATES[:2]
        ),
        done(),
    ),
)
TOP_RATED = (
    gold("""
token = login("spotify")
best = [one for one in pages(apis.spotify.show_song_library, access_token=token) if one["rating"] > 3]
texts = ", ".join(one["title"] for one in best if one["title"] != "Song 9")
apis.simple_note.create_note(access_token=login("simple_note"), title="Best", content=texts)
apis.supervisor.complete_task()
"""),
    trace(
        read("spotify.show_song_library", SONGS, page_index=0),
        write("simple_note.create_note", title="Best", content="Song 4, Song 14"),
        done(),
    ),
)


@pytest.mark.parametrize(
    ("instruction", "program", "calls", "expected"),
    [
        ("Like 'Song 3' in my library.", *LIKE_ONE, Difficulty(1, 1, 1)),
        (
            "Write a note Best with my songs rated above 3, except Song 9.",
            *TOP_RATED,
            Difficulty(2, 2, 2),
        ),
        (
            "Ask the first two roommates by last name for a share of all bills open since May 1.",
            *SPLIT_BILL,
            Difficulty(3, 3, 3),
        ),
    ],
)
def test_whole_golds(
    instruction: str, program: str, calls: list[Call], expected: Difficulty
) -> None:
    assert difficulty(instruction, program, calls) == expected


def test_a_list_of_actions_is_measured_by_its_trace() -> None:
    found = difficulty("Like it.", "like(3)", LIKE_ONE[1], interaction="tools")
    assert found == Difficulty(1, 1, 1)


def test_what_one_search_happens_to_show_of_the_next_makes_no_chain() -> None:
    program = gold("""
titles = apis.simple_note.show_note(access_token=login("simple_note"), note_id=4)["content"].split()
for title in titles:
    for song in apis.spotify.search_songs(query=title):
        apis.spotify.like_song(access_token=login("spotify"), song_id=song["song_id"])
apis.supervisor.complete_task()
""")
    rows = [{"song_id": n, "title": title} for n, title in enumerate(("Kite", "Ember", "Tide"))]
    calls = trace(read("simple_note.show_note", {"note_id": 4, "content": "Kite Ember Tide"}))
    for row in rows:
        calls += trace(read("spotify.search_songs", rows, query=row["title"]))[-1:]
        calls += trace(write("spotify.like_song", song_id=row["song_id"]))[-1:]
    work = work_calls(calls)
    assert depth(len(work), links_of("Like them.", read_program(program), work)) == 3
