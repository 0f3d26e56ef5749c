"""The one form of tools and tool calls at the seam, whatever the provider's own is.

A tool of a `Request` is `{"name", "description", "parameters"}`, the last one a JSON schema of its
arguments. A call, in a `Completion` and in an assistant's `Message`, is `{"id", "name", "arguments"}` and
possibly `"state"`:

- `arguments` is the JSON *text* as the model wrote it. It may be no JSON at all: that is the model's
  failure, thus data, and whoever acts on the call finds it out.
- `id` is what a message of role "tool" answers by its `tool_call_id`.
- `state` is the provider's own and opaque (Gemini's thought signature, without which it refuses the next
  turn). An agent puts calls into the next request as it got them.
"""

from typing import Any


def tool_call(
    call_id: str, name: str, arguments: str, state: dict[str, Any] | None = None
) -> dict[str, Any]:
    """A call in our form; without a state where the provider has none."""
    call: dict[str, Any] = {"id": call_id, "name": name, "arguments": arguments}
    return call if state is None else call | {"state": state}
