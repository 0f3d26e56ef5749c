"""A gold's run as a proposer reads it."""

import json
from typing import Any

from tasks.llm.gold_runs import MAX_LIKE_CALLS, MAX_RESULT_CHARS, gold_run_text
from warehouse.records import GoldCall


def call(n: int, api: str, output: Any, app: str = "spotify", **arguments: Any) -> GoldCall:
    return GoldCall(
        item_id="i", n=n, app=app, api=api, ok=True, wrote=False,
        arguments=json.dumps(arguments), output=None if output is None else json.dumps(output),
    )  # fmt: skip


def test_calls_are_shown_with_what_they_returned_and_without_tokens() -> None:
    text = gold_run_text(
        [
            call(0, "show_account_passwords", [{"password": "<secret>"}], app="supervisor"),
            call(1, "login", {"access_token": "<secret>"}),
            call(2, "show_api_doc", {"app_name": "x"}, app="api_docs"),
            call(3, "show_song", {"title": "Zoë"}, song_id=4, access_token="<secret>"),
            call(4, "like_song", None, song_id=4),
        ]
    )
    assert text == (
        '- spotify.show_song(song_id=4) -> {"title": "Zoë"}\n- spotify.like_song(song_id=4) -> nothing'
    )


def test_what_is_long_is_cut_and_says_so() -> None:
    rows = [{"song_id": n, "title": f"Song {n}"} for n in range(100)]
    calls = [call(n, "show_song", {"title": "A"}, song_id=n) for n in range(10)]
    text = gold_run_text([*calls, call(11, "show_songs", rows), call(12, "show_text", "y" * 5000)])
    assert text.count("- spotify.show_song(") == MAX_LIKE_CALLS
    assert f"- ({10 - MAX_LIKE_CALLS} more calls of spotify.show_song)" in text
    listed = next(line for line in text.splitlines() if "show_songs" in line)
    shown, _, cut = listed.partition(" -> ")[2].rpartition(" [... ")
    assert len(json.loads(shown)) + int(cut.split()[0]) == 100
    assert f"[... {5002 - MAX_RESULT_CHARS} characters cut]" in text
    assert len(gold_run_text([*calls[:1], call(11, "show_songs", rows)], 80)) < 250
    assert gold_run_text([]) == "(no calls)"
