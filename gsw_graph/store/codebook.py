"""The symbol codebook in the graph: relations, runs, and their edges."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gsw_graph.cypher import Unlogged, statement
from gsw_graph.errors import EngineError
from gsw_graph.model.documents import content_id
from gsw_graph.store.reader import without_removed
from gsw_graph.values import Fields, unique

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

    from gsw_graph.engine import Connection
    from gsw_graph.store.reader import Reader

Row = Fields
_TITLE = 80  # letters of a run that Neo4j Browser shows
_KINDS = {"QAPair": "pairs", "Proposition": "propositions"}


@dataclass(frozen=True, slots=True)
class Name:
    """Hold a name as written, its concept, and its role in a triple."""

    text: str
    concept: str
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """Hold a pair or a proposition, from which edges are made.

    Attributes:
        kind: Label of the node.
        about: Names that a pair is about, or all names in a proposition.
        answers: Answers of a pair.
        text: Text of a proposition.
    """

    id: str
    kind: str
    passage: str
    relation: str | None
    about: tuple[Name, ...]
    answers: tuple[Name, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """Hold an edge of a passage: ids of two concepts, the name of their relation, and the statements with
    this relation."""

    subject: str
    relation: str
    object: str
    statements: tuple[Statement, ...]

    @property
    def number(self) -> int:
        """Return the number of subject, relation and object."""
        return edge_number(self.subject, self.relation, self.object)


def edge_number(*parts: str) -> int:
    """Return the number of an edge, the same in every passage and every memory: 53 bits of a hash, which
    every language reads as a whole number."""
    text = "\n".join(parts).encode()
    digest = hashlib.blake2b(text, digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 11


@dataclass(frozen=True)
class Run:
    """Edges that belong together, in the order of the text."""

    edges: tuple[Edge, ...]

    @cached_property
    def id(self) -> str:
        """Return the id, made from the statements and their places."""
        parts: list[str] = []
        for edge in self.edges:
            parts += [str(edge.number), *(fact.id for fact in edge.statements)]
        return content_id("run", *parts)

    @cached_property
    def passages(self) -> list[str]:
        """Return the passages of the run, each once."""
        return unique(fact.passage for edge in self.edges for fact in edge.statements)


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """Hold a statement behind an edge of a run, with its packed vector, which `every` leaves out."""

    run: str
    number: int
    position: int
    subject: str
    relation: str
    object: str
    statement: str
    passage: str
    vector: bytes = b""


@dataclass(frozen=True, slots=True)
class StoredConcept:
    """Hold a concept of an edge: its canonical concept, its display name, its packed vector, and the number
    of its passages."""

    id: str
    canonical: str
    name: str
    vector: bytes
    passages: int


@dataclass(frozen=True, slots=True)
class RunsAround:
    """Hold candidate runs, or all, by their edges, with the symbols of the edges. complete: Whether all
    passages have their runs."""

    complete: bool
    edges: list[StoredEdge]
    concepts: list[StoredConcept]
    relations: dict[str, bytes]


def without_runs(reader: Reader) -> list[tuple[str, str]]:
    """Return documents and passages that say something and have no run yet, in the order of the text."""
    return [(row["document"], row["id"]) for row in reader.rows("read/passages_without_runs")]


def statements(reader: Reader, passages: list[str]) -> tuple[dict[str, str], list[Statement]]:
    """Return the texts of some passages, by id, and the statements in them."""
    texts = {}
    for row in reader.rows("read/passage_texts", passages=passages):
        title = row["title"]
        text = row["text"].removeprefix(f"{title}\n")
        texts[row["id"]] = f"{text}\n{title}"
    facts = []
    for kind, name in _KINDS.items():
        for row in reader.rows(f"read/{name}_to_relate", passages=passages):
            about = _names(row["about"])
            answers = _names(row.get("answers"))
            text = row.get("text", "")
            facts.append(Statement(row["id"], kind, row["passage"], row["relation"], about, answers, text))
    return texts, facts


def write_runs(
    connection: Connection, runs: list[Run], passages: list[str], vectors: dict[str, bytes]
) -> int:
    """Write the runs of some passages in one transaction, with the packed vectors of their concepts and
    relations. Runs of passages that have some by now are left out.

    Returns:
        The number of runs that it wrote.

    Raises:
        EngineError: Another process removed something they are based on.
    """
    with connection.session() as session:
        return session.execute_write(_write, runs, passages, vectors)


def around(
    reader: Reader,
    embeddings: list[list[float]],
    keys: list[str],
    cited: list[str],
    *,
    near: int,
    common: int,
    most: int,
) -> RunsAround:
    """Return the runs that may answer a question, in one round trip; see the statement for the
    parameters."""

    def count(rows: list[Row]) -> int:
        return len({StoredEdge(*edge).statement for row in rows for edge in row["edges"]})

    rows = reader.near(
        "read/runs",
        near,
        count,
        embeddings=embeddings,
        keys=keys,
        cited=cited,
        near=near,
        common=common,
        most=most,
    )
    if not rows:  # the memory was removed meanwhile
        return RunsAround(True, [], [], {})
    row = rows[0]
    edges = [StoredEdge(*edge) for edge in without_removed(row["edges"])]
    edges = [edge for edge in edges if reader.sees(edge.passage)]
    concepts = [StoredConcept(*concept) for concept in row["concepts"]]
    concepts = [concept for concept in concepts if concept.vector is not None]
    relations = {name: vector for name, vector in row["relations"] if vector is not None}
    return RunsAround(bool(row["complete"]), edges, concepts, relations)


def is_complete(reader: Reader) -> bool:
    """Tell whether all passages have their runs."""
    return all(row["complete"] for row in reader.rows("read/runs_complete"))


def every(reader: Reader) -> RunsAround:
    """Return all runs of the memory, whatever the scope is."""
    edges: list[StoredEdge] = []
    ends: set[str] = set()
    for row in _there(reader.stream("read/all_runs")):
        edges.append(StoredEdge(**row))
        ends.update((row["subject"], row["object"]))
    symbols = _there(reader.rows("read/run_concepts"))
    concepts = [StoredConcept(**row) for row in symbols if row["id"] in ends]
    relations = {row["name"]: row["vector"] for row in _there(reader.rows("read/run_relations"))}
    return RunsAround(True, edges, concepts, relations)


def frequencies(reader: Reader, concepts: list[str]) -> dict[str, int]:
    """Count the passages within the scope that some canonical concepts occur in, by id."""
    rows = reader.rows("read/concept_frequencies", ids=concepts)
    return {row["id"]: row["passages"] for row in rows}


def mark_complete(connection: Connection) -> None:
    """Note that all passages have their runs, until something is written."""
    connection.driver.execute_query(statement("write/runs_complete"), database_=connection.database)


def _write(tx: ManagedTransaction, runs: list[Run], passages: list[str], vectors: dict[str, bytes]) -> int:
    tx.run(statement("write/queue")).consume()
    done = {row["id"] for row in tx.run(statement("read/passages_with_runs"), passages=Unlogged(passages))}
    runs = [run for run in runs if done.isdisjoint(run.passages)]
    run_rows = [_run_row(run) for run in runs]
    empty = set(passages) - done
    empty.difference_update(*(run.passages for run in runs))
    for passage in sorted(empty):  # a run of no edges says that the passage joins no names
        id_ = content_id("run", passage)
        run_rows.append({"id": id_, "title": "no edges", "edges": 0, "passages": [passage]})
    concepts: set[str] = set()
    relations: set[str] = set()
    for edge in (edge for run in runs for edge in run.edges):
        concepts.update((edge.subject, edge.object))
        relations.add(edge.relation)
    for name, key, symbols in (("concept_vectors", "id", concepts), ("relations", "name", relations)):
        _write_rows(tx, name, [{key: symbol, "vector": vectors[symbol]} for symbol in sorted(symbols)])
    _write_rows(tx, "runs", run_rows)
    for kind, name in _KINDS.items():
        edges = [row for run in runs for row in _edge_rows(run, kind)]
        by_statement = {row["statement"]: row for row in edges}
        _write_rows(tx, f"edges_of_{name}", edges)
        _write_rows(tx, f"relations_of_{name}", list(by_statement.values()))
    return len(runs)


def _write_rows(tx: ManagedTransaction, name: str, rows: list[Row]) -> None:
    """Run a statement over rows. Raises EngineError if it wrote less than they say."""
    if not rows:
        return
    record = tx.run(statement(f"write/{name}"), rows=Unlogged(rows)).single()
    if record is None:
        return
    wanted = len(rows)
    if name == "runs":
        wanted = sum(len(row["passages"]) for row in rows)
    lost = wanted - record["written"]
    if lost:
        raise EngineError(
            f"{lost} of {wanted} {name.replace('_', ' ')} found no place: another process removed what they "
            "stand on",
            hint="Run it again",
        )


def _run_row(run: Run) -> Row:
    first = [f"{edge.subject} {edge.relation} {edge.object}" for edge in run.edges[:3]]
    title = "; ".join(first)[:_TITLE]
    return {"id": run.id, "title": title, "edges": len(run.edges), "passages": run.passages}


def _edge_rows(run: Run, kind: str) -> Iterator[Row]:
    for position, edge in enumerate(run.edges):
        for fact in edge.statements:
            if fact.kind == kind:
                yield {
                    "run": run.id,
                    "statement": fact.id,
                    "number": edge.number,
                    "position": position,
                    "subject": edge.subject,
                    "relation": edge.relation,
                    "object": edge.object,
                }


def _there(rows: Iterable[Row]) -> Iterator[Row]:
    """Return the rows without those of nodes that were removed meanwhile."""
    return (row for row in rows if None not in row.values())


def _names(rows: Sequence[Sequence[Any]] | None) -> tuple[Name, ...]:
    return tuple(sorted((Name(*row) for row in rows or ()), key=str))
