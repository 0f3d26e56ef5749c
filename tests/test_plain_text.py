"""What models and their code wrote does not steer the terminal that it is shown on."""

import io
import subprocess
import sys
from pathlib import Path

from rich.console import Console

from flows.plain_text import plain

HOSTILE = "\x1b]0;owned\x07\x1b[2J \x9b2J [red]not red[/red] [/nothing] \ud800 line\nline é 中"


def test_escapes_and_markup_are_shown_and_not_done() -> None:
    out = io.StringIO()
    Console(file=out, force_terminal=True, width=200).print(plain(HOSTILE))
    shown = out.getvalue()
    assert "\x1b" not in shown and "\x9b" not in shown and "\x07" not in shown
    for kept in ("\\x1b[2J", "[red]not red[/red] [/nothing]", "\\ud800", "line\nline é 中"):
        assert kept in shown


def test_sql_shows_a_hostile_value_as_text(checkout: Path, tmp_path: Path) -> None:
    from warehouse.store import Loader

    with Loader(tmp_path / "warehouse" / "turtle.duckdb"):
        pass
    query = "SELECT chr(27) || '[2J [/nothing]' AS hostile"
    program = [sys.executable, "-c", "from flows.cli import main; main()", "sql", query]
    ended = subprocess.run(
        [*program, "--state", str(tmp_path)], cwd=checkout, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr
    assert "\\x1b[2J [/nothing]" in ended.stdout and "\x1b[2J" not in ended.stdout
