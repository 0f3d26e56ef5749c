"""AppWorld's own format: task directories with a dataset, for publication in its encrypted bundle.

AppWorld's licence lets its data and what derives from it be published in encrypted form only; evolved items
derive from it. So a folder of an export holds the bundle, the licence and a README, and the task directories
in clear only where the user says `--private`.
"""

from pathlib import Path

from tasks.errors import InputError
from tasks.exports.base import Delivery
from tasks.suites.appworld import AppWorldSuite

README = """\
# {dataset}

{count} items for AppWorld {version}, evolved by Turtle (campaign {dataset}). They are in `{dataset}.bundle`,
in AppWorld's own encrypted form: please publish them, and what derives from them, in no other.

Unpack into {place}:

    python -c "from appworld.common.constants import PASSWORD, SALT; \\
    from appworld.common.utils import unpack_bundle; \\
    unpack_bundle('{dataset}.bundle', '<ROOT>', PASSWORD, SALT)"

The items are then the dataset `{dataset}` of stock AppWorld (`data/datasets/{dataset}.txt`). A task id is the
item's id in the warehouse of the campaign and `_1`. They stand on the world {world}.
"""
OWN_PLACE = (
    "an empty folder, which becomes the `APPWORLD_ROOT` (`appworld verify tasks --root <ROOT>`)"
)
OFFICIAL_PLACE = (
    "the `APPWORLD_ROOT` that holds AppWorld's official data; nothing there is replaced"
)


async def write_appworld(delivery: Delivery, folder: Path) -> str:
    """Writes bundle, licence and README into `folder`, and `data/` where the delivery is private.

    Raises InputError where the items stand on another world than the simulator's.
    """
    suite = delivery.suite
    if not isinstance(suite, AppWorldSuite):
        raise InputError(f"format appworld: suite {suite.name} cannot write it")
    described = await suite.describe()
    strange = [kept.item for kept in delivery.kept if kept.item.world != described.world]
    if strange:
        raise InputError(
            f"campaign {delivery.campaign}: stands on world {strange[0].world[:12]}, the simulator has "
            f"{described.world[:12]}; export it on the data on which it ran"
        )
    entries = [(kept.item, kept.difficulty) for kept in delivery.kept]
    count = await suite.export(entries, delivery.campaign, folder, delivery.private)
    text = README.format(
        dataset=delivery.campaign,
        count=count,
        version=described.version,
        world=described.world,
        place=OFFICIAL_PLACE if suite.official else OWN_PLACE,
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    clear = " and, in clear, in data/: keep that private" if delivery.private else ""
    return f"{count} items in {delivery.campaign}.bundle{clear}"
