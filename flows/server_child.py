"""The local Prefect server's process: `python -m flows.server_child PORT PARENT_PID`."""

from __future__ import annotations

import os
import sys
import threading
import time

CHECK_SECONDS = 0.5


def end_with(parent: int) -> None:
    """End this process when the parent is gone, however it went."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(CHECK_SECONDS)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def main() -> None:
    port, parent = int(sys.argv[1]), int(sys.argv[2])
    end_with(parent)
    import uvicorn
    from prefect.server.api.server import create_app

    uvicorn.run(create_app, factory=True, host="127.0.0.1", port=port, log_level="error", lifespan="on")


if __name__ == "__main__":
    main()
