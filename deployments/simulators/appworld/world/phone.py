"""Address books, text and voice messages, alarms."""

from random import Random

from world.engine import Engine, ago
from world.people import (
    Person,
    company_of,
    friends_of,
    household_of,
    namesakes,
    relationships,
    residents,
    roommates_of,
    supervisors,
)

_SHARED_COSTS = (
    "the concert tickets",
    "the new shower curtain",
    "the pizza on Sunday",
    "the cleaning supplies",
    "the museum tickets",
    "the board game",
)

_CHATS = (
    ("Are we still on for climbing on Saturday?", "Yes, see you at ten!"),
    ("Did you finish the book I lent you?", "Almost, two chapters to go."),
    ("The new noodle place on Pike is great.", "Let's go there next week."),
    ("My train is late again, start without me.", "No worries, we'll wait."),
    ("Can you water my plants while I'm away?", "Sure, leave me the key."),
    ("I found your blue scarf in my car.", "Oh good, I was looking everywhere!"),
)

_FAMILY_CHATS = (
    ("Mom asks whether you come home for the long weekend.", "I think so, I'll call her tonight."),
    ("Do you still have the tent?", "Yes, it's in the basement."),
    ("What was the name of that cake recipe?", "Honey and walnut, I'll send it over."),
)

_VOICE_MESSAGES = (
    "Call me back when you have a minute, it's about the summer trip.",
    "I'm at the market, do we need anything else?",
    "Just wanted to hear how your week is going.",
)

_ALARMS = (
    ("06:45", ["monday", "tuesday", "wednesday", "thursday", "friday"], "Wake up", True),
    ("09:00", ["saturday", "sunday"], "Wake up late", True),
    ("21:30", ["sunday"], "Take out the bins", True),
    ("18:15", ["tuesday", "thursday"], "Gym", True),
    ("13:00", None, "Dentist", False),
)


def fill_phone(engine: Engine, rng: Random) -> None:
    """Fills the phone of every resident; supervisors get full address books and long chats."""
    engine.at(ago(400))
    for person in residents():
        _fill_contacts(engine, person)
    for place, person in enumerate(supervisors()):
        _fill_money_messages(engine, person, rng)
        _fill_chats(engine, person, place)
        for time, days, label, enabled in _ALARMS:
            engine.call(
                "phone",
                "create_alarm",
                person,
                time=time,
                repeat_days=days,
                label=label,
                enabled=enabled,
                snooze_minutes=5 + 5 * (place % 3),
            )


def _fill_contacts(engine: Engine, person: Person) -> None:
    owner = engine.user("phone", person).id
    is_supervisor = person in supervisors()
    close = {"parent", "child", "partner", "sibling", "roommate"}
    rows = []
    for other, names in relationships(person).items():
        if not is_supervisor and not close.intersection(names):
            continue
        house, firm = household_of(other), company_of(other)
        row = {
            "user_id": owner,
            "first_name": other.first_name,
            "last_name": other.last_name,
            "email": other.email,
            "phone_number": other.phone_number,
            "relationships": names,
            "birthday": other.birthday.isoformat(),
            "home_address": house.address if house else None,
            "work_address": firm.address if firm else None,
        }
        rows.append(row)
    engine.add(engine.models.phone.Contact, rows)


def _text(engine: Engine, sender: Person, receiver: Person, message: str) -> None:
    engine.call(
        "phone", "send_text_message", sender, phone_number=receiver.phone_number, message=message
    )


def _fill_money_messages(engine: Engine, person: Person, rng: Random) -> None:
    """Every roommate, and every namesake friend, has paid for something: "Your part is $23."."""
    creditors = roommates_of(person)
    creditors += [other for other in relationships(person) if other in namesakes()]
    costs = rng.sample(_SHARED_COSTS, len(creditors))
    for days, (other, cost) in enumerate(zip(creditors, costs, strict=True), start=1):
        engine.at(ago(days, hour=18, minute=rng.randrange(60)))
        amount = rng.randrange(11, 49)
        _text(engine, other, person, f"I paid for {cost}. Your part is ${amount}, no rush.")
        engine.at(ago(days, hour=19, minute=rng.randrange(60)))
        _text(engine, person, other, "Thanks! I'll send it over soon.")


def _fill_chats(engine: Engine, person: Person, place: int) -> None:
    friends = friends_of(person)
    for turn, (opening, reply) in enumerate(_CHATS):
        friend = friends[(turn + place) % len(friends)]
        engine.at(ago(4 + turn * 3, hour=17, minute=turn * 7))
        _text(engine, friend, person, opening)
        engine.at(ago(4 + turn * 3, hour=17, minute=turn * 7 + 3))
        _text(engine, person, friend, reply)
    siblings = [other for other, names in relationships(person).items() if "sibling" in names]
    for turn, (opening, reply) in enumerate(_FAMILY_CHATS):
        sibling = siblings[turn % len(siblings)]
        engine.at(ago(3 + turn * 6, hour=20, minute=turn * 11))
        _text(engine, sibling, person, opening)
        engine.at(ago(3 + turn * 6, hour=20, minute=turn * 11 + 5))
        _text(engine, person, sibling, reply)
    for turn, message in enumerate(_VOICE_MESSAGES):
        caller = friends[(turn * 2 + place) % len(friends)]
        engine.at(ago(2 + turn * 4, hour=8, minute=turn * 13))
        engine.call(
            "phone",
            "send_voice_message",
            caller,
            phone_number=person.phone_number,
            message=message,
        )
