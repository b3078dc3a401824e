"""Reads of the graph: each method runs one statement, and tries again what fails for a moment."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from gsw_graph.cypher import Unlogged, statement
from gsw_graph.engine import read_again
from gsw_graph.model.results import Fact, RankedPassage
from gsw_graph.store.vectors import unpack_vectors
from gsw_graph.values import Fields, unique

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.engine import Connection

Row = Fields
Scored = list[tuple[str, float]]  # ids with a cosine, best first
PropositionRow = tuple[str, list[str], list[list[str]]]  # a passage, its propositions, what each mentions
_SCOPES = 8  # scopes of a memory that are kept
_PASSAGE = ("id", "title", "text", "source", "document", "section", "speaker", "at")  # columns of a passage
_WORDED = 10_000  # passages with words of a question, of which the score is looked at


@dataclass(frozen=True, slots=True)
class DocumentState:
    """The state of a stored document. status: `ready`; `loading` or `renewing` (its passages stay) if its
    load was cut off. unread: its extractor could not read all passages."""

    content_hash: str
    text_hash: str
    extractor: str
    model: str | None
    unread: bool
    status: str
    loader: str | None = None
    properties: Fields = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class PropositionsAround:
    """The part of the graph of propositions around a question: its nearest passages and propositions, best
    first with their cosine; rows of a passage, its propositions and the concepts that each mentions."""

    near: Scored
    facts: Scored
    passages: list[PropositionRow]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The neighbourhood of some questions.

    Attributes:
        total: Passages of the memory.
        near: For each question the passages of the vector index, best first, with their cosine.
        seeds: Ids of the names that it starts from.
        passages: Of each passage its names and their weights.
        frequent: Of these names that are in more than one passage of the memory: in how many.
        aliases: The canonical name of each name that stands for another.
        texts: Some of the passages whole, scored 0.
    """

    total: int
    near: list[Scored]
    seeds: list[str]
    passages: dict[str, tuple[list[str], list[float]]]
    frequent: dict[str, int]
    aliases: dict[str, str]
    texts: list[RankedPassage]


@dataclass(frozen=True, slots=True)
class OfferedPairs:
    """The answered pairs of some passages, side by side: answers, the passage's id, and vectors (pairs,
    dimension)."""

    answers: list[list[str]]
    passages: list[str]
    vectors: NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class PairOf:
    """An answered pair of a passage, and the ids of the concepts that it is about."""

    question: str
    answers: list[str]
    passage: str
    about: list[str]


class Reader:
    """Reads of one connection; `round_trips` counts them. A question is answered from the passages that it
    `sees`: `scope` has ids with whether they are seen, and of all others `open` says it."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.round_trips = 0
        self.scope: dict[str, bool] | None = None  # None: all passages are seen
        self.open = True
        self._total = 0  # passages of the memory, if there is a scope

    def set_scope(self, scopes: dict[tuple[int, str], dict[str, bool]], **conditions: Any) -> None:
        """See only the documents that fit some conditions from now on; see the statement.

        Args:
            scopes: Those found before, by the version of the memory and the conditions; this one is added.
            conditions: Parameters of the statement.
        """
        version, self._total = self.size()
        key = version, repr(conditions)
        scope = scopes.get(key)
        if scope is None:
            scope = dict.fromkeys(self.rows("read/scope", **conditions)[0]["ids"], True)
            if len(scopes) >= _SCOPES:
                scopes.clear()  # another thread may do so at any moment: nothing is read from them again
            scopes[key] = scope
        self.scope, self.open = scope, False

    def exclude(self, passages: Iterable[str]) -> None:
        """See no passage of some ids from now on."""
        hidden = dict.fromkeys(passages, False)
        if self.scope is not None:
            self.scope = {id_: True for id_ in self.scope if id_ not in hidden}
        elif hidden:
            self.scope = hidden
            _, self._total = self.size()

    def sees(self, passage: str) -> bool:
        """Tell whether a question may be answered from a passage."""
        return self.scope is None or self.scope.get(passage, self.open)

    def near(
        self, name: str, wanted: int, count: Callable[[list[Row]], int], /, **parameters: Any
    ) -> list[Row]:
        """Return the rows of a statement that searches a vector index. It looks at `$spread` times as many
        nodes as are wanted: with a scope as many as hold these on average, and at all if that is too few.

        Args:
            name: The statement.
            wanted: Nodes that it should find in the scope.
            count: How many it found.
            parameters: Others of the statement.
        """
        if self.scope is None:
            return self.rows(name, spread=1.0, **parameters)
        seen = len(self.scope)
        if self.open:
            seen = self._total - seen
        rows = self.rows(name, spread=self._total / max(seen, 1), **parameters)
        if count(rows) >= min(wanted, seen):
            return rows
        return self.rows(name, spread=float(self._total), **parameters)

    def rows(self, name: str, **parameters: Any) -> list[Row]:
        """Return all rows of a statement under `cypher/`, such as `read/sources`."""
        from neo4j.exceptions import DriverError, Neo4jError

        text = self._prepared(name, parameters)
        for key, value in parameters.items():
            if isinstance(value, list):
                parameters[key] = Unlogged(value)
        connection = self.connection

        def read() -> list[Row]:
            # A read that commits itself is one message there and back, a transaction two or three.
            with connection.session(default_access_mode="READ") as session:
                # .data() would walk through every byte of a packed vector.
                return [dict(record) for record in session.run(text, parameters)]

        try:
            return read_again(read)
        except (DriverError, Neo4jError) as error:
            if not error.is_retryable():
                raise
        return [dict(record) for record in connection.read(name, **parameters)]  # which tries again

    def _prepared(self, name: str, parameters: Row) -> str:
        """Count a round trip; return the text of a statement, and add the scope where it asks for that."""
        self.round_trips += 1
        text = statement(name, self.connection.dialect.name)
        if "$scope" in text:
            parameters |= {"scope": self.scope, "open": self.open}
        return text

    def document_states(self, ids: Sequence[str]) -> dict[str, DocumentState]:
        """Return the states of stored documents, by id."""
        states = {}
        for row in self.rows("read/document_states", ids=list(ids)):
            row["text_hash"] = row["text_hash"] or row["content_hash"]
            row["unread"] = bool(row["unread"])
            id_ = row.pop("id")
            states[id_] = DocumentState(**row)
        return states

    def counts(self) -> tuple[dict[str, int], dict[str, int]]:
        """Count the nodes of each label and relationships of each type."""
        name = self.connection.memory
        counts: dict[str, dict[str, int]] = {"node": {}, "relationship": {}}
        for row in self.rows("read/counts", end=f"__{name}" if name else ""):
            counts[row["kind"]][row["name"]] = row["count"]
        return counts["node"], counts["relationship"]

    def unfinished(self) -> list[str]:
        """Return the sources of documents whose load was cut off."""
        return [row["source"] for row in self.rows("read/unfinished")]

    def extractors(self) -> dict[str, int]:
        """Count the documents that each extractor read, by `name` or `name (model)`."""
        documents = {}
        for row in self.rows("read/extractors"):
            model = f" ({row['model']})" if row["model"] else ""
            documents[row["extractor"] + model] = row["documents"]
        return documents

    def sources(self) -> dict[str, str]:
        """Return the source of every document, by id."""
        return {row["id"]: row["source"] for row in self.rows("read/sources")}

    def size(self) -> tuple[int, int]:
        """Return the memory's version stamp and its number of passages."""
        rows = self.rows("read/passage_total")
        return (rows[0]["version"], rows[0]["passages"]) if rows else (0, 0)  # it was removed meanwhile

    def stamp(self) -> tuple[object, ...]:
        """Return what no other content of this or another memory has: where it is, when it was made, and its
        version."""
        connection = self.connection
        made = [(row["created"], row["version"]) for row in self.rows("read/memory")]
        return (connection.url, connection.database, *made)

    def dense(self, embedding: Sequence[float], k: int, *, once: bool = False) -> list[RankedPassage]:
        """Return the `k` passages nearest to a vector, scored by cosine in [-1, 1]. `once`: without another
        round trip if hidden documents leave fewer."""
        if once:
            rows = self.near("read/dense", k, len, k=k, embedding=embedding)
        else:
            rows = self._past_hidden("read/dense", k, embedding=embedding)
        return [_ranked(row, 2 * row["score"] - 1) for row in rows if self._is_seen(row)]

    def bm25(self, words: str, k: int) -> list[RankedPassage]:
        """Return the `k` passages that fit some words best, with the engine's BM25 score."""
        rows = self._past_hidden("read/bm25", k, words=words)
        return [_ranked(row, row["score"]) for row in rows if self._is_seen(row)]

    def hybrid(self, embedding: Sequence[float], words: str, k: int, share: float) -> list[RankedPassage]:
        """Return the `k` best passages by `share` * cosine + (1 - `share`) * BM25 as a share of its largest
        (PathwiseRAG, equation 12). Candidates are the `k` nearest to a vector and the `k` that fit some words
        best; each has both scores."""
        limits = {"k": k, "most": _WORDED}
        found = self.near("read/hybrid", k, len, embedding=list(embedding), words=words, **limits)
        rows = list(filter(self._is_seen, found))
        largest = max((row["lexical"] for row in rows), default=0.0) or 1.0
        passages = []
        for row in rows:
            (vector,) = unpack_vectors([row["vector"]])
            score = share * float(vector @ embedding) + (1 - share) * row["lexical"] / largest
            passages.append(_ranked(row, score))
        return sorted(passages, key=lambda passage: (-passage.score, passage.id))[:k]

    def _past_hidden(self, name: str, k: int, **parameters: Any) -> list[Row]:
        """Return the `k` best rows of an index search; if passages in documents that are not ready took
        places, look further."""
        rows = self.near(name, k, len, k=k, **parameters)
        if len(rows) < k and self.scope is None:
            hidden = self.rows("read/hidden")[0]["passages"]
            if hidden:
                rows = self.near(name, k, len, k=k + hidden, **parameters)
        return rows[:k]

    def has_pairs(self) -> bool:
        """Tell whether documents have question-answer pairs, which chains need; added ones do not count."""
        return bool(self.rows("read/has_pairs"))

    def propositions_around(
        self, embedding: Sequence[float], near: int, facts: int, *, cap: int, limit: int
    ) -> PropositionsAround:
        """Return the graph of propositions around a question; see the statement for the limits."""

        def found(rows: list[Row]) -> int:
            nearest, statements = rows[0]["near"]["ids"], rows[0]["facts"]["ids"]
            return min(len(nearest), len(statements) * near // facts)

        limits = {"near": near, "facts": facts, "cap": cap, "limit": limit}
        (row,) = self.near("read/propositions_around", near, found, embedding=embedding, **limits)
        passages: list[PropositionRow] = []
        for passage, propositions, mentions in without_removed(row["passages"]):
            if None not in propositions:
                passages.append((passage, propositions, mentions))
        return PropositionsAround(_with_cosines(row["near"]), _with_cosines(row["facts"]), passages)

    def proposition_vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return vectors of propositions by id, of length 1, without propositions that are gone meanwhile."""
        rows = self.rows("read/proposition_vectors", ids=list(ids))
        vectors = unpack_vectors([row["vector"] for row in rows])
        return {row["id"]: vector for row, vector in zip(rows, vectors, strict=True)}

    def neighbourhood(
        self,
        embeddings: Sequence[Sequence[float]],
        keys: Sequence[str],
        *,
        seen: Sequence[str] = (),
        known: Sequence[str] = (),
        **limits: int,
    ) -> Neighbours:
        """Return the part of the name graph that walks from some questions reach first, without what is
        around the names `seen` and without the passages `known`; see the statement for the limits."""

        def found(rows: list[Row]) -> int:
            return min((len(near["ids"]) for near in rows[0]["near"]), default=0)

        lists = {"embeddings": embeddings, "keys": keys, "seen": seen, "known": known}
        parameters = {name: list(values) for name, values in lists.items()}
        (row,) = self.near("read/neighbourhood", limits["near"], found, **parameters, **limits)
        passages = {}
        for passage, names, weights in without_removed(row["passages"]):
            passages[passage] = _edges(names, weights)
        near = [_with_cosines(part) for part in row["near"]]
        texts = [_ranked(text, 0.0) for text in row["texts"] if self._is_seen(text)]
        frequent, aliases = (dict(without_removed(row[name])) for name in ("frequent", "aliases"))
        return Neighbours(row["total"], near, row["seeds"], passages, frequent, aliases, texts)

    def _is_seen(self, row: Row) -> bool:
        """Tell whether the passage of a row is seen, and was not removed while the statement ran."""
        return row["id"] is not None and row["text"] is not None and self.sees(row["id"])

    def pairs_of(self, passages: Sequence[str]) -> OfferedPairs:
        """Return the answered pairs of some passages."""
        rows = self.rows("read/pairs_of", passages=list(passages))
        rows = [row for row in rows if None not in row.values()]
        answers, ids, vectors = ([row[name] for row in rows] for name in ("answers", "passage", "vector"))
        return OfferedPairs(answers, ids, unpack_vectors(vectors))

    def claims(self, passages: Sequence[str]) -> list[PairOf]:
        """Return what the answered pairs of some passages say, and about what."""
        rows = self.rows("read/claims", passages=list(passages))
        return [PairOf(row["question"], row["answers"], row["passage"], row["about"]) for row in rows]

    def propositions(self, ids: Sequence[str]) -> dict[str, Fact]:
        """Return propositions by id."""
        wanted = unique(ids)
        rows = self.rows("read/proposition_texts", ids=wanted) if wanted else []
        return {row["id"]: Fact(**row) for row in rows}

    def passages(self, ids: Sequence[str], scores: Sequence[float]) -> list[RankedPassage]:
        """Return passages by id, in the order asked."""
        rows = {row["id"]: row for row in self.rows("read/passages", ids=list(ids)) if self._is_seen(row)}
        return [_ranked(rows[i], score) for i, score in zip(ids, scores, strict=True) if i in rows]

    def concept_names(self, ids: Sequence[str]) -> dict[str, str]:
        """Return how concepts are shown, by id."""
        return {row["id"]: row["name"] for row in self.rows("read/concept_names", ids=list(ids))}

    def stream(self, name: str, **parameters: Any) -> Iterator[Row]:
        """Return the rows of a statement as they come, for results that are not to be held."""
        text = self._prepared(name, parameters)
        with (
            self.connection.session(default_access_mode="READ", fetch_size=2000) as session,
            session.begin_transaction() as tx,
        ):
            for record in tx.run(text, parameters):
                yield record.data()

    def dated_passages(
        self, embedding: Sequence[float], keys: Sequence[str], bounds: Mapping[str, str], **limits: int
    ) -> dict[str, str]:
        """Return the passages near a question with a date within bounds, and the first day of the earliest of
        these; see the statement for the parameters."""
        lists = {"embedding": list(embedding), "keys": list(keys)}
        rows = self.near("read/dated", limits["near"], len, bounds=dict(bounds), **lists, **limits)
        return {row["id"]: row["first"] for row in rows}

    def aliases(self) -> dict[str, str]:
        """Return the canonical concept of each concept that is merged, by id."""
        return {row["alias"]: row["canonical"] for row in self.rows("read/aliases")}

    def proposition_graph(self) -> Iterator[PropositionRow]:
        """Return rows of a passage, its propositions and the concepts that each mentions, streamed: of the
        whole memory, whatever the scope is."""
        for row in self.stream("read/proposition_graph"):
            if None not in (row["id"], *row["ids"]):  # what was removed meanwhile has no id
                yield row["id"], row["ids"], row["mentions"]


def _with_cosines(row: Row) -> Scored:
    """Return ids of a vector index with their cosines; the engines give them in [0, 1]."""
    scored = zip(row["ids"], row["scores"], strict=True)
    return [(id_, 2 * score - 1) for id_, score in scored if id_ is not None]


def _edges(names: list[str | None], weights: list[float | None]) -> tuple[list[str], list[float]]:
    """Return the names and weights of a passage's edges, without names that were removed meanwhile."""
    if None not in names and None not in weights:
        return cast("list[str]", names), cast("list[float]", weights)
    kept_names, kept_weights = [], []
    for name, weight in zip(names, weights, strict=True):
        if name is not None and weight is not None:
            kept_names.append(name)
            kept_weights.append(weight)
    return kept_names, kept_weights


def without_removed(entries: Iterable[list[Any]]) -> list[list[Any]]:
    """Drop entries with a null: a node that is removed while a statement runs has no properties."""
    return [entry for entry in entries if None not in entry]


def _ranked(row: Row, score: float) -> RankedPassage:
    return RankedPassage(**{name: row[name] for name in _PASSAGE}, score=score)
