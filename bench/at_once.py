"""What `eval --at-once` saves where a language model takes its time, and what a run that is killed costs.

    python bench/at_once.py [--questions 200] [--at-once 16] [--delay 1] [--kills 2]

A made-up set in the shape of HippoRAG 2's files is loaded with a scripted model server; then its questions are
asked with `dense`, `linked` and `ricr`, plans and answers by the model: one at a time, so many at once, and so
many at once in a process that is killed with SIGKILL and called again. Each of the three has an empty cache of
replies. Prints the seconds, the calls, those paid for twice (but for those under way at a kill), and whether the
results are the same.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import engines  # type: ignore[import-not-found,unused-ignore]
import published  # type: ignore[import-not-found,unused-ignore]
from model_server import ModelServer  # type: ignore[import-not-found,unused-ignore]

STRATEGIES = "dense,linked,ricr"


def write(folder: Path, number: int) -> None:
    """Write questions and their corpus as HippoRAG 2 does."""
    (folder / "set.json").write_text(json.dumps([published.musique(n) for n in range(number)]))
    corpus = {
        p["title"]: {"title": p["title"], "text": p["text"]}
        for n in range(number)
        for p in published.paragraphs(n)
    }
    (folder / "set_corpus.json").write_text(json.dumps([*corpus.values()]))


def results(folder: Path) -> Any:
    """Return what must not depend on how the questions were asked: all but times and what came from the cache."""
    questions = json.loads((folder / "results.json").read_text())["questions"]
    for question in questions:
        for row in question["strategies"].values():
            del row["seconds"], row["ms"], row["cached"]
    return questions


class Runs:
    """Runs of one evaluation in processes of their own, over one memory.

    Args:
        folder: Everything is written there.
        server: The scripted model.
        questions: How many the set has.
    """

    def __init__(self, folder: Path, server: ModelServer, questions: int) -> None:
        self.folder, self.server = folder, server
        write(folder, questions)
        self.cache = engines.quick_cache(folder / "cache")
        self.env = {"GSWGRAPH_LLM": "m", "GSWGRAPH_LLM_URL": server.url, "GSWGRAPH_CACHE": str(self.cache)}
        self.call("load", "set_corpus.json", "--extractor", "llm")

    def call(self, *args: str, calls: int | None = None) -> int:
        """Run `gswgraph`, and kill it when so many calls came.

        Returns:
            The calls that were under way at the kill.

        Raises:
            CalledProcessError: It failed.
        """
        command = [sys.executable, "-m", "gsw_graph.cli", "--memory", str(self.folder / "memory"), *args]
        process = subprocess.Popen(
            command, cwd=self.folder, env={**os.environ, **self.env}, stdout=subprocess.DEVNULL
        )
        while (code := process.poll()) is None:
            time.sleep(0.02)
            if calls is not None and len(self.server.calls) >= calls:
                killed = time.monotonic()
                process.kill()
                process.wait()
                while self.server.in_flight:
                    time.sleep(0.02)
                # A reply of the last tenth of a second may not have been read.
                return sum((call.answered or 0) > killed - 0.1 for call in self.server.calls)
        if code:
            raise subprocess.CalledProcessError(code, command)
        return 0

    def evaluate(self, name: str, at_once: int, kills: Sequence[int] = ()) -> dict[str, float]:
        """Evaluate with an empty cache of replies, killed after so many calls each time."""
        for file in self.cache.glob("llm.sqlite*"):
            file.unlink()
        first, under_way, begin = len(self.server.calls), 0, time.monotonic()
        asking = (
            "eval",
            "set.json",
            "--strategy",
            STRATEGIES,
            "--at-once",
            str(at_once),
            "--out",
            name,
            "-q",
        )
        for number in kills:
            under_way += self.call(*asking, calls=first + number)
        self.call(*asking)
        seconds, calls = time.monotonic() - begin, self.server.calls[first:]
        return {
            "seconds": round(seconds, 1),
            "calls": len(calls),
            "at once": max(
                sum(other.arrived <= call.arrived < (other.answered or 0) for other in calls)
                for call in calls
            ),
            "repeated": len(calls) - len({call.digest for call in calls}),
            "under way at kills": under_way,
        }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--kills", type=int, default=2)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, ModelServer(published.model) as server:
        folder = Path(name)
        runs = Runs(folder, server, arguments.questions)
        server.delay = arguments.delay
        beside = runs.evaluate("beside", arguments.at_once)
        print(f"{arguments.at_once} at once: {beside}", flush=True)
        kills = [int(beside["calls"] * n / (arguments.kills + 1)) for n in range(1, arguments.kills + 1)]
        print(
            f"killed {arguments.kills} times: {runs.evaluate('killed', arguments.at_once, kills)}", flush=True
        )
        alone = runs.evaluate("alone", 1)
        print(f"one at a time: {alone}, {alone['seconds'] / beside['seconds']:.1f} times as long")
        same = results(folder / "alone") == results(folder / "beside") == results(folder / "killed")
        print(f"the same results: {same}")


if __name__ == "__main__":
    main()
