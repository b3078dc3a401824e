"""What is asked of the graph about time: dates within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypedDict

from gsw_graph.model.results import QA

if TYPE_CHECKING:
    from gsw_graph.store.reader import Reader


class DatedQuestion(TypedDict):
    """A question's vector, what may be names in it in their normal form, and inclusive ISO bounds of the
    first and of the last day of a date; '0001-01-01' and '9999-12-31' where there is none."""

    embedding: Sequence[float]
    keys: Sequence[str]
    from_least: str
    from_most: str
    to_least: str
    to_most: str


@dataclass(frozen=True, slots=True)
class Dated:
    """A date in a passage: as written, its first and last day, and the pairs of the passage that it answers
    or that name it."""

    passage: str
    date: str
    first: str
    last: str
    pairs: tuple[QA, ...]


def dated(reader: Reader, questions: Sequence[DatedQuestion], *, near: int, common: int) -> list[list[Dated]]:
    """The dates near each question that lie within its bounds, earliest first, in one round trip. near:
    passages of the vector index; common: passages in which a name stands that still brings its own."""
    found: list[list[Dated]] = [[] for _ in questions]
    if not questions:
        return found
    for row in reader._run("read/dated", questions=list(questions), near=near, common=common):
        pairs = tuple(
            sorted((QA(one["id"], one["question"], list(one["answers"])) for one in row["pairs"]), key=_id)
        )
        found[row["n"]].append(Dated(row["passage"], row["date"], row["first"], row["last"], pairs))
    return found


def _id(pair: QA) -> str:
    return pair.id
