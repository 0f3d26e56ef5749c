"""Packed units: as the files were, whatever was packed before, replaced meanwhile or cut off."""

from pathlib import Path

import pytest

from tasks.errors import SpoolError
from tasks.spool import Spool
from tasks.unit_files import UnitFiles

UNITS = {
    f"{kind}/{key}": f"{kind} {key}\n".encode() for kind in ("notes", "steps") for key in "abc"
}


def filled(folder: Path, units: dict[str, bytes]) -> UnitFiles:
    """A campaign's folder with units in it, a file each."""
    files = UnitFiles(folder)
    for unit, content in units.items():
        files.path(unit).parent.mkdir(parents=True, exist_ok=True)
        files.path(unit).write_bytes(content)
    return files


def content(files: UnitFiles) -> dict[str, bytes]:
    assert all(unit in files for unit in files.names())
    return {unit: files.read(unit) for unit in files.names()}


def test_packed_units_are_what_they_were_and_later_ones_join_them(tmp_path: Path) -> None:
    files = filled(tmp_path, UNITS)
    files.pack()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.zip", "steps.zip"]
    assert content(files) == UNITS
    later = {"notes/d": b"later\n", "edits/a": b"new kind\n"}
    filled(tmp_path, later)
    assert content(files) == UNITS | later
    UnitFiles(tmp_path).pack()
    assert content(files) == UNITS | later, "a pack that was replaced was not read anew"
    assert "notes/e" not in files
    with pytest.raises(FileNotFoundError):
        files.read("notes/e")


def test_packing_that_was_killed_is_ended_by_the_next(tmp_path: Path) -> None:
    """Then units are there twice, or a pack is half made."""
    files = filled(tmp_path, UNITS)
    files.pack()
    filled(tmp_path, {"notes/a": UNITS["notes/a"]})
    (tmp_path / "steps.zip.part").write_bytes(b"PK")
    assert content(files) == UNITS
    files.pack()
    assert content(files) == UNITS and not list(tmp_path.glob("*/*"))


def test_units_are_deleted_packed_or_not(tmp_path: Path) -> None:
    files = filled(tmp_path, UNITS)
    files.pack()
    filled(tmp_path, {"notes/d": b"later\n", "notes/a": UNITS["notes/a"]})
    files.delete({"notes/a", "notes/d", "steps/c"})
    left = {unit: text for unit, text in UNITS.items() if unit not in ("notes/a", "steps/c")}
    assert content(files) == left


def test_a_damaged_pack_is_an_error_that_names_it(tmp_path: Path) -> None:
    files = filled(tmp_path / "c", UNITS)
    files.pack()
    pack = tmp_path / "c" / "notes.zip"
    pack.write_bytes(pack.read_bytes()[:-30])
    with pytest.raises(SpoolError, match=r"notes\.zip"):
        Spool(tmp_path, "c").read("notes/a")
