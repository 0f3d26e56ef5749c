"""Where a campaign's finished units lie: a file each, or, once it is at rest, packed by kind.

`<kind>/<key>.jsonl` is one unit's file. `<kind>.zip` holds units of one kind, each as the member
`<key>.jsonl`, byte for byte as the file was: thousands of small files become a dozen that any unzip reads. A
packed campaign is taken up like any other; what is made then lies beside the packs.
"""

import os
import zipfile
from collections.abc import Iterable
from pathlib import Path

from tasks.errors import SpoolError
from tasks.json_lines import write_error


class UnitFiles:
    """The finished units of one campaign's folder, by name `<kind>/<key>`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[str, tuple[int, zipfile.ZipFile, frozenset[str]]] = {}

    def path(self, unit: str) -> Path:
        """Where a unit lies that is not packed."""
        return self.folder / f"{unit}.jsonl"

    def __contains__(self, unit: str) -> bool:
        return self.path(unit).exists() or unit in self._packed(unit.split("/")[0])

    def names(self) -> list[str]:
        """Of all units, sorted."""
        loose = {f"{path.parent.name}/{path.stem}" for path in self.folder.glob("*/*.jsonl")}
        return sorted(loose.union(*map(self._packed, self._packed_kinds())))

    def read(self, unit: str) -> bytes:
        """A unit's content. Raises OSError where it is missing, BadZipFile where its pack is damaged."""
        try:
            return self.path(unit).read_bytes()
        except FileNotFoundError:
            kind, key = unit.split("/")
            if unit not in self._packed(kind):
                raise
            return self._open[kind][1].read(f"{key}.jsonl")

    def delete(self, units: Iterable[str]) -> None:
        """Takes units away, packed or not."""
        gone = set(units)
        for unit in gone:
            self.path(unit).unlink(missing_ok=True)
        for kind in self._packed_kinds():
            if left := self._packed(kind) & gone:
                self._write(kind, self._packed(kind) - left)

    def pack(self) -> None:
        """Packs all units. Killed at any point, it leaves each of them in a file, in a pack, or in both."""
        loose = list(self.folder.glob("*/*.jsonl"))
        for kind in sorted({path.parent.name for path in loose}):
            self._write(kind, (name for name in self.names() if name.startswith(f"{kind}/")))
        for path in loose:
            path.unlink()
        for folder in {path.parent for path in loose}:
            if not any(folder.iterdir()):
                folder.rmdir()

    def _write(self, kind: str, units: Iterable[str]) -> None:
        """Puts a kind's pack in the place of the former one, on disk to the last byte. Raises SpoolError."""
        path = self._pack(kind)
        part = path.with_suffix(".zip.part")
        try:
            with open(part, "wb") as file:
                with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as pack:
                    for unit in sorted(units):
                        pack.writestr(f"{unit.split('/')[1]}.jsonl", self.read(unit))
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, path)
        except OSError as error:
            part.unlink(missing_ok=True)
            raise write_error(part, error) from error

    def _pack(self, kind: str) -> Path:
        return self.folder / f"{kind}.zip"

    def _packed_kinds(self) -> list[str]:
        return [path.stem for path in sorted(self.folder.glob("*.zip"))]

    def _packed(self, kind: str) -> frozenset[str]:
        """Names of a kind's packed units; a pack that was replaced is opened again. Raises SpoolError."""
        try:
            inode = self._pack(kind).stat().st_ino
        except FileNotFoundError:
            return frozenset()
        if kind not in self._open or self._open[kind][0] != inode:
            try:
                pack = zipfile.ZipFile(self._pack(kind))
            except zipfile.BadZipFile as error:
                raise SpoolError(
                    f"spool file {self._pack(kind)}: not readable ({error})"
                ) from error
            names = frozenset(f"{kind}/{name.removesuffix('.jsonl')}" for name in pack.namelist())
            self._open[kind] = inode, pack, names
        return self._open[kind][2]
