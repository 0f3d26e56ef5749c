"""Files: bills, receipts, photos of trips, and a cluttered download folder."""

from random import Random

from world.engine import NOW, Engine, ago
from world.people import Person, supervisors

_BILLS = (("electricity", 64, 132), ("internet", 52, 60), ("water", 36, 76), ("gas", 40, 96))
"""Kind and range of the monthly total in dollars."""

_MONTHS = ("January", "February", "March", "April")

_TRIPS = ("lake", "mountains", "seaside")

_DOWNLOADS = (
    "boarding-pass.pdf",
    "setup.tmp",
    "manual.pdf",
    "cache-01.tmp",
    "menu.pdf",
    "recipe.txt",
    "cache-02.tmp",
    "tickets.pdf",
    "wallpaper.jpg",
    "invoice-draft.txt",
)


def fill_file_system(engine: Engine, rng: Random) -> None:
    """Gives each supervisor about forty files: bills by month, receipts, photos, downloads."""
    for person in supervisors():
        home = f"/home/{person.first_name.lower()}/"
        engine.at(ago(300))
        folders = [
            "bills",
            "documents",
            "documents/receipts",
            "downloads",
            "downloads/old",
            "photos",
        ]
        for folder in [*folders, *(f"photos/{trip}" for trip in _TRIPS)]:
            _folder(engine, person, f"{home}{folder}/")
        _fill_bills(engine, rng, person, home)
        _fill_documents(engine, rng, person, home)
        for place, name in enumerate(_DOWNLOADS):
            engine.at(ago(3 + place * 4, hour=16, minute=rng.randrange(60)))
            _file(engine, person, f"{home}downloads/{name}", _content(name))
        _file(engine, person, f"{home}downloads/old/cache-00.tmp", _content("cache-00.tmp"))


def _folder(engine: Engine, person: Person, path: str) -> None:
    user = engine.user("file_system", person)
    engine.models.file_system.Directory.create_save(user_id=user.id, path=path)


def _file(engine: Engine, person: Person, path: str, content: str) -> None:
    user = engine.user("file_system", person)
    engine.models.file_system.File.create_save(user_id=user.id, path=path, content=content)


def _content(name: str) -> str:
    if name.endswith((".jpg", ".pdf")):
        return f"binary:{name}..."
    return f"Contents of {name}"


def _fill_bills(engine: Engine, rng: Random, person: Person, home: str) -> None:
    """One text file a kind and month; totals are whole dollars that divide by four."""
    for kind, low, high in _BILLS:
        for number, month in enumerate(_MONTHS, start=1):
            total = 4 * rng.randrange(low // 4, high // 4)
            engine.at(NOW.replace(month=number, day=27, hour=9))
            text = (
                f"{kind.title()} bill\n"
                f"Period: {month} {NOW.year}\n"
                f"Total amount: ${total}\n"
                f"Due date: {NOW.year}-{number + 1:02d}-20"
            )
            _file(engine, person, f"{home}bills/{kind}-{NOW.year}-{number:02d}.txt", text)


def _fill_documents(engine: Engine, rng: Random, person: Person, home: str) -> None:
    engine.at(ago(100))
    _file(engine, person, f"{home}documents/cv.txt", f"CV of {person.full_name}")
    _file(engine, person, f"{home}documents/lease.pdf", _content("lease.pdf"))
    for place in range(5):
        engine.at(ago(70 - place * 12, hour=14))
        name = f"receipt-{ago(70 - place * 12).date().isoformat()}.txt"
        text = f"Receipt\nPaid: ${rng.randrange(8, 90)}"
        _file(engine, person, f"{home}documents/receipts/{name}", text)
    for days, trip in zip((250, 130, 30), _TRIPS, strict=True):
        for number in range(1, 5):
            engine.at(ago(days - number, hour=13, minute=number))
            name = f"{trip}-{number}.jpg"
            _file(engine, person, f"{home}photos/{trip}/{name}", _content(name))
