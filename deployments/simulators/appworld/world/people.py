"""Who lives in the small world: thirty people with full lives and three namesakes.

All names, streets and companies are inventions. Relationships follow from the tables below (who lives,
works and grew up with whom), so that phone contacts, chats, payments and calendars agree with each other.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cache

SUPERVISORS = ("Nora", "Tomas", "Chidi", "Hana", "Sami", "Petra")
"""First names of the people who give instructions. What each is guaranteed to have: world/__init__.py."""


@dataclass(frozen=True)
class Person:
    """One inhabitant. `first_name` is the key of a person with a full life; namesakes share one."""

    first_name: str
    last_name: str
    sex: str
    """"male" or "female", as the engine's profile wants it."""
    birthday: date
    number: int
    """Position in the world, 0-based and unique; phone number, cards and addresses derive from it."""
    is_namesake: bool = False
    """True for somebody who only has accounts in the apps. The engine allows one person with a full
    profile (family, home, bank cards) per first name, so whoever shares a first name has none."""

    @property
    def full_name(self) -> str:
        """First and last name."""
        return f"{self.first_name} {self.last_name}"

    @property
    def email(self) -> str:
        """Mail address, the login of every app but the phone."""
        return f"{self.first_name}.{self.last_name}@example.com".lower()

    @property
    def phone_number(self) -> str:
        """Ten digits out of the range that is kept free for fiction (555-01xx)."""
        return f"{206 + self.number // 100}55501{self.number % 100:02d}"

    def password(self, app: str) -> str:
        """The password for one app. It opens nothing outside of this world."""
        return f"{self.first_name.lower()}-{app}-{(self.number * 7919 + len(app) * 104729) % 100000:05d}"


@dataclass(frozen=True)
class Household:
    """People under one roof. `kind` is the engine's word for it: "roommates" or "family"."""

    kind: str
    first_names: tuple[str, ...]
    street: str
    city: str
    state: str
    zip_code: int

    @property
    def name(self) -> str:
        """What people call it: the street without the number."""
        return self.street.split(" ", 1)[1]

    @property
    def address(self) -> str:
        """The address in one line, as phone contacts hold it."""
        return f"{self.street}, {self.city}, {self.state}, United States, {self.zip_code}"


@dataclass(frozen=True)
class Company:
    """An employer; everybody in `first_names` works here, the manager included."""

    name: str
    manager: str
    first_names: tuple[str, ...]
    standup: str
    """Time of the weekly stand-up, HH:MM."""
    street: str
    city: str
    state: str
    zip_code: int

    @property
    def address(self) -> str:
        """The address in one line, as phone contacts hold it."""
        return f"{self.street}, {self.city}, {self.state}, United States, {self.zip_code}"


@dataclass(frozen=True)
class Family:
    """Two parents and their grown-up children, wherever these live."""

    father: str
    mother: str
    children: tuple[str, ...]


_PEOPLE = """
Nora      Lindqvist  female 1994-06-02
Tomas     Reyes      male   1993-05-21
Priya     Raman      female 1995-11-14
Dayo      Okafor     male   1996-05-30
Chidi     Okafor     male   1992-09-08
Hana      Sato       female 1995-03-27
Nadia     Haddad     female 1997-05-25
Freya     Lindqvist  female 1998-12-19
Sami      Haddad     male   1991-07-16
Petra     Novak      female 1994-02-11
Lucas     Reyes      male   1996-08-04
Owen      Gallagher  male   1993-10-29
Stefan    Lindqvist  male   1963-05-28
Ingrid    Lindqvist  female 1965-01-17
Elsa      Lindqvist  female 2000-07-09
Hector    Reyes      male   1961-12-03
Lucia     Reyes      female 1964-06-22
Camila    Reyes      female 1999-05-27
Emeka     Okafor     male   1960-10-12
Ngozi     Okafor     female 1963-05-20
Amara     Okafor     female 1999-11-05
Karim     Haddad     male   1959-08-31
Leila     Haddad     female 1962-04-14
Yasmin    Haddad     female 2001-06-07
Pavel     Novak      male   1964-03-08
Jana      Novak      female 1966-09-23
Milan     Novak      male   1998-05-31
Kenji     Sato       male   1962-11-27
Yumi      Sato       female 1965-05-19
Ren       Sato       male   2000-05-23
"""

_NAMESAKES = """
Priya     Castellan  female 1990-04-18
Lucas     Ferrand    male   1989-12-06
Owen      Brandt     male   1988-06-25
"""

HOUSEHOLDS = (
    Household(
        "roommates",
        ("Nora", "Tomas", "Priya", "Dayo"),
        "412 Alder Street",
        "Seattle",
        "Washington",
        98101,
    ),
    Household(
        "roommates",
        ("Chidi", "Hana", "Nadia", "Freya"),
        "77 Quarry Lane",
        "Seattle",
        "Washington",
        98109,
    ),
    Household(
        "roommates",
        ("Sami", "Petra", "Lucas", "Owen"),
        "9 Lantern Court",
        "Tacoma",
        "Washington",
        98402,
    ),
    Household(
        "family", ("Stefan", "Ingrid", "Elsa"), "150 Birch Road", "Spokane", "Washington", 99201
    ),
    Household("family", ("Hector", "Lucia", "Camila"), "28 Mesa Drive", "Boise", "Idaho", 83702),
    Household("family", ("Emeka", "Ngozi", "Amara"), "63 Orchard Way", "Portland", "Oregon", 97201),
    Household(
        "family", ("Karim", "Leila", "Yasmin"), "311 Juniper Avenue", "Eugene", "Oregon", 97401
    ),
    Household(
        "family", ("Pavel", "Jana", "Milan"), "5 Mill Pond Road", "Olympia", "Washington", 98501
    ),
    Household(
        "family", ("Kenji", "Yumi", "Ren"), "840 Camellia Street", "Bellevue", "Washington", 98004
    ),
)

COMPANIES = (
    Company(
        "Brightwater Labs",
        "Leila",
        ("Leila", "Nora", "Chidi", "Sami", "Owen", "Nadia", "Camila", "Milan"),
        "09:30",
        "1200 Foundry Street",
        "Seattle",
        "Washington",
        98104,
    ),
    Company(
        "Harbor and Pine",
        "Kenji",
        ("Kenji", "Tomas", "Hana", "Petra", "Priya", "Dayo", "Freya", "Lucas", "Amara"),
        "10:00",
        "56 Wharf Road",
        "Seattle",
        "Washington",
        98121,
    ),
)

FAMILIES = (
    Family("Stefan", "Ingrid", ("Nora", "Freya", "Elsa")),
    Family("Hector", "Lucia", ("Tomas", "Lucas", "Camila")),
    Family("Emeka", "Ngozi", ("Chidi", "Dayo", "Amara")),
    Family("Karim", "Leila", ("Sami", "Nadia", "Yasmin")),
    Family("Pavel", "Jana", ("Petra", "Milan")),
    Family("Kenji", "Yumi", ("Hana", "Ren")),
)

_FRIENDS = {
    "Nora": "Chidi Hana Sami Petra Lucas Owen Nadia Amara Camila Yasmin Milan Ren",
    "Tomas": "Chidi Hana Sami Petra Owen Nadia Freya Elsa Amara Yasmin Milan Ren",
    "Chidi": "Nora Tomas Sami Petra Lucas Priya Owen Elsa Camila Yasmin Milan Ren",
    "Hana": "Nora Tomas Sami Petra Lucas Priya Dayo Elsa Camila Yasmin Amara Milan",
    "Sami": "Nora Tomas Chidi Hana Priya Dayo Freya Elsa Camila Amara Milan Ren",
    "Petra": "Nora Tomas Chidi Hana Priya Dayo Nadia Elsa Camila Yasmin Amara Ren",
}
"""Friends of each supervisor; friendship is mutual, so the other people's friends follow."""

_NAMESAKE_CONTACTS = {
    "Priya Castellan": ("Nora", "Tomas", "Hana", "Petra"),
    "Lucas Ferrand": ("Chidi", "Tomas", "Sami", "Petra"),
    "Owen Brandt": ("Nora", "Sami", "Petra", "Hana"),
}
"""Who has which namesake among the contacts, as a friend."""


def _parse(table: str, first_number: int, is_namesake: bool) -> list[Person]:
    people = []
    for number, line in enumerate(table.strip().splitlines(), start=first_number):
        first_name, last_name, sex, birthday = line.split()
        born = date.fromisoformat(birthday)
        people.append(Person(first_name, last_name, sex, born, number, is_namesake))
    return people


@cache
def residents() -> tuple[Person, ...]:
    """The thirty people with a full life, in a fixed order."""
    return tuple(_parse(_PEOPLE, first_number=0, is_namesake=False))


@cache
def namesakes() -> tuple[Person, ...]:
    """The three people who share a first name with a resident."""
    return tuple(_parse(_NAMESAKES, first_number=len(residents()), is_namesake=True))


def everybody() -> tuple[Person, ...]:
    """Residents, then namesakes: all who have accounts."""
    return residents() + namesakes()


@cache
def resident(first_name: str) -> Person:
    """The resident of that first name.

    Raises:
        KeyError: nobody is called so.
    """
    return {person.first_name: person for person in residents()}[first_name]


def supervisors() -> list[Person]:
    """The residents who give instructions."""
    return [resident(first_name) for first_name in SUPERVISORS]


def roommates_of(person: Person) -> list[Person]:
    """Who shares a flat with a resident, in world order; empty for those who live with their family."""
    house = household_of(person)
    names = house.first_names if house and house.kind == "roommates" else ()
    return [resident(name) for name in names if name != person.first_name]


def household_of(person: Person) -> Household | None:
    """Where somebody lives; None for a namesake."""
    if person.is_namesake:
        return None
    return next(house for house in HOUSEHOLDS if person.first_name in house.first_names)


def company_of(person: Person) -> Company | None:
    """Who employs somebody; None for a namesake and for those without a job."""
    if person.is_namesake:
        return None
    return next((firm for firm in COMPANIES if person.first_name in firm.first_names), None)


def friends_of(person: Person) -> list[Person]:
    """Friends in world order; friendship goes both ways."""
    own = set(_FRIENDS.get(person.first_name, "").split())
    return [
        other
        for other in residents()
        if other.first_name in own
        or person.first_name in _FRIENDS.get(other.first_name, "").split()
    ]


def relationships(person: Person) -> dict[Person, list[str]]:
    """What everybody in a resident's address book is to them.

    Returns:
        Person to relationship names ("roommate", "sibling", "brother", "mother", "coworker", ...), in world
        order. Parents are "parent" and also "mother" or "father"; siblings and children alike.
    """
    found: dict[Person, list[str]] = {}

    def add(first_name: str, *names: str) -> None:
        if first_name != person.first_name:
            known = found.setdefault(resident(first_name), [])
            known.extend(name for name in names if name not in known)

    for family in FAMILIES:
        _add_family(person, family, add)
    house, firm = household_of(person), company_of(person)
    for first_name in house.first_names if house and house.kind == "roommates" else ():
        add(first_name, "roommate")
    for first_name in firm.first_names if firm else ():
        add(first_name, "manager" if first_name == firm.manager else "coworker")
    for friend in friends_of(person):
        add(friend.first_name, "friend")
    for namesake in namesakes():
        if person.first_name in _NAMESAKE_CONTACTS[namesake.full_name]:
            found[namesake] = ["friend"]
    return dict(sorted(found.items(), key=lambda entry: entry[0].number))


def _add_family(person: Person, family: Family, add: Callable[..., None]) -> None:
    """Adds what a family's members are to a person who belongs to it."""
    parents = {family.father: "father", family.mother: "mother"}
    if person.first_name in family.children:
        for first_name, name in parents.items():
            add(first_name, "parent", name)
        for first_name in family.children:
            add(
                first_name, "sibling", "brother" if resident(first_name).sex == "male" else "sister"
            )
    elif person.first_name in parents:
        for first_name in parents:
            add(first_name, "partner", "husband" if first_name == family.father else "wife")
        for first_name in family.children:
            add(first_name, "child", "son" if resident(first_name).sex == "male" else "daughter")
