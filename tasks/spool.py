"""The spool: one immutable file for each finished unit of work. It is the only truth we keep.

`<root>/<campaign>/<kind>/<key>.jsonl` holds a header line, the model calls that the unit made and the
records that it came to. Until it is finished the file is a `.part`: when the work is taken up again, the
calls in it are replayed instead of being made, so nothing that was paid for is paid for twice. Lines are
appended whole; a line cut off by a kill or a full disk is dropped on reading. What calls took and cost stands
beside the units, in the campaign's ledger (tasks/llm/ledger.py).

Several processes may share a campaign's folder: each claims a unit before it does it (tasks/claims.py).
Finished units of a campaign at rest may be packed (tasks/unit_files.py).
"""

import asyncio
import json
import os
import shutil
import zipfile
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

from tasks.claims import Share, claimed
from tasks.errors import InputError, ProviderError, SpoolError
from tasks.json_lines import JsonLines, line, whole_lines, write_error
from tasks.llm.base import Completion, LLMClient, Message, Request
from tasks.unit_files import UnitFiles
from tasks.unit_records import SPOOL_VERSION, unit_records
from warehouse.records import Record

R = TypeVar("R", bound=Record)


class Unit:
    """One unit of work while it is being done: an append-only `.part` file."""

    def __init__(self, path: Path, kind: str, key: str) -> None:
        self._final = path
        self._part = path.with_suffix(".part")
        self.kind = kind
        self.key = key
        self._replay: dict[str, list[Completion]] = defaultdict(list)
        self._previous: dict[str, tuple[Message, ...]] = {}
        self._file = self._take_up()

    def _take_up(self) -> JsonLines:
        """Opens the `.part`, keeping its whole lines and making its calls replayable."""
        header = line({"spool": SPOOL_VERSION, "kind": self.kind, "key": self.key})
        # Records of an unfinished unit are dropped: the work makes them again from the replayed calls.
        calls = [found for found in whole_lines(self._part) if found.startswith(b'{"call":')]
        for entry in map(json.loads, calls):
            if entry["completion"] is not None:
                completion = Completion.model_validate(entry["completion"])
                self._replay[entry["call"]["prompt_hash"]].append(completion)
        return JsonLines(self._part, [header, *calls])

    def add(self, *records: Record) -> None:
        """Appends what the unit came to."""
        for record in records:
            name = type(record).__name__
            self._file.append({"record": name, "row": record.model_dump(mode="json")})

    async def complete(self, client: LLMClient, request: Request) -> Completion:
        """Asks a model, or replays its reply when an interrupted run already has it.

        Raises ProviderError, after writing down that the call came to nothing.
        """
        if self._replay[request.prompt_hash]:
            self._previous[request.role] = request.messages
            return self._replay[request.prompt_hash].pop(0)
        request = request.model_copy(update={"unit": f"{self.kind}/{self.key}"})
        try:
            completion = await client.complete(request)
        except ProviderError as error:
            self._append_call(request, None, type(error).__name__)
            raise
        self._append_call(request, completion, None)
        return completion

    def _append_call(
        self, request: Request, completion: Completion | None, cause: str | None
    ) -> None:
        shared = _shared_prefix(self._previous.get(request.role, ()), request.messages)
        call = {
            "role": request.role,
            "prompt_hash": request.prompt_hash,
            "subject": request.subject.model_dump(mode="json"),
            "cause": cause,
        }
        asked: dict[str, Any] = {
            # Only what this call's conversation adds to the role's previous one: an attempt's file grows
            # with its length, not with its square.
            "shared": shared,
            "messages": [m.model_dump(mode="json") for m in request.messages[shared:]],
            "spec": request.spec.model_dump(mode="json"),
            "tools": list(request.tools),
            "response_schema": request.response_schema,
            "cut_chars": request.cut_chars,
        }
        reply = completion and completion.model_dump(mode="json")
        self._file.append({"call": call, "completion": reply} | asked)
        self._previous[request.role] = request.messages

    def finish(self) -> None:
        """Makes the unit immutable: on disk to the last byte, then renamed."""
        try:
            self._file.sync()
            self.close()
            os.replace(self._part, self._final)
        except OSError as error:
            raise write_error(self._part, error) from error

    def close(self) -> None:
        """Leaves the `.part` as it is, to be taken up again."""
        self._file.close()

    def give_up(self) -> None:
        """Forgets the unit's calls: the next one who does its work asks anew."""
        self.close()
        self._part.unlink(missing_ok=True)


class Spool:
    """The files of one campaign."""

    def __init__(
        self, root: Path, campaign: str, share: Share | None = None, min_free_bytes: int = 0
    ) -> None:
        """Opens nothing yet.

        Args:
            root: One folder a campaign.
            campaign: Its name.
            share: Of a campaign that other processes drain too; None where this one has it alone.
            min_free_bytes: With less free disk no further unit is begun.
        """
        self.campaign = campaign
        self.folder = root / campaign
        self.files = UnitFiles(self.folder)
        self._share = share
        self._min_free_bytes = min_free_bytes
        self._locks: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def path(self, unit: str) -> Path:
        """Where the unit `<kind>/<key>` lies when it is finished, and not packed yet."""
        return self.files.path(unit)

    async def once(self, kind: str, key: str, work: Callable[[Unit], Awaitable[None]]) -> str:
        """Does a unit's work unless it is done already; returns the unit's name `<kind>/<key>`.

        Whatever the work raises leaves the `.part` behind for the next try. Of callers with one key, in
        this process or in another that shares the campaign, one does the work and the others wait.
        Raises SpoolError where too little disk is free.
        """
        name = f"{kind}/{key}"
        path = self.path(name)

        async def done() -> None:
            self._require_room()
            unit = Unit(path, kind, key)
            try:
                await work(unit)
                unit.finish()
            finally:
                unit.close()

        async with self._locks[name]:
            if name in self.files:
                return name
            if self._share is not None:
                await self._share.once(path, done)
            else:
                await done()
        return name

    def _require_room(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(self.folder).free
        if free < self._min_free_bytes:
            raise SpoolError(
                f"spool {self.folder}: {free // 10**6} MB of disk are free, less than the "
                f"{self._min_free_bytes // 10**6} MB that are left alone; free space and run the same "
                "command again"
            )

    def read(self, unit: str) -> list[Record]:
        """The records of a finished unit, in order. Raises SpoolError where it is missing or not readable."""
        try:
            return list(unit_records(self.files.read(unit), self.folder))
        except (OSError, IndexError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise SpoolError(
                f"spool file {self.path(unit)}: not readable ({type(error).__name__}: {error})"
            ) from error

    def units(self) -> list[str]:
        """The names of all finished units, sorted."""
        return self.files.names()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the campaign for this process, which makes its tables; others may help.

        Raises InputError when another process holds it.
        """
        with claimed(self.folder / "lock") as mine:
            if not mine:
                raise InputError(
                    f"campaign {self.campaign}: another process is running it; wait for it or stop it"
                )
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keeps those away that would help. Raises InputError while there are any."""
        with claimed(self.folder / "joined") as mine:
            if not mine:
                raise InputError(
                    f"campaign {self.campaign}: other processes have joined it; wait for them or stop them"
                )
            yield

    @contextmanager
    def joined(self, most: int) -> Iterator[int]:
        """Makes this process one of at most `most` that help; gives its number, 1 to `most`.

        Raises InputError when there are so many, or a process has the campaign alone.
        """
        with ExitStack() as held:
            if not held.enter_context(claimed(self.folder / "joined", shared=True)):
                raise InputError(
                    f"campaign {self.campaign}: a process has it for itself; wait for it or stop it, then "
                    "start it again with --workers N"
                )
            for number in range(1, most + 1):
                if held.enter_context(claimed(self.folder / f"joined-{number}")):
                    yield number
                    return
            raise InputError(
                f"campaign {self.campaign}: {most} processes have joined it, as many as its --workers leave"
            )

    def gone(self) -> Iterator[int]:
        """The numbers of those that joined and are no more; none takes a number's place meanwhile."""
        for path in sorted(self.folder.glob("joined-*")):
            with claimed(path) as free:
                if free:
                    yield int(path.name.removeprefix("joined-"))


def of_type(records: list[Record], kind: type[R]) -> list[R]:
    """The records of one class, in order."""
    return [record for record in records if isinstance(record, kind)]


def _shared_prefix(before: tuple[Message, ...], now: tuple[Message, ...]) -> int:
    shared = 0
    for one, other in zip(before, now, strict=False):
        if one != other:
            break
        shared += 1
    return shared
