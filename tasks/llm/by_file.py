"""Models played by hand: a request becomes a file that somebody reads, the reply is the file beside it.

For a person who wants to steer an edit, for prompts that shall be tried before any key exists, and for a
recording that is played again: a folder in which every request has its reply answers at once.
"""

import asyncio
import json
import os
import time
from pathlib import Path

from tasks.errors import InputError, ProviderError
from tasks.llm.base import Completion, LLMSpec, Message, Request, estimated_tokens
from tasks.llm.rendering import fenced
from warehouse.records import digest_of

POLL_S = 0.5
"""How often a waiting call looks for its reply, in seconds."""

SETTLED_S = 2.0
"""A reply that was written to less than so many seconds ago may be half of one."""

_HASH_DIGITS = 12


class FileClient:
    """Writes each request to `<n>-<role>-<hash>.request.md` and waits for `<n>-<role>-<hash>.reply.md`.

    The hash names what is asked, so an equal request is answered by the reply that is there, in this
    campaign or in a later one. Repeats of an item ask the same and are to be answered anew, so their number
    is in the hash. What goes on with a conversation has the conversation's number and a count behind it:
    after `7-solver-...` comes `7.1-solver-...`.
    """

    simulated = False

    def __init__(self, folder: Path, answered_only: bool = False) -> None:
        """Makes a client.

        Args:
            folder: Where requests are written and replies read; made by the first request.
            answered_only: Raise where a reply is missing instead of waiting: plays a recording again.
        """
        self.folder = folder
        self._answered_only = answered_only
        self._numbers: dict[str, str] = {}

    async def complete(self, request: Request) -> Completion:
        """The reply, whoever wrote it. Waits as long as it takes.

        Tokens are estimated; the cost is None, for who knows what the writer costs.

        Raises ProviderError where only recorded replies may answer and there is none.
        """
        started = time.monotonic()
        named = request_hash(request)
        reply = self._reply_to(named)
        if reply is None and self._answered_only:
            raise ProviderError(f"{self.folder} has no reply to the {request.role} request {named}")
        if reply is None:
            reply = self.folder / f"{self._ask(request, named)}.reply.md"
        # A file that somebody else will write gives no event to wait for.
        while (text := _settled(reply)) is None:  # noqa: ASYNC110
            await asyncio.sleep(POLL_S)
        tokens = estimated_tokens(request, text)
        return Completion(text=text, tokens=tokens, latency_s=time.monotonic() - started)

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """Always raises InputError: nobody writes vectors by hand."""
        raise InputError(
            f"endpoint '{spec.endpoint}' is played by hand, which makes no embeddings: "
            "set the embedder's endpoint to 'local'"
        )

    async def aclose(self) -> None:
        """Nothing to close; requests without a reply stay, to be answered before the next run."""

    def _reply_to(self, named: str) -> Path | None:
        return next(self.folder.glob(f"*-{named}.reply.md"), None)

    def _ask(self, request: Request, named: str) -> str:
        """Writes the request unless it is there already; returns its stem."""
        there = next(self.folder.glob(f"*-{named}.request.md"), None)
        if there is not None:
            return there.name.removesuffix(".request.md")
        self.folder.mkdir(parents=True, exist_ok=True)
        stem = f"{self._number(request, named)}-{request.role}-{named}"
        part = self.folder / f"{stem}.part"
        part.write_text(rendered(request, f"{stem}.reply.md"), encoding="utf-8", errors="replace")
        os.replace(part, self.folder / f"{stem}.request.md")
        return stem

    def _number(self, request: Request, named: str) -> str:
        """The conversation's number, with the count of replies so far where there are any."""
        opening = request_hash(request.model_copy(update={"messages": _opening(request)}))
        if opening not in self._numbers:
            taken = [path.name for path in self.folder.glob("*-*.re*.md")]
            own = [name for name in taken if f"-{opening}." in name]
            numbers = [int(name.split("-")[0].split(".")[0]) for name in own or taken]
            known = [int(number) for number in self._numbers.values()]
            next_free = max([*numbers, *known], default=0) + 1
            self._numbers[opening] = str(numbers[0] if own else next_free)
        replies = sum(message.role == "assistant" for message in request.messages)
        return self._numbers[opening] + (f".{replies}" if replies else "")


def request_hash(request: Request) -> str:
    """Names what is asked, of whom, and for which repeat.

    How a model would draw its reply plays no part: a recording outlives a setting that is added to specs.
    """
    said = [
        [message.role, message.content, message.tool_calls, message.tool_call_id]
        for message in request.messages
    ]
    asked = [request.role, said, request.tools, request.response_schema]
    return digest_of([asked, request.spec.llm_id, request.subject.repeat])[:_HASH_DIGITS]


def rendered(request: Request, reply_name: str) -> str:
    """A request as somebody reads it: the conversation as a model would see it, what is new last."""
    last = max(
        (n for n, message in enumerate(request.messages) if message.role == "assistant"), default=-1
    )
    parts = [
        f"Write the reply to this {request.role} request, and nothing else, to the file `{reply_name}` in "
        "this folder: all at once, or under another name that is changed when it is whole."
    ]
    for n, message in enumerate(request.messages):
        new = ", NEW SINCE YOUR LAST REPLY" if 0 <= last < n else ""
        parts.append(f"======== {message.role}{new} ========\n\n{_shown(message)}")
    if request.tools:
        parts.append(f"======== tools ========\n\n{_as_json(request.tools)}")
    if request.response_schema is not None:
        parts.append(
            f"======== JSON schema of the reply ========\n\n{_as_json(request.response_schema)}"
        )
    return "\n\n".join(parts) + "\n"


def _opening(request: Request) -> tuple[Message, ...]:
    """The messages before the first reply."""
    for n, message in enumerate(request.messages):
        if message.role == "assistant":
            return request.messages[:n]
    return request.messages


def _shown(message: Message) -> str:
    calls = f"\n\nTool calls:\n\n{_as_json(message.tool_calls)}" if message.tool_calls else ""
    return f"{message.content}{calls}"


def _as_json(value: object) -> str:
    return fenced("json", json.dumps(value, indent=2, ensure_ascii=False))


def _settled(reply: Path) -> str | None:
    """The reply's text; None while it is not there, empty, or still being written."""
    try:
        state = reply.stat()
        # A clock that was set back must not make a reply wait for the time to come again.
        if state.st_size == 0 or abs(time.time() - state.st_mtime) < SETTLED_S:
            return None
        return reply.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None
