"""Loads slowly, in many small transactions and with the fake embedder, so that tests can kill it anywhere: a process of its own.

`crash_runner.py load PATH` says `open PID` when the memory is open (the id of the embedded engine, or 0), and `done` at the end.
`crash_runner.py merge` merges, one pair a transaction, and says `merging` before it commits each. `crash_runner.py cli ARGUMENTS` is the command line; it says `embedding` when it begins to. The memory is the one of the environment.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import fakes

from gsw_graph.config import Settings
from gsw_graph.extract import Rules
from gsw_graph.extract.pool import ByModel
from gsw_graph.load import loading
from gsw_graph.memory import Memory
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store import writer

SECONDS = 0.01  # that the embedding of a window takes


class Slow(fakes.BagOfWords):
    def encode(self, texts, *, query):
        if sys.argv[0] != "load":
            say("embedding")
        time.sleep(SECONDS)
        return super().encode(texts, query=query)


def say(text):
    print(text, flush=True)


def main():
    loading._COMPARED = Rules.window = ByModel.window = 4
    writer.BATCH_BYTES = 1
    writer.TRANSACTION_BYTES = 12_000
    writer.MESSAGE_BYTES = 6_000
    writer._FORGET_PASSAGES = 3
    writer._MERGES = 1
    Embedder.load = staticmethod(lambda settings: Embedder(settings.embedder, Slow()))
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # a shell starts what runs in the background without it
    mode, *arguments = sys.argv[1:]
    sys.argv = [mode, *arguments]
    if mode == "cli":
        runpy.run_module("gsw_graph.cli", run_name="__main__")
    with Memory.open(settings=Settings.from_env()) as memory:
        close = memory._connection.on_close
        say(f"open {close.__self__._process.pid if close else 0}")
        if mode == "merge":
            plain = writer._merge

            def told(tx, rows):
                found = plain(tx, rows)
                say("merging")
                return found

            writer._merge = told
            memory.merge()
        elif mode == "restore":
            memory.restore(
                arguments[0],
                progress=lambda written: (
                    os.kill(os.getpid(), signal.SIGKILL) if written > int(arguments[1]) else None
                ),
            )
        else:
            report = memory.load(*arguments)
            assert not report.failures
    say("done")


if __name__ == "__main__":
    main()
