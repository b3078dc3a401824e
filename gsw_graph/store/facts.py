"""Read facts of the graph: propositions and question-answer pairs with their passages for agents, and
candidate pairs for a hop of the chains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from gsw_graph.model.results import RankedPassage
from gsw_graph.store.reader import without_removed
from gsw_graph.store.vectors import unpack_vectors
from gsw_graph.values import Fields

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.store.reader import Reader

Row = Fields


@dataclass(frozen=True)
class _Fact:
    """A proposition, or a pair as its question and its answers."""

    id: str
    text: str
    answers: tuple[str, ...]

    @property
    def line(self) -> str:
        """Return it as one text."""
        return f"{self.text} {', '.join(self.answers)}" if self.answers else self.text


@dataclass(frozen=True)
class FoundFact(_Fact):
    """Hold a fact of a search. lexical: Score of the full-text index, 0 for a fact found otherwise. passage:
    Its passage, with the score 0."""

    lexical: float
    passage: RankedPassage


@dataclass(frozen=True)
class PassageFact(_Fact):
    """Hold a fact of a passage. names: Names in the fact, without the answers of a pair. cosines: Cosines
    with some questions, in their order."""

    passage: str
    names: tuple[str, ...]
    cosines: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """Hold facts, and passages without facts, the nearest first."""

    facts: list[FoundFact]
    passages: list[RankedPassage]


def of_passages(
    reader: Reader, passages: Sequence[str], embeddings: Sequence[Sequence[float]], *, most: int
) -> list[PassageFact]:
    """Return the facts of some passages in one round trip: propositions before pairs, then by nearness to one
    of the vectors. passages: Ids."""
    limits = {"passages": list(passages), "embeddings": list(embeddings), "most": most}
    facts = []
    for row in reader.rows("read/passage_facts", **limits):
        answers, names = tuple(row["answers"] or ()), tuple(row["names"])
        cosines = tuple(row["cosines"])
        facts.append(PassageFact(row["id"], row["text"], answers, row["passage"], names, cosines))
    return facts


def near(
    reader: Reader,
    embedding: Sequence[float],
    words: str,
    keys: Sequence[str],
    *,
    nearest: int,
    worded: int,
    common: int,
    most: int,
    units: str = "facts",
    lexical: int = 0,
) -> Facts:
    """Find facts near a vector, with some words, or about some names, in one round trip.

    Args:
        reader: Reader of the memory.
        embedding: The vector.
        words: Words, from `lucene_words`.
        keys: Normal forms of names.
        nearest: Facts from each vector index.
        worded: Passages from the full-text index whose facts are searched.
        common: Passages of a name that still brings its facts.
        most: Largest number of facts.
        units: `propositions` or `pairs` alone; else both.
        lexical: Propositions from the full-text index.
    """
    rows = reader.near(
        "read/facts",
        min(nearest, most),
        len,
        embedding=embedding,
        words=words,
        keys=list(keys),
        propositions=0 if units == "pairs" else nearest,
        pairs=0 if units == "propositions" else nearest,
        lexical=lexical,
        worded=worded,
        common=common,
        most=most,
    )
    return _facts(rows)


def of_name(reader: Reader, key: str, embedding: Sequence[float], *, scan: int, most: int) -> Facts:
    """Return facts of a name and the passages with it, the nearest to a vector first, in one round trip. key:
    Normal form of the name. Numbers as in the statement."""
    rows = reader.rows("read/entity_facts", key=key, embedding=embedding, scan=scan, most=most)
    return _facts(rows)


def _facts(rows: Sequence[Row]) -> Facts:
    facts, passages = [], []
    for row in rows:
        passage = RankedPassage(row["id"], row["title"], row["text"], row["source"], row["document"], 0.0)
        if row["fact"] is None:
            passages.append(passage)
            continue
        answers = tuple(row["answers"] or ())
        facts.append(FoundFact(row["fact"], row["fact_text"], answers, row["lexical"], passage))
    return Facts(facts, passages)


WAYS = ("vector", "words", "name", "walk")


@dataclass(frozen=True, slots=True)
class WordedEntity:
    """Hold an entity of one document. text: Its name, roles and states."""

    id: str
    text: str


def entities_of(reader: Reader, words: Iterable[str], *, most: int) -> dict[str, list[WordedEntity]]:
    """Return the entities that the full-text index finds for the words of some questions, best first, in one
    round trip. most: Entities for each question."""
    found: dict[str, list[WordedEntity]] = {text: [] for text in words if text}
    if not found:
        return {}

    def count(rows: list[Row]) -> int:
        """Count the entities of the question that has fewest."""
        totals = Counter(row["words"] for row in rows)
        return min(totals[text] for text in found)

    for row in reader.near("read/entities", most, count, words=list(found), most=most):
        if row["id"] is not None:  # it was removed meanwhile
            text = f"{row['name']} {row['description']}".strip()
            found[row["words"]].append(WordedEntity(row["id"], text))
    return found


class HopQuestion(TypedDict):
    """Hold a concrete question: its vector, its words for the full-text index, ids of entities whose pairs
    are candidates, normal forms of its possible names, and ids of passages whose pairs are candidates."""

    embedding: Sequence[float]
    words: str
    entities: Sequence[str]
    keys: Sequence[str]
    passages: Sequence[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold a question-answer pair of the graph. `descriptions` are the roles and states of its answers."""

    id: str
    question: str
    answers: tuple[str, ...]
    descriptions: tuple[str, ...]
    passage: str
    title: str
    number: int  # its row in the vectors of the hop


@dataclass(frozen=True)
class HopResult:
    """Candidates of each question asked, in its order: pairs with the ways they came. Vectors (pairs,
    dimension) are by `Pair.number`."""

    candidates: list[list[tuple[Pair, tuple[str, ...]]]]
    pairs: NDArray[np.float32]
    phrases: NDArray[np.float32]
    passages: NDArray[np.float32]


def hop(
    reader: Reader, questions: Iterable[HopQuestion], *, pairs: int, entities: int, common: int
) -> HopResult:
    """Return candidate pairs for some questions in one round trip. pairs: Nearest pairs of the vector index.
    entities: Entities of the full-text index. common: Passages of a name that still brings its pairs."""

    def count(rows: list[Row]) -> int:
        return min((len(ways["vector"]) for ways in rows[0]["candidates"]), default=0)

    limits = {"pairs": pairs, "entities": entities, "common": common}
    (row,) = reader.near("read/hop", pairs, count, questions=list(questions), **limits)
    found = without_removed(row["pairs"])
    by_id = {}
    for number, (id_, question, answers, roles, passage, title, *_) in enumerate(found):
        by_id[id_] = Pair(id_, question, tuple(answers), tuple(roles), passage, title, number)
    candidates = []
    for question in row["candidates"]:
        ways: dict[str, list[str]] = {}
        for way in WAYS:
            for id_ in question[way]:
                if id_ in by_id:  # a document that is not ready is out of sight
                    ways.setdefault(id_, []).append(way)
        candidates.append([(by_id[id_], tuple(ways[id_])) for id_ in sorted(ways)])
    vectors = (unpack_vectors([entry[column] for entry in found]) for column in (6, 7, 8))
    return HopResult(candidates, *vectors)
