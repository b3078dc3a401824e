"""Several memories in one database: none sees what another holds, and what is not ours stays."""

from __future__ import annotations

import random
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import contract
import engines
import fakes
import pytest
import samples

from gsw_graph.cypher import LABELS, TYPES, base_name, of_memory
from gsw_graph.engine.address import split_address
from gsw_graph.errors import InputError
from gsw_graph.memory import Memory
from gsw_graph.models.embed.embedder import Embedder
from gsw_graph.store import nodes

NAMES = ("", "letters", "notes")
FOREIGN = "CREATE (a:Person {name: 'Ada', id: 'p1'})-[:LIVES_IN {since: 1}]->(b:City {name: 'Oslo'}), (:Memory__old {id: 'theirs'})"


def address(settings, name):
    if name:
        return replace(settings, memory=f"{settings.memory}?memory={name}")
    return settings


@pytest.fixture
def memories(fresh_settings, monkeypatch):
    """The default memory and two named ones of a database that holds a foreign graph too."""
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    with ExitStack() as stack:
        first = stack.enter_context(Memory.open(settings=fresh_settings))
        first._connection.driver.execute_query(FOREIGN, database_=first._connection.database)
        others = [
            Memory(first._connection.to_memory(name), address(fresh_settings, name)) for name in NAMES[1:]
        ]
        yield [first, *others]


def foreign(memory):
    query = "MATCH (n) WHERE n:Person OR n:City OR n.id = 'theirs' OPTIONAL MATCH (n)-[r]->(m) RETURN properties(n) AS n, type(r) AS r, m.name AS m ORDER BY n.name"
    return memory.cypher(query).rows


@pytest.mark.parametrize("steps", [15, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_memory_sees_what_another_holds(memories, tmp_path, steps):
    """Random steps on three memories that share their documents; each holds what its own documents bring."""
    rng = random.Random(33)
    texts = {
        n: f"Captain{n} Ann-Marie Smith met Captain{n} Ann Marie Smith in Harbour{n % 3} on 3 May 18{n + 10}."
        for n in range(6)
    }
    held = [{} for _ in memories]
    before = foreign(memories[0])
    for step in range(steps):
        number = rng.randrange(len(memories))
        memory = memories[number]
        mine = held[number]
        document = rng.choice(list(texts))
        file = tmp_path / f"d{document}.txt"
        action = rng.choice(["load", "load", "replace", "ask", "merge", "unmerge", "forget"])
        if action in ("load", "replace"):
            mine[document] = texts[document] + (
                f" Secret{number}x{step} was there." if action == "replace" else ""
            )
            file.write_text(mine[document])
            assert memory.load(str(file)).failures == []
        elif action == "merge":
            memory.merge()
        elif action == "unmerge" and memory.merged().groups:
            memory.unmerge("all")
        elif action == "forget":
            memory.forget(str(file))
            mine.pop(document, None)
        for question in (
            f"Who met Captain{document} in Harbour{document % 3}?",
            f"Where was Secret{(number + 1) % 3}x{step - 1}?",
        ):
            for strategy in ("linked", "dense", "bm25"):
                answer = memory.ask(question, strategy=strategy, k=20, trace=True)
                assert {passage.text for passage in answer.passages} <= set(mine.values()), (step, action)
        assert memory.status().nodes.get("Document", 0) == len(mine)
    for memory, mine in zip(memories, held, strict=True):
        assert sorted(
            row["text"] for row in memory.cypher("MATCH (p:Passage) RETURN p.text AS text").rows
        ) == sorted(mine.values())
        assert [
            finding for finding in memory.doctor() if not finding.ok and finding.check != "other nodes"
        ] == []
    assert foreign(memories[0]) == before


def test_memories_are_listed_and_one_is_removed(memories, tmp_path):
    for number, memory in enumerate(memories, 1):
        memory.load(contract.records(tmp_path, *(f"Ada Marr built Pier{n}." for n in range(number))))
    default, letters, notes = memories
    listed = [(found.name, found.documents) for found in notes.memories()]
    assert listed == [("", 1), ("letters", 2), ("notes", 3)]
    letters.ask("Who built Pier1?")
    letters.forget(everything=True)
    assert [found.name for found in default.memories()] == ["", "notes"]
    query = "MATCH (n) WHERE any(label IN labels(n) WHERE label ENDS WITH '__letters') RETURN count(n) AS n"
    assert default.cypher(query).rows == [{"n": 0}]
    assert not [row for row in default.cypher("SHOW INDEXES").rows if str(row["name"]).endswith("__letters")]
    assert notes.ask("Who built Pier2?").passages
    assert letters.ask("Who built Pier1?").passages == []
    assert letters.load(contract.records(tmp_path, "Ada Marr built Pier9.")).failures == []
    assert letters.ask("Who built Pier9?").passages
    if default._connection.dialect.name == "neo4j":
        with pytest.raises(InputError, match="default memory"):
            nodes.connect(letters)


def test_no_memory_answers_from_questions_of_another(memories, tmp_path):
    question = "Who built the Stone Pier?"
    for memory in memories[:2]:
        memory.load(*samples.write(tmp_path))
    default, letters = memories[:2]
    letters.confirm(letters.ask(question).id)
    assert letters.ask(question).cached is not None
    assert default.ask(question).cached is None
    assert [len(memory.history().questions) for memory in memories] == [1, 2, 0]


def test_an_address_names_its_memory(fresh_settings):
    with engines.opened(address(fresh_settings, "my_notes")) as connection:
        assert connection.memory == "my_notes"
        assert connection.url.endswith("?memory=my_notes")


@pytest.mark.parametrize(
    ("whole", "place", "name"),
    [
        ("bolt://h:1/db?memory=notes", "bolt://h:1/db", "notes"),
        ("neo4j://h?policy=eu&memory=a_1", "neo4j://h?policy=eu", "a_1"),
        ("bolt://h?policy=eu", "bolt://h?policy=eu", ""),
        ("folder?memory=x", "folder", "x"),
        ("what?", "what?", ""),
    ],
)
def test_addresses_are_taken_apart(whole, place, name):
    assert split_address(whole) == (place, name)


@pytest.mark.parametrize("name", ["", "A", "a b", "a__b", "_a", "a`", "x" * 41, "a\n"])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(InputError, match="no name of a memory"):
        split_address(f"bolt://h?memory={name}")


def test_every_statement_names_labels_types_and_indexes_of_its_memory():
    """What the declared schema has is what is renamed, in all statements, and nothing in strings and comments is."""
    assert set(LABELS) == set(nodes.labels())
    assert set(TYPES) == {kind.type for kind in nodes.relationships()}
    folder = Path(__file__).parents[1] / "cypher"
    for file in folder.rglob("*.cypher"):
        text = "\n".join(line for line in file.read_text().splitlines() if not line.startswith("//"))
        renamed = of_memory(text, "x")
        for name in (*LABELS, *TYPES):
            assert f":{name} " not in renamed, file
            assert f":{name})" not in renamed, file
        for index in nodes.indexes():
            assert f"'{index.name}'" not in renamed or index.kind not in ("vector", "text"), file
        assert "".join(renamed.split("__x")) == text, file
    assert of_memory(
        "MATCH (p:Passage {a: ':Passage'})<-[:IN|NAMES]-(e) // :Passage\nWHERE e:Entity OR e:`Role` AND 1 IN [2]",
        "x",
    ) == (
        "MATCH (p:Passage__x {a: ':Passage'})<-[:IN__x|NAMES__x]-(e) // :Passage\nWHERE e:Entity__x OR e:`Role__x` AND 1 IN [2]"
    )
    assert [base_name(name) for name in ("Passage__x", "Passage", "Other__x", "IN__my_notes")] == [
        "Passage",
        "Passage",
        "Other__x",
        "IN",
    ]
