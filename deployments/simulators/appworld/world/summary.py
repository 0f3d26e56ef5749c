"""What somebody who invents new items has to know about the world, in words."""

from world.engine import NOW
from world.people import (
    COMPANIES,
    HOUSEHOLDS,
    Household,
    Person,
    company_of,
    friends_of,
    namesakes,
    relationships,
    supervisors,
)


def people_summary() -> str:
    """Describes the date, the supervisors, their bonds, flats, companies and namesakes."""
    lines = [
        f"It is {NOW:%A, %B %-d, %Y}, {NOW:%H:%M}.",
        "",
        "Supervisors and the people around them:",
    ]
    lines += [f"- {_describe(person)}" for person in supervisors()]
    lines += ["", "Shared flats: " + "; ".join(_flat(house) for house in _flats()) + "."]
    firms = "; ".join(f"{firm.name} (manager {firm.manager})" for firm in COMPANIES)
    names = ", ".join(person.full_name for person in namesakes())
    lines += [
        f"Companies: {firms}.",
        f"Friends who share a first name with somebody else: {names}.",
    ]
    return "\n".join(lines)


def _flats() -> list[Household]:
    return [house for house in HOUSEHOLDS if house.kind == "roommates"]


def _flat(house: Household) -> str:
    return f"{house.name} ({', '.join(house.first_names)})"


def _describe(person: Person) -> str:
    known = relationships(person)

    def names(relationship: str) -> str:
        return ", ".join(other.first_name for other, held in known.items() if relationship in held)

    friends = ", ".join(friend.first_name for friend in friends_of(person))
    return (
        f"{person.full_name} (born {person.birthday.isoformat()}, works at {company_of(person).name}): "
        f"roommates {names('roommate')}; siblings {names('sibling')}; parents {names('parent')}; "
        f"friends {friends}"
    )
