"""Friends, payments, payment requests, likes and comments."""

from random import Random

from world.engine import Engine, ago
from world.people import Person, friends_of, namesakes, relationships, roommates_of, supervisors

_PAYMENTS = (
    ("Groceries", 18, 64),
    ("Rent share", 420, 560),
    ("Coffee", 4, 9),
    ("Movie night", 11, 22),
    ("Taxi home", 8, 27),
    ("Lunch", 9, 19),
    ("Electricity", 20, 34),
    ("Birthday present", 15, 40),
    ("Concert", 30, 75),
    ("Ski rental", 24, 60),
)

_REQUESTS = (
    ("Dinner on Friday", 14, 38),
    ("Bus tickets", 6, 18),
    ("Shared present", 12, 30),
    ("Kitchen paint", 22, 70),
    ("Picnic food", 9, 26),
    ("Parking", 5, 16),
)

_COMMENTS = ("Thank you!", "That was fun.", "Finally!", "Next round is on me.")


def fill_venmo(engine: Engine, rng: Random) -> None:
    """Fills Venmo from the point of view of each supervisor."""
    engine.at(ago(380))
    _fill_friendships(engine)
    for person in supervisors():
        _fill_payments(engine, person, rng)
        _fill_requests(engine, person, rng)
    _fill_reactions(engine, rng)


def acquaintances(person: Person) -> list[Person]:
    """Roommates, siblings, namesakes and friends of a supervisor: who money goes to and comes from."""
    known = relationships(person)
    close = {"roommate", "sibling", "friend"}
    return [other for other, names in known.items() if close.intersection(names)]


def _fill_friendships(engine: Engine) -> None:
    pairs: dict[tuple[str, str], None] = {}  # a dict keeps its order, a set does not
    for person in supervisors():
        for friend in acquaintances(person):
            pairs[person.email, friend.email] = pairs[friend.email, person.email] = None
    ids = {user.email: user.id for user in engine.models.venmo.User.all()}
    rows = [{"user_id": ids[one], "friend_id": ids[other]} for one, other in pairs]
    engine.add(engine.models.venmo.Friendship, rows)


def _fill_payments(engine: Engine, person: Person, rng: Random) -> None:
    """Twenty-six payments, one every five days, thirteen each way; half of them with roommates."""
    roommates, others = roommates_of(person), friends_of(person)
    for turn in range(26):
        engine.at(ago(3 + turn * 5, hour=rng.randrange(8, 22), minute=rng.randrange(60)))
        note, low, high = _PAYMENTS[rng.randrange(len(_PAYMENTS))]
        partner = rng.choice(roommates if turn % 4 < 2 else others)
        sender, receiver = (person, partner) if turn % 2 else (partner, person)
        engine.call(
            "venmo",
            "create_transaction",
            sender,
            receiver_email=receiver.email,
            amount=float(rng.randrange(low, high)) + rng.choice((0, 0.25, 0.5)),
            description=note,
            private=rng.random() < 0.2,
        )


def _fill_requests(engine: Engine, person: Person, rng: Random) -> None:
    """Ten requests received, seven of them pending (all roommates ask), and four sent, two pending."""
    roommates, friends = roommates_of(person), friends_of(person)
    strangers = [other for other in relationships(person) if other in namesakes()]
    pending = [*roommates, *strangers[:1], *rng.sample(friends, 3)]
    for turn, sender in enumerate([*pending, *rng.sample(friends, 3)]):
        note, low, high = _REQUESTS[turn % len(_REQUESTS)]
        engine.at(ago(2 + turn * 2, hour=9 + turn, minute=rng.randrange(60)))
        request = _request(engine, sender, person, note, rng.randrange(low, high))
        if turn >= len(pending):
            verb = "deny_payment_request" if turn % 2 else "approve_payment_request"
            engine.at(ago(1, hour=11, minute=turn))
            engine.call("venmo", verb, person, payment_request_id=request)
    for turn, receiver in enumerate(rng.sample(friends, 4)):
        note, low, high = _REQUESTS[(turn + 2) % len(_REQUESTS)]
        engine.at(ago(3 + turn * 4, hour=15, minute=rng.randrange(60)))
        request = _request(engine, person, receiver, note, rng.randrange(low, high))
        if turn >= 2:
            engine.call("venmo", "approve_payment_request", receiver, payment_request_id=request)


def _request(engine: Engine, sender: Person, receiver: Person, note: str, amount: int) -> int:
    reply = engine.call(
        "venmo",
        "create_payment_request",
        sender,
        user_email=receiver.email,
        amount=float(amount),
        description=note,
    )
    return reply["payment_request_id"]


def _fill_reactions(engine: Engine, rng: Random) -> None:
    """A like on every fourth public payment and a comment on every eighth, by its receiver."""
    engine.at(ago(1, hour=21))
    people = {other.email: other for person in supervisors() for other in acquaintances(person)}
    people |= {name.email: name for name in supervisors()}
    public = engine.models.venmo.Transaction.find_all(private=False)
    for payment in sorted(public, key=lambda row: row.id)[::4]:
        fan = people[engine.models.venmo.User.by_id(payment.receiver_id).email]
        engine.call("venmo", "like_transaction", fan, transaction_id=payment.id)
        if payment.id % 8 == 0:
            engine.call(
                "venmo",
                "create_transaction_comment",
                fan,
                transaction_id=payment.id,
                comment=rng.choice(_COMMENTS),
            )
