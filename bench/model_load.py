"""A load by a language model that takes a second a call: what the load takes beside waiting and embedding,
and its memory at ten times the size.

    python bench/model_load.py WORKSPACES.jsonl [--passages 1000] [--delay 1] [--limit 32]
    python bench/model_load.py WORKSPACES.jsonl --times 10 [--passages 1000]

The model is `examples/replay.py` in a process of its own, which replies with the ready workspaces of the file.
The load is the command line, on the embedded engine.
`--times` compares the peak memory of a load with that of one of so many times as many passages. There the
model answers at once, and the embedder is loaded and embeds the first texts, then gives random vectors of the
same shape, because a slow processor embeds for
very long; what a real one holds on to later is not seen.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from made import copies, originals

from gsw_graph import Settings
from gsw_graph.load.loading import texts
from gsw_graph.model.documents import Workspace
from gsw_graph.models.embed.embedder import Embedder

LOAD = """import resource, sys
from gsw_graph.cli import main
main(sys.argv[1:], standalone_mode=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"""
AT_RANDOM = """import numpy as np
from gsw_graph.models.embed.embedder import Embedder
really, numbers = Embedder.encode, np.random.default_rng(0)
def encode(self, texts):
    if encode.first:
        encode.first = False
        return really(self, texts)
    found = numbers.standard_normal((len(texts), self.dimension), dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)
encode.first = True
Embedder.encode = encode
"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workspaces")
    parser.add_argument("--passages", type=int, default=1000)
    parser.add_argument("--delay", type=float, default=1.0)
    parser.add_argument("--limit", type=int, default=32)
    parser.add_argument("--times", type=int)
    arguments = parser.parse_args()
    ready = originals(arguments.workspaces)
    workspaces = [workspace for _, _, workspace in copies(ready, arguments.passages)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.times:
            compare(folder, ready, arguments)
            return
        embedder = Embedder.load(Settings.from_env())
        some = [text for workspace in workspaces for text in texts(workspace, "new")]
        embedder.encode(some[:64])
        start = time.perf_counter()
        embedder.encode(list(dict.fromkeys(some)))
        alone = time.perf_counter() - start
        seconds, memory, report = load(folder, workspaces, arguments.delay, arguments.limit)
        waiting = len(workspaces) * arguments.delay / arguments.limit
        parts = ", ".join(f"{key} {value:.1f}" for key, value in report["seconds"].items() if key != "total")
        print(
            f"{len(workspaces)} passages, {report['calls']} calls: waiting {waiting:.1f} s, embedding alone "
            f"{alone:.1f} s, load {seconds:.1f} s"
        )
        print(f"stages, which overlap: {parts}")
        print(
            f"load / (1.15 waiting + embedding): {seconds / (1.15 * waiting + alone):.2f}; peak memory "
            f"{memory / 1024:.0f} MB"
        )


def compare(folder: Path, ready: list[Workspace], arguments: argparse.Namespace) -> None:
    peaks = []
    for passages in (arguments.passages, arguments.times * arguments.passages):
        workspaces = [workspace for _, _, workspace in copies(ready, passages)]
        seconds, memory, report = load(folder, workspaces, 0, arguments.limit, AT_RANDOM)
        peaks.append(memory / 1024)
        nodes = sum(report["nodes"].values())
        print(
            f"{passages} passages, {nodes} nodes: {seconds:.0f} s, peak memory {peaks[-1]:.0f} MB", flush=True
        )
    print(f"{peaks[1] / peaks[0]:.2f} times as much")


def load(
    folder: Path, workspaces: list[Workspace], delay: float, limit: int, before: str = ""
) -> tuple[float, int, dict[str, Any]]:
    """Seconds, peak memory in kB and the report of a load into an empty memory with nothing in the cache
    of replies."""
    corpus, replies = folder / "corpus.jsonl", folder / "replies.jsonl"
    with corpus.open("w") as texts_, replies.open("w") as reply_file:
        for number, workspace in enumerate(workspaces):
            (passage,) = workspace.document.passages
            texts_.write(
                json.dumps({"id": f"p{number}", "title": passage.title, "text": passage.text}) + "\n"
            )
            reply_file.write(
                json.dumps({"when": {"stage": "extract", "key": passage.text}, "reply": reply(workspace)})
                + "\n"
            )
    command = [
        sys.executable,
        str(Path(__file__).parents[1] / "examples" / "replay.py"),
        str(replies),
        "--delay",
        str(delay),
        "--limit",
        str(limit),
    ]
    cache = Settings.from_env().cache_dir
    with (
        tempfile.TemporaryDirectory(dir=folder) as here,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdout is not None
        url = re.search(r"http\S+", server.stdout.readline())
        assert url is not None
        (Path(here) / "cache").mkdir()
        for kept in cache.glob("*"):  # exported models: making them is not what is measured
            if kept.name not in ("llm.sqlite", "llm.sqlite-wal", "llm.sqlite-shm", "graphs"):
                (Path(here) / "cache" / kept.name).symlink_to(kept)
        environment = {
            **os.environ,
            "GSWGRAPH_LLM": "bench",
            "GSWGRAPH_LLM_URL": url[0],
            "GSWGRAPH_CACHE": f"{here}/cache",
        }
        start = time.perf_counter()
        arguments = [
            "--memory",
            f"{here}/memory",
            "load",
            str(corpus),
            "--json",
            "--quiet",
            "--concurrency",
            str(limit),
        ]
        ended = subprocess.run(
            [sys.executable, "-c", before + LOAD, *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        seconds = time.perf_counter() - start
        server.terminate()
        server.communicate()  # its last line
    text, _, memory = ended.stdout.strip().rpartition("\n")
    return seconds, int(memory), json.loads(text)


def reply(workspace: Workspace) -> dict[str, Any]:
    """A workspace as a model says it."""
    return {
        "entities": [
            {
                "name": entity.name,
                "roles": [
                    f"{role}: {'; '.join(states)}" if states else role for role, states in entity.roles
                ],
            }
            for entity in workspace.entities
        ],
        "verb_phrases": [
            {
                "phrase": phrase.phrase,
                "questions": [
                    {"question": pair.question, "answers": list(pair.answers)} for pair in phrase.pairs
                ],
            }
            for phrase in workspace.verb_phrases
        ],
        "propositions": [fact.text for fact in workspace.propositions],
    }


if __name__ == "__main__":
    main()
