"""Cypher that people write, with several memories in one database: it neither reads nor changes what is not of its memory."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import engines
import fakes
import pytest
import samples
from cli_runner import run
from served import served

from gsw_graph.errors import InputError
from gsw_graph.explore.analyses import analyses
from gsw_graph.memory import Memory
from gsw_graph.models.embed.embedder import Embedder

# Words that stand in one memory alone, in texts, titles and names.
SECRET = {"": "Defaultia", "a": "Alphaville", "b": "Betatown"}
FOREIGN = "Foreignsburg"
RAW = f"""CREATE (p:Person {{name: '{FOREIGN}', title: '{FOREIGN}', text: '{FOREIGN}', id: 'p'}})-[:LIKES]->(:City {{name: '{FOREIGN}', id: 'c'}}), ({{name: '{FOREIGN}', id: 'bare'}})
WITH p MATCH (a:Document__a), (b:Document__b), (d:Document) CREATE (a)-[:LIKES]->(p), (p)-[:LIKES]->(b), (d)-[:LIKES]->(p)"""
NODES = "MATCH (n) RETURN labels(n) AS begin, properties(n) AS n"
RELATIONSHIPS = "MATCH (n)-[r]->(m) RETURN labels(n) AS begin, n.id AS n, type(r) AS type, properties(r) AS r, labels(m) AS end, m.id AS m"


@pytest.fixture(scope="module")
def memories(engine_settings, tmp_path_factory):
    """A default memory and two named ones, each with a document of its own, and a foreign graph that is tied to all three."""
    settings = engine_settings
    folder = tmp_path_factory.mktemp("isolation")
    if "://" in settings.memory:
        engines.empty(settings)
    else:
        settings = replace(settings, memory=str(folder / "memory"))
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setattr(Embedder, "load", staticmethod(fakes.embedder))
        first = stack.enter_context(Memory.open(settings=settings))
        found = {"": first}
        for name in ("a", "b"):
            found[name] = Memory(
                first._connection.to_memory(name),
                replace(settings, memory=f"{settings.memory}?memory={name}"),
            )
        for name, memory in found.items():
            file = folder / f"{SECRET[name]}.txt"
            file.write_text(
                f"{SECRET[name]} Town\n\nAda Marr built {SECRET[name]} Pier on 3 May 1871. Ben Oar of {SECRET[name]} met Ada Marr."
            )
            assert memory.load(str(file)).failures == []
        raw(first, RAW)
        yield found


def raw(memory, query, **parameters):
    """What the engine itself answers."""
    base = memory._connection.default or memory._connection
    return [
        dict(record)
        for record in base.driver.execute_query(query, parameters, database_=base.database).records
    ]


def state(memory):
    """All that is in the database, but the version stamp of each memory, which each write raises."""
    nodes = [{**row, "n": {**row["n"], "version": 0}} for row in raw(memory, NODES)]
    return sorted(nodes + raw(memory, RELATIONSHIPS), key=str)


def outside(rows, name):
    """What of a state is not of a memory; to the default one belongs what people made beside it."""

    def is_outside(labels):
        ends = {label.partition("__")[2] for label in labels} or {""}
        return name not in ends

    return [row for row in rows if is_outside(row["begin"]) and is_outside(row.get("end", row["begin"]))]


IDS = "['p', 'c', 'bare', 'memory']"
# Queries that see a memory and nothing else, in any memory; with {o} another one. What is a name of a place is in each node that is printed.
READS = [
    "MATCH (n) RETURN n",
    "MATCH (n) RETURN count(n) AS n, collect(properties(n)) AS all",
    "MATCH (n) WHERE n:Document OR NOT n:Document RETURN n",
    "MATCH (n) WHERE elementId(n) = $element RETURN n",
    "MATCH (n) WHERE elementId(n) IN [$element, $foreign] RETURN n.title, n.name",
    f"MATCH (n) WHERE n.id IN {IDS} AND NOT n:Memory RETURN n",
    "MATCH (n {id: 'p'}) RETURN n",
    "MATCH (n WHERE n.name IS NOT NULL) RETURN n.name",
    "MATCH (n:!Document) RETURN n",
    "MATCH (n:%) RETURN n",
    "MATCH (n:!Document&!Passage) RETURN n",
    "MATCH (n:Document|Passage) RETURN n",
    "MATCH (d:Document)--(x) RETURN x",
    "MATCH (d:Document)-->(x)<--(y) RETURN d, x, y",
    "MATCH (d:Document)-[*1..4]-(x) RETURN x",
    "MATCH p = (d:Document)-[*..3]-() RETURN nodes(p) AS nodes",
    "MATCH (d:Document)-[r*]-(x:Document) RETURN x, [one IN r | endNode(one).name] AS names",
    "MATCH (d:Document), (x) WITH d, x WHERE d <> x MATCH p = shortestPath((d)-[*..6]-(x)) RETURN p",
    "MATCH (d:Document) ((x)--(y)){1,3} (z) RETURN z, [one IN y | one.name] AS names",
    "MATCH (d:Document)-->+(z) RETURN z",
    "MATCH ()-[r]->() RETURN startNode(r) AS s, endNode(r) AS e",
    "MATCH (a)-[r]->(b) RETURN type(r) AS t, a.name, b.name",
    "MATCH (d:Document) RETURN [(d)--(x) | x] AS near",
    "MATCH (d:Document) RETURN [p = (d)-[*1..3]-(x) WHERE x.name IS NOT NULL | x.name] AS near",
    "MATCH (d:Document) RETURN COUNT { (n) } AS n, COUNT { (n) WHERE n.id = 'p' } AS persons, EXISTS { MATCH (d)-->(x) } AS e",
    "MATCH (d:Document) RETURN COLLECT { MATCH (n) RETURN n.name } AS names",
    "MATCH (d:Document) CALL { MATCH (n) RETURN n } RETURN n",
    "MATCH (d:Document) CALL (d) { MATCH (d)--(n) RETURN n } RETURN n",
    "MATCH (d:Document) RETURN d.title AS t UNION MATCH (n) RETURN n.title AS t",
    "OPTIONAL MATCH (n) WHERE n.id = 'p' RETURN n",
    "UNWIND ['Person', 'Document__b', 'Document__a', 'Document'] AS l MATCH (n) WHERE l IN labels(n) RETURN n",
    "MATCH (n) RETURN DISTINCT labels(n) AS l",
    "MATCH /* (x:Document) */ (n) // )\nRETURN n",
    "match(n)return n",
    "MATCH (where) RETURN where",
    "MATCH return = (n) RETURN nodes(return) AS n",
    "MATCH (d:Document), (`n`) RETURN `n`",
    "CALL db.labels() YIELD label RETURN label",
    "CALL db.labels()",
    "CALL db.relationshipTypes()",
    "SHOW INDEXES",
    "CALL db.index.fulltext.queryNodes('passage_text', 'Ada') YIELD node RETURN node",
    "CALL db.index.fulltext.queryNodes('passage_text', 'Ada') YIELD node MATCH (node)--(x) RETURN x",
]
# What asks for another memory is an error that names it.
READS_OUTSIDE = [
    "MATCH (n:Document__{o}) RETURN n",
    "MATCH (n) WHERE n:Document__{o} RETURN n",
    "MATCH (n) WHERE n:`Document__{o}` RETURN n",
    "MATCH (n:Document|Document__{o}) RETURN n",
    "MATCH (n:!Document__{o}) RETURN n",
    "MATCH (n IS Document__{o}) RETURN n",
    "MATCH (n:$('Document__{o}')) RETURN n",
    "MATCH (n:$any(['Document__{o}'])) RETURN n",
    "MATCH (n:$($label)) RETURN n",
    "MATCH (d:Document)-[:$('LIKES')]->(x) RETURN x",
    "MATCH (n)-[:IN__{o}]->(m) RETURN n",
    "MATCH (d:Document)-[:LIKES*1..4]-(x) RETURN x",
    "MATCH (d:Document)-[:!IN*1..4]-(x) RETURN x",
    "MATCH (d:Document)-[:LIKES]->+(x) RETURN x",
    "MATCH (d:Document) RETURN COUNT {{ (n:Document__{o}) }} AS n",
    "MATCH (d:Document) RETURN [(d)--(x:Person__{o}|Document__{o}) | x] AS n",
    "CALL db.index.fulltext.queryNodes('passage_text__{o}', 'Ada') YIELD node RETURN node",
    "CALL db.index.fulltext.queryNodes($index, 'Ada') YIELD node RETURN node",
    "CALL db.index.fulltext.queryNodes('passage_' + 'text__{o}', 'Ada') YIELD node RETURN node",
    "CALL db.index.vector.queryNodes('passage_embedding__{o}', 3, $vector) YIELD node RETURN node",
    "CALL db.schema.visualization()",
    "CALL db.propertyKeys()",
    "CALL algo.pagerank()",
    "CALL db.labels() YIELD label AS x RETURN x",
    "MATCH (n:Doc\\u0075ment__{o}) RETURN n",
    "WITH 1 AS AS WITH AS MATCH (n) RETURN n",
    "RETURN 1. MATCH (n) RETURN n",
    "MATCH (d:Document) RETURN apoc.cypher.runFirstColumn('MATCH (n) RETURN n', {{}}) AS n",
    "USE neo4j MATCH (n) RETURN n",
    "MATCH (d:Document) MATCH\u2003(n) RETURN n",
]
# Changes that stay inside.
WRITES = [
    "MATCH (n) WHERE n.title STARTS WITH 'B' OR n.id = 'p' SET n.seen = 1",
    "MATCH (n) SET n.seen = 1",
    "MATCH (n) WHERE NOT n:Memory SET n += {seen: 1}",
    "MATCH (n) WHERE elementId(n) = $element SET n.seen = 2",
    "MATCH (d:Document)-[r]-(x) SET r.seen = 1, x.seen = 3",
    "MATCH (d:Document)-[*1..3]-(x) SET x.seen = 4",
    "MATCH (d:Document) OPTIONAL MATCH (n) WHERE n.id = 'p' FOREACH (one IN CASE WHEN n IS NULL THEN [] ELSE [n] END | SET one.seen = 5)",
    "MATCH (d:Document) CALL (d) { MATCH (n) SET n.seen = 6 }",
    "MATCH (d:Document) CREATE (d)-[:NOTED]->(n:Role {name: 'note'}) RETURN n",
    "MERGE (n:Role {name: 'note'}) ON CREATE SET n.seen = 7 ON MATCH SET n.seen = 8",
    "MATCH (d:Document) MERGE (d)-[r:NOTED]->(n:Role {name: 'note'}) SET r.seen = 9",
    "MATCH (d:Document), (n:Role {name: 'note'}) MERGE (d)-[:AGAIN]->(n)",
    "MATCH (n) WHERE n.id = 'p' DETACH DELETE n",
    "MATCH (n:!Document) WHERE n.name = 'Foreignsburg' DETACH DELETE n",
    "MATCH (d:Document)-[r:LIKES]-(x) DELETE r",
    "MATCH (n:Role {name: 'note'}) SET n:Concept",
    "MATCH (n:Role {name: 'note'}) REMOVE n:Concept",
    "MATCH (n:Role {name: 'note'}) REMOVE n.seen",
    "MATCH (n) WHERE n.name = 'note' DETACH DELETE n",
    "UNWIND range(1, 3) AS number CREATE (n:Role {name: 'note' + number}) WITH n MATCH (n) DETACH DELETE n",
    "MATCH (p) WHERE p.title STARTS WITH 'Beta' DETACH DELETE p",
]
# Changes beyond it, each an error, after which nothing has changed.
WRITES_OUTSIDE = [
    "MATCH (n:Document__{o}) DETACH DELETE n",
    "MATCH (n) WHERE n:Document__{o} DETACH DELETE n",
    "MATCH (d:Document) SET d:Document__{o}",
    "MATCH (d:Document) SET d IS Document__{o}",
    "MATCH (d:Document) SET d:$('Document__{o}')",
    "MATCH (d:Document) REMOVE d:Document__{o}",
    "CREATE (n:Document__{o} {{id: 'x'}})",
    "CREATE (n:Document:Document__{o} {{id: 'x'}})",
    "CREATE (:`Document__{o}` {{id: 'x'}})",
    "MERGE (n:Document__{o} {{id: 'x'}})",
    "MERGE (n) SET n.seen = 1",
    "MERGE (n {{id: 'p'}}) SET n.seen = 1",
    "MATCH (n:Document) WITH 1 AS x MERGE (n)-[r:LIKES]->(m:Document) SET n.seen = 1",
    "MATCH (d:Document) MERGE (d)-[:LIKES]->(x) SET x.seen = 1",
    "MATCH (d:Document) CREATE (d)-[:IN__{o}]->(:Role {{name: 'x'}})",
    "MATCH (d:Document) CALL {{ MERGE (d)-[r:LIKES]->(d) }} RETURN d",
    "MATCH (d:Document) UNION MATCH (e:Document) MERGE (d)-[r:LIKES]->(e)",
    "DROP INDEX passage_text__{o}",
    "DROP CONSTRAINT document_id__{o}",
    "CREATE INDEX passage_seen__{o} FOR (n:Passage) ON (n.seen)",
    "CREATE INDEX seen FOR (n:Passage__{o}) ON (n.seen)",
    "CREATE DATABASE other",
    "DROP USER neo4j",
    "CALL apoc.cypher.doIt('MATCH (n) DETACH DELETE n', {{}})",
    "FOREACH (x IN [1] | CREATE (:Document__{o} {{id: 'x'}}))",
    "FOREACH (x IN [1] | MERGE (n {{id: 'p'}}) SET n.seen = 1)",
    "MATCH (n) WHERE n.id = 'p' SET n:Document__{o}",
]
NAMED_ONLY = [
    "MATCH (n:Person) RETURN n",
    "CREATE (n {id: 'x'})",
    "CREATE (n:Person {id: 'x'})",
    "MATCH (d:Document) SET d:Person",
    "MATCH (d:Document) CREATE (d)-[:LIKES]->(x)",
    "CREATE INDEX seen FOR (n:Person) ON (n.seen)",
    "MERGE (n:Person {id: 'p'}) DETACH DELETE n",
]


def parameters(memories, other):
    label = f"Document__{other}" if other else "Document"
    element = raw(memories[""], f"MATCH (n:{label}) RETURN elementId(n) AS id")[0]["id"]
    foreign = raw(memories[""], "MATCH (n:Person) RETURN elementId(n) AS id")[0]["id"]
    return {
        "element": element,
        "foreign": foreign,
        "label": label,
        "index": f"passage_text__{other}",
        "vector": [0.1, 0.2],
    }


def kept_away(name):
    """Words that no result of a memory may hold; the default one may hold nodes that people made beside it."""
    return {word for other, word in SECRET.items() if other != name} | ({FOREIGN} if name else set())


def other_of(name):
    if name == "a":
        return "b"
    return "a"


def values_of(query, memories, name):
    return {key: value for key, value in parameters(memories, other_of(name)).items() if f"${key}" in query}


@pytest.mark.parametrize("name", ["", "a"])
def test_what_is_read_is_of_the_memory(memories, name):
    for query in READS:
        shown = str(memories[name].cypher(query, **values_of(query, memories, name)).rows)
        assert not [word for word in kept_away(name) if word in shown], query
        assert "__b" not in shown, query
        assert name or "__a" not in shown, query


@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize("name", ["", "a"])
def test_who_asks_for_another_memory_gets_an_error(memories, name, write):
    before = state(memories[""])
    for query in READS_OUTSIDE:
        asked = query.format(o=other_of(name))
        with pytest.raises(InputError) as raised:
            memories[name].cypher(asked, write=write, **values_of(query, memories, name))
        assert not [word for word in kept_away(name) if word in str(raised.value)], asked
    assert state(memories[""]) == before


@pytest.mark.parametrize("name", ["a", ""])
def test_what_is_written_is_of_the_memory(memories, name):
    memory = memories[name]
    for query in WRITES:
        raw(memory, "MATCH (n) WHERE n:Person OR n:City OR n.id = 'bare' DETACH DELETE n")
        raw(memory, RAW)
        before = outside(state(memory), name)
        assert before
        memory.cypher(query, write=True, **values_of(query, memories, name))
        assert outside(state(memory), name) == before, query


@pytest.mark.parametrize("name", ["a", ""])
def test_who_writes_to_another_memory_gets_an_error(memories, name):
    memory = memories[name]
    indexes = sorted(str(row["name"]) for row in raw(memory, "SHOW INDEXES"))
    before = state(memory)
    for query in WRITES_OUTSIDE:
        asked = query.format(o=other_of(name))
        with pytest.raises(InputError):
            memory.cypher(asked, write=True)
        assert state(memory) == before, asked
    assert sorted(str(row["name"]) for row in raw(memory, "SHOW INDEXES")) == indexes


def test_a_named_memory_has_its_own_labels_alone(memories):
    before = state(memories["a"])
    for query in NAMED_ONLY:
        with pytest.raises(InputError, match="kept inside its memory"):
            memories["a"].cypher(query, write=True)
    assert state(memories["a"]) == before


def test_the_default_memory_sees_what_people_made_beside_it(memories):
    default = memories[""]
    raw(default, "MATCH (n) WHERE n:Person OR n:City OR n.id = 'bare' DETACH DELETE n")
    raw(default, RAW)
    assert default.cypher("MATCH (p:Person)-[:LIKES]->(x) RETURN x.name AS name").rows == [{"name": FOREIGN}]
    assert default.cypher("MATCH (d:Document)-[:LIKES]->(p) RETURN p.name AS name").rows == [
        {"name": FOREIGN}
    ]
    default.cypher("MATCH (d:Document) CREATE (d)-[:NOTED]->(:Note {text: 'mine'}), (:Note)", write=True)
    assert default.cypher("MATCH (n:Note) RETURN count(n) AS n").rows == [{"n": 2}]
    default.cypher("MATCH (n:Note) DETACH DELETE n", write=True)


@pytest.mark.parametrize("name", ["", "a"])
def test_every_analysis_stays_inside_and_runs(memories, name):
    for analysis in analyses().values():
        shown = str(memories[name].explore(analysis.name).rows)
        assert not [word for word in kept_away(name) if word in shown], analysis.name


def test_columns_are_named_as_they_were_written(memories):
    query = "MATCH (d:Document)-[r:PART_OF]-(p) RETURN labels(d), type(r), d:Document, COUNT { (d)--() } AS n, p:Passage AND NOT d:Passage"
    for name in ("", "a"):
        table = memories[name].cypher(query)
        assert table.columns == ["labels(d)", "type(r)", "d:Document", "n", "p:Passage AND NOT d:Passage"]
        row = table.rows[0]
        assert row["labels(d)"] == ["Document"]
        assert row["type(r)"] == "PART_OF"
        assert row["d:Document"] is True


def test_indexes_of_a_named_memory_are_its_own(memories):
    memory = memories["a"]
    before = sorted(str(row["name"]) for row in raw(memory, "SHOW INDEXES"))
    memory.cypher("CREATE INDEX seen IF NOT EXISTS FOR (n:Passage) ON (n.seen)", write=True)
    made = sorted({str(row["name"]) for row in raw(memory, "SHOW INDEXES")} - set(before))
    assert len(made) == 1
    assert not [row for row in memories["b"].cypher("SHOW INDEXES").rows if row["name"] in made]
    memory.cypher("DROP INDEX seen", write=True) if made == ["seen__a"] else raw(
        memory, f"DROP INDEX {made[0]}"
    )
    assert sorted(str(row["name"]) for row in raw(memory, "SHOW INDEXES")) == before


def test_by_http_and_the_command_too(memories, monkeypatch):
    default = memories[""]
    monkeypatch.setenv("GSWGRAPH_CACHE", str(default.settings.cache_dir))
    if default.settings.password:
        monkeypatch.setenv("NEO4J_PASSWORD", default.settings.password)
    before = state(default)
    with served(default) as one:
        reply = one.client.post(
            "/api/cypher",
            params={"memory": "a"},
            json={"query": "MATCH (d:Document) RETURN d.title AS title"},
        )
        assert [row["title"] for row in reply.json()["rows"]] == ["Alphaville Town"]
        for body in (
            {"query": "MATCH (d:Document__b) RETURN d"},
            {"query": "MATCH (d:Document__b) DETACH DELETE d", "write": True},
        ):
            reply = one.client.post("/api/cypher", params={"memory": "a"}, json=body, headers=one.owner())
            assert reply.status_code == 400, reply.text
            assert "of another memory" in reply.text
        reply = one.client.post(
            "/api/cypher",
            params={"memory": "a"},
            json={"query": "MATCH (n) SET n.seen = 12", "write": True},
            headers=one.owner(),
        )
        assert reply.status_code == 200, reply.text
    assert outside(state(default), "a") == outside(before, "a")
    address = f"{default.settings.memory}{'&' if '?' in default.settings.memory else '?'}memory=a"
    if "://" in address:  # a folder is open here
        shown = run("--memory", address, "cypher", "MATCH (d:Document__b) RETURN d")
        assert shown.exit_code == 1
        assert "Document__b is of another memory" in shown.output
        shown = run("--memory", address, "cypher", "MATCH (n) RETURN n", "--json")
        assert shown.exit_code == 0
        assert not [word for word in kept_away("a") if word in shown.output]


def test_nobody_else_writes_while_nothing_else_is_there(fresh_settings, monkeypatch, tmp_path):
    """A database with a default memory alone is as free as ever. The last test of the file, as it empties a server."""
    monkeypatch.setattr(Embedder, "load", staticmethod(fakes.embedder))
    with Memory.open(settings=fresh_settings) as memory:
        memory.load(*samples.write(tmp_path))
        memory.cypher("CREATE (n {id: 'x'})", write=True)
        memory.cypher("MERGE (n {id: 'x'}) SET n:Person", write=True)
        assert memory.cypher("MATCH (n:Person) RETURN n.id AS id").rows == [{"id": "x"}]
        assert memory.cypher(
            "MATCH (n) WHERE n.id = 'x' DETACH DELETE n RETURN count(*) AS n", write=True
        ).rows == [{"n": 1}]
