"""Packs ./data into an encrypted bundle, with the engine's own packer, password and salt.

python bundle.py BUNDLE
"""

import os
import sys

from appworld.common.constants import PASSWORD, SALT
from appworld.common.utils import pack_bundle

if __name__ == "__main__":
    pack_bundle(sys.argv[1], ".", ["data"], PASSWORD, SALT)
    sys.stdout.flush()
    os._exit(0)  # the engine needs 3 s to tear itself down, and nothing is left to do
