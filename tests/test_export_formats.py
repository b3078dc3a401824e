"""A memory as GraphML, as lines of JSON, and as files of an import: all that is in it, whole or not at all."""

from __future__ import annotations

import base64
import json
from collections import Counter
from pathlib import Path

import engines
import networkx as nx
import numpy as np
import pytest
from cli_runner import run
from dump import dump

from gsw_graph.errors import InputError
from gsw_graph.memory import Memory
from gsw_graph.moving import exporting

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


def test_graphml_opens_in_networkx(full: Memory, tmp_path: Path) -> None:
    found = full.export(tmp_path / "new" / "memory.graphml", "graphml")
    assert (found.documents, found.files) == (4, 1)
    graph = nx.read_graphml(tmp_path / "new" / "memory.graphml")
    nodes, used = counted(full)
    assert Counter(kind for _, kind in graph.nodes(data="kind")) == nodes
    assert Counter(kind for _, _, kind in graph.edges(data="type")) == used
    (ana, *_) = [data for name, data in graph.nodes(data=True) if data["kind"] == "Entity" and data["name"] == "Ana Ruiz"]
    assert ana["description"] == HOSTILE.translate({0: "\ufffd", 0x1B: "\ufffd", 0xFFFE: "\ufffd", 0xFFFF: "\ufffd"})
    assert ana["label"] == "Ana Ruiz"
    (question,) = [data for _, data in graph.nodes(data=True) if data["kind"] == "Question"]
    assert isinstance(question["confidence"], float)
    pair = next(data for name, data in graph.nodes(data=True) if data.get("question") == "Who sang at the Stone Pier?")
    assert json.loads(pair["answers"]) == ["Beyoncé", "BEYONCE", "a choir"]
    assert "Concept:ana ruiz" in graph
    assert {data["hop"] for *_, data in graph.edges(data=True) if data["type"] == "USED" and "hop" in data} >= {1}


def test_lines_of_json_hold_everything(full: Memory, tmp_path: Path) -> None:
    full.export(tmp_path / "memory.jsonl", "jsonl")
    lines = [json.loads(line) for line in (tmp_path / "memory.jsonl").read_text(encoding="utf-8").splitlines()]
    nodes, used = counted(full)
    assert Counter(line["label"] for line in lines if "label" in line) == nodes
    assert Counter(line["type"] for line in lines if "type" in line) == used
    read = {
        (line["label"], line["properties"].get("id") or line["properties"]["name"]): {name: plain(value) for name, value in line["properties"].items()}
        for line in lines
        if "label" in line
    }
    for label, key, items in dump(full)["nodes"]:
        assert dict(items).items() <= read[label, key].items()
    relationships = Counter((line["type"], tuple(line["begin"]), tuple(line["end"]), json.dumps(line["properties"], sort_keys=True)) for line in lines if "type" in line)
    for kind, begin, end, items in dump(full)["relationships"]:
        assert relationships[kind, begin, end, json.dumps(dict(items), sort_keys=True)]


def plain(value: object) -> object:
    if not isinstance(value, dict):
        return value
    ((kind, text),) = value.items()
    data = base64.b64decode(text)
    return data.hex() if kind == "bytes" else np.frombuffer(data, "<f4").tolist()


def test_files_of_an_import_hold_the_questions_too(full: Memory, tmp_path: Path) -> None:
    engines.needs("pyarrow", "bulk")
    from gsw_graph.moving.checking import check

    full.export(tmp_path / "files", "import")
    found, (nodes, used) = check(tmp_path / "files"), counted(full)
    assert found.faults == []
    assert found.nodes == nodes
    by_type: Counter[str] = Counter()
    for name, count in found.relationships.items():
        by_type[name.split()[1]] += count
    assert by_type == used


@pytest.mark.parametrize("format_", exporting.FORMATS)
def test_what_is_there_stays_and_what_fails_leaves_nothing(sample: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str) -> None:
    place = tmp_path / "there"
    place.write_text("mine")
    with pytest.raises(InputError, match=r"something here already|is a file"):
        sample.export(place, format_)
    assert place.read_text() == "mine"
    real, calls = exporting.read, []

    def failing(*arguments: object) -> object:
        calls.append(arguments)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(exporting, "read", failing)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(KeyboardInterrupt):
        sample.export(tmp_path / "new", format_)
    assert sorted(tmp_path.iterdir()) == before
    with pytest.raises(InputError, match="no format 'csv'"):
        sample.export(tmp_path / "new", "csv")


def test_the_command_names_its_formats(tmp_path: Path) -> None:
    assert run("export", "x", "--format", "csv").exit_code == 2
    assert run("bulk", "x").exit_code == 2
    assert run("bulk", "x", "--out", "y", "--check").exit_code == 2
    missing = run("bulk", str(tmp_path), "--check")
    assert missing.exit_code == 1
    assert "no complete set of files" in missing.stderr
