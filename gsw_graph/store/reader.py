"""What is asked of the graph: each function runs one statement, and tries again what fails for a moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gsw_graph.cypher import Unlogged, statement
from gsw_graph.model.results import Fact, RankedPassage
from gsw_graph.text.words import unpack_vectors

if TYPE_CHECKING:
    import numpy as np
    from neo4j import Record
    from numpy.typing import NDArray

    from gsw_graph.engine import Connection

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class DocumentState:
    """What is known of a stored document. status: `ready`; `loading` or `renewing` (its passages stand) where
    its load was cut off. unread: its extractor could not read all passages."""

    content_hash: str
    text_hash: str
    extractor: str
    model: str | None
    unread: bool
    status: str
    loader: str | None = None


@dataclass(frozen=True, slots=True)
class PropositionsAround:
    """The part of the graph of propositions around a question: its nearest passages and propositions, best
    first with their cosine; rows of a passage, its propositions and the concepts that each mentions."""

    near: list[tuple[str, float]]
    facts: list[tuple[str, float]]
    passages: list[tuple[str, list[str], list[list[str]]]]


@dataclass(frozen=True, slots=True)
class NeighbourName:
    """A name of a neighbourhood, its canonical one, and in how many passages of the memory it stands."""

    id: str
    canonical: str
    frequency: int


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The neighbourhood of some questions.

    Attributes:
        total: Passages of the memory.
        near: For each question the passages of the vector index, best first, with their cosine.
        seeds: Ids of the names that it starts from.
        passages: Of each passage its names and their weights.
        names: These names.
        texts: Some of the passages whole, scored 0.
    """

    total: int
    near: list[list[tuple[str, float]]]
    seeds: list[str]
    passages: dict[str, tuple[list[str], list[float]]]
    names: list[NeighbourName]
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
    """Reads of one connection; `round_trips` counts them. What a question is answered from comes from no
    passage whose id is among `excluded`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.round_trips = 0
        self.excluded: frozenset[str] = frozenset()

    def _run(self, name: str, **parameters: Any) -> list[Row]:
        """All rows of a statement under `cypher/`."""
        from neo4j.exceptions import DriverError, Neo4jError

        self.round_trips += 1
        text = statement(name, self._connection.dialect.name)
        parameters = {
            key: Unlogged(value) if isinstance(value, list) else value for key, value in parameters.items()
        }
        try:  # a read that commits itself is one message there and back, a transaction two or three
            with self._connection.session(default_access_mode="READ") as session:
                return [
                    dict(record) for record in session.run(text, parameters)
                ]  # .data() would walk through every byte of a packed vector
        except (DriverError, Neo4jError) as error:
            if not error.is_retryable():
                raise
        driver, database = self._connection.driver, self._connection.database
        records, _, _ = driver.execute_query(
            text, parameters, database_=database, routing_="r"
        )  # which tries again
        return [dict(record) for record in records]

    def document_states(self, ids: Sequence[str]) -> dict[str, DocumentState]:
        """The states of those documents that are stored, by id."""
        rows = self._run("read/document_states", ids=list(ids))
        return {
            row["id"]: DocumentState(
                row["content_hash"],
                row["text_hash"] or row["content_hash"],
                row["extractor"],
                row["model"],
                bool(row["unread"]),
                row["status"],
                row["loader"],
            )
            for row in rows
        }

    def counts(self) -> tuple[dict[str, int], dict[str, int]]:
        """How many nodes of each label and relationships of each type there are."""
        rows = self._run("read/counts")
        return tuple(
            {row["name"]: row["count"] for row in rows if row["kind"] == kind}
            for kind in ("node", "relationship")
        )  # type: ignore[return-value]

    def unfinished(self) -> list[str]:
        """Sources of documents whose load was cut off."""
        return [row["source"] for row in self._run("read/unfinished")]

    def unread(self) -> dict[str, list[int]]:
        """Positions of passages that no language model could read, by the source of their document."""
        return {row["source"]: list(row["unread"]) for row in self._run("read/unread") if row["unread"]}

    def extractors(self) -> dict[str, int]:
        """How many documents each extractor read, by `name` or `name (model)`."""
        rows = self._run("read/extractors")
        return {
            row["extractor"] + (f" ({row['model']})" if row["model"] else ""): row["documents"]
            for row in rows
        }

    def wrong_counts(self) -> dict[str, int]:
        """How many of what is wrong there are, by what it is; see the statement."""
        return dict(self._run("read/wrong_counts")[0])

    def sources(self) -> dict[str, str]:
        """The source of every document, by id."""
        return {row["id"]: row["source"] for row in self._run("read/sources")}

    def size(self) -> tuple[int, int]:
        """The memory's version stamp and its number of passages."""
        row = self._run("read/passage_total")[0]
        return row["version"], row["passages"]

    def dense(self, embedding: Sequence[float], k: int, *, once: bool = False) -> list[RankedPassage]:
        """The `k` passages nearest to a vector, scored by cosine in [-1, 1]. `once`: one round trip, even
        where hidden documents leave fewer."""
        rows = (
            self._run("read/dense", k=k, embedding=embedding)
            if once and not self.excluded
            else self._past_hidden("read/dense", k, embedding=embedding)
        )
        return [_ranked(row, 2 * row["score"] - 1) for row in rows]

    def bm25(self, words: str, k: int) -> list[RankedPassage]:
        """The `k` passages that fit some words best, with the engine's BM25 score."""
        return [_ranked(row, row["score"]) for row in self._past_hidden("read/bm25", k, words=words)]

    def _past_hidden(self, name: str, k: int, **parameters: Any) -> list[Row]:
        """The `k` best rows of an index search; where passages that are excluded or in documents that are not
        ready took places, it looks further."""
        wanted = k + len(self.excluded)
        rows = self._run(name, k=wanted, **parameters)
        if len(rows) < wanted and (hidden := self.hidden()[0]):
            rows = self._run(name, k=wanted + hidden, **parameters)
        return [row for row in rows if row["id"] not in self.excluded][:k]

    def has_pairs(self) -> bool:
        """Whether there are question-answer pairs, which chains need."""
        return bool(self._run("read/has_pairs"))

    def hidden(self) -> tuple[int, int]:
        """How many passages and how many propositions stand in documents that are not ready."""
        row = self._run("read/hidden")[0]
        return row["passages"], row["propositions"]

    def propositions_around(
        self, embedding: Sequence[float], near: int, facts: int, *, cap: int, limit: int
    ) -> PropositionsAround:
        """The part of the graph of propositions around a question; see the statement for the limits."""
        row = self._run(
            "read/propositions_around", embedding=embedding, near=near, facts=facts, cap=cap, limit=limit
        )[0]
        parts = list(zip(row["passages"], row["propositions"], row["mentions"], strict=True))
        hidden = {id_ for passage, facts, _ in parts if passage in self.excluded for id_ in facts}
        return PropositionsAround(
            self._seen(row["near"]),
            [(id_, cosine) for id_, cosine in _with_cosines(row["facts"]) if id_ not in hidden],
            [part for part in parts if part[0] not in self.excluded],
        )

    def proposition_vectors(self, ids: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of propositions, of length 1, in the order of their ids."""
        rows = {row["id"]: row["vector"] for row in self._run("read/proposition_vectors", ids=list(ids))}
        return unpack_vectors([rows[id_] for id_ in ids])

    def neighbourhood(
        self,
        embeddings: Sequence[Sequence[float]],
        keys: Sequence[str],
        *,
        seen: Sequence[str] = (),
        known: Sequence[str] = (),
        **limits: int,
    ) -> Neighbours:
        """The part of the name graph that walks from some questions reach first, without what is around the
        names `seen` and without the passages `known`; see the statement for the limits."""
        row = self._run(
            "read/neighbourhood",
            embeddings=list(embeddings),
            keys=list(keys),
            seen=list(seen),
            known=list(known),
            **limits,
        )[0]
        return Neighbours(
            row["total"],
            list(map(self._seen, row["near"])),
            row["seeds"],
            {
                id_: (names, weights)
                for id_, names, weights in zip(row["ids"], row["names"], row["weights"], strict=True)
                if id_ not in self.excluded
            },
            list(map(NeighbourName, row["concepts"], row["canonicals"], row["frequencies"])),
            [_ranked(text, 0.0) for text in row["texts"] if text["id"] not in self.excluded],
        )

    def _seen(self, near: Row) -> list[tuple[str, float]]:
        return [(id_, cosine) for id_, cosine in _with_cosines(near) if id_ not in self.excluded]

    def pairs_of(self, passages: Sequence[str]) -> OfferedPairs:
        """The answered pairs of some passages."""
        row = self._run("read/pairs_of", passages=list(passages))[0]
        return OfferedPairs(row["answers"], row["passages"], unpack_vectors(row["vectors"]))

    def claims(self, passages: Sequence[str]) -> list[PairOf]:
        """What the answered pairs of some passages say, and about what."""
        rows = self._run("read/claims", passages=list(passages))
        return [PairOf(row["question"], row["answers"], row["passage"], row["about"]) for row in rows]

    def propositions(self, ids: Sequence[str]) -> dict[str, Fact]:
        """Propositions by id."""
        wanted = list(dict.fromkeys(ids))
        rows = self._run("read/proposition_texts", ids=wanted) if wanted else []
        facts = (Fact(row["id"], row["text"], row["passage"]) for row in rows)
        return {fact.id: fact for fact in facts if fact.passage not in self.excluded}

    def passages(self, ids: Sequence[str], scores: Sequence[float]) -> list[RankedPassage]:
        """Passages by id, in the order asked."""
        rows = {row["id"]: row for row in self._run("read/passages", ids=list(ids))}
        seen = rows.keys() - self.excluded
        return [_ranked(rows[i], score) for i, score in zip(ids, scores, strict=True) if i in seen]

    def concept_names(self, ids: Sequence[str]) -> dict[str, str]:
        """How concepts are shown, by id."""
        return {row["id"]: row["name"] for row in self._run("read/concept_names", ids=list(ids))}

    def names(self, text: str, *, skip: int = 0, limit: int) -> list[Row]:
        """Concepts with a text in their id, those of most passages first."""
        return self._run("read/names", text=text, skip=skip, limit=limit)

    def name_found(self, id_: str, limit: int) -> Row:
        """What was found of a concept, by kind, each in no order."""
        return self._run("read/name_found", id=id_, limit=limit)[0]

    def name_places(self, id_: str, limit: int) -> list[Row]:
        """Passages that a concept stands in, by source, with the concepts beside it."""
        return self._run("read/name_places", id=id_, limit=limit)

    def near_concepts(self, name: str) -> dict[str, str]:
        """How concepts are shown, by id, which a name in normal form may mean that none has."""
        rows = self._run("read/near_concepts", start=name[:2], wanted=name)
        return {row["id"]: row["name"] for row in rows}

    def _stream(self, name: str, **parameters: Any) -> Iterator[Record]:
        """The rows of a statement as they come, for results that are not to be held."""
        self.round_trips += 1
        with (
            self._connection.session(default_access_mode="READ", fetch_size=2000) as session,
            session.begin_transaction() as tx,
        ):
            yield from tx.run(statement(name, self._connection.dialect.name), parameters)

    def documents(
        self,
        text: str,
        path: str,
        *,
        extractor: str | None = None,
        loader: str | None = None,
        unfinished: bool = False,
        skip: int = 0,
        limit: int,
    ) -> list[Row]:
        """Rows of documents by source; see the statement for the parameters and columns."""
        filters = {"extractor": extractor, "loader": loader, "unfinished": unfinished}
        return self._run("read/documents", text=text, path=path, **filters, skip=skip, limit=limit)

    def named(self, wanted: str, path: str) -> list[Row]:
        """Documents that a name may mean, with the passage it is the id of; see the statement."""
        return self._run("read/named", wanted=wanted, title=wanted.lower(), path=path)

    def whole_document(self, id_: str, position: int | None = None) -> Iterator[Row]:
        """The passages of a document, or one of them, with all that was found in them; see the statement
        for the columns."""
        for record in self._stream("read/whole_document", id=id_, position=position):
            yield record.data()

    def questions(self, text: str, *, id_: str = "", skip: int = 0, limit: int) -> list[Row]:
        """Questions that were asked, the latest first; see the statement for the columns."""
        return self._run("read/questions", text=text, id=id_, skip=skip, limit=limit)

    def dated_passages(
        self, embedding: Sequence[float], keys: Sequence[str], bounds: Mapping[str, str], **limits: int
    ) -> dict[str, str]:
        """Return the passages near a question with a date within bounds, and the first day of the earliest of
        these; see the statement for the parameters."""
        rows = self._run(
            "read/dated", embedding=list(embedding), keys=list(keys), bounds=dict(bounds), **limits
        )
        return {row["id"]: row["first"] for row in rows}

    def question_counts(self) -> dict[str, int]:
        """How many questions were kept, confirmed, rejected, and answered from an earlier one."""
        return dict(self._run("read/question_counts")[0])

    def question_used(self, id_: str) -> list[Row]:
        """What the answer to a question used; see the statement for the columns."""
        return self._run("read/question_used", id=id_)

    def whole_passages(self, documents: Sequence[str]) -> Iterator[Row]:
        """Passages of some documents with all that was found in them, in order; see read/export.cypher for
        the columns."""
        for record in self._stream("read/export", ids=list(documents)):
            yield record.data()

    def document_hashes(self) -> list[Row]:
        """Every document with what its texts were; see the statement for the columns."""
        return self._run("read/document_hashes")

    def document_texts(self, document: str) -> list[Row]:
        """Return text, title and position of the passages of a document, in order."""
        return self._run("read/document_texts", id=document)

    def foreign_nodes(self) -> dict[str, int]:
        """Count nodes with our labels that are not ours, as they have no key, by label."""
        return {row["label"]: row["count"] for row in self._run("read/foreign_nodes")}

    def aliases(self) -> dict[str, str]:
        """The canonical concept of each concept that is merged, by id."""
        return {row["alias"]: row["canonical"] for row in self._run("read/aliases")}

    def merges(self) -> list[Row]:
        """What is merged, and why; see the statement for the columns."""
        return self._run("read/merges")

    def named_passages(self) -> Iterator[Row]:
        """All passages with their names and the roles of these, streamed; see the statement."""
        for record in self._stream("read/named_passages"):
            yield record.data()

    def proposition_graph(self) -> Iterator[tuple[str, list[str], list[list[str]]]]:
        """Rows of a passage, its propositions and the concepts that each mentions, streamed."""
        for record in self._stream("read/proposition_graph"):
            yield record["id"], record["ids"], record["mentions"]


def _with_cosines(found: Row) -> list[tuple[str, float]]:
    """Ids of a vector index with their cosines; the engines give them in [0, 1]."""
    return list(zip(found["ids"], (2 * score - 1 for score in found["scores"]), strict=True))


def _ranked(row: Row, score: float) -> RankedPassage:
    return RankedPassage(row["id"], row["title"], row["text"], row["source"], row["document"], score)
