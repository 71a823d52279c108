"""Configurations as text in a file."""

from __future__ import annotations

BASE = "request_count: 10\nblock_size: 16\ntokenizer: name\ninput_length: 100\n"
MINIMAL = BASE + "target: {hit_ratio: 0.5}\n"
