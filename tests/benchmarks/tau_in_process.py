"""CPU seconds of one scripted telecom dialogue, ours and stock τ-bench's, in one process; memory of forty.

    python tau_in_process.py CHECKOUT

Run by the interpreter of τ-bench's environment. Ours is what the simulator does for an attempt, its thread
and its grade with the state's difference; stock is orchestrator and evaluator on the shipped domain. Prints
one JSON object.
"""

import json
import resource
import sys
import time
from pathlib import Path

SEEDS = 12
OPEN = 40


def main() -> None:
    """See the module's docstring."""
    checkout = Path(sys.argv[1])
    sys.path[:0] = [
        str(checkout / "deployments" / "simulators" / "tau_bench"),
        str(checkout / "tests" / "tau"),
    ]
    from stock_replay import replayed

    from dialogue import Dialogue
    from domains import domain_of
    from items import ReadItem, item_of

    domain = domain_of("tau-telecom")
    domain.register()
    items = [ReadItem(item_of(task)) for task in domain.tasks("base")[:SEEDS]]

    def ours(item: ReadItem) -> bool:
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

    def measured(play, of) -> float:
        begun = time.process_time()
        assert all(play(one) for one in of)
        return (time.process_time() - begun) / len(of)

    tasks = [item.task for item in items]
    measured(ours, items[:2])
    measured(lambda task: replayed(task) == 1.0, tasks[:2])
    seconds = {"ours": measured(ours, items)}
    seconds["stock"] = measured(lambda task: replayed(task) == 1.0, tasks)
    waiting = [Dialogue(domain, items[n % SEEDS]) for n in range(OPEN)]
    for one in waiting:
        one.start(60)
    rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for one in waiting:
        one.close()
    print(json.dumps(seconds | {"ratio": seconds["stock"] / seconds["ours"], "rss_mb": rss_mb}))


if __name__ == "__main__":
    main()
