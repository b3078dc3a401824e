"""`python -m gsw_graph.testing REPLIES` or `--record FOLDER`: the model server as a process of its own.
Prints what to set, then serves until it is ended. With `--lines FOLDER` it prints a recording as scripted
replies, with `--open FOLDER` the requests that wait for one, and ends."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import signal
import sys
import threading

from gsw_graph.errors import GswGraphError
from gsw_graph.testing.recorder import SECONDS, Recorder
from gsw_graph.testing.recording import recorded, unanswered
from gsw_graph.testing.server import ModelServer

_AT_ONCE = 32  # requests that a client sends side by side while they are recorded
_LONGER = 60  # seconds that it waits longer than the server, so that it is not the first to give up


def main() -> int:
    """Run until SIGINT or SIGTERM; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m gsw_graph.testing",
        description="A server that speaks as OpenAI's does, with scripted replies.",
    )
    parser.add_argument("replies", nargs="?", help="JSONL file: one reply, or fault, a line")
    parser.add_argument(
        "--record", metavar="FOLDER", help="write what nothing is scripted for to files, and wait for replies"
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=SECONDS,
        metavar="SECONDS",
        help="that a request waits for its reply (%(default)g)",
    )
    parser.add_argument(
        "--note",
        action="store_true",
        help="of --record: wait for no reply; what has none yet is noted and answered with an error",
    )
    parser.add_argument("--open", metavar="FOLDER", help="print the requests of a recording without a reply")
    parser.add_argument("--lines", metavar="FOLDER", help="print a recording as scripted replies")
    parser.add_argument("--written-by", metavar="WHO", help="of --lines: who wrote the replies")
    parser.add_argument("--port", type=int, default=0, help="default: one that is free")
    parser.add_argument("--delay", type=float, default=0.0, metavar="SECONDS", help="that each answer takes")
    parser.add_argument("--limit", type=int, metavar="CALLS", help="worked on at once; others wait")
    parser.add_argument(
        "--faults",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="of the requests that go wrong, from 0 to 1",
    )
    options = parser.parse_args()
    if options.lines and not options.written_by:
        parser.error("--lines needs --written-by: whose words the replies are")
    if not 0 < options.timeout < math.inf:
        parser.error("--timeout is a number of seconds above 0")
    if options.note and not options.record:
        parser.error("--note is of --record: it says where")
    if not (options.lines or options.open or options.record or options.replies):
        parser.error("give a file of replies, --record FOLDER, --open FOLDER or --lines FOLDER")
    try:
        if options.open:
            for text in unanswered(options.open):
                sys.stdout.buffer.write(f"{text}\n".encode())
            return 0
        if options.lines:
            for line in recorded(options.lines, options.written_by):
                sys.stdout.buffer.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            return 0
        return _serve(options)
    except GswGraphError as wrong:
        print(f"Error: {wrong}", file=sys.stderr)  # noqa: T201
        return 1


def _serve(options: argparse.Namespace) -> int:
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    with contextlib.ExitStack() as stack:
        recorder = (
            stack.enter_context(Recorder(options.record, 0.0 if options.note else options.timeout))
            if options.record
            else None
        )
        server = stack.enter_context(
            ModelServer(
                options.replies or (),
                recorder=recorder,
                port=options.port,
                delay=options.delay,
                limit=options.limit,
                faults=options.faults,
                keep=0,
            )
        )
        settings = [
            f"OPENAI_BASE_URL={server.url}",
            "OPENAI_API_KEY=none",
            f"OPENAI_MODEL={'recorded' if recorder else 'test-model'}",
        ]
        if recorder:
            settings.append(f"GSWGRAPH_LLM_TIMEOUT={math.ceil(options.timeout) + _LONGER}")
            settings.append(f"GSWGRAPH_CONCURRENCY={_AT_ONCE}")
        print(*(f"export {setting}" for setting in settings), sep="\n", flush=True)  # noqa: T201
        while not ended.wait(1.0):  # a wait without end would not see signals on Windows
            pass
    struck = ", ".join(f"{kind} {count}" for kind, count in server.fault_counts().items())
    came, answered, unknown = server.count(), server.count(status=200), server.count(status=422)
    print(  # noqa: T201
        f"{came} chat calls, {answered} answered with a reply, {unknown} without a scripted one; faults: "
        f"{struck or 'none'}",
        flush=True,
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
