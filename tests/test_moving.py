"""A memory as lines of JSON, restored and copied: all that is in it, whole or not at all."""

from __future__ import annotations

import threading
from collections import Counter

import contract
import pytest
import samples
from dump import differences, dump

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, SchemaError
from gsw_graph.load import backup
from gsw_graph.memory import Memory

HOSTILE = "quote ' \" <b>&amp; ]]> \n\r\t \u2028 \ufffe\uffff 𝒳é NUL\0 \x1b[31m end\\"


@pytest.fixture
def full(sample):
    """With a question, a hostile text, and two relationships of a kind between the same nodes."""
    sample.ask("Who built the Stone Pier?")
    sample.cypher("MATCH (e:Entity {name: 'Ana Ruiz'}) SET e.description = $text", write=True, text=HOSTILE)
    sample.cypher(
        "MATCH (f:Proposition)-[:MENTIONS]->(e:Entity) WITH f, e ORDER BY f.id, e.id LIMIT 1 CREATE (f)-[:MENTIONS {role: 'object'}]->(e)",
        write=True,
    )
    return sample


def counted(memory):
    found = dump(memory)
    questions = memory.cypher(
        "MATCH (q:Question)-[r]->() RETURN count(DISTINCT q) AS nodes, count(r) AS used"
    ).rows[0]
    nodes = Counter(row[0] for row in found["nodes"])
    used = Counter(row[0] for row in found["relationships"])
    return nodes + Counter(Question=questions["nodes"]), used + Counter(USED=questions["used"])


def test_a_dump_that_is_restored_and_a_copy_are_equal(full, tmp_path):
    made = full.dump(tmp_path / "memory.jsonl")
    nodes, _ = counted(full)
    assert {name: count for name, count in made.nodes.items() if count} == nodes
    with Memory.open(str(tmp_path / "restored")) as restored:
        restored.restore(tmp_path / "memory.jsonl")
        assert differences(dump(full), dump(restored)) == []
        assert restored.status().indexed
        assert restored.history().questions == full.history().questions
        found, expected = (
            memory.ask(samples.QUESTION, strategy="dense", keep=False) for memory in (restored, full)
        )
        assert [passage.id for passage in found.passages] == [passage.id for passage in expected.passages]
        restored.dump(tmp_path / "again.jsonl")
        with pytest.raises(SchemaError, match="holds a memory already"):
            restored.restore(tmp_path / "memory.jsonl")
    lines = [
        set(path.read_text().splitlines()[1:])
        for path in (tmp_path / "memory.jsonl", tmp_path / "again.jsonl")
    ]
    assert lines[0] == lines[1]


def test_a_copy_is_equal_and_one_that_was_cut_off_is_no_memory(tmp_path, sample, monkeypatch):
    sample.dump(tmp_path / "memory.jsonl")
    settings = [Settings(memory=str(tmp_path / name)) for name in ("from", "cut", "to")]
    with Memory.open(settings=settings[0]) as source:
        source.restore(tmp_path / "memory.jsonl")
    real = backup._write
    calls = []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(backup, "_write", failing)
        with pytest.raises(KeyboardInterrupt):
            backup.copy(settings[0], settings[1])
    with Memory.open(settings=settings[1]) as cut:
        assert cut.status().nodes == {}
        assert [finding.mend for finding in cut.doctor() if finding.check == "memory"] == [
            "gswgraph doctor --mend"
        ]
        with pytest.raises(SchemaError, match="copy that was cut off"):
            cut.load(contract.CORPUS)
    backup.copy(settings[0], settings[2])
    with Memory.open(settings=settings[2]) as target:
        assert differences(dump(sample), dump(target)) == []
    with pytest.raises(InputError, match="onto itself"):
        backup.copy(settings[0], settings[0])


@pytest.mark.parametrize(
    "text", ["no json", '{"label": "Nobody", "properties": {}}', '{"label": "Memory"}', '{"begin": []}']
)
def test_what_is_no_dump_is_refused_with_its_line(text, tmp_path, fake_embedder):
    (tmp_path / "bad.jsonl").write_text(text)
    with Memory.open(str(tmp_path / "memory")) as memory, pytest.raises(InputError, match=r"bad\.jsonl:1"):
        memory.restore(tmp_path / "bad.jsonl")


def test_a_dump_takes_no_place_of_another_file(sample, tmp_path):
    place = tmp_path / "there"
    place.write_text("mine")
    with pytest.raises(InputError, match="something here already"):
        sample.dump(place)
    assert place.read_text() == "mine"


def people(folder, most):
    folder.mkdir()
    for number in range(most):
        text = f"Person{number} Smith met Person{number + 1} Smith in Oldtown on {number % 28 + 1} May 1871. Person{number} Smith built Pier{number % 7}."
        (folder / f"d{number}.txt").write_text(text)


def is_sound(file, folder):
    """A dump makes a memory in which nothing is wrong, but that a load may not have ended."""
    with Memory.open(str(folder)) as restored:
        restored.restore(file)
        assert [
            finding for finding in restored.doctor() if not finding.ok and finding.check != "documents"
        ] == []


def test_a_dump_while_another_process_loads_is_restored(place, tmp_path):
    """On the embedded engine, which one process has, the other is another thread with a memory of its own."""
    here = place()
    people(here.folder, 60)
    with Memory.open(settings=here.settings) as memory:
        memory.load(contract.records(tmp_path, "Person0 Smith lived in Oldtown."))
        dumps = []
        done = threading.Event()

        def load():
            try:
                if "://" in here.settings.memory:
                    here.finish()
                else:
                    Memory(memory._connection, here.settings).load(str(here.folder))
            finally:
                done.set()

        thread = threading.Thread(target=load)
        thread.start()
        while not done.is_set():
            dumps.append(tmp_path / f"{len(dumps)}.jsonl")
            memory.dump(dumps[-1])
            done.wait(0.5)
        thread.join()
        assert memory.status().nodes["Document"] == 61
    counts = [file.read_text().count('{"label": "Document"') for file in dumps]
    assert counts == sorted(counts)
    for file in {dumps[0], dumps[len(dumps) // 2], dumps[-1]}:
        is_sound(file, tmp_path / f"restored-{file.stem}")


def test_a_dump_has_both_nodes_of_each_relationship(sample, tmp_path, monkeypatch):
    """Who writes without gswgraph waits for no dump: what comes after its kind was read is left out with its relationships."""
    real = backup._to_line
    late = []

    def disturbed(kind, row):
        if " " in kind.name and not late:
            late.append(kind)
            query = "MATCH (d:Document) WITH d LIMIT 1 CREATE (p:Passage {id: 'late', title: 'Late', text: 'Late', position: 9})-[:PART_OF]->(d)"
            sample._connection.driver.execute_query(query, database_=sample._connection.database)
        return real(kind, row)

    monkeypatch.setattr(backup, "_to_line", disturbed)
    made = sample.dump(tmp_path / "memory.jsonl")
    assert late
    assert "late" not in (tmp_path / "memory.jsonl").read_text()
    with Memory.open(str(tmp_path / "restored")) as restored:
        assert restored.restore(tmp_path / "memory.jsonl").relationships == made.relationships


def test_who_writes_waits_for_a_dump(sample, tmp_path, monkeypatch):
    """Half a document is in no dump: one that begins is of one moment."""
    other = Memory(sample._connection, sample._settings)
    real = backup._to_line
    threads = []

    def slow(*arguments):
        if not threads:
            threads.append(
                threading.Thread(
                    target=lambda: other.load(contract.records(tmp_path, "Zed Ott built Pier9."))
                )
            )
            threads[0].start()
            threads[0].join(1)
            assert threads[0].is_alive()
        return real(*arguments)

    monkeypatch.setattr(backup, "_to_line", slow)
    sample.dump(tmp_path / "held.jsonl")
    threads[0].join()
    assert "Zed Ott" not in (tmp_path / "held.jsonl").read_text()
    assert sample.ask("Who built Pier9?", strategy="bm25").passages[0].text == "Zed Ott built Pier9."


def test_a_restore_that_was_killed_is_named_removed_and_done_again(place, tmp_path):
    people(tmp_path / "people", 40)
    with Memory.open(str(tmp_path / "from")) as source:
        source.load(str(tmp_path / "people"))
        source.dump(tmp_path / "memory.jsonl")
        expected = dump(source)
    here = place()

    def cut():
        with here.start("restore", str(tmp_path / "memory.jsonl"), "150") as process:
            assert process.wait() < 0, process.stderr and process.stderr.read()

    cut()
    with Memory.open(settings=here.settings) as memory:
        (found,) = [finding for finding in memory.doctor() if not finding.ok]
        assert "restore" in found.result
        assert found.mend == "gswgraph doctor --mend"
        with pytest.raises(SchemaError, match="cut off"):
            memory.load(str(tmp_path / "people"))
        assert [finding for finding in memory.doctor(mend=True) if not finding.ok] == []
        assert memory.cypher("MATCH (n) RETURN count(n) AS n").rows == [{"n": 0}]
    cut()
    with Memory.open(settings=here.settings) as memory:
        memory.restore(tmp_path / "memory.jsonl")  # over what is left
        assert [finding for finding in memory.doctor() if not finding.ok] == []
        assert differences(dump(memory), expected) == []
