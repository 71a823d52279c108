"""Errors, warnings and remedies in Chinese: English sentence with named ``{places}`` → Chinese one with the same.

One table for each room that makes them. A sentence stands here as it stands in the code, with a name for each value;
how it is found again is :mod:`prefixcache.help.chinese.sentences.form`.
"""

from __future__ import annotations

from prefixcache.help.chinese.sentences.analysis import ANALYSIS
from prefixcache.help.chinese.sentences.api import API
from prefixcache.help.chinese.sentences.commands import COMMANDS
from prefixcache.help.chinese.sentences.config import CONFIG
from prefixcache.help.chinese.sentences.config_file import CONFIG_FILE
from prefixcache.help.chinese.sentences.content import CONTENT
from prefixcache.help.chinese.sentences.dataset import DATASET
from prefixcache.help.chinese.sentences.engines import ENGINES
from prefixcache.help.chinese.sentences.load import LOAD
from prefixcache.help.chinese.sentences.load_answers import LOAD_ANSWERS
from prefixcache.help.chinese.sentences.load_checks import LOAD_CHECKS
from prefixcache.help.chinese.sentences.load_shapes import LOAD_SHAPES
from prefixcache.help.chinese.sentences.reference import REFERENCE
from prefixcache.help.chinese.sentences.simulation import SIMULATION
from prefixcache.help.chinese.sentences.stages import STAGES
from prefixcache.help.chinese.sentences.workload import WORKLOAD

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
