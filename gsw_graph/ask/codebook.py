"""The symbol codebook: what passages say as edges (subject, relation, object) in the order of the text,
edges in runs, and the building of runs for the passages that have none.

After AutoPrunedRetriever: section 2.2 (the symbols of a triple) from what the memory holds instead of a
parser. A triple is an edge as it stands; a question-answer pair is one between what it is about and its
answer, related by its verb phrase; a proposition without a relation is one between the first two names in
it, related by the words between. The public code keeps triples in the order of a hash table; here an edge
stands where the later of its two names is first named. Section 2.3 (runs): append while max(0, cos(edge,
centroid)) + BONUS [tail = head] >= TAU. The paper cuts a stream in batches and looks at the boundary
between two again. Here one pass goes over a document, so that no boundary comes from a batch, and every one
is a fixed point of the segmenter (Lemma 3).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.errors import InputError
from gsw_graph.model.results import RunsReport

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.engine import Connection
    from gsw_graph.models.embed.embedder import Embedder
    from gsw_graph.store.codebook import Run
    from gsw_graph.store.reader import Reader

_WORDS = 8  # between the two names of a proposition: more say something of their own
_ARTICLES = frozenset(("the", "a", "an"))
_LONGEST = 200  # letters of a relation
TAU = 0.7
BONUS = 0.05  # where an edge begins with the concept that the one before ends with
WINDOW = 256  # passages of one transaction; a document with more is cut there


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
    """One edge of a passage: ids of two concepts, the name of their relation, and the statements that say
    so, which have this relation all."""

    subject: str
    relation: str
    object: str
    statements: tuple[Statement, ...]

    @property
    def number(self) -> int:
        """Return the number of its three."""
        return edge_number(self.subject, self.relation, self.object)

    @property
    def vector(self) -> NDArray[np.float32]:
        """Return the vector of what it stands on together, length 1."""
        mean: NDArray[np.float32] = np.mean([one.vector for one in self.statements], axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-12)


def edge_number(*three: str) -> int:
    """Return the same number for the same three in every passage and every memory: 53 bits of a hash, which
    every language reads as a whole number."""
    return int.from_bytes(hashlib.blake2b("\n".join(three).encode(), digest_size=8).digest(), "big") >> 11


def edges_of(text: str, statements: Sequence[Statement]) -> list[Edge]:
    """Return the edges of a passage, each once, in the order of its text, below which its title stands: what
    it names itself shows the direction of an edge better."""
    folded = text.casefold()

    @cache
    def place(name: Name) -> int:
        at = folded.find(name.text.casefold())
        return at if at >= 0 else len(folded)

    found: dict[tuple[str, frozenset[str]], list[tuple[Name, str, Name, Statement]]] = {}
    for statement in sorted(statements, key=lambda one: one.id):
        for subject, relation, object_ in _related(statement, place):
            name = " ".join(relation.split()).casefold()[:_LONGEST].strip()
            if name and subject.concept != object_.concept:
                key = (name, frozenset((subject.concept, object_.concept)))
                found.setdefault(key, []).append((subject, name, object_, statement))
    ordered = []
    for same in found.values():
        subject, name, object_, _ = same[0]
        by_id = {statement.id: statement for *_, statement in same}
        edge = Edge(subject.concept, name, object_.concept, tuple(by_id.values()))
        ends = sorted((place(subject), place(object_)), reverse=True)
        ordered.append((ends, edge.subject, edge.relation, edge.object, edge))
    return [edge for *_, edge in sorted(ordered, key=lambda one: one[:-1])]


def _related(statement: Statement, place: Callable[[Name], int]) -> Iterator[tuple[Name, str, Name]]:
    if statement.kind == "QAPair":
        yield from _of_pair(statement, place)
    elif statement.relation is not None:
        subjects, objects = (
            [name for name in statement.about if name.role == role] for role in ("subject", "object")
        )
        for subject, object_ in zip(subjects[:1], objects[:1], strict=False):
            yield subject, statement.relation, object_
    else:
        yield from _of_text(statement)


def _of_pair(statement: Statement, place: Callable[[Name], int]) -> Iterator[tuple[Name, str, Name]]:
    """Yield for each answer an edge with what the pair is about, of several with the one that is nearest to
    it in the text. "Which journal does the institute publish?" asks backwards: the subject is what is named
    first."""
    for answer in statement.answers:
        others = [name for name in statement.about if name.concept != answer.concept]
        if others and statement.relation:
            at = place(answer)
            other = min(others, key=lambda name: (abs(place(name) - at), name.text))
            pair = (other, answer) if place(other) <= at else (answer, other)
            yield pair[0], statement.relation, pair[1]


def _of_text(statement: Statement) -> Iterator[tuple[Name, str, Name]]:
    """Return the first two names of a proposition and the words between them, where these are neither none
    nor many."""
    folded = statement.text.casefold()
    places = [(folded.find(name.text.casefold()), name) for name in statement.about]
    named = sorted(
        (place for place in places if place[0] >= 0),
        key=lambda place: (place[0], -len(place[1].text), place[1].text),
    )
    end = named[0][0] + len(named[0][1].text) if named else 0
    at, second = next((place for place in named[1:] if place[0] >= end), (end, None))
    between = statement.text[end:at].split()
    if second is not None and 0 < len(between) <= _WORDS:
        relation = between[:-1] if between[-1].casefold() in _ARTICLES else between
        yield named[0][1], " ".join(relation), second


def starts(vectors: NDArray[np.float32], follows: Sequence[bool], tau: float = TAU) -> list[int]:
    """Return where runs begin, ascending; 0 is the first, and of no edges there are none.

    vectors: (edges, dimension), of length 1. follows: whether an edge begins where the one before ends; of
    the first it is not looked at."""
    found: list[int] = []
    total = np.zeros(vectors.shape[1:])
    for n, vector in enumerate(vectors):
        if found:
            length = float(np.linalg.norm(total)) or 1.0
            fit = max(0.0, float(total @ vector) / length) + (BONUS if follows[n] else 0.0)
        if not found or fit < tau:
            found.append(n)
            total = np.array(vector, dtype=np.float64)
        else:
            total += vector
    return found


def build(
    connection: Connection,
    reader: Reader,
    embedder: Callable[[], Embedder],
    on_passages: Callable[[int, int], None] = lambda *_: None,
) -> RunsReport:
    """Build the runs that are missing. What was written stays where this is broken off, and the next call
    goes on. embedder: asked for only where something is missing. on_passages: told how many are done, of how
    many, before each transaction and at the end; what it raises breaks this off."""
    from neo4j.exceptions import ClientError

    from gsw_graph.store import codebook as store

    start = perf_counter()
    missing = store.without_runs(reader)
    done = runs = 0
    for documents in _windows(missing):
        on_passages(done, len(missing))
        passages = [passage for document in documents for passage in document]
        texts, said = store.statements(reader, passages)
        found = [run for document in documents for run in runs_of(document, texts, said)]
        concepts = {name for run in found for edge in run.edges for name in (edge.subject, edge.object)}
        relations = {edge.relation for run in found for edge in run.edges}
        lacking, new = store.unknown(reader, sorted(concepts), sorted(relations))
        vectors = dict(zip([*lacking, *new], embedder().encode([*lacking, *new]), strict=True))
        runs += store.write_runs(
            connection,
            found,
            passages,
            {name: vectors[name] for name in lacking},
            {name: vectors[name] for name in new},
        )
        done += len(passages)
    if missing:
        on_passages(done, len(missing))
    with suppress(ClientError):  # who may only read asks without the mark
        store.mark_complete(connection)
    return RunsReport(done, runs, perf_counter() - start)


def complete(
    connection: Connection,
    reader: Reader,
    embedder: Callable[[], Embedder],
    on_stage: Callable[[str, str | None], None] | None,
    *,
    may_build: bool,
) -> None:
    """Build the runs that are missing, for a question; InputError where some are and `may_build` is not."""
    missing = 0 if may_build else len(reader.rows("read/passages_without_runs"))
    if missing:
        message = f"`pruned` needs the runs of all passages, and {missing:,} have none yet"
        raise InputError(message, hint="Build them: gswgraph runs build")

    def report(done: int, passages: int) -> None:
        if on_stage is not None:
            on_stage("database", f"runs built for {done:,} of {passages:,} passages")

    if may_build:
        build(connection, reader, embedder, report)


def runs_of(passages: Sequence[str], texts: dict[str, str], said: Sequence[Statement]) -> list[Run]:
    """Return the runs of some passages of one document, in their order."""
    from gsw_graph.store.codebook import Run

    by_passage: dict[str, list[Statement]] = {passage: [] for passage in passages}
    for one in said:
        if one.passage in by_passage:
            by_passage[one.passage].append(one)
    edges: list[Edge] = []
    for passage, statements in by_passage.items():
        edges += edges_of(texts.get(passage, ""), statements)
    if not edges:
        return []
    follows = [False, *(one.object == other.subject for one, other in pairwise(edges))]
    begins = starts(np.stack([edge.vector for edge in edges]), follows)
    return [Run(tuple(edges[a:b])) for a, b in zip(begins, [*begins[1:], len(edges)], strict=True)]


def _windows(missing: Sequence[tuple[str, str]]) -> Iterator[list[list[str]]]:
    """Yield passages by document, as many documents together as have WINDOW passages; one with more in
    pieces."""
    window: list[list[str]] = []
    documents = ([passage for _, passage in group] for _, group in groupby(missing, key=lambda row: row[0]))
    for passages in documents:
        for begin in range(0, len(passages), WINDOW):
            piece = passages[begin : begin + WINDOW]
            if window and sum(map(len, window)) + len(piece) > WINDOW:
                yield window
                window = []
            window.append(piece)
    if window:
        yield window
