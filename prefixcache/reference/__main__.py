"""``python -m prefixcache.reference``: run the reference engine until it is told to stop."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time

from prefixcache.errors import PrefixCacheError
from prefixcache.reference.dialects.traits import TRAITS
from prefixcache.reference.options import EMBEDDED, MATCHING, RESETS, SALTS, EngineOptions

PARENT_POLL_S = 0.5


def main(arguments: list[str] | None = None) -> int:
    """Parse, serve, and turn a user's mistake into one line on stderr and the exit code of its kind."""
    parser = argparse.ArgumentParser(prog="python -m prefixcache.reference", description=__doc__)
    defaults = EngineOptions(EMBEDDED)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one (default)")
    parser.add_argument("--tokenizer", default=EMBEDDED, help="a folder, or 'embedded' (default)")
    parser.add_argument("--model", default=defaults.model, help="served model name")
    parser.add_argument("--block-size", type=int, default=defaults.block_size, help="tokens per cache block")
    parser.add_argument(
        "--num-blocks", type=int, default=defaults.num_blocks, help="blocks per rank, one is not usable"
    )
    parser.add_argument("--dp", type=int, default=defaults.dp, help="data-parallel ranks")
    parser.add_argument("--prefill-tps", type=float, default=0, help="uncached prompt tokens/s of a rank, 0: no limit")
    parser.add_argument("--decode-tps", type=float, default=0, help="output tokens/s of a request, 0: no limit")
    parser.add_argument("--max-model-len", type=int, default=defaults.max_model_len, help="prompt and output together")
    parser.add_argument("--seed", type=int, default=defaults.seed, help="varies the output tokens")
    parser.add_argument("--kv-events", default="", metavar="tcp://*:PORT", help="publish KV events, rank r at PORT + r")
    parser.add_argument("--kv-events-replay", default="", metavar="tcp://*:PORT", help="repeat them when asked")
    parser.add_argument("--faults", default="", metavar="FILE", help="what happens to which requests (docs/faults.md)")
    parser.add_argument("--stamp", action="store_true", help="token events carry the server's perf_counter")
    parser.add_argument("--tls-cert", default="", metavar="FILE", help="certificate (PEM): serve HTTPS")
    parser.add_argument("--tls-key", default="", metavar="FILE", help="its key (PEM)")
    _add_pose(parser, defaults)
    parser.add_argument("--end-with", type=int, metavar="PID", help="end when this parent process is gone")
    given = vars(parser.parse_args(arguments))
    host, port, parent = given.pop("host"), given.pop("port"), given.pop("end_with")
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        options = EngineOptions(**given)
        from prefixcache.reference.server import serve  # after the options: their mistakes need no seconds of imports

        serve(options, host, port)
    except PrefixCacheError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


def _add_pose(parser: argparse.ArgumentParser, defaults: EngineOptions) -> None:
    """What it poses as, and how its cache behaves."""
    pose = parser.add_argument_group("posing as another engine (docs/dialects.md)")
    pose.add_argument("--dialect", default=defaults.dialect, help=", ".join(TRAITS))
    pose.add_argument("--hit-unit", type=int, default=0, help="tokens in which it really matches, 0: a block")
    pose.add_argument("--hit-drop", type=int, default=0, help="matched units it computes again (EAGLE, MTP)")
    pose.add_argument("--claims-block-size", type=int, default=0, help="what it says its block size is, 0: the truth")
    pose.add_argument("--matching", default=defaults.matching, help=", ".join(MATCHING))
    pose.add_argument("--reset", default="", help=", ".join(RESETS) + "; empty: as the dialect's")
    pose.add_argument("--salt", default="", help=", ".join(SALTS) + "; empty: as the dialect's")
    for flag, text in (
        ("--prefix-caching", "without it nothing is ever hit"),
        ("--outputs-cached", "generated tokens can be hit"),
        ("--usage-cached", "usage tells cached tokens"),
    ):
        pose.add_argument(flag, action=argparse.BooleanOptionalAction, default=True, help=text)


def _end_with(parent: int) -> None:
    """Leave at once when the parent is gone: nobody is left to ask for a clean end."""
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_S)
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
