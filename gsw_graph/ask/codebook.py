"""Make the symbol codebook: the facts of passages as edges (subject, relation, object) in the order of the
text, and these edges in runs.

After AutoPrunedRetriever. Section 2.2 (the symbols of a triple) uses the memory instead of a parser. A triple
is an edge; a question-answer pair is an edge between the name that it is about and its answer, related by its
verb phrase; a proposition without a relation is an edge between its first two names, related by the words
between them. The public code keeps triples in the order of a hash table; here the position of an edge is the
first mention of the later of its two names. The vector of an edge is that of its own triple, E-R-E (section
2.2, Prop. 16). Section 2.3 (runs): append while max(0, cos(edge, centroid)) + BONUS [tail = head] >= TAU. The
paper cuts a stream in batches and examines the boundary between two again. Here one pass goes over a
document, so no boundary comes from a batch, and each is a fixed point of the segmenter (Lemma 3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import groupby, pairwise
from operator import itemgetter
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from neo4j.exceptions import ClientError

from gsw_graph.concurrency import grouped
from gsw_graph.errors import InputError
from gsw_graph.model.results import RunsReport
from gsw_graph.store import codebook as store
from gsw_graph.store.codebook import Edge, Name, Run, Statement
from gsw_graph.store.vectors import pack_vector, unpack_vectors
from gsw_graph.values import single_spaced

if TYPE_CHECKING:
    from typing import TypeAlias

    from numpy.typing import NDArray

    from gsw_graph.engine import Connection
    from gsw_graph.models.embed.embedder import Embedder
    from gsw_graph.store.reader import Reader

    Statements: TypeAlias = Sequence[Statement]
    Position: TypeAlias = Callable[[Name], int]
    Triples: TypeAlias = Iterator[tuple[Name, str, Name]]

_WORDS = 8  # at most, between the two names of a proposition
_ARTICLES = frozenset(("the", "a", "an"))
_LONGEST = 200  # letters of a relation
TAU = 0.5
BONUS = 0.05  # where an edge begins with the concept that the one before ends with
WINDOW = 256  # passages of one transaction; a document with more is cut there


def edges_of(text: str, statements: Statements) -> list[Edge]:
    """Return the edges of a passage, each once, in the order of its text.

    Args:
        text: Text of the passage, then its title: the text shows better which of two names comes first.
        statements: Statements of the passage.
    """
    folded = text.casefold()

    @cache
    def position(name: Name) -> int:
        at = folded.find(name.text.casefold())
        return at if at >= 0 else len(folded)

    triples: dict[tuple[str, frozenset[str]], tuple[Name, Name]] = {}
    based_on: dict[tuple[str, frozenset[str]], dict[str, Statement]] = defaultdict(dict)
    for statement in sorted(statements, key=lambda statement: statement.id):
        for subject, relation, object_ in _related(statement, position):
            name = single_spaced(relation).casefold()[:_LONGEST].strip()
            concepts = frozenset((subject.concept, object_.concept))
            if name and len(concepts) == 2:
                triples.setdefault((name, concepts), (subject, object_))
                based_on[name, concepts][statement.id] = statement
    ordered = []
    for key, (subject, object_) in triples.items():
        edge = Edge(subject.concept, key[0], object_.concept, tuple(based_on[key].values()))
        ends = sorted((position(subject), position(object_)), reverse=True)
        ordered.append(((ends, edge.subject, edge.relation, edge.object), edge))
    return [edge for _, edge in sorted(ordered, key=itemgetter(0))]


def _related(statement: Statement, position: Position) -> Triples:
    if statement.kind == "QAPair":
        yield from _of_pair(statement, position)
    elif statement.relation is None:
        yield from _of_text(statement)
    else:
        by_role: dict[str | None, Name] = {}
        for name in statement.about:
            by_role.setdefault(name.role, name)
        if "subject" in by_role and "object" in by_role:
            yield by_role["subject"], statement.relation, by_role["object"]


def _of_pair(statement: Statement, position: Position) -> Triples:
    """Yield for each answer an edge with the name that the pair is about, of several with the nearest in the
    text. The subject is the name that is mentioned first, as "Which journal does the institute publish?" asks
    backwards."""
    for answer in statement.answers:
        names = [name for name in statement.about if name.concept != answer.concept]
        if names and statement.relation:
            place = position(answer)
            nearest = min(names, key=lambda name: (abs(position(name) - place), name.text))
            subject, object_ = (nearest, answer) if position(nearest) <= place else (answer, nearest)
            yield subject, statement.relation, object_


def _of_text(statement: Statement) -> Triples:
    """Yield the first two names of a proposition and the words between them, if there are 1 to _WORDS."""
    folded = statement.text.casefold()
    mentions = []
    for name in statement.about:
        at = folded.find(name.text.casefold())
        if at >= 0:
            mentions.append((at, -len(name.text), name.text, name))
    mentions.sort(key=itemgetter(0, 1, 2))
    end = 0
    first = None
    for at, length, _, name in mentions:
        if first is None:
            first = name
            end = at - length
        elif at >= end:
            words = statement.text[end:at].split()
            if 0 < len(words) <= _WORDS:
                if words[-1].casefold() in _ARTICLES:
                    words.pop()
                yield first, " ".join(words), name
            return


def starts(vectors: NDArray[np.float32], follows: Sequence[bool], tau: float = TAU) -> list[int]:
    """Return the indexes at which runs begin, ascending.

    Args:
        vectors: (edges, dimension), of length 1.
        follows: Whether an edge begins with the concept that ends the edge before; the first is ignored.
        tau: The least fit of an edge in a run; the paper prints none.
    """
    begins: list[int] = []
    total = np.zeros(vectors.shape[1:])
    for number, vector in enumerate(vectors):
        length = np.linalg.norm(total) or 1.0
        fit = max(0.0, total @ vector / length)
        if follows[number]:
            fit += BONUS
        if not begins or fit < tau:
            begins.append(number)
            total = np.zeros_like(total)
        total += vector
    return begins


def build(
    connection: Connection,
    reader: Reader,
    embedder: Callable[[], Embedder],
    on_passages: Callable[[int, int], None] = lambda *_: None,
) -> RunsReport:
    """Build the runs that are missing. After an interruption, the next call goes on.

    Args:
        connection: Writes the runs.
        reader: Reads passages and statements.
        embedder: Loads the embedder; called only if runs are missing.
        on_passages: Called before each transaction and at the end with the numbers of finished and of all
            passages; an exception from it ends the work.
    """
    start = perf_counter()
    missing = store.without_runs(reader)
    done = written = 0
    vectors: dict[str, bytes] = {}
    for documents in _windows(missing):
        on_passages(done, len(missing))
        passages = [passage for document in documents for passage in document]
        texts, facts = store.statements(reader, passages)
        by_document = [edges_in(document, texts, facts) for document in documents]
        symbols: set[str] = set()
        for edge in (edge for edges in by_document for edge in edges):
            symbols.update((edge.subject, edge.relation, edge.object))
        new = sorted(symbols - vectors.keys())
        vectors.update(zip(new, map(pack_vector, embedder().encode(new)), strict=True))
        runs = [run for edges in by_document for run in runs_of(edges, vectors)]
        written += store.write_runs(connection, runs, passages, vectors)
        done += len(passages)
    if missing:
        on_passages(done, done)
    with suppress(ClientError):  # who may only read asks without the mark
        store.mark_complete(connection)
    return RunsReport(done, written, perf_counter() - start)


def complete(
    connection: Connection,
    reader: Reader,
    embedder: Callable[[], Embedder],
    on_stage: Callable[[str, str | None], None] | None,
    *,
    may_build: bool,
) -> None:
    """Build the runs that are missing, for a question. Raises InputError if there are any and `may_build` is
    false."""

    def report(done: int, passages: int) -> None:
        if on_stage is not None:
            on_stage("database", f"runs built for {done:,} of {passages:,} passages")

    if may_build:
        build(connection, reader, embedder, report)
    elif missing := len(reader.rows("read/passages_without_runs")):
        raise InputError(
            f"`pruned` needs the runs of all passages, and {missing:,} have none yet",
            hint="Ask once with --strategy pruned where the memory may be written",
        )


def edges_in(passages: Sequence[str], texts: dict[str, str], facts: Statements) -> list[Edge]:
    """Return the edges of some passages of one document, in their order."""
    by_passage: dict[str, list[Statement]] = defaultdict(list)
    for fact in facts:
        by_passage[fact.passage].append(fact)
    edges: list[Edge] = []
    for passage in passages:
        edges += edges_of(texts.get(passage, ""), by_passage[passage])
    return edges


def vector_of(edge: Edge, vectors: Mapping[str, bytes]) -> NDArray[np.float32]:
    """Return the vector E-R-E of an edge (AutoPrunedRetriever, section 2.2): the vectors of subject, relation
    and object in a row, (3 * dimension,), of length 1. The cosine of two edges is the mean of their three
    cosines (Prop. 16 with equal weights). vectors: Packed, by concept id or name of a relation."""
    vector = unpack_vectors([vectors[edge.subject], vectors[edge.relation], vectors[edge.object]]).ravel()
    return vector / max(float(np.linalg.norm(vector)), 1e-12)


def runs_of(edges: Sequence[Edge], vectors: Mapping[str, bytes], tau: float = TAU) -> list[Run]:
    """Return the runs of the edges of a document. vectors: See `vector_of`. tau: See `starts`."""
    if not edges:
        return []
    follows = [False]
    for edge, following in pairwise(edges):
        follows.append(edge.object == following.subject)
    begins = starts(np.stack([vector_of(edge, vectors) for edge in edges]), follows, tau)
    begins.append(len(edges))
    return [Run(tuple(edges[begin:end])) for begin, end in pairwise(begins)]


def _windows(missing: Sequence[tuple[str, str]]) -> Iterator[list[list[str]]]:
    """Return passages by document, as many documents together as have WINDOW passages; one with more in
    pieces."""
    pieces: list[list[str]] = []
    for _, group in groupby(missing, key=itemgetter(0)):
        passages = [passage for _, passage in group]
        pieces += (passages[begin : begin + WINDOW] for begin in range(0, len(passages), WINDOW))
    return grouped(pieces, len, WINDOW)
