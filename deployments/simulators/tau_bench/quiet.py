"""Imports τ-bench so that it neither prints nor fetches: import this module before any other of the package.

litellm would fetch a price list when it is imported, loguru would log each step to stderr. Neither τ-bench's
model client nor its caches are used: model turns go back to the parent (dialogue.py).
"""

import os
import sys

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
os.environ["LLM_CACHE_ENABLED"] = "false"

from loguru import logger

logger.remove()
logger.add(sys.stderr, level="ERROR")
