"""Whether an item can be shown to every role: asked of the seeds before anything is paid, of edits at once.

So no campaign stops half-way because an item has outgrown a model's context.
"""

from collections.abc import Callable, Mapping, Sequence

from tasks.errors import InputError
from tasks.labels.features import JUDGED_FEATURES
from tasks.llm.base import LLMSpec
from tasks.llm.context import length
from tasks.llm.prompting import (
    feedback_prompt,
    judge_prompt,
    labeller_prompt,
    proposer_prompt,
    solver_messages,
)
from tasks.suites.base import Briefing, Description
from warehouse.records import Item

SPARE = 1_000
"""Characters kept for what an item's prompts say beside it when all else is cut: a short note, marks of cuts,
who asks; of a solver's conversation, for its first turns."""


def lacks_room(item: Item, world: Description, specs: Mapping[str, LLMSpec]) -> str | None:
    """The first role whose `context_chars` cannot hold the item even when all else is cut; None if each can.

    `specs` by role; a role that is not there is not asked.
    """
    form = world.interaction
    prompts: dict[str, Callable[[int], object]] = {
        "proposer": lambda room: proposer_prompt(
            item, world, "harder", None, (), context_chars=room
        ),
        "feedback": lambda room: feedback_prompt(item, (), room, form),
        "judge": lambda room: judge_prompt(item, (), room, form),
        "labeller": lambda room: labeller_prompt(item, JUDGED_FEATURES, room, form),
    }
    if form == "code":  # how a dialogue opens, the simulator alone knows
        prompts["solver"] = lambda room: _require_task(item, room)
    for role, prompt in prompts.items():
        try:
            if role in specs:
                prompt(specs[role].context_chars - SPARE)
        except InputError as error:
            return str(error)
    return None


def require_room(items: Sequence[Item], world: Description, specs: Mapping[str, LLMSpec]) -> None:
    """Raises InputError when one of the items is too long for a role."""
    for item in items:
        if lack := lacks_room(item, world, specs):
            raise InputError(f"{lack} (item {item.item_id})")


def _require_task(item: Item, room: int) -> None:
    briefing = Briefing(supervisor={}, datetime="", instruction=item.instruction)
    needed = length(solver_messages(briefing, item.suite))
    if needed > room:
        raise InputError(
            f"plan: solver.context_chars leaves {room} characters for a conversation that opens with "
            f"{needed}; raise it"
        )
