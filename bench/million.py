"""A memory of many passages, from files to answers: what each step takes, and how much longer a warm question takes
than in a smaller one.

    python bench/million.py files DIR --passages 1000000         # seconds, peak memory
    python bench/million.py check DIR                            # the same, of `bulk DIR --check`
    python bench/million.py import DIR [--neo4j 2026]            # a private Neo4j in DIR, and its indexes
    python bench/million.py load DIR --passages 20000            # instead of the three: a load without embedding
    python bench/million.py ask SMALL LARGE [--neo4j 2026]       # two of these folders, asked in turns

Passages, names and vectors are made (made_world.py); a plan is given where a strategy follows one, and the questions'
vectors are made too, so that no model runs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import bulk as loading
from made_world import DIMENSION, NAME, World

from gsw_graph import Memory, Settings
from gsw_graph.engine import connect, local, local_maven
from gsw_graph.moving import bulk, fileset
from gsw_graph.moving.checking import check
from gsw_graph.moving.importing import finish, into_private
from gsw_graph.moving.place import Place
from gsw_graph.store import schema

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
import engines  # type: ignore[import-not-found]

ASKED = {"dense": False, "linked": False, "fusion": False, "fusion with a plan": True, "ricr": True}  # with a plan?
_PAGE_CACHE = "server.memory.pagecache.size="


def files(arguments: argparse.Namespace) -> None:
    """Write the files of a memory."""
    place = arguments.folder / "files"
    place.mkdir(parents=True)
    with took("files"):
        made = (bulk.block(*block) for block in World(arguments.passages).blocks())
        bulk.write(made, Place.of(place), bulk.memory_row(NAME, DIMENSION))
    counts = fileset.manifest(place).counts
    nodes, edges = (sum(n for kind, n in counts.items() if (" " in kind) == between) for between in (False, True))
    size = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
    print(f"{arguments.passages:,} passages, {nodes:,} nodes, {edges:,} relationships, {size / 1e6:,.0f} MB")


def check_files(arguments: argparse.Namespace) -> None:
    """Read the files back."""
    with took("read back"):
        found = check(arguments.folder / "files")
    print(found.faults or "sound")


def make(arguments: argparse.Namespace) -> None:
    """Import the files into a private Neo4j, and make it whole."""
    settings = engines.private_cache(arguments.folder)
    with took("neo4j-admin database import"):
        into_private(settings, arguments.folder / "files", arguments.neo4j)
    with served(arguments.folder, arguments) as (server, at), took("doctor --mend", server.pid):
        connection = connect(at)
        finish(connection)
        connection.close()


def load(arguments: argparse.Namespace) -> None:
    """Load the same by transactions, and index it; nothing is read or embedded."""
    engines.private_cache(arguments.folder)
    with served(arguments.folder, arguments) as (server, at), contextlib.closing(connect(at)) as connection:
        with took("load, the client"), took("load, the server", server.pid):
            loading.put(connection, World(arguments.passages).blocks(), NAME, DIMENSION)
        with took("its indexes", server.pid):
            schema.build_search_indexes(connection, DIMENSION)


def ask(arguments: argparse.Namespace) -> None:
    """Ask two memories the same kinds of questions, in turns."""
    with contextlib.ExitStack() as stack:
        sides = [Side(folder, stack.enter_context(served(folder, arguments)), arguments) for folder in arguments.folders]
        print("milliseconds, median (of these: database, the client's own); the server's processor time\n")
        print(f"| | {' | '.join(f'{side.world.size:,}' for side in sides)} | ratio |\n|---|---|---|---|")
        for label, planned in ((one, ASKED[one]) for one in arguments.strategies or ASKED):
            for side in sides:
                start = time.perf_counter()
                side.ask(label, planned, 0)
                side.first = time.perf_counter() - start
                for number in range(1, arguments.rounds // 2):
                    side.ask(label, planned, number)
                side.clear()
            for number in range(arguments.rounds):
                for side in sides:
                    side.ask(label, planned, number)
            cells, totals = zip(*(side.told() for side in sides), strict=True)
            print(f"| {label} | {' | '.join(cells)} | {totals[-1] / totals[0]:.2f} |", flush=True)
        for side in sides:
            print(f"{side.world.size:,}: found {json.dumps(side.right)}")


class Side:
    """One memory and what asking it took."""

    def __init__(self, folder: Path, server: tuple[local.LocalServer, Settings], arguments: argparse.Namespace) -> None:
        self._pid, settings = server[0].pid, replace(server[1], embedder=NAME)
        if arguments.client is not None:
            settings = replace(settings, linked_client_passages=arguments.client)
        connection = connect(settings)
        self.world = World(fileset.manifest(folder / "files").counts["Passage"])
        self._memory = Memory(connection, settings, self.world)  # type: ignore[arg-type]
        self._asked = self.world.questions(arguments.rounds)
        self.right: dict[str, float] = {}
        self.first = 0.0
        self.clear()

    def clear(self) -> None:
        """Begin to count anew."""
        self._seconds: list[dict[str, float]] = []
        self._found: list[bool] = []
        self._used = 0.0

    def ask(self, label: str, planned: bool, number: int) -> None:
        """One question, without the time for its vectors."""
        question, plan = self._asked[number]
        before = cpu(self._pid)
        found = self._memory.ask(
            question, strategy=label.split()[0], plan=plan if planned else None, keep=False, llm=False, past=False
        )
        self._used += cpu(self._pid) - before
        self._seconds.append(found.seconds)
        own = question.removeprefix("Where does the founder of ").removesuffix(" stand?")
        self._found.append(own in [passage.title for passage in found.passages])
        self._label = label

    def told(self) -> tuple[str, float]:
        """What is told of a strategy, and its median."""
        total = statistics.median(one["total"] - one["embed"] for one in self._seconds)
        base = statistics.median(one["database"] for one in self._seconds)
        self.right[self._label] = round(statistics.mean(self._found), 2)
        used = self._used / len(self._seconds)
        return (
            f"{1000 * total:.0f} ({1000 * base:.0f}, {1000 * (total - base):.0f}); {1000 * used:.0f}; "
            f"first {self.first:.1f} s"
        ), total


@contextlib.contextmanager
def served(folder: Path, arguments: argparse.Namespace) -> Iterator[tuple[local.LocalServer, Settings]]:
    """The private Neo4j of a folder while it runs; a page cache as large as the machine allows is set."""
    settings = Settings(cache_dir=folder)
    conf = local_maven._CONF
    local_maven._CONF = conf.replace(f"{_PAGE_CACHE}512m", f"{_PAGE_CACHE}{arguments.page_cache}")
    try:
        server = local.start(settings, arguments.neo4j, *engines.free_ports())
    finally:
        local_maven._CONF = conf
    try:
        yield server, Settings(memory=server.url, cache_dir=folder)
    finally:
        local.stop(settings, arguments.neo4j)


@contextlib.contextmanager
def took(what: str, pid: int | None = None) -> Iterator[None]:
    """Print the seconds, the processor's of this process and its children or of another, and the peak memory."""
    start, used = time.perf_counter(), cpu(pid)
    yield
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    peak = f", peak memory {max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, children) / 1024:,.0f} MB"
    print(f"{what}: {time.perf_counter() - start:.0f} s, processor {cpu(pid) - used:.0f} s{'' if pid else peak}", flush=True)


def cpu(pid: int | None) -> float:
    """Processor seconds of a process, by default of this one and its children that ended."""
    if pid is None:
        return sum(os.times()[:4])
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    steps: dict[str, Callable[[argparse.Namespace], None]] = {
        "files": files,
        "check": check_files,
        "import": make,
        "load": load,
    }
    for name, step in steps.items():
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.set_defaults(step=step)
        if name in ("files", "load"):
            command.add_argument("--passages", type=int, default=100_000)
        if name in ("import", "load"):
            _of_server(command)
    command = commands.add_parser("ask")
    command.add_argument("folders", type=Path, nargs=2)
    command.add_argument("--rounds", type=int, default=60)
    command.add_argument("--strategies", nargs="+", choices=ASKED)
    command.add_argument("--client", type=int, help="passages up to which the client holds the names")
    command.set_defaults(step=ask)
    _of_server(command)
    arguments = parser.parse_args()
    arguments.step(arguments)


def _of_server(command: argparse.ArgumentParser) -> None:
    command.add_argument("--neo4j", default="2026", choices=list(local.RELEASES))
    command.add_argument("--page-cache", default="3g")


if __name__ == "__main__":
    main()
