"""Questions that were asked before, as the graph has them, and what people say of their answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal

from gsw_graph.results import QA, RankedPassage
from gsw_graph.store.statements import statement

if TYPE_CHECKING:

    from gsw_graph.engine import Connection
    from gsw_graph.store.reader import Reader, Row

Verdict = Literal["confirmed", "rejected"]


@dataclass(frozen=True, slots=True)
class Quoted:
    """A passage that an answer cites, and the sentence that it cites."""

    passage: RankedPassage
    text: str


@dataclass(frozen=True, slots=True)
class UsedBefore:
    """A pair of the best chain of an answer, with its hop and its passage's id."""

    qa: QA
    hop: int
    passage: str


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question that was asked. stands: all that its answer cites is there as it was. cosine: to the
    question that is asked now. source: the question it was answered from, as (id, question, verdict,
    moment)."""

    id: str
    question: str
    answer: str
    answer_source: str
    verdict: Verdict | None
    asked_at: str
    strategy: str
    model: str | None
    plan: list[dict[str, Any]] | None
    confidence: float | None
    inferred: bool
    cosine: float
    stands: bool
    quotes: list[Quoted]
    pairs: list[UsedBefore]
    source: tuple[str, str, Verdict | None, str] | None


def near(reader: Reader, vector: Sequence[float], k: int) -> list[PastQuestion]:
    """The `k` questions nearest to a vector that were answered, best first."""
    return [_past(row) for row in reader.past(vector, k) if row["answer"] is not None]


def judge(connection: Connection, question: str, verdict: Verdict) -> None:
    """Write what is said of the answer to a question. The version stamp stays: no cache looks at it."""
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    with connection.session() as session:
        session.execute_write(
            lambda tx: tx.run(statement("write/verdict"), id=question, verdict=verdict, now=now).consume()
        )


def _past(row: Row) -> PastQuestion:
    quotes = [
        _quoted(one, row["question"], row["answer"])
        for one in sorted(row["passages"], key=lambda one: (one["rank"], one["id"]))
    ]
    stands = 0 < row["cited"] == len(quotes) and all(one.text in one.passage.text for one in quotes)
    pairs = [
        UsedBefore(QA(one["id"], one["question"], list(one["answers"] or ())), one["hop"], one["passage"])
        for one in sorted(row["pairs"], key=lambda one: (one["hop"], one["id"]))
    ]
    names = (
        "id",
        "question",
        "answer",
        "answer_source",
        "verdict",
        "asked_at",
        "strategy",
        "model",
        "confidence",
    )
    given: dict[str, Any] = {name: row[name] for name in names}
    of = ("source_id", "source_question", "source_verdict", "source_asked_at")
    return PastQuestion(
        **given,
        inferred=row["inferred"],
        plan=json.loads(row["plan"]) if row["plan"] else None,
        cosine=2 * row["score"] - 1,
        stands=stands,
        quotes=quotes,
        pairs=pairs,
        source=tuple(row[name] for name in of) if row["source_id"] else None,
    )


def _quoted(row: Row, question: str, answer: str) -> Quoted:
    """A citation as it was made; one that was kept before citations were is made anew."""
    from gsw_graph.answer.quote import quote

    passage = RankedPassage(
        row["id"], row["title"], row["text"], row["source"], row["document"], row["score"] or 0.0
    )
    return Quoted(passage, row["quote"] or quote(row["text"], question, answer))
