"""Where loads are killed: a memory, documents, and a process that loads them."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import engines
import pytest
from dump import differences, dump

from gsw_graph.config import Settings
from gsw_graph.memory import Memory

CRASHES = int(os.environ.get("GSWGRAPH_CRASHES", "1"))
RUNNER = str(Path(__file__).with_name("crash_runner.py"))


@dataclass
class Place:
    """Where a crash test works: a memory, documents, and the environment of the runner."""

    settings: Settings
    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)
    killed_at: float = 0.0

    @property
    def environment(self):
        mine = {
            **self.variables,
            "NEO4J_URI": self.settings.memory,
            "NEO4J_PASSWORD": self.settings.password or "",
            "GSWGRAPH_CACHE": str(self.settings.cache_dir),
        }
        return {**os.environ, **{name: value for name, value in mine.items() if value}}

    def start(self, *arguments):
        command = [sys.executable, "-W", "error", RUNNER, *arguments]
        return subprocess.Popen(
            command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def finish(self):
        """Load to the end; how many seconds it took once the memory was open."""
        with self.start("load", str(self.folder)) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            line = process.stdout.readline()
            begin = time.monotonic()
            rest = process.stdout.read()
            seconds = time.monotonic() - begin
            assert line[:4] == "open", process.stderr.read()
            assert rest == "done\n", process.stderr.read()
            assert process.wait() == 0, process.stderr.read()
        return seconds

    def check(self, expected, strategies=("linked", "dense", "bm25")):
        with Memory.open(settings=self.settings) as memory:
            assert differences(dump(memory), expected) == []
            assert memory.status().unfinished == []
            assert [finding for finding in memory.doctor() if not finding.ok] == []
            for strategy in strategies:
                assert memory.ask("Who is Person7 Smith in Oldtown?", strategy=strategy).passages

    def kill(self, wait, *, engine, early):
        """Load and kill it `wait` seconds after its start (`early`) or after it opened the memory; `engine`: its engine too. False if it was done before."""
        process = self.start("load", str(self.folder))
        pid = 0
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            if not early:
                line = process.stdout.readline()
                assert line.startswith("open"), process.stderr.read()
                pid = int(line.split()[1])
            time.sleep(wait)
            self.killed_at = time.monotonic()
            process.kill()
            if engine and pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return "done" not in process.stdout.read()


@pytest.fixture(params=["embedded", "neo4j-5.26"], name="place")
def new_place(request, tmp_path, neo4j_server, fake_embedder):
    """Gives a place with an empty memory."""
    number = iter(range(10))

    def empty():
        if request.param == "embedded":
            return Place(Settings(memory=str(tmp_path / f"memory{next(number)}")), tmp_path / "corpus")
        settings = neo4j_server("5.26")
        engines.empty(settings)
        return Place(replace(settings), tmp_path / "corpus")

    return empty


def load_at_once(here):
    """An undisturbed load in this process."""
    with Memory.open(settings=here.settings) as memory:
        assert memory.load(str(here.folder)).failures == []
