"""Chance and hidden traits of the simulated models, drawn from hashes.

Nothing here has a state: the same words give the same number, in any order and in any process.
"""

import hashlib
import math
from random import Random

_TRAITS = "turtle-25"
"""Names the one set of hidden traits that all simulated models share, whatever the rng_seed: skills are
the same in every campaign, only luck differs, as it is with one real model that is run twice."""


def dice(*words: object) -> Random:
    """A generator of its own for these words."""
    return Random(_number(*words))


def trait(*words: object) -> float:
    """A hidden trait in (0, 1), uniform over all words."""
    return (_number(_TRAITS, *words) % 2**48 + 0.5) / 2**48


def heavy(*words: object) -> float:
    """A hidden trait >= 0 with mean 1 that is mostly small and rarely large (exponential)."""
    return -math.log(trait(*words))


def bent(*words: object) -> float:
    """A hidden trait around 0 with standard deviation 1 (logistic)."""
    u = trait(*words)
    return math.log(u / (1 - u)) / 1.814


def _number(*words: object) -> int:
    text = "\x1f".join(str(word) for word in words)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:16], "big")
