"""The canary: before a campaign's first call, each model of a server is tried on a trifle.

What it looks for are faults of a set-up that a campaign would pay for thousands of times and mistake for a
finding: a solver that never acts, a tool call without a name, repeats that are all the same, a judge whose
replies cannot be read, vectors of the wrong length. A probe that passed is a unit of the spool: it is paid
for once a campaign and spec. One that failed is forgotten, and the next run probes again.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from tasks.agents.solving import SESSION_RNG_SEED
from tasks.errors import CanaryFault, ProviderRefused, SessionLost
from tasks.labels.features import JUDGED_FEATURES
from tasks.llm.base import Completion, LLMSpec, Message, Request, Subject, dimensions_of
from tasks.llm.faults import BrokenReply
from tasks.llm.prompting import (
    ask_again,
    judge_prompt,
    labeller_prompt,
    observation_message,
    solver_messages,
)
from tasks.llm.replies import (
    DIALOGUE_VERDICT_SCHEMA,
    VERDICT_SCHEMA,
    ReplyError,
    labels_schema,
    parse_cell,
    parse_labels,
    parse_verdict,
)
from tasks.plan import ROLES
from tasks.spool import Unit
from tasks.suites.base import ModelRequest
from tasks.workbench import Workbench
from warehouse.records import Item, digest_of

VERSION = "1"
"""Raise it when a probe asks for something else."""

TURNS = 3
"""So many turns a solver has to make its first API call."""

REPEATS = 3
"""So many replies to one request of chance have to differ in at least one."""

CHANCE = "Write one line of twelve random English words, lower case, and nothing else."
READY = "Write the word: ready"
GREETING = "Hello, I need your help with my account."


@dataclass(frozen=True)
class Probe:
    """One model in one role, on one item."""

    bench: Workbench
    unit: Unit
    role: str
    spec: LLMSpec
    item: Item
    interaction: str

    async def ask(
        self,
        messages: tuple[Message, ...],
        n: int,
        schema: dict[str, object] | None = None,
        tools: tuple[dict[str, object], ...] = (),
    ) -> Completion:
        """The n-th reply of the probe. Raises CanaryFault when it is empty in one way or the other."""
        request = Request(
            role=self.role,
            spec=self.spec,
            messages=messages,
            response_schema=schema,
            tools=tools,
            subject=Subject(item_id=self.item.item_id, repeat=n),
        )
        reply = await self.unit.complete(self.bench.client(self.spec), request)
        if any(not call.get("name") for call in reply.tool_calls):
            raise self.fault(
                "calls a tool without a name: the server's tool parser does not fit it"
            )
        if not reply.text.strip() and not reply.tool_calls:
            ceiling = self.spec.sampling.max_tokens
            why = (
                f"all of its max_tokens = {ceiling} went into reasoning"
                if reply.finish_reason == "length"
                else f"it ended with '{reply.finish_reason}'"
            )
            raise self.fault(f"gives an empty reply ({why})")
        return reply

    def fault(self, what: str) -> CanaryFault:
        """The diagnosis, in one line."""
        return CanaryFault(
            f"canary: {self.role} ({self.spec.endpoint}/{self.spec.llm_id}) {what}. Nothing else was "
            "asked; mend the plan or the server, or run with --no-canary"
        )


async def canary(
    bench: Workbench,
    item: Item,
    models: Mapping[str, LLMSpec] | None = None,
    interaction: str = "code",
) -> None:
    """Probes models at `bench.probed` endpoints, on an item, but no simulated one.

    `models`: those to probe, by role; None for all of the plan. Raises CanaryFault.
    """
    if models is None:
        models = {role: getattr(bench.plan, role) for role in ROLES}
    for role, spec in models.items():
        if spec.endpoint in bench.probed and not bench.client(spec).simulated:
            await _passed(bench, role, spec, item, interaction)


async def _passed(bench: Workbench, role: str, spec: LLMSpec, item: Item, interaction: str) -> None:
    async def work(unit: Unit) -> None:
        try:
            await _PROBES[role](Probe(bench, unit, role, spec, item, interaction))
        except CanaryFault:
            unit.give_up()
            raise

    key = digest_of([VERSION, role, spec.digest()])
    bench.load((await bench.spool.once("canary", key, work),))


async def _ready(probe: Probe) -> None:
    await probe.ask((Message(role="user", content=READY),), 0)


async def _solver(probe: Probe) -> None:
    temperature = probe.spec.sampling.temperature
    if temperature is None or temperature > 0:
        await _repeats_differ(probe)
    await (_speaks if probe.interaction == "dialogue" else _acts)(probe)


async def _repeats_differ(probe: Probe) -> None:
    asked = (Message(role="user", content=CHANCE),)
    texts = {(await probe.ask(asked, n)).text for n in range(REPEATS)}
    if len(texts) == 1:
        temperature = probe.spec.sampling.temperature
        raise probe.fault(
            f"gives {REPEATS} times the same reply to a request for random words at temperature "
            f"{'of its own choice' if temperature is None else temperature}: its repeats would all be one "
            "(a fixed rng_seed, a cache, or a server that ignores the temperature)"
        )


async def _acts(probe: Probe) -> None:
    """Opens the item as an attempt does, until the solver has called an API."""
    bench = probe.bench
    session = await bench.suite.open(probe.item, SESSION_RNG_SEED)
    text = ""
    try:
        messages = solver_messages(session.briefing, bench.suite.name)
        for turn in range(TURNS):
            reply = await probe.ask(messages, turn)
            text, cell = reply.text, parse_cell(reply.text)
            shown = "No code cell was found in the reply."
            if cell.code is not None:
                action = {"kind": "code", "code": cell.code}
                observation = await session.act(action, bench.plan.limits.cell_seconds)
                if observation.calls:
                    return
                shown = observation.text
            spoken = Message(role="assistant", content=reply.text, state=reply.state)
            messages = (*messages, spoken, observation_message(shown))
    except SessionLost as error:
        raise probe.fault(f"writes code that kills the session ({error})") from error
    finally:
        await session.close()
    raise probe.fault(
        f"makes no API call in {TURNS} turns; its last reply begins: {' '.join(text.split())[:120]!r}"
    )


async def _speaks(probe: Probe) -> None:
    """Opens the item's dialogue as an attempt does, up to the solver's first reply, with all of its tools."""
    session = await probe.bench.suite.open(probe.item, SESSION_RNG_SEED)
    try:
        greeting = {"kind": "reply", "role": "user", "text": GREETING, "tool_calls": []}
        asked = await session.act(greeting, probe.bench.plan.limits.cell_seconds)
        if isinstance(asked, ModelRequest):
            await probe.ask(asked.messages, 0, tools=asked.tools)
    finally:
        await session.close()


async def _judge(probe: Probe) -> None:
    asked = judge_prompt(probe.item, (), probe.spec.context_chars, probe.interaction).messages
    if probe.interaction == "dialogue":
        await _readable(probe, asked, DIALOGUE_VERDICT_SCHEMA, partial(parse_verdict, failures=()))
    else:
        await _readable(probe, asked, VERDICT_SCHEMA, parse_verdict)


async def _labeller(probe: Probe) -> None:
    features = JUDGED_FEATURES[:2]
    ids = [feature.id for feature in features]
    asked = labeller_prompt(
        probe.item, features, probe.spec.context_chars, probe.interaction
    ).messages
    await _readable(probe, asked, labels_schema(ids), lambda text: parse_labels(text, ids))


async def _readable(
    probe: Probe,
    messages: tuple[Message, ...],
    schema: dict[str, object],
    parse: Callable[[str], object],
) -> None:
    """Asks as the stage does, its repair rounds included."""
    asked = messages
    for n in range(probe.bench.plan.repair_rounds + 1):
        reply = await probe.ask(asked, n, schema)
        try:
            parse(reply.text)
        except ReplyError as error:
            fault, asked = str(error), (*asked, *ask_again(reply, str(error)))
        else:
            return
    raise probe.fault(f"gives replies that cannot be read ({fault})")


async def _embedder(probe: Probe) -> None:
    client, wanted = probe.bench.client(probe.spec), dimensions_of(probe.spec)
    try:
        vectors = await client.embed([probe.item.instruction], probe.spec)
    except (ProviderRefused, BrokenReply) as error:
        raise probe.fault(f"gives no usable vector ({error})") from error
    lengths = [len(vector) for vector in vectors]
    if len(lengths) != 1 or lengths[0] == 0 or (wanted is not None and lengths[0] != wanted):
        raise probe.fault(
            f"gives vectors of the lengths {lengths} for one text, {wanted or 'some'} were asked for"
        )


_PROBES: dict[str, Callable[[Probe], Awaitable[None]]] = {
    "proposer": _ready,
    "solver": _solver,
    "feedback": _ready,
    "judge": _judge,
    "labeller": _labeller,
    "embedder": _embedder,
}
