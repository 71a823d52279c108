"""Task probe_tokenizer (see `prefixcache.stages.probe_tokenizer`)."""

from prefixcache.stages.probe_tokenizer import PROBE_TOKENIZER
from tasks.stage_task import stage_task

probe_tokenizer = stage_task(PROBE_TOKENIZER)
