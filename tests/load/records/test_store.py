"""Records on a disk that has no room left."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

LIMITED = """
import resource, sys
from pathlib import Path
from prefixcache.errors import EnvironmentFailure
from prefixcache.load.records.store import Appender
appender = Appender(Path(sys.argv[1]) / "rows.jsonl")
resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, resource.RLIM_INFINITY))
try:
    for number in range(1_000):
        appender.append({"row": number})
except EnvironmentFailure as error:
    assert "rows.jsonl.partial" in error.message and "File too large" in error.message and error.remedy
    appender.close(complete=False)
    print("closed")
"""


def test_a_full_disk_does_not_fail_again_on_closing(tmp_path: Path) -> None:
    """Rows that the disk refused wait in the buffer; closing a broken-off file must not raise a second error."""
    ended = subprocess.run([sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, check=False)
    assert ended.stdout == "closed\n", ended.stderr
    rows = (tmp_path / "rows.jsonl.partial").read_text().splitlines()
    assert len(rows) > 100
    assert not (tmp_path / "rows.jsonl").exists()
