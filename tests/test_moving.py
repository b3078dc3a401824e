"""A memory as lines of JSON, restored and copied: all that is in it, whole or not at all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import contract
import pytest
import samples
from dump import differences, dump

from gsw_graph.config import Settings
from gsw_graph.errors import InputError, SchemaError
from gsw_graph.load import moving
from gsw_graph.memory import Memory

HOSTILE = "quote ' \" <b>&amp; ]]> \n\r\t \u2028 \ufffe\uffff 𝒳é NUL\0 \x1b[31m end\\"


@pytest.fixture
def full(sample: Memory) -> Memory:
    """With a question, a hostile text, and two relationships of a kind between the same nodes."""
    sample.ask("Who built the Stone Pier?")
    sample.cypher("MATCH (e:Entity {name: 'Ana Ruiz'}) SET e.description = $text", write=True, text=HOSTILE)
    sample.cypher("MATCH (f:Proposition)-[:MENTIONS]->(e:Entity) WITH f, e ORDER BY f.id, e.id LIMIT 1 CREATE (f)-[:MENTIONS {role: 'object'}]->(e)", write=True)
    return sample


def counted(memory: Memory) -> tuple[Counter[str], Counter[str]]:
    found = dump(memory)
    questions = memory.cypher("MATCH (q:Question)-[r]->() RETURN count(DISTINCT q) AS nodes, count(r) AS used").rows[0]
    nodes, used = Counter(row[0] for row in found["nodes"]), Counter(row[0] for row in found["relationships"])
    return nodes + Counter(Question=questions["nodes"]), used + Counter(USED=questions["used"])


def test_a_dump_that_is_restored_and_a_copy_are_equal(full: Memory, tmp_path: Path) -> None:
    made = full.dump(tmp_path / "memory.jsonl")
    nodes, _ = counted(full)
    assert {name: count for name, count in made.nodes.items() if count} == nodes
    with Memory.open(str(tmp_path / "restored")) as restored:
        restored.restore(tmp_path / "memory.jsonl")
        assert differences(dump(full), dump(restored)) == []
        assert restored.status().indexed
        assert restored.history().questions == full.history().questions
        found, expected = (memory.ask(samples.QUESTION, strategy="dense", keep=False) for memory in (restored, full))
        assert [passage.id for passage in found.passages] == [passage.id for passage in expected.passages]
        restored.dump(tmp_path / "again.jsonl")
        with pytest.raises(SchemaError, match="holds a memory already"):
            restored.restore(tmp_path / "memory.jsonl")
    lines = [set(path.read_text().splitlines()[1:]) for path in (tmp_path / "memory.jsonl", tmp_path / "again.jsonl")]
    assert lines[0] == lines[1]


def test_a_copy_is_equal_and_one_that_was_cut_off_is_no_memory(tmp_path: Path, sample: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    sample.dump(tmp_path / "memory.jsonl")
    settings = [Settings(memory=str(tmp_path / name)) for name in ("from", "cut", "to")]
    with Memory.open(settings=settings[0]) as source:
        source.restore(tmp_path / "memory.jsonl")
    real, calls = moving._write, []

    def failing(*arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        real(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(moving, "_write", failing)
        with pytest.raises(KeyboardInterrupt):
            moving.copy(settings[0], settings[1])
    with Memory.open(settings=settings[1]) as cut:
        assert cut.status().nodes == {}
        with pytest.raises(SchemaError, match="copy that was cut off"):
            cut.load(contract.CORPUS)
    moving.copy(settings[0], settings[2])
    with Memory.open(settings=settings[2]) as target:
        assert differences(dump(sample), dump(target)) == []
    with pytest.raises(InputError, match="onto itself"):
        moving.copy(settings[0], settings[0])


@pytest.mark.parametrize("text", ["no json", '{"label": "Nobody", "properties": {}}', '{"label": "Memory"}', '{"begin": []}'])
def test_what_is_no_dump_is_refused_with_its_line(text: str, tmp_path: Path, fake_embedder: None) -> None:
    (tmp_path / "bad.jsonl").write_text(text)
    with Memory.open(str(tmp_path / "memory")) as memory, pytest.raises(InputError, match=r"bad\.jsonl:1"):
        memory.restore(tmp_path / "bad.jsonl")


def test_a_dump_takes_no_place_of_another_file(sample: Memory, tmp_path: Path) -> None:
    place = tmp_path / "there"
    place.write_text("mine")
    with pytest.raises(InputError, match="something here already"):
        sample.dump(place)
    assert place.read_text() == "mine"
