"""Notes: lists that people keep, and a log of their training."""

from random import Random

from world.catalogue import SONGS
from world.engine import Engine, ago
from world.people import Person, friends_of, supervisors

_GROCERIES = (
    "rice",
    "lentils",
    "oranges",
    "yoghurt",
    "rye bread",
    "spinach",
    "olive oil",
    "black tea",
    "eggs",
    "walnuts",
    "tomatoes",
    "soap",
)

_MOVIES = (
    "The Glass Orchard",
    "Midnight at Pier Nine",
    "A Map of Small Rivers",
    "The Last Cartographer",
    "Paper Lanterns",
    "Winter Signal",
)

_BOOKS = (
    "The Salt Garden by Mira Holt",
    "Nine Bridges by Anselm Drury",
    "A Quiet Engine by Tova Lind",
    "The Beekeeper's Atlas by Ruth Amadi",
    "Letters from the Tundra by Pavel Orlin",
)

_EXERCISES = ("running", "rowing", "swimming", "cycling", "yoga")


def fill_simple_note(engine: Engine, rng: Random) -> None:
    """Gives each supervisor 26 notes: six lists and the training log of twenty days."""
    for person in supervisors():
        for days, (title, content, tags, pinned) in enumerate(_lists(person, rng)):
            engine.at(ago(60 - days * 5, hour=8))
            _note(engine, person, title, content, tags, pinned)
        for day in range(20, 0, -1):
            engine.at(ago(day, hour=20))
            minutes, exercise = 5 * rng.randrange(3, 15), rng.choice(_EXERCISES)
            title = f"Training {ago(day).date().isoformat()}"
            content = f"Exercise: {exercise}\nMinutes: {minutes}"
            _note(engine, person, title, content, ["training"], False)


def _note(
    engine: Engine, person: Person, title: str, content: str, tags: list[str], pinned: bool
) -> None:
    engine.call(
        "simple_note",
        "create_note",
        person,
        title=title,
        content=content,
        tags=tags,
        pinned=pinned,
    )


def _lists(person: Person, rng: Random) -> list[tuple[str, str, list[str], bool]]:
    """Title, content (one entry a line), tags and pinned for the lists of one person."""
    guests = [friend.full_name for friend in rng.sample(friends_of(person), 4)]
    titles = [song.title for song in rng.sample(SONGS, 5)]
    friends = friends_of(person)
    gifts = [f"{friends[place].first_name}: {thing}" for place, thing in enumerate(_GIFTS)]
    return [
        ("Groceries", _lines(rng.sample(_GROCERIES, 6)), ["home", "shopping"], True),
        ("Movies to watch", _lines(rng.sample(_MOVIES, 5)), ["fun"], False),
        ("Books to read", _lines(rng.sample(_BOOKS, 4)), ["fun"], False),
        ("Party guests", _lines(guests), ["party"], True),
        ("Songs to add", _lines(titles), ["music"], False),
        ("Gift ideas", _lines(gifts), ["shopping"], False),
    ]


_GIFTS = ("a hand-thrown mug", "a bird guide", "merino socks", "a fern", "a chess clock")


def _lines(entries: list[str]) -> str:
    return "\n".join(f"- {entry}" for entry in entries)
