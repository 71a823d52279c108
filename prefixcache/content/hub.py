"""The hub's client, kept from talking: what it tries again and again is told once, by our own error."""

from __future__ import annotations

import logging
import os


def quiet_hub() -> None:
    """Call before transformers or datasets ask the hub."""
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")  # it would report that no deep-learning library is there
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    for name in ("huggingface_hub", "datasets", "httpx"):
        logging.getLogger(name).setLevel(logging.ERROR)
