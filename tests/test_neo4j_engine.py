"""Neo4j by url, and what every engine must do alike."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from engines import empty, free_ports, opened

from gsw_graph.config import Settings
from gsw_graph.engine import neo4j, readonly
from gsw_graph.engine.opening import connect
from gsw_graph.errors import EngineError, GswGraphError

CYPHER = Path(__file__).parents[1] / "cypher"
READS = [
    "MATCH (n) RETURN n LIMIT 1",
    "  MATCH (n) RETURN n;  ",
    "RETURN 1 AS x UNION RETURN 2 AS x",
    "MATCH (n) WHERE EXISTS { MATCH (n)-->(m) WHERE m.x = 1 } RETURN n",
    "RETURN COLLECT { MATCH (n) RETURN n.name } AS names",
    "MATCH (n) CALL (n) { MATCH (n)-->(m) RETURN count(m) AS k } RETURN k",
    "MATCH (n) RETURN n // CREATE (m)",
    "MATCH (n) /* DELETE n */ RETURN n",
    "MATCH (n {name: \"SET it's \\\" MERGE\"}) RETURN 'CREATE' AS x",
    "MATCH (`CREATE` {`DELETE`: 1}) RETURN `CREATE`",
    "MATCH (n:Create) WHERE n.set = 1 RETURN n.delete AS profile",
    "MATCH (n:Profile) RETURN n",
    "UNWIND $rows AS row RETURN row.id AS id",
    "CALL db.labels()",
    "CALL db.labels() YIELD label RETURN label",
    "CALL db.index.fulltext.queryNodes('x', 'y') YIELD node, score RETURN node, score",
    "CALL db.index.vector.queryNodes('x', 3, [1.0, 0.0]) YIELD node, score RETURN node, score",
    "SHOW INDEXES",
    "SHOW CONSTRAINTS",
    "SHOW DATABASES",
    "CALL dbms.components()",
    "CALL dbms.components() YIELD name, versions RETURN name, versions",
    "EXPLAIN MATCH (n) RETURN n",
]
WRITES = [
    "CREATE (n:X) RETURN n",
    "create (n:X)",
    "MATCH (n) SET n.x = 1",
    "MATCH (n) SET n:Foo",
    "MERGE (n:P {id: 1}) ON CREATE SET n.k = 1",
    "MATCH (n) REMOVE n.x",
    "MATCH (n) DELETE n",
    "MATCH (n) DETACH DELETE n",
    "FOREACH (i IN [1, 2] | CREATE (:Z {i: i}))",
    "MATCH (n) FOREACH (x IN [1] | SET n.y = 1) RETURN 1",
    "CALL { CREATE (x:Y) RETURN x } RETURN x",
    "MATCH (n) CALL (n) { SET n.y = 1 } RETURN count(*)",
    "CALL { MATCH (n) CALL (n) { DELETE n } RETURN 1 AS one } RETURN one",
    "CALL (*) { MERGE (x:Y) RETURN x } RETURN x",
    "CALL () { RETURN 1 AS x UNION CREATE (:X) RETURN 2 AS x } RETURN x",
    "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10 ROWS",
    "RETURN 1 AS x UNION CREATE (n:U) RETURN n.x AS x",
    "MATCH (n) RETURN n UNION ALL MERGE (n:U) RETURN n",
    "MATCH (a), (b) CREATE (a)-[:R]->(b)",
    "/* a comment */ CREATE (n) // SET",
    "CREATE INDEX bar FOR (n:P) ON (n.bar)",
    "CREATE CONSTRAINT FOR (n:P) REQUIRE n.q IS UNIQUE",
    "DROP INDEX foo IF EXISTS",
    "PROFILE MATCH (n) RETURN n",
    "profile CREATE (n:Profiled)",
    "/* x */ PROFILE CREATE (n:Profiled)",
    "EXPLAIN CREATE (n:X)",
    "CREATE USER x SET PASSWORD 'abcdefghij'",
    "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "LO\\u0041D CSV FROM 'file:///etc/passwd' AS line RETURN line",
    "MATCH (p:Passage) LOAD /* x */ \u00a0CSV FROM 'http://127.0.0.1:9/?x=' + p.text AS line RETURN line",
    "MATCH (n) RETURN 'a\\u0027 AS x CREATE (:X) RETURN \\u0027b' AS y",
    "SHOW TRANSACTIONS",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    "SHOW TRANSACTIONS YIELD transactionId AS t TERMINATE TRANSACTIONS t YIELD message RETURN message",
    "SHOW SETTINGS",
    "SHOW USERS",
    "CALL db.prepareForReplanning()",
    "CALL db.stats.clear('QUERIES')",
    "CALL `db`.`stats`.`collect`('QUERIES')",
    "CALL db.labels() YIELD label CALL db.resampleOutdatedIndexes() RETURN label",
    "CALL dbms.listConfig()",
    "CALL dbms.killConnections(['bolt-1'])",
    "USE system SHOW DATABASES",
    "CALL do.when(true, \"LOAD CSV FROM 'file:///etc/passwd' AS r RETURN r\", '', {}) YIELD value RETURN value",
    "MATCH (n) RETURN n; CREATE (m:Multi)",
    "RETURN EXISTS { CREATE (n) }",
    "RETURN 1 \x0b AS x",
]
UNREADABLE = ["MATCH (n RETURN n", "SELECT 1"]


@pytest.fixture(scope="module")
def connection(engine_settings):
    with opened(engine_settings) as found:
        yield found


def count(connection):
    return int(
        connection.driver.execute_query(
            "MATCH (n) RETURN count(n) AS n", database_=connection.database
        ).records[0]["n"]
    )


def test_reads_are_seen_as_reads(connection):
    assert {query: found for query in READS if (found := connection.dialect.read_only_violation(query))} == {}


def test_every_statement_that_reads_is_seen_as_a_read(connection):
    found = {}
    for folder in ("read", "explore", "examples"):
        for file in sorted((CYPHER / folder).glob("*.cypher")):
            if file.name.count(".") == 1 or f".{connection.dialect.name}." in file.name:
                found[file.name] = connection.dialect.read_only_violation(file.read_text(encoding="utf-8"))
    assert {name: why for name, why in found.items() if why} == {}


def test_every_other_statement_can_be_planned(server_settings):
    """By the planner of the server. What the program puts into a statement are names of its own."""
    names = {"NAME": "planned", "PROPERTY": "title", "OTHER": "text", "KEY": "id", "DIMENSIONS": "8"}
    with opened(server_settings) as found, found.driver.session(database=found.database) as session:
        for folder in ("write", "move", "schema"):
            for file in sorted((CYPHER / folder).glob("*.cypher")):
                if ".arcadedb." in file.name:
                    continue
                query = file.read_text(encoding="utf-8")
                query = re.sub(r"\$([A-Z_]+)", lambda found: names.get(found[1], "Passage"), query)
                session.run(f"EXPLAIN\n{query}").consume()


def test_writes_are_seen_as_writes_and_not_run(connection):
    before = count(connection)

    def allowed(query):
        try:
            return connection.dialect.read_only_violation(query) is None
        except EngineError:  # a statement that this server does not know
            return False

    assert [query for query in WRITES if allowed(query)] == []
    assert count(connection) == before
    users = "SHOW USERS YIELD user RETURN user" if connection.dialect.name == "neo4j" else "SHOW USERS"
    assert "'x'" not in str(connection.driver.execute_query(users, database_="system").records)


@pytest.mark.parametrize("query", UNREADABLE)
def test_what_the_server_cannot_read_is_an_error_with_its_reason(connection, query):
    with pytest.raises(EngineError, match=r"cannot read the query: .{10}"):
        connection.dialect.read_only_violation(query)


@pytest.mark.parametrize(
    "query",
    ["CREATE (n)", "MATCH (n) SET n.y = 1. RETURN n", "RETURN 'open", "MATCH ({a: 'it''s'}) CREATE (m)"],
)
def test_words_alone_tell_a_write(query):
    assert readonly.read_only_violation(query)


@pytest.mark.parametrize("query", [*READS, "MATCH (n) RETURN n.load AS csv", "RETURN `a``CREATE` AS x"])
def test_words_of_reads_are_no_writes(query):
    assert readonly.read_only_violation(query) is None
    assert readonly.unknown_function(query) is None
    assert readonly.asks_server(query) or readonly.unknown_to_embedded(query) is None


@pytest.mark.parametrize(
    "name",
    [
        "genai.vector.encode",
        "`genai`.`vector` . encode",
        "`genai.vector.encode`",
        "genai.vector.encode\ufeff",
        "apoc/**/. load.x",
    ],
)
def test_functions_of_plugins_are_found(name):
    assert readonly.unknown_function(f"MATCH (n) RETURN {name} (n.text, 'OpenAI', {{}}) AS x")


@pytest.mark.parametrize(
    "name",
    [
        "CALL do.when(true, $q, '', {})",
        "CALL `do` . `When`(true, $q, '', {})",
        "CALL `apoc.do.when`(true, $q)",
        "UNWIND [1] AS x CALL do.when",
        "CALL util.sleep(9)",
        "RETURN sql.eval('x') AS y",
    ],
)
def test_what_runs_a_query_in_a_string_on_the_embedded_engine_is_found(name):
    assert readonly.unknown_to_embedded(name)


def test_steps_of_a_plan_are_known_or_not():
    def plan(operator, details=""):
        return {
            "operatorType": "ProduceResults@neo4j",
            "children": [{"operatorType": f"{operator}@neo4j", "args": {"Details": details}, "children": []}],
        }

    known = [
        "NodeUniqueIndexSeek",
        "VarLengthExpand(Pruning,BFS,All)",
        "NodeLeftOuterHashJoin",
        "StatefulShortestPath(Into, Trail)",
        "LetAntiSemiApply",
    ]
    assert [one for one in known if readonly.unknown_step(plan(one))] == []
    unknown = [
        "LoadCSV",
        "TerminateTransactions",
        "ShowTransactions",
        "TransactionApply",
        "Foreach",
        "SetProperty",
        "Create",
        "DetachDelete",
        "NodeIndexSeek2",
    ]
    assert [readonly.unknown_step(plan(one)) for one in unknown] == unknown
    assert readonly.unknown_step(plan("ProcedureCall", "db.labels() :: (label :: STRING)")) is None
    assert (
        readonly.unknown_step(plan("ProcedureCall", "db.stats.clear($x) :: (section :: STRING)"))
        == "db.stats.clear"
    )


@pytest.mark.parametrize(
    ("query", "profiled"),
    [
        ("PROFILE MATCH (n) RETURN n", True),
        ("CYPHER 5 runtime=slotted PROFILE CREATE (n)", True),
        ("/* a */ cypher profile CREATE (n)", True),
        ("EXPLAIN PROFILE CREATE (n)", True),
        ("MATCH (profile) RETURN profile", False),
    ],
)
def test_profile_is_found_before_the_query(query, profiled):
    assert ("PROFILE" in readonly.preamble(query)) is profiled


def test_schema_is_made_and_waited_for(fresh_settings):
    with opened(fresh_settings) as connection:
        for _ in range(2):
            connection.dialect.run_schema(
                "CREATE CONSTRAINT waited IF NOT EXISTS FOR (n:Waited) REQUIRE n.id IS UNIQUE"
            )
            connection.dialect.run_schema("CREATE INDEX waited_name IF NOT EXISTS FOR (n:Waited) ON (n.name)")
        connection.dialect.wait_online(60)
        with pytest.raises(EngineError, match="refused a statement"):
            connection.dialect.run_schema("CREATE NONSENSE x")


def test_an_index_that_fails_is_named(server_settings, monkeypatch):
    with opened(server_settings) as connection:
        texts = {
            "server/unready": "UNWIND ['no_such_index'] AS name RETURN name",
            "server/await_index": neo4j.statement("server/await_index", "neo4j"),
        }
        monkeypatch.setattr(neo4j, "statement", lambda name, _: texts[name])
        with pytest.raises(EngineError, match=r"no_such_index: the index is not online: .*no_such_index"):
            connection.dialect.wait_online(1)


def test_wrong_password(server_settings):
    with pytest.raises(
        EngineError, match=r"password is wrong\. Check NEO4J_USERNAME and NEO4J_PASSWORD"
    ) as caught:
        connect(replace(server_settings, password="not-the-password"))
    assert "not-the-password" not in str(caught.value)


def test_no_password(server_settings, tmp_path):
    with pytest.raises(EngineError, match="Set NEO4J_PASSWORD"):
        connect(replace(server_settings, password=None, cache_dir=tmp_path))


def test_login_in_the_url_is_used_and_never_shown(server_settings):
    from gsw_graph.engine import local

    password = server_settings.password or local.password_for(
        server_settings, neo4j.parse(server_settings.memory).port
    )
    scheme, _, place = server_settings.memory.partition("://")
    with opened(Settings(memory=f"{scheme}://neo4j:{password}@{place}")) as connection:
        assert connection.url == server_settings.memory
        assert connection.database == "neo4j"
    with pytest.raises(EngineError) as caught:
        connect(Settings(memory=f"{scheme}://neo4j:a/b@c%20d@{place}"))
    assert "password is wrong" in str(caught.value)
    assert "a/b" not in str(caught.value)


def test_unknown_database(server_settings):
    with pytest.raises(EngineError, match=r"no such database.*Check NEO4J_DATABASE"):
        connect(replace(server_settings, database="nosuchdatabase"))


def test_routing_scheme(server_settings):
    with opened(
        replace(server_settings, memory=server_settings.memory.replace("bolt://", "neo4j://"))
    ) as connection:
        assert connection.url.startswith("neo4j://")
        assert (
            connection.driver.execute_query("RETURN 1 AS x", database_=connection.database).records[0]["x"]
            == 1
        )


def test_encryption_that_the_server_does_not_have(server_settings):
    with pytest.raises(EngineError, match="or use bolt:// where it has no TLS"):
        connect(replace(server_settings, memory=server_settings.memory.replace("bolt://", "bolt+ssc://")))


def test_no_server():
    port, _ = free_ports()
    with pytest.raises(
        EngineError,
        match=r"no Neo4j server answers \(Connection refused\)\. Start one with gswgraph db start",
    ):
        connect(Settings(memory=f"bolt://localhost:{port}", password="secret"))


def test_unknown_host_hides_the_password():
    with pytest.raises(EngineError, match="no Neo4j server answers") as caught:
        connect(Settings(memory="neo4j://neo4j:secret@no-such-host.invalid"))
    assert "secret" not in str(caught.value)


def test_a_server_that_never_answers_is_given_up(monkeypatch):
    monkeypatch.setattr(neo4j, "_CONNECT_SECONDS", 1)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        pytest.raises(EngineError, match="does not answer within 1 s"),
    ):
        connect(Settings(memory=f"bolt://127.0.0.1:{listener.getsockname()[1]}", password="secret"))


@contextlib.contextmanager
def talker(reply):
    """A server that gives everyone the same bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    with client:
                        client.recv(100)
                        client.sendall(reply)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@pytest.mark.parametrize("reply", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x00\x00\x00\x63 what?", b""])
def test_a_server_that_speaks_no_bolt(reply):
    with (
        talker(reply) as port,
        pytest.raises(EngineError, match=r"does not speak Bolt|no Neo4j server answers"),
    ):
        connect(Settings(memory=f"bolt://127.0.0.1:{port}", password="secret"))


@pytest.mark.parametrize(
    ("agent", "version", "message"),
    [
        ("Neo4j/4.4.30", "4.4.30", "Neo4j 4.4.30, which is too old"),
        ("Neo4j/5.22.0", "5.22.0", "too old"),
        ("Memgraph/3.0", "3.0", "is Memgraph/3.0 and no Neo4j"),
        ("Neo4j/5.26.0 compatible (ArcadeDB)", "5.26.0", "no Neo4j"),
    ],
)
def test_an_unfit_server_is_named(agent, version, message):
    with pytest.raises(EngineError, match=message.replace("(", r"\(").replace(")", r"\)")):
        neo4j._check_server("bolt://x:7687", agent, version)


@pytest.mark.parametrize(
    ("url", "clean", "username", "password", "database"),
    [
        ("bolt://localhost", "bolt://localhost", None, None, None),
        ("NEO4J+S://abc.databases.neo4j.io", "neo4j+s://abc.databases.neo4j.io", None, None, None),
        ("bolt://u:p%40w@h:7688/films", "bolt://h:7688", "u", "p@w", "films"),
        ("bolt://u@h", "bolt://h", "u", None, None),
        ("bolt://u:@h", "bolt://h", "u", "", None),
        ("neo4j://u:p:q/r@[::1]:7687?policy=eu", "neo4j://[::1]:7687?policy=eu", "u", "p:q/r", None),
    ],
)
def test_urls_are_taken_apart(url, clean, username, password, database):
    address = neo4j.parse(url)
    assert address.url == clean
    assert address.username == username
    assert address.password == password
    assert address.database == database


@pytest.mark.parametrize(
    "url",
    ["http://u:secret@localhost:7474", "bolt://", "bolt://u:secret@host:port", "bolt://u:secret@h:99999"],
)
def test_urls_that_cannot_be_used(url):
    with pytest.raises(GswGraphError) as caught:
        connect(Settings(memory=url))
    assert "secret" not in str(caught.value)


def test_case_29_two_first_loads_at_the_same_time(server_settings):
    """Two processes make the schema of an empty database: both do, whoever waits for whom."""
    code = "from gsw_graph.config import Settings; from gsw_graph.engine.opening import connect; from gsw_graph.store import schema; schema.prepare(connect(Settings.from_env()), 'fake', 8)"
    known = {
        "NEO4J_URI": server_settings.memory,
        "NEO4J_PASSWORD": server_settings.password or "",
        "GSWGRAPH_CACHE": str(server_settings.cache_dir),
    }
    environment = {**os.environ, **{name: value for name, value in known.items() if value}}
    for _ in range(2):
        empty(server_settings)
        processes = [
            subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.PIPE, text=True)
            for _ in range(3)
        ]
        failures = [process.communicate()[1] for process in processes]
        assert [process.returncode for process in processes] == [0, 0, 0], failures
