"""Facts of the graph as agents read them: propositions and question-answer pairs, each with its passage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gsw_graph.results import RankedPassage

if TYPE_CHECKING:
    from gsw_graph.store.reader import Reader

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class FoundFact:
    """A proposition, or a pair as its question and its answers. worded: it stands in a passage that the
    full-text index found. passage: scored 0."""

    id: str
    text: str
    answers: tuple[str, ...]
    worded: bool
    passage: RankedPassage

    @property
    def line(self) -> str:
        """It in one text."""
        return f"{self.text} {', '.join(self.answers)}" if self.answers else self.text


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts, and passages where there are no facts; the nearest first."""

    facts: list[FoundFact]
    passages: list[RankedPassage]


@dataclass(frozen=True, slots=True)
class PassageFact:
    """A proposition, or a pair as its question and its answers, of a passage. names: that stand in it, the
    answers of a pair apart; cosines: with some questions, in their order."""

    id: str
    passage: str
    text: str
    answers: tuple[str, ...]
    names: tuple[str, ...]
    cosines: tuple[float, ...]

    @property
    def line(self) -> str:
        """It in one text."""
        return f"{self.text} {', '.join(self.answers)}" if self.answers else self.text


def of_passages(
    reader: Reader, passages: Sequence[str], embeddings: Sequence[Sequence[float]], *, most: int
) -> list[PassageFact]:
    """The facts of some passages, propositions before pairs and then those nearest to one of the vectors; in
    one round trip. passages: ids."""
    rows = reader._run("read/passage_facts", passages=list(passages), embeddings=list(embeddings), most=most)
    return [
        PassageFact(
            row["id"],
            row["passage"],
            row["text"],
            tuple(row["answers"] or ()),
            tuple(row["names"]),
            tuple(2 * cosine - 1 for cosine in row["cosines"]),
        )
        for row in rows
    ]


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
) -> Facts:
    """Facts near a vector, in passages with some words or about some names; in one round trip. words: as
    `lucene_words` makes them. Numbers as of the statement."""
    limits = {"near": nearest, "worded": worded, "common": common, "most": most}
    rows = reader._run("read/facts", embedding=embedding, words=words, keys=list(keys), **limits)
    return _facts(rows)


def of_name(reader: Reader, key: str, embedding: Sequence[float], *, scan: int, most: int) -> Facts:
    """Facts of a name and the passages it stands in, those near a vector first; in one round trip. key: the
    normal form of the name. Numbers as of the statement."""
    return _facts(reader._run("read/entity_facts", key=key, embedding=embedding, scan=scan, most=most))


def _facts(rows: Sequence[Row]) -> Facts:
    facts, passages = [], []
    for row in rows:
        passage = RankedPassage(row["id"], row["title"], row["text"], row["source"], row["document"], 0.0)
        if row["fact"] is None:
            passages.append(passage)
            continue
        answers = tuple(row["answers"] or ())
        facts.append(FoundFact(row["fact"], row["fact_text"], answers, row["by_words"], passage))
    return Facts(facts, passages)
