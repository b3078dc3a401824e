"""A copy is the memory it came from, on another engine; it goes on where it was cut off; and nothing takes half of one for a memory."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import fakes
import pytest
import samples
from cli_runner import run
from dump import differences, dump

from gsw_graph import moving
from gsw_graph.config import Settings
from gsw_graph.errors import EngineError, InputError, SchemaError
from gsw_graph.inference.embed.embedder import Embedder
from gsw_graph.memory import Memory
from gsw_graph.moving import copying
from gsw_graph.results import Copied
from gsw_graph.store import transfer
from gsw_graph.store.digest import digest, overall
from gsw_graph.store.graph import labels, relationships

CORPUS = str(Path(__file__).parents[1] / "examples" / "corpus")
HOSTILE = "quote ' \" `} ) DETACH DELETE n // ; \n\r\t \u2028 \ufffe 𝒳é NUL\0 end\\"
QUESTION = "Who built the Stone Pier?"


@pytest.fixture(autouse=True)
def fake(fake_embedder: None) -> None:
    """Vectors do not matter here."""


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    """An embedded memory with everything in it: questions, hostile text, properties and nodes of others, a document that was cut off."""
    folder = tmp_path_factory.mktemp("source")
    settings = Settings(memory=str(folder / "memory"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedder, "load", staticmethod(fakes.embedder))
        with Memory.open(settings=settings) as memory:
            assert memory.load(*samples.write(folder), CORPUS).failures == []
            memory.ask(QUESTION)
            memory.cypher("MATCH (d:Document {source: 'pier'}) SET d.status = 'loading'", write=True)
            memory.cypher("MATCH (e:Entity {name: 'Ana Ruiz'}) SET e.mine = $text, e.numbers = [1, 2], e.description = ''", write=True, text=HOSTILE)
            memory.cypher("MATCH (a:Concept {id: 'ana ruiz'}) MATCH (b:Concept {id: 'bruno keller'}) CREATE (a)-[:ALIAS_OF {score: 1.0, method: $text, at: 'now'}]->(b)", write=True, text=HOSTILE)
            memory.cypher("CREATE (:Stranger {id: 'x'})", write=True)
    return settings


@pytest.fixture
def target(fresh_settings: Settings, tmp_path: Path) -> Settings:
    """Another place, empty, on each engine."""
    return replace(fresh_settings, memory=str(tmp_path / "target")) if "://" not in fresh_settings.memory else fresh_settings


def everything(settings: Settings) -> tuple[object, ...]:
    """What a memory holds, down to questions and versions, but for what says where its indexes are."""
    with Memory.open(settings=settings) as memory:
        questions = memory.cypher("MATCH (q:Question)-[r]->(x) RETURN properties(q) AS q, properties(r) AS r, x.id AS id ORDER BY id, toString(r.rank)").rows
        own = memory.cypher("MATCH (m:Memory) RETURN m.id, m.schema, m.embedder, m.dimension, m.created, m.version, m.indexed, m.moving").rows
        return dump(memory), questions, own


def test_a_copy_and_a_copy_of_it_are_equal(source: Settings, target: Settings, tmp_path: Path) -> None:
    first = moving.copy(source, target)
    back = replace(source, memory=str(tmp_path / "back"))
    second = moving.copy(target, back)
    assert first.hash == second.hash
    assert (first.left, second.left) == (1, 0)  # the stranger stays
    assert first.nodes["Question"] == 1
    assert first.copied == sum(first.nodes.values()) + sum(first.relationships.values())
    (one, questions, own), (two, *others) = everything(source), everything(back)
    assert differences({kind: [row for row in rows if row[0] != "Stranger"] for kind, rows in one.items()}, two) == []
    assert others == [questions, own]
    with Memory.open(settings=target) as memory:
        assert memory.status().indexed
        assert memory.ask("Where was Ana Ruiz born?", keep=False).answer == "Valle Alto"
        assert memory.documents(unfinished=True).total == 1


def test_it_goes_on_after_every_transaction(source: Settings, target: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transfer, "_NODES", 100)
    monkeypatch.setattr(transfer, "_BEGINNINGS", 100)
    monkeypatch.setattr(transfer, "MESSAGE_BYTES", 1)
    real, calls, cuts = transfer.write, 0, 0

    def dying(*arguments: object) -> None:
        nonlocal calls
        calls += 1
        real(*arguments)
        if calls == 12:
            raise KeyboardInterrupt

    monkeypatch.setattr(transfer, "write", dying)
    while True:
        calls = 0
        try:
            found = moving.copy(source, target)
        except KeyboardInterrupt:
            cuts += 1
            if cuts > 1:
                continue
            with Memory.open(settings=target) as half:
                refused = (lambda: half.ask(QUESTION), lambda: half.load(CORPUS), lambda: half.forget(everything=True), lambda: half.doctor(mend=True))
                for use in refused:
                    with pytest.raises(SchemaError, match=r"copy of .* not complete"):
                        use()
                assert "copy of" in str(half.status().incomplete)
                assert any("not complete" in finding.found for finding in half.doctor() if not finding.ok)
                assert half.documents().total == half.documents(unfinished=True).total  # all out of sight
        else:
            break
    assert cuts > 1
    assert found.copied < sum(found.nodes.values()) + sum(found.relationships.values())  # and equal, as `copy` compares


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_it_goes_on_after_a_kill(source: Settings, tmp_path: Path) -> None:
    target = replace(source, memory=str(tmp_path / "killed"))
    code = (
        "import sys, os\nfrom gsw_graph import moving\nfrom gsw_graph.store import transfer\ntransfer._NODES = transfer._BEGINNINGS = 40; transfer.MESSAGE_BYTES = 1\n"
        "def report(moved):\n    print(moved.stage, moved.done, flush=True)\n"
        "moving.copy(*moving.sides(sys.argv[1], sys.argv[2]), progress=report)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, source.memory, target.memory], stdout=subprocess.PIPE, text=True)
    for line in lines(process):
        if line.startswith("copying") and int(line.split()[1]) > 500:
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    found = moving.copy(source, target)
    assert 0 < found.copied < sum(found.nodes.values()) + sum(found.relationships.values()) - 400
    again = moving.copy(source, target)
    assert (again.copied, again.hash, again.nodes) == (0, found.hash, found.nodes)


def lines(process: subprocess.Popen[str]) -> Iterator[str]:
    assert process.stdout is not None
    yield from process.stdout


def test_a_target_that_holds_something_is_left_alone(source: Settings, target: Settings, tmp_path: Path) -> None:
    with Memory.open(settings=target) as memory:
        memory.load(CORPUS)
        before = dump(memory)
    with pytest.raises(SchemaError, match="holds a memory already"):
        moving.copy(source, target)
    with Memory.open(settings=target) as memory:
        assert dump(memory) == before
        memory.forget(everything=True)
    assert moving.copy(source, target).copied  # one that holds nothing is as good as none
    with pytest.raises(InputError, match="onto itself"):
        moving.copy(source, source)
    with pytest.raises(EngineError, match="no memory here"):
        moving.copy(Settings(memory=str(tmp_path / "none")), target)
    assert not (tmp_path / "none").exists()
    with Memory.open(str(tmp_path / "empty")) as memory:
        memory.status()
    with pytest.raises(InputError, match="nothing to copy"):
        moving.copy(Settings(memory=str(tmp_path / "empty")), Settings(memory=str(tmp_path / "new")))
    assert not (tmp_path / "new").exists()


def test_foreign_nodes_and_other_copies_are_refused(source: Settings, target: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Memory.open(settings=target) as memory:
        memory.cypher("CREATE (:Document {id: 'theirs'})", write=True)
    with pytest.raises(SchemaError, match="another application"):
        moving.copy(source, target)
    with Memory.open(settings=target) as memory:
        memory.cypher("MATCH (d:Document) DELETE d", write=True)

    def dying(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(transfer, "write", dying)
    with pytest.raises(KeyboardInterrupt):
        moving.copy(source, target)
    other = Settings(memory=str(tmp_path / "other"))
    with Memory.open(settings=other) as memory:
        memory.load(CORPUS)
    with pytest.raises(SchemaError, match="of another memory or before that one changed"):
        moving.copy(other, target)
    with pytest.raises(SchemaError, match="not complete"):
        moving.copy(target, Settings(memory=str(tmp_path / "half")))


@pytest.mark.parametrize(
    "change",
    [
        "MATCH (p:Passage) WITH p ORDER BY p.id LIMIT 1 SET p.text = p.text + ' '",
        "MATCH (:Proposition)-[r:MENTIONS]->() WITH r LIMIT 1 DELETE r",
        "MATCH (a:Entity)-[r:IN]->(b) WITH a, b, r ORDER BY a.id LIMIT 1 SET r.title = NOT r.title",
        "MATCH (q:QAPair) WITH q ORDER BY q.id LIMIT 1 SET q.embedding = [x IN q.embedding | -x]",
    ],
)
def test_the_hash_sees_every_change(source: Settings, embedded_copy: Settings, change: str) -> None:
    with Memory.open(settings=embedded_copy) as memory:
        before = overall(digest(memory._connection))
        memory.cypher(change, write=True)
        assert overall(digest(memory._connection)) != before


@pytest.fixture
def embedded_copy(source: Settings, tmp_path: Path) -> Settings:
    """A copy that a test may change."""
    import shutil

    shutil.copytree(source.memory, tmp_path / "changed")
    return replace(source, memory=str(tmp_path / "changed"))


def test_what_was_changed_behind_its_back_is_named(source: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = copying._Copy._release

    def meddling(self: copying._Copy) -> None:
        real(self)
        with self._to.session() as session:
            session.execute_write(lambda tx: tx.run("MATCH (r:Role) WITH r LIMIT 1 DETACH DELETE r").consume())

    monkeypatch.setattr(copying._Copy, "_release", meddling)
    target = Settings(memory=str(tmp_path / "target"))
    with pytest.raises(EngineError, match=r"differs from .*Entity PLAYS Role.*Role: 6 and 5|differs from .*Role: \d+ and \d+"):
        moving.copy(source, target)
    with Memory.open(settings=target) as memory, pytest.raises(SchemaError, match="not complete"):
        memory.ask(QUESTION)


def test_each_side_has_its_own_user() -> None:
    env = {"NEO4J_USERNAME": "u", "NEO4J_PASSWORD": "p", "NEO4J_DATABASE": "d", "NEO4J_FROM_PASSWORD": "q", "NEO4J_FROM_DATABASE": "e", "NEO4J_URI": "bolt://no"}
    one, two = moving.sides("bolt://a", "folder", env)
    assert (one.memory, one.username, one.password, one.database) == ("bolt://a", "u", "q", "e")
    assert (two.memory, two.username, two.password, two.database) == ("folder", "u", "p", "d")
    assert "q" not in repr(one)


def test_the_command_copies_and_says_both_are_equal(source: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("copy", source.memory, str(tmp_path / "there"))
    assert done.exit_code == 0, done.output
    assert re.fullmatch(r"Copied [\d,]+ nodes and [\d,]+ relationships to \S+; .*\nBoth sides are equal: [0-9a-f]{32}\nLeft behind.*: 1 node.*\n", done.stdout)
    again = json.loads(run("copy", source.memory, str(tmp_path / "there"), "--json").stdout)
    assert (again["copied"], again["left"]) == (0, 1)
    assert again["hash"] in done.stdout
    assert run("copy", source.memory).exit_code == 2
    assert "onto itself" in run("copy", source.memory, source.memory).stderr

    def dying(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(transfer, "write", dying)
    cut = run("copy", source.memory, str(tmp_path / "cut"))
    assert (cut.exit_code, "The same command completes" in cut.stderr) == (130, True)
    assert "Not whole: this is a copy of" in run("--memory", str(tmp_path / "cut"), "status").stdout


def test_kinds_are_those_of_the_classes() -> None:
    assert next(iter(labels())) == "Memory"
    assert labels()["Role"].key == "name"
    assert labels()["Passage"].vectors == ("embedding",)
    names = {kind.name for kind in relationships()}
    assert {"Entity IN Passage", "Proposition MENTIONS Entity", "Question USED QAPair"} <= names
    assert isinstance(Copied("a", "b", {}, {}, 0, 0, "", 0.0).to_dict(), dict)
