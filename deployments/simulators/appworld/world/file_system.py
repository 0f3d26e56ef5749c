"""Files: bills, receipts, photos of trips, and a cluttered download folder."""

from collections.abc import Iterator
from datetime import datetime
from random import Random

from world.engine import NOW, Engine, ago
from world.people import Person, supervisors

File = tuple[str, str, datetime]
"""Path below the home folder, content, and when it was made."""

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
    """Gives each supervisor forty-six files: bills by month, receipts, photos, downloads."""
    models = engine.models.file_system
    engine.at(ago(300))
    for person in supervisors():
        home = {"user_id": engine.user("file_system", person).id}
        names = ["bills", "documents", "documents/receipts", "downloads", "downloads/old", "photos"]
        names += [f"photos/{trip}" for trip in _TRIPS]
        folders = [{**home, "path": _path(person, f"{name}/")} for name in names]
        engine.add(models.Directory, folders)
        files = [*_bills(rng), *_documents(rng, person), *_photos(), *_downloads()]
        rows = []
        for name, content, made in files:
            times = {"created_at": made, "updated_at": made}
            rows.append({**home, **times, "path": _path(person, name), "content": content})
        engine.add(models.File, rows)


def _path(person: Person, name: str) -> str:
    return f"/home/{person.first_name.lower()}/{name}"


def _content(name: str) -> str:
    if name.endswith((".jpg", ".pdf")):
        return f"binary:{name}..."
    return f"Contents of {name}"


def _bills(rng: Random) -> Iterator[File]:
    """One text file a kind and month; totals are whole dollars that divide by four."""
    for kind, low, high in _BILLS:
        for number, month in enumerate(_MONTHS, start=1):
            total = 4 * rng.randrange(low // 4, high // 4)
            text = (
                f"{kind.title()} bill\n"
                f"Period: {month} {NOW.year}\n"
                f"Total amount: ${total}\n"
                f"Due date: {NOW.year}-{number + 1:02d}-20"
            )
            name = f"bills/{kind}-{NOW.year}-{number:02d}.txt"
            yield name, text, NOW.replace(month=number, day=27, hour=9)


def _documents(rng: Random, person: Person) -> Iterator[File]:
    yield "documents/cv.txt", f"CV of {person.full_name}", ago(100)
    yield "documents/lease.pdf", _content("lease.pdf"), ago(200)
    for days in range(70, 10, -12):
        text = f"Receipt\nPaid: ${rng.randrange(8, 90)}"
        made = ago(days, hour=14)
        yield f"documents/receipts/receipt-{made.date().isoformat()}.txt", text, made


def _photos() -> Iterator[File]:
    for days, trip in zip((250, 130, 30), _TRIPS, strict=True):
        for number in range(1, 5):
            name = f"{trip}-{number}.jpg"
            yield f"photos/{trip}/{name}", _content(name), ago(days - number, hour=13)


def _downloads() -> Iterator[File]:
    for place, name in enumerate(_DOWNLOADS):
        yield f"downloads/{name}", _content(name), ago(3 + place * 4, hour=16)
    yield "downloads/old/cache-00.tmp", _content("cache-00.tmp"), ago(80)
