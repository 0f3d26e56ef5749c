"""The spool: one immutable file for each finished unit of work. It is the only truth we keep.

`<root>/<campaign>/<kind>/<key>.jsonl` holds a header line, the model calls that the unit made and the
records that it came to. Until it is finished the file is a `.part`: when the work is taken up again, the
calls in it are replayed instead of being made, so nothing that was paid for is paid for twice. Lines are
appended whole; a line cut off by a kill or a full disk is dropped on reading.
"""

import asyncio
import errno
import fcntl
import json
import os
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tasks.errors import InputError, ProviderError, SpoolError
from tasks.llm.base import Completion, LLMClient, Message, Request
from warehouse.records import RECORDS, LlmCall, Record

SPOOL_VERSION = 1
"""Version of the file format; older ones are lifted on reading."""

_RECORD_OF_NAME = {record.__name__: record for record in RECORDS}

R = TypeVar("R", bound=Record)


class Unit:
    """One unit of work while it is being done: an append-only `.part` file."""

    def __init__(self, path: Path, campaign: str, kind: str, key: str) -> None:
        self._final = path
        self._part = path.with_suffix(".part")
        self._campaign = campaign
        self.kind = kind
        self.key = key
        self._calls = 0
        self._replay: dict[str, list[Completion]] = defaultdict(list)
        self._previous: tuple[Message, ...] = ()
        self._file = self._take_up()

    def _take_up(self) -> int:
        """Opens the `.part`, keeping its whole lines and making its calls replayable."""
        header = _line({"spool": SPOOL_VERSION, "kind": self.kind, "key": self.key})
        # Records of an unfinished unit are dropped: the work makes them again from the replayed calls.
        calls = [line for line in _whole_lines(self._part) if line.startswith(b'{"call":')]
        for entry in map(json.loads, calls):
            self._calls += 1
            if entry["completion"] is not None:
                completion = Completion.model_validate(entry["completion"])
                self._replay[entry["call"]["prompt_hash"]].append(completion)
        fresh = self._part.with_suffix(".taken-up")
        try:
            self._part.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(b"".join([header, *calls]))
            os.replace(fresh, self._part)
            return os.open(self._part, os.O_WRONLY | os.O_APPEND)
        except OSError as error:
            raise _write_error(self._part, error) from error

    def _append(self, entry: dict[str, Any]) -> None:
        data = _line(entry)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            raise _write_error(self._part, error) from error

    def add(self, *records: Record) -> None:
        """Appends what the unit came to."""
        for record in records:
            name = type(record).__name__
            self._append({"record": name, "row": record.model_dump(mode="json")})

    async def complete(self, client: LLMClient, request: Request) -> Completion:
        """Asks a model, or replays its reply when an interrupted run already has it.

        Raises ProviderError, after writing the failed call down.
        """
        if self._replay[request.prompt_hash]:
            self._previous = request.messages
            return self._replay[request.prompt_hash].pop(0)
        started = time.monotonic()
        try:
            completion = await client.complete(request)
        except ProviderError as error:
            self._append_call(request, None, type(error).__name__, time.monotonic() - started)
            raise
        self._append_call(request, completion, None, completion.latency_s)
        return completion

    def _append_call(
        self, request: Request, completion: Completion | None, cause: str | None, latency_s: float
    ) -> None:
        call = self._ledger_row(request, completion, cause, latency_s)
        shared = _shared_prefix(self._previous, request.messages)
        self._append(
            {
                "call": call.model_dump(mode="json"),
                "completion": completion and completion.model_dump(mode="json"),
                # Only what this call's conversation adds to the previous one's: an attempt's file grows
                # with its length, not with its square.
                "shared": shared,
                "messages": [m.model_dump(mode="json") for m in request.messages[shared:]],
                "spec": request.spec.model_dump(mode="json"),
                "cut_chars": request.cut_chars,
            }
        )
        self._calls += 1
        self._previous = request.messages

    def _ledger_row(
        self, request: Request, completion: Completion | None, cause: str | None, latency_s: float
    ) -> LlmCall:
        tokens = completion.tokens if completion else None
        return LlmCall(
            call_id=f"{self.key}/{self._calls}",
            campaign=self._campaign,
            unit=f"{self.kind}/{self.key}",
            role=request.role,
            item_id=request.subject.item_id,
            step=request.subject.step,
            repeat=request.subject.repeat,
            turn=request.subject.turn,
            spec_id=request.spec.spec_id,
            endpoint=request.spec.endpoint,
            llm_id=request.spec.llm_id,
            prompt_hash=request.prompt_hash,
            finish_reason=completion.finish_reason if completion else None,
            prompt_tokens=tokens.prompt if tokens else None,
            cached_tokens=tokens.cached if tokens else None,
            completion_tokens=tokens.completion if tokens else None,
            reasoning_tokens=tokens.reasoning if tokens else None,
            cost_usd=completion.cost_usd if completion else None,
            cause=cause,
            latency_s=latency_s,
        )

    def finish(self) -> None:
        """Makes the unit immutable: on disk to the last byte, then renamed."""
        try:
            os.fsync(self._file)
            self.close()
            os.replace(self._part, self._final)
        except OSError as error:
            raise _write_error(self._part, error) from error

    def close(self) -> None:
        """Leaves the `.part` as it is, to be taken up again."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class Spool:
    """The files of one campaign."""

    def __init__(self, root: Path, campaign: str) -> None:
        self.campaign = campaign
        self.folder = root / campaign
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def path(self, unit: str) -> Path:
        """Where the finished unit `<kind>/<key>` lies."""
        return self.folder / f"{unit}.jsonl"

    async def once(self, kind: str, key: str, work: Callable[[Unit], Awaitable[None]]) -> str:
        """Does a unit's work unless it is done already; returns the unit's name `<kind>/<key>`.

        Whatever the work raises leaves the `.part` behind for the next try. Two callers with one key do
        the work once.
        """
        name = f"{kind}/{key}"
        async with self._locks[name]:
            if not self.path(name).exists():
                unit = Unit(self.path(name), self.campaign, kind, key)
                try:
                    await work(unit)
                    unit.finish()
                finally:
                    unit.close()
        return name

    def read(self, unit: str) -> list[Record]:
        """The records of a finished unit, its model calls' ledger rows first."""
        return list(read_unit(self.path(unit)))

    def units(self) -> Iterator[str]:
        """The names of all finished units, sorted."""
        for path in sorted(self.folder.glob("*/*.jsonl")):
            yield f"{path.parent.name}/{path.stem}"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the campaign for this process; the kernel gives it back when the process dies.

        Raises InputError when another process holds it.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with open(self.folder / "lock", "w", encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise InputError(
                    f"campaign {self.campaign}: another process is running it; wait for it or stop it"
                ) from error
            yield


def read_unit(path: Path) -> Iterator[Record]:
    """The records in a finished unit's file, in order. Raises SpoolError when it is not one."""
    try:
        lines = path.read_bytes().splitlines()
        header = json.loads(lines[0])
        if header["spool"] != SPOOL_VERSION:
            raise SpoolError(
                f"spool file {path}: version {header['spool']} is not known to this release"
            )
        for entry in map(json.loads, lines[1:]):
            if "call" in entry:
                yield LlmCall.model_validate(entry["call"])
            else:
                yield _RECORD_OF_NAME[entry["record"]].model_validate(entry["row"])
    except (OSError, IndexError, KeyError, ValueError) as error:
        raise SpoolError(
            f"spool file {path}: not readable ({type(error).__name__}: {error})"
        ) from error


def of_type(records: list[Record], kind: type[R]) -> list[R]:
    """The records of one class, in order."""
    return [record for record in records if isinstance(record, kind)]


def _line(entry: dict[str, Any]) -> bytes:
    # Insertion order, so that a line's first key says what it is.
    text = json.dumps(entry, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.encode("ascii") + b"\n"


def _whole_lines(path: Path) -> list[bytes]:
    """The lines of a `.part` that were written to their end; none where there is no such file."""
    if not path.exists():
        return []
    data = path.read_bytes()
    return data[: data.rfind(b"\n") + 1].splitlines(keepends=True)


def _shared_prefix(before: tuple[Message, ...], now: tuple[Message, ...]) -> int:
    shared = 0
    for one, other in zip(before, now, strict=False):
        if one != other:
            break
        shared += 1
    return shared


def _write_error(path: Path, error: OSError) -> SpoolError:
    if error.errno == errno.ENOSPC:
        return SpoolError(
            f"spool {path.parent.parent}: the disk is full; free space and run the same command again"
        )
    return SpoolError(f"spool file {path}: cannot be written ({error.strerror})")
