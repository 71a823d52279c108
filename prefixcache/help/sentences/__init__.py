"""Errors, warnings and remedies in Chinese: English sentence with named ``{places}`` → Chinese one with the same.

One table for each room that makes them. A sentence stands here as it stands in the code, with a name for each value;
how it is found again is :mod:`prefixcache.help.sentences.form`.
"""

from __future__ import annotations

from prefixcache.help.sentences.analysis import ANALYSIS
from prefixcache.help.sentences.api import API
from prefixcache.help.sentences.commands import COMMANDS
from prefixcache.help.sentences.config import CONFIG
from prefixcache.help.sentences.config_file import CONFIG_FILE
from prefixcache.help.sentences.content import CONTENT
from prefixcache.help.sentences.dataset import DATASET
from prefixcache.help.sentences.engines import ENGINES
from prefixcache.help.sentences.load import LOAD
from prefixcache.help.sentences.load_answers import LOAD_ANSWERS
from prefixcache.help.sentences.load_checks import LOAD_CHECKS
from prefixcache.help.sentences.load_shapes import LOAD_SHAPES
from prefixcache.help.sentences.reference import REFERENCE
from prefixcache.help.sentences.simulation import SIMULATION
from prefixcache.help.sentences.stages import STAGES
from prefixcache.help.sentences.workload import WORKLOAD

TABLES = (
    ANALYSIS,
    API,
    COMMANDS,
    CONFIG,
    CONFIG_FILE,
    CONTENT,
    DATASET,
    ENGINES,
    LOAD,
    LOAD_ANSWERS,
    LOAD_CHECKS,
    LOAD_SHAPES,
    REFERENCE,
    SIMULATION,
    STAGES,
    WORKLOAD,
)
SENTENCES: dict[str, str] = {english: chinese for table in TABLES for english, chinese in table.items()}
