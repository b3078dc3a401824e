"""The symbol codebook in the graph: relations, runs, and their edges."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gsw_graph.cypher import Unlogged, statement
from gsw_graph.errors import EngineError
from gsw_graph.model.documents import content_id
from gsw_graph.store.reader import without_removed
from gsw_graph.text.words import pack_vector, unpack_vectors

if TYPE_CHECKING:
    from neo4j import ManagedTransaction
    from numpy.typing import NDArray

    from gsw_graph.engine import Connection
    from gsw_graph.store.reader import Reader

Row = dict[str, Any]
_TITLE = 80  # letters of a run that Neo4j Browser shows
_KINDS = {"QAPair": "pairs", "Proposition": "propositions"}


@dataclass(frozen=True, slots=True)
class Name:
    """A name as written, the concept it refers to, and its role in a triple."""

    text: str
    concept: str
    role: str | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A pair or a proposition as edges are made of it. kind: its label. about: what a pair is about, or all
    that a proposition mentions. answers: of a pair. text: of a proposition. vector: (dimension,), of length
    1."""

    id: str
    kind: str
    passage: str
    relation: str | None
    vector: NDArray[np.float32]
    about: tuple[Name, ...]
    answers: tuple[Name, ...] = ()
    text: str = ""


@dataclass(frozen=True, slots=True)
class Edge:
    """One edge of a passage: ids of two concepts, the name of their relation, and the statements with this
    relation."""

    subject: str
    relation: str
    object: str
    statements: tuple[Statement, ...]

    @property
    def number(self) -> int:
        """Return the number of subject, relation and object."""
        return edge_number(self.subject, self.relation, self.object)

    @property
    def vector(self) -> NDArray[np.float32]:
        """Return the mean vector of its statements, of length 1."""
        mean: NDArray[np.float32] = np.mean([statement.vector for statement in self.statements], axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-12)


def edge_number(*parts: str) -> int:
    """Return the number of an edge, the same in every passage and every memory: 53 bits of a hash, which
    every language reads as a whole number."""
    return int.from_bytes(hashlib.blake2b("\n".join(parts).encode(), digest_size=8).digest(), "big") >> 11


@dataclass(frozen=True, slots=True)
class Run:
    """Edges that belong together, in the order of the text."""

    edges: tuple[Edge, ...]

    @property
    def id(self) -> str:
        """From the statements it is based on and where each comes."""
        parts = (part for edge in self.edges for part in (str(edge.number), *(s.id for s in edge.statements)))
        return content_id("run", *parts)

    @property
    def passages(self) -> list[str]:
        """Where it occurs, each once."""
        return list(dict.fromkeys(s.passage for edge in self.edges for s in edge.statements))


@dataclass(frozen=True, slots=True)
class StoredEdge:
    """A statement that an edge of a run is based on, with its packed vector."""

    run: str
    number: int
    position: int
    subject: str
    relation: str
    object: str
    statement: str
    passage: str
    vector: bytes


@dataclass(frozen=True, slots=True)
class StoredConcept:
    """A concept that an edge joins: its canonical one, how that is shown, its packed vector, and in how many
    passages it stands."""

    id: str
    canonical: str
    name: str
    vector: bytes
    passages: int


@dataclass(frozen=True, slots=True)
class RunsAround:
    """The runs that may answer a question, by their edges, with the symbols of these. complete: all passages
    have their runs."""

    complete: bool
    edges: list[StoredEdge]
    concepts: list[StoredConcept]
    relations: dict[str, bytes]


def without_runs(reader: Reader) -> list[tuple[str, str]]:
    """Documents and passages that say something and have no run yet, in the order of the text."""
    return [(row["document"], row["id"]) for row in reader.rows("read/passages_without_runs")]


def statements(reader: Reader, passages: Sequence[str]) -> tuple[dict[str, str], list[Statement]]:
    """The texts of some passages, by id, and what was found to be said in them."""
    wanted = list(passages)
    texts = {
        row["id"]: row["text"].removeprefix(f"{row['title']}\n") + f"\n{row['title']}"
        for row in reader.rows("read/passage_texts", passages=wanted)
    }
    facts = [
        Statement(
            row["id"],
            kind,
            row["passage"],
            row["relation"],
            unpack_vectors([row["vector"]])[0],
            _names(row["about"]),
            _names(row.get("answers")),
            row.get("text", ""),
        )
        for kind, name in _KINDS.items()
        for row in reader.rows(f"read/{name}_to_relate", passages=wanted)
    ]
    return texts, facts


def unknown(reader: Reader, concepts: Sequence[str], relations: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those of some concepts that have no vector yet, and of some relations that are not there."""
    lacking = [row["id"] for row in reader.rows("read/concepts_without_vector", ids=list(concepts))]
    stored = {row["name"] for row in reader.rows("read/relations_known", names=list(relations))}
    return sorted(lacking), [name for name in relations if name not in stored]


def write_runs(
    connection: Connection,
    runs: Sequence[Run],
    passages: Sequence[str],
    concepts: dict[str, NDArray[np.float32]],
    relations: dict[str, NDArray[np.float32]],
) -> int:
    """Write the runs of some passages in one transaction, with the vectors of concepts and relations that are
    new; how many it wrote. Runs of passages that have some by now are left out. EngineError where another
    process removed what they are based on."""
    with connection.session() as session:
        return int(session.execute_write(_write, list(runs), list(passages), concepts, relations))


def around(
    reader: Reader,
    embeddings: Sequence[Sequence[float]],
    keys: Sequence[str],
    cited: Sequence[str],
    *,
    near: int,
    common: int,
    most: int,
) -> RunsAround:
    """Return the runs that may answer a question, in one round trip; see the statement for the parameters."""
    parameters = {"embeddings": list(embeddings), "keys": list(keys), "cited": list(cited)}
    limits = {"near": near, "common": common, "most": most}
    rows = reader.near(
        "read/runs",
        near,
        lambda rows: len({StoredEdge(*edge).statement for row in rows for edge in row["edges"]}),
        **parameters,
        **limits,
    )
    if not rows:  # the memory was removed meanwhile
        return RunsAround(True, [], [], {})
    row = rows[0]
    return RunsAround(
        bool(row["complete"]),
        [StoredEdge(*edge) for edge in without_removed(row["edges"])],
        [StoredConcept(*concept) for concept in row["concepts"] if concept[3] is not None],
        {name: vector for name, vector in row["relations"] if vector is not None},
    )


def mark_complete(connection: Connection) -> None:
    """Note that all passages have their runs, until something is written."""
    connection.driver.execute_query(statement("write/runs_complete"), database_=connection.database)


def _write(
    tx: ManagedTransaction,
    runs: list[Run],
    passages: list[str],
    concepts: dict[str, NDArray[np.float32]],
    relations: dict[str, NDArray[np.float32]],
) -> int:
    tx.run(statement("write/queue")).consume()
    there = {row["id"] for row in tx.run(statement("read/passages_with_runs"), passages=Unlogged(passages))}
    runs = [run for run in runs if there.isdisjoint(run.passages)]
    empty = sorted(set(passages).difference(there, *(run.passages for run in runs)))
    rows: dict[str, list[Row]] = {
        "concept_vectors": [{"id": name, "vector": pack_vector(vector)} for name, vector in concepts.items()],
        "relations": [{"name": name, "vector": pack_vector(vector)} for name, vector in relations.items()],
        # Of a passage whose statements join no two names a run of no edges says that it was looked at.
        "runs": [
            *map(_run_row, runs),
            *(
                {"id": content_id("run", passage), "title": "no edges", "edges": 0, "passages": [passage]}
                for passage in empty
            ),
        ],
    }
    for kind, name in _KINDS.items():
        rows[f"edges_of_{name}"] = [row for run in runs for row in _edge_rows(run, kind)]
        related = {
            s.id: edge.relation
            for run in runs
            for edge in run.edges
            for s in edge.statements
            if s.kind == kind
        }
        rows[f"relations_of_{name}"] = [
            {"statement": id_, "relation": relation} for id_, relation in related.items()
        ]
    for name, some in rows.items():
        if not some:
            continue
        record = tx.run(statement(f"write/{name}"), rows=Unlogged(some)).single()
        wanted = sum(len(row["passages"]) for row in some) if name == "runs" else len(some)
        if record is not None and record["written"] != wanted:
            raise EngineError(
                f"{wanted - record['written']} of {wanted} {name.replace('_', ' ')} found no place: another "
                "process removed what they stand on",
                hint="Run it again",
            )
    return len(runs)


def _run_row(run: Run) -> Row:
    title = "; ".join(f"{edge.subject} {edge.relation} {edge.object}" for edge in run.edges[:3])
    return {"id": run.id, "title": title[:_TITLE], "edges": len(run.edges), "passages": run.passages}


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
                    "object": edge.object,
                }


def _names(rows: Sequence[Sequence[Any]] | None) -> tuple[Name, ...]:
    return tuple(sorted((Name(*row) for row in rows or ()), key=str))
