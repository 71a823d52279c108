"""Task publish (see `prefixcache.stages.publish`)."""

from prefixcache.stages.publish import PUBLISH
from tasks.stage_task import stage_task

publish = stage_task(PUBLISH)
