"""Projects, sections, tasks and labels; one project is shared by each flat."""

from random import Random

from world.engine import Engine, ago
from world.people import HOUSEHOLDS, Person, resident, supervisors

_INBOX = (
    "Call the landlord about the heating",
    "Renew the library card",
    "Return the ladder to the neighbours",
    "Book a haircut",
    "Sort the old photos",
    "Ask for the warranty of the kettle",
)

_ERRANDS = (
    "Pick up the dry cleaning",
    "Post the parcel",
    "Buy stamps",
    "Get the bike repaired",
    "Drop off the glass bottles",
    "Collect the prescription",
    "Buy a birthday card",
    "Exchange the headphones",
)

_WORK = (
    "Draft the quarterly report",
    "Review the onboarding guide",
    "Prepare the customer demo",
    "Update the project timeline",
    "Archive last year's invoices",
    "Plan the team lunch",
    "Check the travel budget",
    "Write the release notes",
)

_CHORES = (
    "Vacuum the living room",
    "Clean the bathroom",
    "Water the plants",
    "Descale the kettle",
    "Wipe the kitchen shelves",
    "Wash the windows",
    "Empty the compost",
    "Mop the hallway",
)

_DUE_IN_DAYS = (-6, 3, -2, 14, 0, 9, -11, 1)
"""Due dates of a project's tasks, in days from the world's date. Every task has one: the engine's
filter for overdue tasks breaks on a task without."""

_PRIORITIES = ("medium", "low", "high", "medium", "high", "low", "medium", "low")


def fill_todoist(engine: Engine, rng: Random) -> None:
    """Gives each supervisor an Inbox, "Errands" and "Work" with tasks, and each flat its chores."""
    for person in supervisors():
        engine.at(ago(90))
        errands = _project(engine, person, "Errands", "green")
        work = _project(engine, person, "Work", "blue")
        later = _section(engine, person, work, "Later")
        for name, color in (("urgent", "red"), ("phone call", "yellow")):
            engine.call("todoist", "create_label", person, name=name, color=color)
        _fill_tasks(engine, rng, person, 0, _INBOX)
        _fill_tasks(engine, rng, person, errands, _ERRANDS)
        _fill_tasks(engine, rng, person, work, _WORK[:5])
        _fill_tasks(engine, rng, person, work, _WORK[5:], section_id=later)
    for house in (house for house in HOUSEHOLDS if house.kind == "roommates"):
        _fill_chores(engine, rng, house.name, [resident(name) for name in house.first_names])


def _project(engine: Engine, person: Person, name: str, color: str) -> int:
    reply = engine.call("todoist", "create_project", person, name=name, color=color)
    return reply["project_id"]


def _section(engine: Engine, person: Person, project_id: int, name: str) -> int:
    reply = engine.call("todoist", "create_section", person, project_id=project_id, name=name)
    return reply["section_id"]


def _fill_tasks(
    engine: Engine,
    rng: Random,
    person: Person,
    project_id: int,
    titles: tuple[str, ...],
    section_id: int | None = None,
) -> None:
    """Adds tasks; in every project some are overdue and some are done."""
    first = rng.randrange(len(_DUE_IN_DAYS))
    for place, title in enumerate(titles):
        due_in = _DUE_IN_DAYS[(first + place) % len(_DUE_IN_DAYS)]
        engine.at(ago(20, hour=9, minute=place))
        reply = engine.call(
            "todoist",
            "create_task",
            person,
            project_id=project_id,
            section_id=section_id,
            title=title,
            due_date=ago(-due_in).date().isoformat(),
            priority=_PRIORITIES[(first * 3 + place) % len(_PRIORITIES)],
        )
        if place % 4 == 1:
            engine.at(ago(4, hour=18, minute=place))
            engine.call(
                "todoist", "update_task", person, task_id=reply["task_id"], is_completed=True
            )


def _fill_chores(engine: Engine, rng: Random, name: str, members: list[Person]) -> None:
    """A project of the whole flat, two chores assigned to each member."""
    engine.at(ago(80))
    owner = members[0]
    project = _project(engine, owner, f"{name} chores", "orange")
    links = engine.models.todoist.ProjectCollaboratorLink
    for member in members[1:]:
        links.create_save(project_id=project, user_id=engine.user("todoist", member).id)
    for place, title in enumerate(_CHORES):
        due_in = _DUE_IN_DAYS[place]
        engine.at(ago(12, hour=10, minute=place))
        reply = engine.call(
            "todoist",
            "create_task",
            owner,
            project_id=project,
            title=title,
            due_date=ago(-due_in).date().isoformat(),
        )
        engine.call(
            "todoist",
            "assign_or_unassign_task",
            owner,
            task_id=reply["task_id"],
            assignee_email=members[(place + rng.randrange(2)) % len(members)].email,
        )
