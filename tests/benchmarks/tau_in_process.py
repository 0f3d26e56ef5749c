"""CPU seconds of gold checks and of scripted dialogues, ours and stock τ-bench's, in one process; memory.

    python tau_in_process.py CHECKOUT SUITE

Run by the interpreter of τ-bench's environment. Ours is what the simulator does: a check of the gold alone,
and an attempt with its thread and its grade, both with the state's difference. Stock: see stock_tau.py.
Prints one JSON object: seconds for one check or dialogue, memory with forty open.
"""

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import rank_bm25

ITEMS = 12
OPEN = 40


class CountedIndex(rank_bm25.BM25Okapi):
    """The search index, counting how often it is built."""

    built = 0

    def __init__(self, *arguments: Any) -> None:
        CountedIndex.built += 1
        super().__init__(*arguments)


rank_bm25.BM25Okapi = CountedIndex
CHECKOUT = Path(sys.argv[1])
sys.path.insert(0, str(CHECKOUT / "deployments" / "simulators" / "tau_bench"))
from stock_tau import Stock  # noqa: E402

import quiet  # noqa: E402, F401 - first
from check import check  # noqa: E402
from dialogue import Dialogue  # noqa: E402
from domains import domain_of  # noqa: E402
from items import ReadItem, item_of  # noqa: E402


def scripted(domain: Any, item: ReadItem) -> bool:
    """One of our dialogues, the gold played by both sides; whether it is solved."""
    made, left = Dialogue(domain, item), list(item.actions)
    now = made.start(60)
    while now["kind"] == "model_request":
        side = "user" if now["role"] == "user" else "assistant"
        calls = []
        if left and left[0].requestor == side:
            one = left.pop(0)
            calls = [{"id": "c", "name": one.name, "arguments": json.dumps(one.arguments)}]
        text = "" if calls else "###STOP###" if not left and side == "user" else "Go on."
        now = made.answer({"role": now["role"], "text": text, "tool_calls": calls}, 60)
    return made.finish()["solved"]


def cpu_s(play: Callable[[Any], bool], of: Sequence[Any]) -> float:
    """CPU seconds of this process for one of them, the first two played once before."""
    for one in of[:2]:
        play(one)
    begun = time.process_time()
    for one in of:
        assert play(one)
    return (time.process_time() - begun) / len(of)


def main(suite: str) -> None:
    """Measures and prints."""
    domain = domain_of(suite)
    domain.register()

    def sound(fields: dict[str, Any]) -> bool:
        gold = check(domain, fields, gold_only=True, writes=False)["gold"]
        return gold is not None and gold["error"] is None and gold["outcome"]["solved"]

    offered = [{"item_id": task["id"]} | item_of(task) for task in domain.tasks("base")]
    fields = [one for one in offered[: 2 * ITEMS] if sound(one)][:ITEMS]
    items = [ReadItem(one) for one in fields]
    found = {
        "check": cpu_s(sound, fields),
        "dialogue": cpu_s(lambda item: scripted(domain, item), items),
    }
    waiting = [Dialogue(domain, items[n % ITEMS]) for n in range(OPEN)]
    for one in waiting:
        one.start(60)
    found["rss_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for one in waiting:
        one.close()
    found["indexes"] = CountedIndex.built
    stock = Stock(domain)
    found["stock_check"] = cpu_s(stock.checks, items)
    found["stock_dialogue"] = cpu_s(stock.plays, items)
    for name in ("check", "dialogue"):
        found[f"{name}_ratio"] = found[f"stock_{name}"] / found[name]
    print(json.dumps(found), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[2])
