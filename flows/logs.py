"""The product's log lines in the logs of a flow run."""

from __future__ import annotations

import logging


def log_to_prefect() -> None:
    """Let INFO lines of ``prefixcache`` pass; every flow calls this first.

    Prefect gives the loggers named in PREFECT_LOGGING_EXTRA_LOGGERS its handlers, but no level, so that the root's
    WARNING would hold back all that stages tell. The handlers decide where a line is shown: on the server it always is,
    on the terminal of the command line it is not (`local_server.ready_prefect`).
    """
    logger = logging.getLogger("prefixcache")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
