"""Groups of flats and trips with their shared expenses and payments."""

from random import Random

from world.engine import Engine, ago
from world.people import HOUSEHOLDS, Person, friends_of, resident, roommates_of, supervisors

_FLAT_COSTS = (
    ("Groceries", 40, 96),
    ("Internet", 56, 60),
    ("Cleaning supplies", 16, 32),
    ("Groceries", 36, 88),
    ("Water bill", 48, 72),
    ("Light bulbs", 12, 20),
    ("Groceries", 52, 92),
    ("Electricity bill", 84, 132),
)

_TRIP_COSTS = (
    ("Cabin rental", 180, 320),
    ("Gas", 48, 84),
    ("Supermarket", 64, 120),
    ("Boat tickets", 40, 72),
)

_TRIPS = {
    "Nora": "Lake Chelan Trip",
    "Tomas": "Mount Rainier Hike",
    "Chidi": "Cabin Weekend",
    "Hana": "San Juan Kayaking",
    "Sami": "Snoqualmie Ski Days",
    "Petra": "Olympic Coast Camping",
}
"""One trip each, with four friends: the last in world order have always known the first."""


def fill_splitwise(engine: Engine, rng: Random) -> None:
    """Makes one group per shared flat and one per supervisor's trip, and debts outside of groups."""
    for house in (house for house in HOUSEHOLDS if house.kind == "roommates"):
        members = [resident(name) for name in house.first_names]
        _fill_group(engine, rng, f"{house.name} Flat", members, _FLAT_COSTS, first_day=110, gap=14)
    for person in supervisors():
        members = [person, *trip_friends(person)]
        _fill_group(
            engine, rng, _TRIPS[person.first_name], members, _TRIP_COSTS, first_day=40, gap=1
        )
    for person in supervisors():
        _fill_loose_debts(engine, rng, person)


def trip_friends(person: Person) -> list[Person]:
    """The four friends on a supervisor's trip, none of them a roommate."""
    roommates = roommates_of(person)
    return [friend for friend in friends_of(person) if friend not in roommates][:4]


def _fill_group(
    engine: Engine,
    rng: Random,
    name: str,
    members: list[Person],
    costs: tuple,
    first_day: int,
    gap: int,
) -> None:
    """The first member makes the group; everybody pays in turn, all share equally, one pays back."""
    engine.at(ago(first_day + 1))
    others = [member.email for member in members[1:]]
    reply = engine.call("splitwise", "create_group", members[0], name=name, member_emails=others)
    group_id = reply["group_id"]
    for turn, (description, low, high) in enumerate(costs):
        payer = members[(turn * 3 + len(name)) % len(members)]
        engine.at(ago(first_day - turn * gap, hour=19, minute=rng.randrange(60)))
        amount = len(members) * rng.randrange(low, high) / 4
        _record(engine, payer, members, description, amount, group_id)
    payer, receiver = rng.sample(members, 2)
    engine.at(ago(first_day - len(costs) * gap + 1, hour=20))
    engine.call(
        "splitwise",
        "record_payment",
        payer,
        group_id=group_id,
        payer_email=payer.email,
        receiver_email=receiver.email,
        amount=float(rng.randrange(5, 15)),
        description="Paid back in cash",
    )


def _record(
    engine: Engine,
    payer: Person,
    members: list[Person],
    description: str,
    amount: float,
    group_id: int | None,
) -> None:
    engine.call(
        "splitwise",
        "record_expense",
        payer,
        description=description,
        paid_amount=amount,
        payer_email=payer.email,
        debtor_emails=[member.email for member in members],
        group_id=group_id,
    )


def _fill_loose_debts(engine: Engine, rng: Random, person: Person) -> None:
    friends = friends_of(person)
    for turn, description in enumerate(("Farewell dinner", "Train tickets", "Tennis court")):
        friend = friends[-1 - turn]
        payer, debtor = (person, friend) if turn == 0 else (friend, person)
        engine.at(ago(20 + turn * 5, hour=21))
        engine.call(
            "splitwise",
            "record_expense",
            payer,
            description=description,
            paid_amount=float(rng.randrange(12, 60)),
            payer_email=payer.email,
            debtor_emails=[debtor.email],
        )
