"""Questions that were asked before, as the graph has them, and what people say of their answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, Literal

from gsw_graph.model.results import QA, RankedPassage
from gsw_graph.store.statements import statement

if TYPE_CHECKING:
    from gsw_graph.engine import Connection
    from gsw_graph.store.reader import Reader, Row

Verdict = Literal["confirmed", "rejected"]


@dataclass(frozen=True, slots=True)
class Quote:
    """A passage that an answer cites, and the sentence that it cites."""

    passage: RankedPassage
    text: str


@dataclass(frozen=True, slots=True)
class CachedPair:
    """A pair of the best chain of an answer, and its passage's id."""

    qa: QA
    passage: str


@dataclass(frozen=True, slots=True)
class CachedQuestion:
    """An answered question of the graph.

    Attributes:
        verdict: what people said of its answer, or of the answer that it was taken from.
        cosine: to the question that is asked now.
        is_citable: all that its answer cites is there as it was.
        source: id, question and moment of the question whose answer was taken as it was, where one was.
    """

    id: str
    question: str
    answer: str
    verdict: Verdict | None
    asked_at: str
    strategy: str
    model: str | None
    plan: list[dict[str, Any]]
    confidence: float | None
    inferred: bool
    cosine: float
    is_citable: bool
    quotes: list[Quote]
    pairs: list[CachedPair]
    source: tuple[str, str, str] | None


def near(reader: Reader, vector: Sequence[float], k: int) -> list[CachedQuestion]:
    """Find the `k` questions nearest to a vector, of them those that were answered, best first."""
    return [_question(row) for row in reader.past(vector, k) if row["answer"] is not None]


def judge(connection: Connection, question: str, verdict: Verdict) -> None:
    """Write what people say of the answer to a question. The version stamp stays: no cache looks at it."""
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    with connection.session() as session:
        session.execute_write(
            lambda tx: tx.run(statement("write/verdict"), id=question, verdict=verdict, now=now).consume()
        )


def _question(row: Row) -> CachedQuestion:
    passages = sorted(row["passages"], key=lambda passage: (passage["rank"], passage["id"]))
    quotes = [
        Quote(
            RankedPassage(
                id=cited["id"],
                title=cited["title"],
                text=cited["text"],
                source=cited["source"],
                document=cited["document"],
                score=cited["score"] or 0.0,
            ),
            cited["quote"] or "",
        )
        for cited in passages
    ]
    pairs = sorted(row["pairs"], key=lambda pair: (pair["hop"], pair["id"]))
    taken = bool(row["source_id"]) and row["answer_source"] == "past"
    verdict = row["verdict"]
    if row["source_verdict"] == "rejected" or (verdict is None and taken):
        verdict = row["source_verdict"]  # what stands on a rejected answer is rejected with it
    given = ("id", "question", "answer", "asked_at", "strategy", "model", "confidence", "inferred")
    return CachedQuestion(
        **{name: row[name] for name in given},
        verdict=verdict,
        plan=json.loads(row["plan"]) if row["plan"] else [],
        cosine=2 * row["score"] - 1,
        is_citable=0 < row["cited"] == len(quotes)
        and all(quote.text and quote.text in quote.passage.text for quote in quotes),
        quotes=quotes,
        pairs=[
            CachedPair(QA(pair["id"], pair["question"], list(pair["answers"] or ())), pair["passage"])
            for pair in pairs
        ],
        source=(row["source_id"], row["source_question"], row["source_asked_at"]) if taken else None,
    )
