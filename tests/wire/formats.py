"""What providers say: replies of OpenAI's and of Gemini's protocol, with all the fields that they send."""

import hashlib
import json
from typing import Any

from tests.wire.server import Asked, HttpReply


def json_reply(value: Any, status: int = 200, **more: Any) -> HttpReply:
    """A reply with a JSON body; letters beyond ASCII, and what is no letter at all, are escaped."""
    return HttpReply(json.dumps(value).encode("ascii"), status, **more)


def openai_reply(
    content: str | None = "Fine.",
    finish: str = "stop",
    usage: dict[str, Any] | None = None,
    **message: Any,
) -> dict[str, Any]:
    """A chat completion; `message` adds fields of the assistant's message."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "some-model",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": content} | message,
                "finish_reason": finish,
                "logprobs": None,
                "stop_reason": None,
            }
        ],
        "usage": usage or {"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15},
        "prompt_logprobs": None,
        "kv_transfer_params": None,
    }


def openai_error(message: str, code: str | None = None) -> dict[str, Any]:
    """An error's body."""
    return {"error": {"message": message, "type": "some_error", "param": None, "code": code}}


def openai_embeddings(asked: Asked) -> HttpReply:
    """A vector for each text of the request, the last one first, as the protocol allows."""
    size = asked.body.get("dimensions", 8)
    usage = {"prompt_tokens": 5, "total_tokens": 5}
    return json_reply(openai_vectors([vector(text, size) for text in asked.body["input"]], usage))


def openai_vectors(
    vectors: list[list[float]], usage: dict[str, Any] | None = None
) -> dict[str, Any]:
    """An embeddings response, the last vector first."""
    data = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
    return {"object": "list", "data": data[::-1], "model": "m", "usage": usage}


def gemini_reply(
    *parts: dict[str, Any], finish: str = "STOP", usage: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A generate_content response."""
    content = {"role": "model", "parts": list(parts or [{"text": "Fine."}])}
    return {
        "candidates": [{"content": content, "finishReason": finish, "index": 0}],
        "usageMetadata": usage
        or {"promptTokenCount": 12, "candidatesTokenCount": 3, "totalTokenCount": 15},
        "modelVersion": "some-model",
        "responseId": "r1",
    }


def gemini_error(code: int, message: str, *details: dict[str, Any]) -> dict[str, Any]:
    """An error's body."""
    error = {"code": code, "message": message, "status": "SOME_STATUS", "details": list(details)}
    return {"error": error}


def gemini_embeddings(asked: Asked) -> HttpReply:
    """A vector for each request of the batch."""
    return json_reply(
        gemini_vectors(
            [
                vector(
                    "".join(part["text"] for part in one["content"]["parts"]),
                    one.get("outputDimensionality", 8),
                )
                for one in asked.body["requests"]
            ]
        )
    )


def gemini_vectors(vectors: list[list[float]]) -> dict[str, Any]:
    """A batch_embed_contents response."""
    return {"embeddings": [{"values": one} for one in vectors]}


def vector(text: str, size: int) -> list[float]:
    """Numbers that are the same for the same text."""
    block = hashlib.sha256(text.encode()).digest()
    return [block[n % len(block)] / 256 for n in range(size)]
