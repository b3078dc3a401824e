"""`python -m gsw_graph.testing REPLIES`: the model server as a process of its own. Prints what to set, then serves until it is ended."""

from __future__ import annotations

import argparse
import signal
import sys
import threading

from gsw_graph.errors import GswGraphError
from gsw_graph.testing.server import ModelServer


def main() -> int:
    """Run until SIGINT or SIGTERM; the exit code."""
    parser = argparse.ArgumentParser(prog="python -m gsw_graph.testing", description="A server that speaks as OpenAI's does, with scripted replies.")
    parser.add_argument("replies", help="JSONL file: one reply, or fault, a line")
    parser.add_argument("--port", type=int, default=0, help="default: one that is free")
    parser.add_argument("--delay", type=float, default=0.0, metavar="SECONDS", help="that each answer takes")
    parser.add_argument("--limit", type=int, metavar="CALLS", help="worked on at once; others wait")
    parser.add_argument("--faults", type=float, default=0.0, metavar="SHARE", help="of the requests that go wrong, from 0 to 1")
    options = parser.parse_args()
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    try:
        with ModelServer(options.replies, port=options.port, delay=options.delay, limit=options.limit, faults=options.faults, keep=0) as server:
            print(f"export OPENAI_BASE_URL={server.url}", "export OPENAI_API_KEY=none", "export OPENAI_MODEL=test-model", sep="\n", flush=True)  # noqa: T201
            while not ended.wait(1.0):  # a wait without end would not see signals on Windows
                pass
    except GswGraphError as wrong:
        print(f"Error: {wrong}", file=sys.stderr)  # noqa: T201
        return 1
    struck = ", ".join(f"{kind} {count}" for kind, count in server.fault_counts().items())
    came, answered, unknown = server.count(), server.count(status=200), server.count(status=422)
    print(f"{came} chat calls, {answered} answered with a reply, {unknown} without a scripted one; faults: {struck or 'none'}", flush=True)  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
