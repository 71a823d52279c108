"""Task tokenize_sources (see `prefixcache.stages.tokenize_sources`): the only one that may need a hub."""

from prefixcache.stages.tokenize_sources import TOKENIZE_SOURCES
from tasks.stage_task import stage_task

tokenize_sources = stage_task(TOKENIZE_SOURCES)
