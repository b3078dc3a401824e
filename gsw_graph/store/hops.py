"""What one hop of the chains asks of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from gsw_graph.text import unpack_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.store.reader import Reader

WAYS = ("vector", "words", "name", "walk")


class HopQuestion(TypedDict):
    """A concrete question: its vector, its words for the full-text index, what may be names in it in their
    normal form, and ids of passages whose pairs are candidates."""

    embedding: Sequence[float]
    words: str
    keys: Sequence[str]
    passages: Sequence[str]


@dataclass(frozen=True, slots=True)
class Pair:
    """A question-answer pair of the graph; `descriptions` are the roles and states of its answers."""

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
    """The pairs that may answer some questions, in one round trip. pairs: nearest of the vector index;
    entities: of the full-text index; common: passages in which a name stands that still brings its pairs."""
    row = reader._run("read/hop", questions=list(questions), pairs=pairs, entities=entities, common=common)[0]
    columns = zip(
        row["ids"],
        row["questions"],
        row["answers"],
        row["roles"],
        row["passages"],
        row["titles"],
        strict=True,
    )
    found = {
        id_: Pair(id_, question, tuple(answers), tuple(roles), passage, title, number)
        for number, (id_, question, answers, roles, passage, title) in enumerate(columns)
    }
    candidates = []
    for asked in row["asked"]:
        ways: dict[str, list[str]] = {}
        for way in WAYS:
            for id_ in asked[way]:
                if id_ in found:  # a document that is not ready is out of sight
                    ways.setdefault(id_, []).append(way)
        candidates.append([(found[id_], tuple(ways[id_])) for id_ in sorted(ways)])
    vectors = ("pair_vectors", "phrase_vectors", "passage_vectors")
    return HopResult(candidates, *(unpack_vectors(row[name]) for name in vectors))
