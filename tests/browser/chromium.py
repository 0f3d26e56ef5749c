"""A headless Chromium that opens pages and says what a person would read there."""

import json
import shutil
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--window-size=1400,1000",
)  # fmt: skip
"""It shows pages of this machine alone, and asks nothing of anybody else."""

PLACE = """
(() => {
    const words = [...document.querySelectorAll("body *")].filter(
        one => !one.children.length && one.textContent.trim() === WORD && one.getClientRects().length);
    const place = words.at(-1).getBoundingClientRect();
    return JSON.stringify([place.x + place.width / 2, place.y + place.height / 2]);
})()
"""
"""Where on the page a word stands alone, the last one where several do."""

WAIT_S = 120.0


class Browser:
    """One page of a running Chromium."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._sent = 0

    def open(self, url: str, *awaited: str) -> str:
        """Goes to a page; returns its text as `read` does."""
        self._ask("Page.navigate", url=url)
        return self.read(*awaited)

    def press(self, tab: str, *awaited: str) -> str:
        """Presses the mouse where that word stands alone; returns the page's text as `read` does."""
        self.read(tab)
        x, y = json.loads(self._evaluate(PLACE.replace("WORD", json.dumps(tab))))
        for what in ("mousePressed", "mouseReleased"):
            self._ask("Input.dispatchMouseEvent", type=what, x=x, y=y, button="left", clickCount=1)
        return self.read(*awaited)

    def read(self, *awaited: str) -> str:
        """The page's text, once all that is awaited stands in it. Fails with what does stand there."""
        deadline = time.monotonic() + WAIT_S
        text = ""
        while time.monotonic() < deadline:
            text = str(self._evaluate("document.body?.innerText ?? ''"))
            if all(word in text for word in awaited):
                return text
            time.sleep(0.3)
        missing = [word for word in awaited if word not in text]
        raise AssertionError(f"the page does not show {missing} but: {text}")

    def _evaluate(self, expression: str) -> Any:
        return self._ask("Runtime.evaluate", expression=expression)["result"].get("value")

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What a command of the DevTools protocol answers; events in between are let go by."""
        self._sent += 1
        self._connection.send(
            json.dumps({"id": self._sent, "method": method, "params": parameters})
        )
        while (answer := json.loads(self._connection.recv(WAIT_S))).get("id") != self._sent:
            pass
        return answer["result"]


@contextmanager
def browsing(folder: Path) -> Iterator[Browser]:
    """A browser with a profile of its own in `folder`. Fails where no Chromium is installed."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    assert program, f"no browser: install one of {', '.join(NAMES)}"
    command = [program, *QUIET, "--remote-debugging-port=0", f"--user-data-dir={folder}"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with connect(_page_of(folder), max_size=None) as connection:
            yield Browser(connection)
    finally:
        process.terminate()
        process.wait(30)


def _page_of(folder: Path) -> str:
    """Address of the open page, when the browser has written down where it listens."""
    deadline = time.monotonic() + WAIT_S
    while not (told := folder / "DevToolsActivePort").exists() or not told.read_text().strip():
        assert time.monotonic() < deadline, "the browser did not start"
        time.sleep(0.1)
    port = told.read_text().split()[0]
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=WAIT_S) as answer:
        return next(one for one in json.load(answer) if one["type"] == "page")[
            "webSocketDebuggerUrl"
        ]
