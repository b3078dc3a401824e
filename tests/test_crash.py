"""A load that is killed anywhere, and again and again, ends where an undisturbed one does."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import engines
import pytest
from dump import Dump, differences, dump

from gsw_graph.config import Settings
from gsw_graph.memory import Memory

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")

CRASHES = int(os.environ.get("GSWGRAPH_CRASHES", "10"))
RUNNER = str(Path(__file__).with_name("crash_runner.py"))
DOCUMENTS = 60


def write_corpus(folder: Path, changed: bool) -> None:
    """Sixty documents that share names, every tenth too large for one transaction; `changed` every other, some shorter, some longer."""
    folder.mkdir(exist_ok=True)
    for n in range(DOCUMENTS):
        new = changed and n % 2 == 0
        size = (12 if n % 4 else 6) if n % 10 == 0 and not new else 6 if n % 10 == 0 or (new and n % 14 == 0) else 1
        first = f"Then Person{n} Smith met Person{(n + 1) % DOCUMENTS} Smith in {'Newtown' if new else 'Oldtown'} on 3 May 18{n:02}. So {'BRÖN' if n % 3 else 'Brön'} sang."
        filler = [f"On {m + 1} May 18{n:02} they wrote of Topic{n}x{m} and of the Bank of {'England' if m % 2 else 'Wales'} at length." for m in range(14)]
        text = "\n\n".join(f"{first} Part {part}. {' '.join(filler)}" for part in range(size))
        (folder / f"document{n}.txt").write_text(text, encoding="utf-8")


def write_workspaces(folder: Path, changed: bool) -> None:
    """Sixty ready workspaces that share names and roles, every tenth too large for one transaction; `changed`: every other has other findings, some other text."""
    folder.mkdir(exist_ok=True)
    records = []
    for n in range(DOCUMENTS):
        new = changed and n % 2 == 0
        size, town = 12 if n % 10 == 0 else 1, "Newtown" if new else "Oldtown"
        names = [f"Person{n} Smith", f"Person{(n + 1) % DOCUMENTS} Smith", town, "BRÖN" if n % 3 else "Brön", *(f"Guest{n}x{m} Smith" for m in range(size))]
        record = {
            "id": f"w{n}",
            "title": f"Person{n} Smith",
            "text": f"Then {names[0]} met {names[1]} in {town if n % 4 else 'Oldtown'}. " + "So it was said at length, and said again. " * 60 * size,
            "entities": [{"name": name, "roles": [{"role": f"role {(n + m) % 7}", "states": [f"state {m}"]}]} for m, name in enumerate(names)],
            "verb_phrases": [
                {"phrase": "met", "questions": [{"text": f"Whom did {name} meet in {town}?", "answers": [names[1], "TEXT:nobody else"]}]} for name in names
            ],
            "propositions": [{"text": f"{name} met {names[1]}.", "entities": [name, names[1]]} for name in names],
        }
        records.append(json.dumps(record))
    for part in range(4):
        (folder / f"part{part}.jsonl").write_text("\n".join(records[part::4]), encoding="utf-8")


@dataclass
class Place:
    """Where a crash test works: a memory, documents, and the environment of the runner."""

    settings: Settings
    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        mine = {"NEO4J_URI": self.settings.memory, "NEO4J_PASSWORD": self.settings.password or "", "GSWGRAPH_CACHE": str(self.settings.cache_dir)}
        return {**os.environ, **{name: value for name, value in mine.items() if value}}

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-W", "error", RUNNER, *arguments]
        return subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self) -> float:
        """Load to the end; how many seconds it took once the memory was open."""
        with self.start("load", str(self.folder)) as process:
            assert process.stdout is not None
            assert process.stderr is not None
            line = process.stdout.readline()
            begin = time.monotonic()
            rest, seconds = process.stdout.read(), time.monotonic() - begin
            assert (line[:4], rest, process.wait()) == ("open", "done\n", 0), process.stderr.read()
        return seconds

    def check(self, expected: Dump, strategies: tuple[str, ...] = ("linked", "dense", "bm25")) -> None:
        with Memory.open(settings=self.settings) as memory:
            assert differences(dump(memory), expected) == []
            assert memory.status().unfinished == []
            assert [finding for finding in memory.doctor() if not finding.ok] == []
            for strategy in strategies:
                assert memory.ask("Who is Person7 Smith in Oldtown?", strategy=strategy).passages

    def kill(self, wait: float, *, engine: bool, early: bool) -> bool:
        """Load and kill it `wait` seconds after its start (`early`) or after it opened the memory; `engine`: its engine too. False if it was done before."""
        process, pid = self.start("load", str(self.folder)), 0
        with process:
            assert process.stdout is not None
            assert process.stderr is not None
            if not early:
                line = process.stdout.readline()
                assert line.startswith("open"), process.stderr.read()
                pid = int(line.split()[1])
            time.sleep(wait)
            process.kill()
            if engine and pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return "done" not in process.stdout.read()


@pytest.fixture(params=["embedded", "neo4j-5.26"])
def place(request: pytest.FixtureRequest, tmp_path: Path, neo4j_server: Callable[[str], Settings], fake_embedder: None) -> Iterator[Callable[[], Place]]:
    """Gives a place with an empty memory."""
    number = iter(range(10))

    def empty() -> Place:
        if request.param == "embedded":
            return Place(Settings(memory=str(tmp_path / f"memory{next(number)}")), tmp_path / "corpus")
        settings = neo4j_server("5.26")
        engines.empty(settings)
        return Place(replace(settings), tmp_path / "corpus")

    return empty


def load_at_once(here: Place) -> None:
    """An undisturbed load in this process."""
    with Memory.open(settings=here.settings) as memory:
        assert memory.load(str(here.folder)).failures == []


def test_kill_anywhere(place: Callable[[], Place], tmp_path: Path) -> None:
    write_corpus(tmp_path / "corpus", changed=False)
    seconds = place().finish()
    write_corpus(tmp_path / "corpus", changed=True)
    undisturbed = place()
    load_at_once(undisturbed)
    with Memory.open(settings=undisturbed.settings) as memory:
        expected = dump(memory)
    killed = place()
    rng, kills, half = random.Random(1871), 0, (CRASHES + 1) // 2
    for changed in (False, True):  # a first load, then one that replaces half of the documents
        write_corpus(tmp_path / "corpus", changed=changed)
        for number in range(half):
            early = number % 5 == 4
            wait = rng.uniform(0, 2.0) if early else rng.uniform(0, max(2.2 * seconds / half, 0.3))
            kills += killed.kill(wait, engine=rng.random() < 0.5, early=early)
        killed.finish()
    assert kills >= CRASHES * 0.6
    killed.check(expected)


def test_kill_while_workspaces_are_loaded(place: Callable[[], Place], tmp_path: Path) -> None:
    """First over the plain text of some, then over a first load, then over one that replaces half of them."""
    write_workspaces(tmp_path / "corpus", changed=False)
    seconds = place().finish()
    write_workspaces(tmp_path / "corpus", changed=True)
    undisturbed = place()
    load_at_once(undisturbed)
    with Memory.open(settings=undisturbed.settings) as memory:
        expected = dump(memory)
        assert memory.status().nodes["QAPair"] > 4 * DOCUMENTS
    killed = place()
    rng, kills = random.Random(1902), 0
    plain = [{key: json.loads(line)[key] for key in ("id", "title", "text")} for line in (tmp_path / "corpus" / "part1.jsonl").read_text().splitlines()]
    (tmp_path / "plain.jsonl").write_text("\n".join(map(json.dumps, plain)), encoding="utf-8")
    load_at_once(replace(killed, folder=tmp_path / "plain.jsonl"))
    for changed in (False, True):
        write_workspaces(tmp_path / "corpus", changed=changed)
        for share in (0.2, 0.6):
            kills += killed.kill(share * seconds * rng.uniform(0.7, 1.0), engine=rng.random() < 0.5, early=False)
        killed.finish()
    assert kills >= 3
    killed.check(expected, ("linked", "ricr", "dense", "bm25"))


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
def test_ctrl_c_ends_a_load_quietly_and_the_next_completes_it(place: Callable[[], Place], tmp_path: Path, share: float) -> None:
    write_corpus(tmp_path / "corpus", changed=False)
    here = place()
    with here.start("cli", "load", str(here.folder)) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "embedding\n"
        time.sleep(share * 2)
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        said, code = process.stderr.read(), process.wait(60)
    assert code == 130, said
    assert said.strip() == "Interrupted. The next load completes what is missing."
    load_at_once(here)
    with Memory.open(settings=here.settings) as memory:
        assert memory.status().nodes["Document"] == DOCUMENTS
        assert [finding for finding in memory.doctor() if not finding.ok] == []
        stopped = memory.load(str(here.folder)).documents
    assert stopped.unchanged == DOCUMENTS
