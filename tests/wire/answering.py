"""A server in a process of its own: `python -m tests.wire.answering LATENCY_S` prints its address.

It says the same to everybody, in both protocols, so that what is measured is the client.
"""

import asyncio
import contextlib
import subprocess
import sys
from collections.abc import Iterator

from tests.wire.formats import gemini_reply, json_reply, openai_reply
from tests.wire.server import Asked, HttpReply, WireServer

TEXT = "I look at the apps first.\n\n```python\n" + "print(apis.api_docs)\n" * 40 + "```\n"
"""As long as a solver's longer replies, about 900 characters."""


@contextlib.contextmanager
def answering(latency_s: float) -> Iterator[str]:
    """Runs the server for the length of the block; its address."""
    command = [sys.executable, "-m", "tests.wire.answering", str(latency_s)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None and server.stdout is not None
        yield server.stdout.readline().strip()
        server.stdin.close()


async def serve(latency_s: float) -> None:
    """Serves until stdin is closed."""
    openai = json_reply(openai_reply(TEXT), delay_s=latency_s)
    gemini = json_reply(gemini_reply({"text": TEXT}), delay_s=latency_s)

    def answer(asked: Asked) -> HttpReply:
        server.asked.clear()  # or the server would grow
        return gemini if ":" in asked.path else openai

    async with WireServer(answer) as server:
        print(server.url, flush=True)
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
