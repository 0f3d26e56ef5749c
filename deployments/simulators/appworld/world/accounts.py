"""Profiles, homes, jobs, bank cards and one account per app for everybody."""

from datetime import datetime

from appworld.apps.api_lib import CompanyNotifier

from world.engine import USER_APPS, Engine
from world.people import (
    COMPANIES,
    FAMILIES,
    HOUSEHOLDS,
    Company,
    Household,
    Person,
    company_of,
    everybody,
    friends_of,
    household_of,
    resident,
    residents,
)

CARD_APPS = ("amazon", "spotify", "venmo")
_BANKS = ("Visa", "MasterCard", "American Express", "Discover", "HSBC", "Wells Fargo", "Chase")


def fill_accounts(engine: Engine) -> None:
    """Creates profiles and accounts. Everything else in the world hangs on these rows."""
    engine.at(datetime(2021, 1, 4, 9, 0))
    for person in residents():
        engine.models.admin.MainUser.create_save(
            first_name=person.first_name,
            last_name=person.last_name,
            email=person.email,
            phone_number=person.phone_number,
            birthday=person.birthday.isoformat(),
            sex=person.sex,
        )
    _fill_bonds(engine)
    _fill_addresses(engine)
    _fill_cards(engine)
    for app in USER_APPS:
        CompanyNotifier(app).create_accounts(skip_if_exists=True)
        _fill_app(engine, app)
    _fill_first_rows(engine)


def main_user_id(engine: Engine, first_name: str) -> int:
    """The engine's id of a resident's profile."""
    return engine.models.admin.MainUser.find_one_or_raise(first_name=first_name).id


def _fill_bonds(engine: Engine) -> None:
    admin = engine.models.admin
    for family in FAMILIES:
        admin.Family.create_save(
            husband_id=main_user_id(engine, family.father),
            wife_id=main_user_id(engine, family.mother),
            child_ids=[main_user_id(engine, name) for name in family.children],
        )
    for person in residents():
        friends = [main_user_id(engine, friend.first_name) for friend in friends_of(person)]
        own = main_user_id(engine, person.first_name)
        engine.add(
            admin.Friendship, [{"main_user_id": own, "friend_id": friend} for friend in friends]
        )


def _fill_addresses(engine: Engine) -> None:
    admin = engine.models.admin
    for house in HOUSEHOLDS:
        residence = admin.Residence.create_save(
            resident_ids=[main_user_id(engine, name) for name in house.first_names],
            residence_type=house.kind,
        )
        _fill_address(engine, house, "Home", residence_id=residence.id)
    for firm in COMPANIES:
        company = admin.Company.create_save(
            name=firm.name,
            manager_id=main_user_id(engine, firm.manager),
            weekly_standup_time=firm.standup,
        )
        for first_name in firm.first_names:
            admin.CompanyEmployee.create_save(
                company_id=company.id,
                main_user_id=main_user_id(engine, first_name),
                is_manager=first_name == firm.manager,
            )
        _fill_address(engine, firm, "Work", company_id=company.id)


def _fill_address(engine: Engine, place: Household | Company, name: str, **link: int) -> None:
    admin = engine.models.admin
    address = admin.GlobalAddress.create_save(**address_fields(place), **link)
    for first_name in place.first_names:
        admin.UserAddress.create_save(
            global_address_id=address.id, main_user_id=main_user_id(engine, first_name), name=name
        )


def address_fields(place: Household | Company) -> dict:
    """The engine's address fields of a household or a company."""
    return {
        "street_address": place.street,
        "city": place.city,
        "state": place.state,
        "country": "United States",
        "zip_code": place.zip_code,
    }


def cards_of(person: Person) -> list[dict]:
    """The bank cards of a resident: two, of different banks, the second one about to expire never."""
    return [
        {
            "card_name": _BANKS[(person.number * 2 + place * 3) % len(_BANKS)],
            "owner_name": person.full_name,
            "card_number": 4000_0000_0000_0000 + person.number * 1_000_003 * 97 + place * 31_337,
            "expiry_year": 2026 + (person.number + place) % 3,
            "expiry_month": 1 + (person.number * 5 + place) % 12,
            "cvv_number": 100 + (person.number * 37 + place * 411) % 900,
        }
        for place in range(2)
    ]


def _fill_cards(engine: Engine) -> None:
    rows = []
    for person in residents():
        owner = main_user_id(engine, person.first_name)
        for place, card in enumerate(cards_of(person)):
            balance = 2400.0 + person.number * 35 + place * 650
            rows.append({"main_user_id": owner, "balance": balance, **card})
    engine.add(engine.models.admin.PaymentCard, rows)


def _fill_app(engine: Engine, app: str) -> None:
    """Gives everybody an account in one app, with their cards where the app takes money."""
    models = engine.models[app]
    extra = {} if app in ("phone", "gmail") else {"verified": True}
    users, passwords = [], []
    for person in everybody():
        name = {"first_name": person.first_name, "last_name": person.last_name}
        login = {"phone_number": person.phone_number} if app == "phone" else {"email": person.email}
        if app == "venmo":
            extra["venmo_balance"] = 3000.0 + person.number * 10
        users.append({**name, **login, **extra, "password": person.password(app)})
    engine.add(models.User, users)
    for person in residents():
        owner = main_user_id(engine, person.first_name)
        account = {"account_name": app, "password": person.password(app)}
        passwords.append({"main_user_id": owner, **account})
    engine.add(engine.models.admin.AccountPassword, passwords)
    if app in CARD_APPS:
        ids = {person: engine.user(app, person).id for person in residents()}
        rows = [{"user_id": ids[person], **card} for person in ids for card in cards_of(person)]
        engine.add(models.PaymentCard, rows)


def _fill_first_rows(engine: Engine) -> None:
    """What an app's sign-up makes, or a GET would insert later: root folder, Inbox, music player."""
    models = engine.models
    folders, inboxes, players, addresses = [], [], [], []
    for person in everybody():
        files = engine.user("file_system", person).id
        paths = ("/", f"/home/{person.first_name.lower()}/")
        folders += [{"user_id": files, "path": path} for path in paths]
        inboxes.append(
            {"user_id": engine.user("todoist", person).id, "name": "Inbox", "is_inbox": True}
        )
        players.append({"user_id": engine.user("spotify", person).id})
        shop = engine.user("amazon", person).id
        for name, place in (("Home", household_of(person)), ("Work", company_of(person))):
            if place is not None:
                addresses.append({"user_id": shop, "name": name, **address_fields(place)})
    engine.add(models.file_system.Directory, folders)
    engine.add(models.todoist.Project, inboxes)
    engine.add(models.spotify.MusicPlayer, players)
    engine.add(models.amazon.Address, addresses)
    links = [
        {"user_id": project.user_id, "project_id": project.id}
        for project in models.todoist.Project.all()
    ]
    engine.add(models.todoist.ProjectCollaboratorLink, links)


def profile_rows(first_name: str) -> dict:
    """What the supervisor app shows about a resident, in plain values.

    Returns:
        "supervisor", "addresses", "payment_cards" and "account_passwords", each as the engine's fields.
    """
    person = resident(first_name)
    places = (("Home", household_of(person)), ("Work", company_of(person)))
    return {
        "supervisor": {
            "first_name": person.first_name,
            "last_name": person.last_name,
            "email": person.email,
            "phone_number": person.phone_number,
            "birthday": person.birthday.isoformat(),
            "sex": person.sex,
        },
        "addresses": [
            {"name": name, **address_fields(place)} for name, place in places if place is not None
        ],
        "payment_cards": cards_of(person),
        "account_passwords": [
            {"account_name": app, "password": person.password(app)} for app in USER_APPS
        ],
    }
