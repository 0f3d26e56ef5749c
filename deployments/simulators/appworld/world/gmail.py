"""Mail: from companies to all employees, among flatmates, in families, between friends."""

from random import Random

from world.engine import Engine, ago
from world.people import (
    COMPANIES,
    FAMILIES,
    HOUSEHOLDS,
    Person,
    company_of,
    friends_of,
    resident,
    supervisors,
)

_COMPANY_MAILS = (
    (
        "All-hands on Friday",
        "Please join the all-hands at {standup} on Friday. The agenda follows.",
    ),
    ("New coffee machine", "The new machine on the second floor is ready. Milk goes to the left."),
    (
        "Quarterly goals",
        "Please send me your goals for the next quarter until the end of the month.",
    ),
    ("Fire drill", "There will be a fire drill on Wednesday. Please leave by the north stairs."),
    ("Parking lot closed", "The parking lot is closed next Monday. Please take the bus."),
    ("Summer party", "Our summer party is on June 23. Tell me whether you bring somebody along."),
    ("Security training", "The security training has to be finished before the end of May."),
)

_FLAT_MAILS = (
    ("Landlord visit", "The landlord comes by on Thursday evening. Let's tidy up before."),
    ("Spare key", "I left the spare key with the neighbours in number three."),
    ("House meeting", "House meeting on Sunday at six? We should talk about the chores."),
)

_FAMILY_MAILS = (
    ("Grandma's recipe", "I finally typed up the recipe for the walnut cake. Enjoy!"),
    ("Summer at the lake", "We thought of the second week of July. Does that work for everybody?"),
    ("Old photos", "I scanned the photos from the attic. There are some gems."),
)

_FRIEND_MAILS = (
    ("Hiking this weekend?", "The trail to the upper lake is open again. Are you in?"),
    ("Your playlist", "I keep listening to the playlist you made. What is the second song?"),
    ("Book club", "We read The Salt Garden next. First meeting on the 30th."),
    ("Moving help", "I move in June and need two strong people. Pizza included."),
    ("Concert in July", "I can get tickets for the open air. Shall I take one for you?"),
    ("Thank you", "Thank you for the lovely evening. Next time at my place."),
)

_NOTES_TO_MANAGER = (
    ("Day off", "May I take the first Friday of June off?"),
    ("Conference budget", "Here is what the conference would cost: $640 in total."),
)

_REPLIES = (
    "Sounds good to me.",
    "Thanks for letting me know.",
    "I'll think about it.",
    "Count me in!",
)


def fill_gmail(engine: Engine, rng: Random) -> None:
    """Sends everybody's mail; each supervisor gets about twenty inbox threads and sends some."""
    for firm in COMPANIES:
        staff = [resident(name) for name in firm.first_names]
        bodies = [(subject, body.format(standup=firm.standup)) for subject, body in _COMPANY_MAILS]
        _round(engine, rng, bodies, [resident(firm.manager)], staff, every=6)
    for house in (house for house in HOUSEHOLDS if house.kind == "roommates"):
        members = [resident(name) for name in house.first_names]
        _round(engine, rng, _FLAT_MAILS, members, members, every=8)
    for family in FAMILIES:
        members = [resident(name) for name in (family.father, family.mother, *family.children)]
        _round(engine, rng, _FAMILY_MAILS, members[:3], members, every=9)
    for place, person in enumerate(supervisors()):
        friends = friends_of(person)
        for turn, mail in enumerate(_FRIEND_MAILS):
            sender = friends[(turn * 2 + place) % len(friends)]
            _round(engine, rng, [mail], [sender], [sender, person], every=1, first_day=3 + turn * 4)
        manager = resident(company_of(person).manager)
        _round(engine, rng, _NOTES_TO_MANAGER, [person], [person, manager], every=10)
        _mark(engine, person)


def _round(
    engine: Engine,
    rng: Random,
    mails: list | tuple,
    senders: list[Person],
    members: list[Person],
    every: int,
    first_day: int | None = None,
) -> None:
    """Sends each mail from the next sender to all other members; every second one gets a reply."""
    days = len(mails) * every if first_day is None else first_day
    for turn, (subject, body) in enumerate(mails):
        sender = senders[turn % len(senders)]
        readers = [member for member in members if member != sender]
        engine.at(ago(days - turn * every + 1, hour=rng.randrange(7, 20), minute=rng.randrange(60)))
        sent = engine.call(
            "gmail",
            "send_email",
            sender,
            email_addresses=[reader.email for reader in readers],
            subject=subject,
            body=f"{body}\n\n{sender.first_name}",
        )
        if (turn + days) % 2:
            engine.at(ago(days - turn * every, hour=21, minute=rng.randrange(60)))
            _reply(engine, rng.choice(readers), sent, rng.choice(_REPLIES))


def _reply(engine: Engine, person: Person, sent: dict, body: str) -> None:
    """Answers a mail just sent, to its sender only; `sent` is what the engine said on sending."""
    threads = engine.models.gmail.UserEmailThread
    thread = threads.find_one_or_raise(
        global_email_thread_id=threads.by_id(sent["sent_email_thread_id"]).global_email_thread_id,
        user_id=engine.user("gmail", person).id,
    )
    engine.call(
        "gmail",
        "reply_to_email",
        person,
        email_thread_id=thread.id,
        email_id=sent["sent_email_id"],
        body=f"{body}\n\n{person.first_name}",
    )


def _mark(engine: Engine, person: Person) -> None:
    """Two thirds of the inbox are read, every fifth thread is starred, every seventh labelled."""
    engine.at(ago(1, hour=22))
    user = engine.user("gmail", person)
    threads = engine.models.gmail.UserEmailThread.find_all(user_id=user.id, incoming=True)
    for place, thread in enumerate(sorted(threads, key=lambda row: row.id)):
        thread.read = place % 3 != 2
        thread.starred = place % 5 == 4
        thread.label = "keep" if place % 7 == 6 else None
        thread.save(skip_pre_change=True)  # names of senders and recipients stay as they are
