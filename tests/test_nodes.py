"""The neomodel classes say the same as `cypher/` and as a loaded graph."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import engines
import fakes
import pytest
import samples
from neomodel import BooleanProperty, FloatProperty, IntegerProperty, StringProperty
from neomodel.properties import ArrayProperty

from gsw_graph.cypher import statement
from gsw_graph.memory import Memory
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store import nodes, schema

CORPUS = str(Path(__file__).parents[1] / "examples/corpus")
CLASSES = {cls.__label__: cls for cls in nodes.NODES}
TYPES = {
    StringProperty: str,
    IntegerProperty: int,
    FloatProperty: float,
    BooleanProperty: bool,
    ArrayProperty: list,
    nodes.BytesProperty: str,
}  # bytes are shown in hexadecimal

# What a load by rules does not fill; questions: test_contract_questions.py.
LATER_PROPERTIES = {
    ("Document", "about"),
    ("Document", "given"),
    ("Document", "model"),
    ("Document", "unread"),
    ("Entity", "opens"),
    ("Passage", "at"),
    ("Passage", "section"),
    ("Passage", "speaker"),
}
LATER_LABELS = {"Question", "Correction"}
LATER_TYPES = {"ALIAS_OF", "USED", "REMOVED_FROM", "SUPERSEDED_IN"}


properties = nodes.properties
DECLARED = nodes.declared()


@pytest.fixture(scope="module")
def loaded(engine_settings, tmp_path_factory):
    settings = engine_settings
    if "://" in settings.memory:
        engines.empty(settings)
    else:
        settings = replace(settings, memory=str(tmp_path_factory.mktemp("nodes") / "memory"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedder, "load", staticmethod(fakes.embedder))
        with Memory.open(settings=settings) as memory:
            memory.load(CORPUS, *samples.write(tmp_path_factory.mktemp("samples")))
            memory.build_runs()
            yield memory


def test_every_label_has_a_key_and_each_index_its_statement():
    assert {index.label for index in nodes.indexes() if index.kind == "unique"} == set(CLASSES)
    assert {index.label for index in nodes.indexes() if index.kind == "vector"} == {
        "Passage",
        "QAPair",
        "Proposition",
        "Question",
    }
    for index in nodes.indexes():
        for dialect in ("neo4j", "arcadedb"):
            made = schema.definition(index, dialect, 8)
            assert "$" not in "".join(made)
            assert index.name in made[-1]
            for name in index.properties:
                assert name in made[-1]


def test_what_is_counted_has_a_class():
    text = statement("read/counts", "neo4j")
    labels = re.findall(r"MATCH \(n:(\w+)\)", text)
    assert labels == re.findall(r"'node' AS kind, '(\w+)'", text)
    assert set(labels) == set(CLASSES) - {"Memory", "Correction"}
    types = re.findall(r"MATCH \(\)-\[r:(\w+)\]", text)
    assert types == re.findall(r"'relationship' AS kind, '(\w+)'", text)
    assert set(types) == {type_ for _, type_, _ in DECLARED} - {
        "USED",
        "REUSED",
        "REMOVED_FROM",
        "SUPERSEDED_IN",
    }
    embedded = re.findall(r"UNWIND (\[.*\]) AS name", statement("read/counts", "arcadedb"))
    assert [ast.literal_eval(names) for names in embedded] == [
        [label for label in labels if label != "Document"],
        types,
    ]


def test_every_property_that_a_load_writes_is_declared_and_the_other_way_round(loaded):
    written = {}
    for label in CLASSES:
        rows = loaded.cypher(f"MATCH (n:{label}) RETURN properties(n) AS properties").rows
        for row in rows:
            for name, value in row["properties"].items():
                if value is not None and not name.startswith("meta_"):
                    written[label, name] = written.get((label, name), set()) | {type(value)}
    for (label, name), types in written.items():
        declared = properties(CLASSES[label])
        assert name in declared, f"{label}.{name} is written and not declared"
        assert types == {TYPES[type(declared[name])]}, f"{label}.{name}"
    declared_here = {
        (label, name)
        for label, cls in CLASSES.items()
        if label not in LATER_LABELS
        for name in properties(cls)
    }
    assert declared_here - set(written) == LATER_PROPERTIES
    labels = loaded.cypher("MATCH (n) RETURN DISTINCT labels(n) AS labels").rows
    expected = sorted([label] for label in set(CLASSES) - LATER_LABELS)
    assert sorted(row["labels"] for row in labels) == expected


def test_every_relationship_that_a_load_writes_is_declared_and_the_other_way_round(loaded):
    rows = loaded.cypher(
        "MATCH (a)-[r]->(b) RETURN labels(a)[0] AS begin, type(r) AS type, labels(b)[0] AS end, keys(r) AS keys, count(*) AS n"
    ).rows
    written = {}
    for row in rows:
        written.setdefault((row["begin"], row["type"], row["end"]), set()).update(row["keys"])
    for ends, names in written.items():
        assert ends in DECLARED, f"{ends} is written and not declared"
        model = DECLARED[ends]
        declared = set(properties(model)) if model else set()
        assert names == declared, ends
    now = {ends for ends in DECLARED if ends[1] not in LATER_TYPES and not LATER_LABELS & {ends[0], ends[2]}}
    assert set(written) == now


def test_the_classes_read_a_loaded_memory(server_settings, tmp_path, monkeypatch):
    from neomodel import db

    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    engines.empty(server_settings, keep_schema=True)
    with Memory.open(settings=server_settings) as memory:
        memory.load(CORPUS, *samples.write(tmp_path))
        try:
            nodes.connect(memory)
            concept = nodes.Concept.nodes.get(uid="vellmouth")
            assert concept.name == "Vellmouth"
            passages = concept.named_by.all()
            assert len({passage.uid for passage in passages}) == concept.passages
            links = [concept.named_by.relationship(passage) for passage in passages]
            assert {(link.name, link.counted) for link in links} == {("Vellmouth", True)}
            passage = next(p for p, link in zip(passages, links, strict=True) if link.title)
            assert "Vellmouth" in passage.title
            assert passage.document.single().status == "ready"
            assert len(passage.embedding) == fakes.DIMENSION
            date = nodes.Entity.nodes.filter(from___gte="1850-01-01").order_by("from_")[0]
            assert date.from_ <= date.to
            assert [role.name for role in date.roles.all()] == ["date"]
            pair = nodes.QAPair.nodes.get(question="Who sang at the Stone Pier?")
            assert pair.answers == ["Beyoncé", "BEYONCE", "a choir"]
            answers = {
                pair.entities.relationship(entity).position: entity.name for entity in pair.entities.all()
            }
            assert answers == {0: "Beyoncé", 1: "BEYONCE"}
            assert [entity.name for entity in pair.about.all()] == ["Stone Pier"]
            assert pair.verb_phrase.single().phrase == "sang"
            place = pair.passages.single()
            named = {concept.uid: place.names.relationship(concept) for concept in place.names.all()}
            assert {name for name, how in named.items() if how.title} == {"stone pier"} < set(named)
            assert named["stone pier"].weight > named["ana ruiz"].weight == 1
            found = [len(item.vector) for item in (pair, pair.verb_phrase.single(), place)]
            assert found == ([fakes.DIMENSION] * 3)
            triple = nodes.Proposition.nodes.get(relation="flows into")
            parts = {
                triple.mentions.relationship(entity).role: entity.name for entity in triple.mentions.all()
            }
            assert parts == {"subject": "Ombre", "object": "Salt Sea"}
            assert nodes.Memory.nodes.get(uid="memory").dimension == fakes.DIMENSION
        finally:
            db.driver = None


def test_a_class_of_the_same_name_where_they_are_imported_is_not_taken_for_one():
    code = """
class Entity: pass
import gsw_graph.store.nodes as nodes
nodes.Passage.entities  # neomodel finds the class when it is first needed
for definition in nodes.Passage.defined_properties(properties=False, aliases=False).values():
    definition.lookup_node_class()
assert ("Entity", "IN", "Passage") in nodes.declared()
assert nodes.Passage.entities.definition["node_class"] is nodes.Entity
"""
    subprocess.run([sys.executable, "-c", code], check=True)
