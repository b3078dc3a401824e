"""Make the symbol codebook: the facts of passages as edges (subject, relation, object) in the order of the
text, and these edges in runs.

After AutoPrunedRetriever. Section 2.2 (the symbols of a triple) uses the memory instead of a parser. A triple
is an edge; a question-answer pair is an edge between the name that it is about and its answer, related by its
verb phrase; a proposition without a relation is an edge between its first two names, related by the words
between them. The public code keeps triples in the order of a hash table; here the position of an edge is the
first mention of the later of its two names. Section 2.3 (runs): append while max(0, cos(edge, centroid)) +
BONUS [tail = head] >= TAU. The paper cuts a stream in batches and examines the boundary between two again.
Here one pass goes over a document, so no boundary comes from a batch, and each is a fixed point of the
segmenter (Lemma 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import groupby, pairwise
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.concurrency import grouped
from gsw_graph.errors import InputError
from gsw_graph.model.results import RunsReport
from gsw_graph.store.codebook import Edge, Name, Run, Statement

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.engine import Connection
    from gsw_graph.models.embed.embedder import Embedder
    from gsw_graph.store.reader import Reader

_WORDS = 8  # at most, between the two names of a proposition
_ARTICLES = frozenset(("the", "a", "an"))
_LONGEST = 200  # letters of a relation
TAU = 0.7
BONUS = 0.05  # where an edge begins with the concept that the one before ends with
WINDOW = 256  # passages of one transaction; a document with more is cut there


def edges_of(text: str, statements: Sequence[Statement]) -> list[Edge]:
    """Return the edges of a passage, each once, in the order of its text.

    Args:
        text: The text of the passage with its title at the end, as mentions in the text show better which of
            two names comes first.
        statements: Those of the passage.
    """
    folded = text.casefold()

    @cache
    def position(name: Name) -> int:
        at = folded.find(name.text.casefold())
        return at if at >= 0 else len(folded)

    statements_of: dict[tuple[str, frozenset[str]], list[tuple[Name, str, Name, Statement]]] = {}
    for statement in sorted(statements, key=lambda statement: statement.id):
        for subject, relation, object_ in _related(statement, position):
            name = " ".join(relation.split()).casefold()[:_LONGEST].strip()
            if name and subject.concept != object_.concept:
                key = (name, frozenset((subject.concept, object_.concept)))
                statements_of.setdefault(key, []).append((subject, name, object_, statement))
    ordered = []
    for entries in statements_of.values():
        subject, name, object_, _ = entries[0]
        by_id = {statement.id: statement for *_, statement in entries}
        edge = Edge(subject.concept, name, object_.concept, tuple(by_id.values()))
        ends = sorted((position(subject), position(object_)), reverse=True)
        ordered.append((ends, edge.subject, edge.relation, edge.object, edge))
    return [edge for *_, edge in sorted(ordered, key=lambda entry: entry[:-1])]


def _related(statement: Statement, position: Callable[[Name], int]) -> Iterator[tuple[Name, str, Name]]:
    if statement.kind == "QAPair":
        yield from _of_pair(statement, position)
    elif statement.relation is not None:
        subjects, objects = (
            [name for name in statement.about if name.role == role] for role in ("subject", "object")
        )
        for subject, object_ in zip(subjects[:1], objects[:1], strict=False):
            yield subject, statement.relation, object_
    else:
        yield from _of_text(statement)


def _of_pair(statement: Statement, position: Callable[[Name], int]) -> Iterator[tuple[Name, str, Name]]:
    """Yield for each answer an edge with the name that the pair is about, of several with the nearest in the
    text. The subject is the name that is mentioned first, as "Which journal does the institute publish?" asks
    backwards."""
    for answer in statement.answers:
        subjects = [name for name in statement.about if name.concept != answer.concept]
        if subjects and statement.relation:
            answer_position = position(answer)
            subject = min(subjects, key=lambda name: (abs(position(name) - answer_position), name.text))
            pair = (subject, answer) if position(subject) <= answer_position else (answer, subject)
            yield pair[0], statement.relation, pair[1]


def _of_text(statement: Statement) -> Iterator[tuple[Name, str, Name]]:
    """Yield the first two names of a proposition and the words between them, if there are 1 to _WORDS."""
    folded = statement.text.casefold()
    positions = [(folded.find(name.text.casefold()), name) for name in statement.about]
    mentions = sorted(
        (entry for entry in positions if entry[0] >= 0),
        key=lambda entry: (entry[0], -len(entry[1].text), entry[1].text),
    )
    end = mentions[0][0] + len(mentions[0][1].text) if mentions else 0
    start, second = next((entry for entry in mentions[1:] if entry[0] >= end), (end, None))
    between = statement.text[end:start].split()
    if second is not None and 0 < len(between) <= _WORDS:
        relation = between[:-1] if between[-1].casefold() in _ARTICLES else between
        yield mentions[0][1], " ".join(relation), second


def starts(vectors: NDArray[np.float32], follows: Sequence[bool], tau: float = TAU) -> list[int]:
    """Return the indexes at which runs begin, ascending.

    Args:
        vectors: (edges, dimension), of length 1.
        follows: Whether an edge begins with the concept that the one before ends with; the first is ignored.
        tau: The least fit of an edge in a run.
    """
    begins: list[int] = []
    total = np.zeros(vectors.shape[1:])
    for n, vector in enumerate(vectors):
        if begins:
            length = float(np.linalg.norm(total)) or 1.0
            fit = max(0.0, float(total @ vector) / length) + (BONUS if follows[n] else 0.0)
        if not begins or fit < tau:
            begins.append(n)
            total = np.array(vector, dtype=np.float64)
        else:
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
        embedder: Loads the embedder; called only where something is missing.
        on_passages: Called before each transaction and at the end with the numbers of finished and of all
            passages; an exception from it ends the work.
    """
    from neo4j.exceptions import ClientError

    from gsw_graph.store import codebook as store

    start = perf_counter()
    missing = store.without_runs(reader)
    done = runs = 0
    for documents in _windows(missing):
        on_passages(done, len(missing))
        passages = [passage for document in documents for passage in document]
        texts, facts = store.statements(reader, passages)
        new_runs = [run for document in documents for run in runs_of(document, texts, facts)]
        concepts = {name for run in new_runs for edge in run.edges for name in (edge.subject, edge.object)}
        relations = {edge.relation for run in new_runs for edge in run.edges}
        lacking, new = store.unknown(reader, sorted(concepts), sorted(relations))
        vectors = dict(zip([*lacking, *new], embedder().encode([*lacking, *new]), strict=True))
        runs += store.write_runs(
            connection,
            new_runs,
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
    """Build the runs that are missing, for a question. Raises InputError if there are any and `may_build` is
    false."""
    missing = 0 if may_build else len(reader.rows("read/passages_without_runs"))
    if missing:
        raise InputError(
            f"`pruned` needs the runs of all passages, and {missing:,} have none yet",
            hint="Ask once with --strategy pruned where the memory may be written",
        )

    def report(done: int, passages: int) -> None:
        if on_stage is not None:
            on_stage("database", f"runs built for {done:,} of {passages:,} passages")

    if may_build:
        build(connection, reader, embedder, report)


def runs_of(passages: Sequence[str], texts: dict[str, str], facts: Sequence[Statement]) -> list[Run]:
    """Return the runs of some passages of one document, in their order."""

    by_passage: dict[str, list[Statement]] = {passage: [] for passage in passages}
    for fact in facts:
        if fact.passage in by_passage:
            by_passage[fact.passage].append(fact)
    edges: list[Edge] = []
    for passage, statements in by_passage.items():
        edges += edges_of(texts.get(passage, ""), statements)
    if not edges:
        return []
    follows = [False, *(edge.object == following.subject for edge, following in pairwise(edges))]
    begins = starts(np.stack([edge.vector for edge in edges]), follows)
    return [Run(tuple(edges[a:b])) for a, b in zip(begins, [*begins[1:], len(edges)], strict=True)]


def _windows(missing: Sequence[tuple[str, str]]) -> Iterator[list[list[str]]]:
    """Return passages by document, as many documents together as have WINDOW passages; one with more in
    pieces."""
    documents = ([passage for _, passage in group] for _, group in groupby(missing, key=lambda row: row[0]))
    pieces = (
        passages[begin : begin + WINDOW]
        for passages in documents
        for begin in range(0, len(passages), WINDOW)
    )
    return grouped(pieces, len, WINDOW)
