"""A campaign on AppWorld in which a real model plays every role that it comes to, and solves nothing.

What counts is that each call, parse, rejection and row is right. Prompts are cut to fit into 8,192 tokens.
"""

import re
import subprocess
import sys
import urllib.request
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tasks.judge import judge
from tasks.llm.accounted import AccountedClient
from tasks.llm.endpoints import clients, read_endpoints
from tasks.llm.governor import Governor
from tasks.llm.ledger import Ledger, read_ledger
from tasks.plan import read_plan
from tasks.spool import Spool
from tests.llama.conftest import LLM_ID
from tests.stage_work import work_of, workbench
from tests.toy.suite import ToySuite
from warehouse.marts import query, run_checks
from warehouse.records import Attempt, Item, Verdict

MAIN = "from flows.cli import main; main()"
CONTEXT_CHARS = {
    "proposer": 18_000,
    "solver": 8_000,
    "feedback": 8_000,
    "judge": 8_000,
    "labeller": 8_000,
}
DIMENSIONS = 576
STEPS = 2

PLAN = f"""
suite = "appworld"
seeds = 1
steps = {STEPS}
in_flight = 1
repeats = 2

[limits]
max_turns = 2
# One thread of a busy machine reads some 20 tokens a second.
max_seconds = 7200
"""

ROLE = """
[{role}]
endpoint = "llama"
llm_id = "{llm_id}"
context_chars = {context_chars}
sampling = {{ max_tokens = {max_tokens}, temperature = 0.5, rng_seed = 7 }}
"""

EMBEDDER = f'[embedder]\nendpoint = "llama"\nllm_id = "{LLM_ID}"\ndimensions = {DIMENSIONS}\n'


@dataclass(frozen=True)
class Run:
    """A campaign that ran to its end."""

    state: Path
    counted: dict[str, float]
    """Tokens that the server says it read and wrote meanwhile."""

    def rows(self, select: str) -> list[dict[str, Any]]:
        """Rows of its warehouse by column name."""
        columns, found = query(self.warehouse, select)
        return [dict(zip(columns, row, strict=True)) for row in found]

    @property
    def warehouse(self) -> Path:
        """Its warehouse."""
        return self.state / "warehouse" / "turtle.duckdb"


def plan(**context_chars: int) -> str:
    """A plan file's text; `context_chars` by role where it is another one."""
    return "\n".join(
        [
            PLAN,
            *(
                ROLE.format(
                    role=role,
                    llm_id=LLM_ID,
                    context_chars=chars,
                    max_tokens=400 if role in ("labeller", "proposer") else 96,
                )
                for role, chars in (CONTEXT_CHARS | context_chars).items()
            ),
            EMBEDDER,
        ]
    )


def evolve(state: Path, text: str, endpoints: Path, environment: dict[str, str]) -> Any:
    """Runs a plan in a folder of its own, as a user does."""
    (state / "plan.toml").write_text(text)
    command = [sys.executable, "-c", MAIN, "evolve", str(state / "plan.toml")]
    return subprocess.run(
        [*command, "--state", str(state), "--endpoints", str(endpoints), "--no-canary"],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
        timeout=7200,
    )


def counts(url: str) -> dict[str, float]:
    """What the server has counted since it began."""
    with urllib.request.urlopen(f"{url}/metrics") as metrics:
        lines = metrics.read().decode().splitlines()
    return {name: float(n) for name, n in (line.split() for line in lines if line[0] != "#")}


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Path:
    """A folder with the simulators in it."""
    made = tmp_path_factory.mktemp("campaign")
    (made / "simulators").symlink_to(checkout / ".turtle" / "simulators")
    return made


@pytest.fixture(scope="module")
def run(state: Path, prefect_environment: dict[str, str], endpoints: Path, llama_url: str) -> Run:
    """The campaign."""
    before = counts(llama_url)
    ended = evolve(state, plan(), endpoints, prefect_environment)
    assert ended.returncode == 0, ended.stderr
    after = counts(llama_url)
    return Run(state, {name: after[name] - before[name] for name in after})


def test_a_role_without_room_is_told_before_anything_is_asked(
    state: Path, prefect_environment: dict[str, str], endpoints: Path, llama_url: str
) -> None:
    before = counts(llama_url)
    ended = evolve(state, plan(proposer=8_000), endpoints, prefect_environment)
    assert ended.returncode == 2, ended.stderr
    assert re.search(r"plan: proposer\.context_chars leaves \d+ .* raise it", ended.stderr)
    assert counts(llama_url) == before
    assert not any(map(read_ledger, (state / "spool").iterdir()))


def test_every_call_is_a_row_with_the_servers_own_counts(run: Run) -> None:
    calls = run.rows("FROM llm_calls WHERE role <> 'embedder'")
    assert {call["cause"] for call in calls} == {None}
    asked = Counter(call["role"] for call in calls)
    assert asked.keys() == {"proposer", "solver", "feedback", "labeller"}
    assert STEPS <= asked["proposer"] <= 2 * STEPS
    assert {call["finish_reason"] for call in calls} <= {"stop", "length"}
    written = sum(call["completion_tokens"] for call in calls)
    assert written == run.counted["llamacpp:tokens_predicted_total"]


def test_prompts_were_cut_and_the_ledger_says_how_much(run: Run) -> None:
    cut = {
        row["role"]: row["least"]
        for row in run.rows("SELECT role, min(cut_chars) AS least FROM llm_calls GROUP BY role")
    }
    assert cut["proposer"] > 40_000, "a world's APIs take 50,000 characters"
    assert cut["embedder"] == 0


def test_what_the_model_cannot_do_is_data(run: Run) -> None:
    assert run_checks(run.warehouse) == []
    attempts = run.rows("FROM attempts")
    assert [attempt["outcome"] for attempt in attempts] == ["failed", "failed"]
    assert all(attempt["cause"] and attempt["turns"] for attempt in attempts)
    (note,) = run.rows("FROM notes")
    assert note["text"].strip()
    steps = run.rows("FROM steps")
    assert len(steps) == STEPS
    assert all(step["rejection"] and step["rejection_detail"] for step in steps)
    assert run.rows("FROM verdicts") == [], "nothing was kept that could be judged"
    assert len(run.rows("FROM labels WHERE source = 'code' AND attempt_id = ''")) > 3


def test_the_vectors_are_the_servers(run: Run) -> None:
    (embedding,) = run.rows("FROM embeddings")
    assert embedding["dimensions"] == len(embedding["vector"]) == DIMENSIONS
    assert len(set(embedding["vector"])) > 500


async def test_the_judge_reads_what_the_campaign_recorded(
    run: Run, endpoints: Path, tmp_path: Path
) -> None:
    """The campaign keeps nothing, so its judge is never asked: here it is, on the seed and its failures."""
    (folder,) = (one for one in (run.state / "spool").iterdir() if (one / "manifest.json").exists())
    spool = Spool(run.state / "spool", folder.name)
    records = [record for unit in spool.units() for record in spool.read(unit)]
    (item,) = {one.item_id: one for one in records if isinstance(one, Item)}.values()
    failures = [one for one in records if isinstance(one, Attempt)]
    ledger = Ledger(tmp_path, "c")
    made = clients(
        read_endpoints(endpoints), 1, lambda item_id: None,
        accounted=partial(AccountedClient, ledger=ledger, governor=Governor(ledger)),
    )  # fmt: skip
    bench = workbench(tmp_path, ToySuite(), made, lambda rows: None)
    spec = read_plan(run.state / "plan.toml", {}).judge
    try:
        judged = await work_of(
            judge, bench, item=item, failures=failures, spec=spec, repair_rounds=1
        )
    finally:
        await made["llama"].aclose()
    verdict = judged.one(Verdict)
    assert verdict.reason
    assert verdict.verdict or verdict.reason.startswith("no verdict could be read: ")
    rows = read_ledger(tmp_path)
    assert {row.role for row in rows} == {"judge"} and all(row.completion_tokens for row in rows)
