"""A recorded campaign that answers again: no endpoint is asked, no key is needed.

The recording is a campaign's folder of the spool. A request is answered by the reply that the same request
got for the same subject (item, repeat, turn ...). Any other is an error that names what differs from the
recorded request that comes nearest.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks.errors import InputError
from tasks.llm.base import Completion, LLMSpec, Message, Request
from tasks.unit_files import UnitFiles
from warehouse.records import digest_of

SHOWN_CHARS = 60
"""Characters shown of each side where two messages part."""


class NotRecorded(InputError):
    """A request for which the recording holds no reply."""


@dataclass(frozen=True)
class Recorded:
    """One call of a recording."""

    request: Request
    completion: Completion


class Recording:
    """The finished units of a recorded campaign. Requests are kept by hash, and read again when needed."""

    def __init__(self, folder: Path) -> None:
        """Reads a campaign's folder. Raises InputError where it is none."""
        self.folder = folder
        self.simulated = False
        self._files = UnitFiles(folder)
        if not self._files.names():
            raise InputError(f"recording {folder}: no finished unit is there; name spool/CAMPAIGN")
        self._replies: dict[tuple[str, str], Completion] = {}
        self._vectors: dict[tuple[str, str], list[float]] = {}
        instructions: dict[str, str] = {}
        embeddings: list[dict[str, Any]] = []
        for entry in self._entries():
            if "call" in entry and entry["completion"] is not None:
                asked = (entry["call"]["prompt_hash"], digest_of(entry["call"].get("subject")))
                self._replies.setdefault(asked, Completion.model_validate(entry["completion"]))
            elif entry.get("record") == "Item":
                instructions[entry["row"]["item_id"]] = entry["row"]["instruction"]
            elif entry.get("record") == "Embedding":
                embeddings.append(entry["row"])
            elif entry.get("record") == "Campaign":
                self.simulated |= entry["row"]["simulated"]
        for row in embeddings:
            named = (row["embedder"], instructions.get(row["item_id"], ""))
            self._vectors[named] = row["vector"]

    def reply(self, request: Request) -> Completion:
        """The recorded reply. Raises NotRecorded."""
        subject = digest_of(request.subject.model_dump(mode="json"))
        found = self._replies.get((request.prompt_hash, subject))
        if found is None:
            raise NotRecorded(f"replay of {self.folder}: {self._difference(request)}")
        return found

    def vector(self, text: str, spec: LLMSpec) -> list[float]:
        """The recorded embedding. Raises NotRecorded."""
        found = self._vectors.get((spec.llm_id, text))
        if found is None:
            raise NotRecorded(
                f"replay of {self.folder}: {spec.llm_id} embedded no text that begins "
                f"{text[:SHOWN_CHARS]!r}"
            )
        return found

    def requests(self) -> Iterator[Request]:
        """Every request that was answered, whole."""
        for unit in self._files.names():
            conversations: dict[str, list[dict[str, Any]]] = {}
            for entry in self._lines(unit):
                if "call" in entry and "subject" in entry["call"]:
                    role = entry["call"]["role"]
                    before = conversations.get(role, [])
                    messages = [*before[: entry["shared"]], *entry["messages"]]
                    conversations[role] = messages
                    if entry["completion"] is not None:
                        yield _request(entry, messages)

    def _entries(self) -> Iterator[dict[str, Any]]:
        for unit in self._files.names():
            yield from self._lines(unit)

    def _lines(self, unit: str) -> Iterator[dict[str, Any]]:
        return map(json.loads, self._files.read(unit).splitlines())

    def _difference(self, request: Request) -> str:
        """What a request differs in from the nearest recorded one of its role."""
        about = f"no reply is recorded to the {request.role} ({_about(request)})"
        of_role = [one for one in self.requests() if one.role == request.role]
        if not of_role:
            return f"{about}; no call of this role is recorded at all"
        nearest = max(of_role, key=lambda one: _likeness(one, request))
        return (
            f"{about}; the nearest recorded call ({_about(nearest)}) {_parting(nearest, request)}"
        )


class ReplayClient:
    """Answers from a recording alone."""

    def __init__(self, recording: Recording) -> None:
        self.simulated = recording.simulated
        self._recording = recording

    async def complete(self, request: Request) -> Completion:
        """The recorded reply. Raises NotRecorded."""
        return self._recording.reply(request)

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """The recorded vectors. Raises NotRecorded."""
        return [self._recording.vector(text, spec) for text in texts]

    async def aclose(self) -> None:
        """Nothing is held open."""


def _request(entry: dict[str, Any], messages: list[dict[str, Any]]) -> Request:
    call = entry["call"]
    return Request.model_validate(
        {
            "role": call["role"],
            "subject": call["subject"],
            "spec": entry["spec"],
            "messages": messages,
            "tools": entry["tools"],
            "response_schema": entry["response_schema"],
        }
    )


def _about(request: Request) -> str:
    known = request.subject.model_dump(exclude_none=True)
    return ", ".join(f"{name} {value}" for name, value in known.items()) or "no subject"


def _likeness(one: Request, other: Request) -> tuple[int, int, bool]:
    """Fields of the subject that agree, then how long the conversations run alike."""
    ours, theirs = one.subject.model_dump(), other.subject.model_dump()
    agreeing = sum(ours[name] == theirs[name] for name in ours)
    alike = 0
    for left, right in zip(one.messages, other.messages, strict=False):
        if left != right:
            break
        alike += 1
    return agreeing, alike, one.spec == other.spec


def _parting(recorded: Request, asked: Request) -> str:
    """Where two requests part, each part named once."""
    parts = []
    if recorded.spec != asked.spec:
        changed = [
            f"{name} {before} -> {now}" for name, before, now in _changed(recorded.spec, asked.spec)
        ]
        parts.append(f"has another spec ({', '.join(changed)})")
    if recorded.messages != asked.messages:
        parts.append(_first_other_message(recorded.messages, asked.messages))
    if recorded.tools != asked.tools:
        parts.append("has other tools")
    if recorded.response_schema != asked.response_schema:
        parts.append("has another response schema")
    if not parts:
        parts.append("asks the same about another subject")
    return " and ".join(parts)


def _changed(before: LLMSpec, now: LLMSpec) -> Iterator[tuple[str, Any, Any]]:
    old, new = (_flat(spec.model_dump(mode="json")) for spec in (before, now))
    for name in sorted(old.keys() | new.keys()):
        if old.get(name) != new.get(name):
            yield name, old.get(name), new.get(name)


def _flat(spec: dict[str, Any]) -> dict[str, Any]:
    sampling = spec.pop("sampling")
    return spec | {f"sampling.{name}": value for name, value in sampling.items()}


def _first_other_message(recorded: tuple[Message, ...], asked: tuple[Message, ...]) -> str:
    for n, (before, now) in enumerate(zip(recorded, asked, strict=False)):
        if before != now:
            at = next(
                (
                    k
                    for k, (a, b) in enumerate(zip(before.content, now.content, strict=False))
                    if a != b
                ),
                min(len(before.content), len(now.content)),
            )
            was, has = (one.content[at : at + SHOWN_CHARS] for one in (before, now))
            return (
                f"has another message {n} ({now.role}), from character {at} on: recorded {was!r}, "
                f"asked {has!r}"
            )
    return f"has {len(recorded)} messages, asked were {len(asked)}"
