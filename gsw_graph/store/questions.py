"""Store answered questions in the graph, with the evidence of each answer and people's verdicts, and find
them when a similar question is asked."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from gsw_graph.model.documents import content_id
from gsw_graph.model.results import QA, RankedPassage
from gsw_graph.store import now
from gsw_graph.text.words import without_surrogates
from gsw_graph.values import Fields

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.engine import Connection
    from gsw_graph.model.results import Answer
    from gsw_graph.store.reader import Reader, Row

Verdict = Literal["confirmed", "rejected"]


@dataclass(frozen=True, slots=True)
class Quote:
    """Hold a passage that an answer cites, and the cited sentence."""

    passage: RankedPassage
    text: str


@dataclass(frozen=True, slots=True)
class CachedPair:
    """Hold a pair of the best chain of an answer, and the id of its passage."""

    qa: QA
    passage: str


@dataclass(frozen=True, slots=True)
class CachedQuestion:
    """Hold an answered question of the graph.

    Attributes:
        verdict: People's verdict on its answer, or on the answer that was used again.
        cosine: Cosine with the current question.
        is_citable: Whether all cited evidence is still unchanged.
        source: Id, question and time of the question whose answer was used unchanged, if any.
    """

    id: str
    question: str
    answer: str
    verdict: Verdict | None
    asked_at: str
    strategy: str
    model: str | None
    plan: list[Fields]
    confidence: float | None
    inferred: bool
    cosine: float
    is_citable: bool
    quotes: list[Quote]
    pairs: list[CachedPair]
    source: tuple[str, str, str] | None


def near(reader: Reader, vector: Sequence[float], k: int, *, limited: bool = False) -> list[CachedQuestion]:
    """Find the `k` answered questions nearest to a vector, best first. limited: Whether to include questions
    whose answers could not come from every passage."""
    rows = reader.rows("read/cached_questions", embedding=vector, k=k, limited=limited)
    return [_cached(row) for row in rows if row["answer"] is not None]


def judge(connection: Connection, question: str, verdict: Verdict) -> None:
    """Write people's verdict on the answer to a question. The version stamp stays, as no cache depends on
    it."""
    connection.write("write/verdict", id=question, verdict=verdict, now=now("milliseconds"))


def keep(
    connection: Connection, answer: Answer, vector: Sequence[float] | None = None, *, limited: bool = False
) -> str | None:
    """Write a Question with its USED relationships in one round trip. The version stamp stays, as no cache
    depends on questions.

    Args:
        connection: The memory.
        answer: The answer.
        vector: Vector of the question, which finds it again.
        limited: Whether the answer could not come from every passage.

    Returns:
        The id; None if this user may not write to the memory.
    """
    from neo4j.exceptions import DriverError, Neo4jError

    asked_at = now("microseconds")
    question = content_id("question", answer.question, answer.strategy, asked_at)
    properties = {
        "id": question,
        "question": answer.question,
        "title": answer.question,  # what Neo4j Browser shows
        "answer": answer.answer,
        "answer_source": answer.answer_source,
        "abstained": answer.abstained,
        "confidence": answer.confidence,
        "strategy": answer.strategy,
        "plan": json.dumps(answer.plan, ensure_ascii=False) if answer.plan else None,
        "model": answer.models.get("llm"),
        "asked_at": asked_at,
        "seconds": round(answer.seconds["total"], 4),
        "prompt_tokens": answer.tokens["in"],
        "completion_tokens": answer.tokens["out"],
        "dollars": answer.dollars,
        "inferred": answer.inferred or None,
        "cited": len({citation.passage for citation in answer.citations}),
        "embedding": vector,
        "limited": limited or None,
    }
    known = {name: _clean(value) for name, value in properties.items() if value is not None}
    used = {"pairs": _pairs(answer), "passages": _passages(answer)}
    origin = answer.cached.id if answer.cached else None
    try:
        connection.write("write/question", id=question, properties=known, cached_from=origin, **used)
    except (Neo4jError, DriverError):  # the answer is returned, as it was perhaps paid for
        return None
    return question


def _clean(value: Any) -> Any:
    """Return a text without halves of surrogate pairs, which no database takes."""
    return without_surrogates(value) if isinstance(value, str) else value


def _pairs(answer: Answer) -> list[Row]:
    """Return each pair of the chains once, with its hop and the place of the best chain that holds it."""
    pairs: dict[str, Row] = {}
    for rank, chain in enumerate(answer.chains, 1):
        for number, hop in enumerate(chain.hops, 1):
            id_ = hop.qa.id
            pairs.setdefault(id_, {"id": id_, "hop": number, "rank": rank, "score": hop.score})
    return list(pairs.values())


def _passages(answer: Answer) -> list[Row]:
    """Return the passages that were given back, and those that are cited."""
    scores: dict[str, float | None] = {passage.id: passage.score for passage in answer.passages}
    quotes: dict[str, str] = {}
    for citation in answer.citations:
        scores.setdefault(citation.passage, None)
        quotes.setdefault(citation.passage, _clean(citation.text))
    rows = []
    for rank, (id_, score) in enumerate(scores.items(), 1):
        cited, quote = id_ in quotes, quotes.get(id_)
        rows.append({"id": id_, "rank": rank, "score": score, "cited": cited, "quote": quote})
    return rows


def _cached(row: Row) -> CachedQuestion:
    quotes = []
    is_citable = 0 < row["cited"] == len(row["passages"])
    for cited in sorted(row["passages"], key=lambda passage: (passage["rank"], passage["id"])):
        fields = {name: cited[name] for name in ("id", "title", "text", "source", "document")}
        quote = Quote(RankedPassage(**fields, score=cited["score"] or 0.0), cited["quote"] or "")
        is_citable = is_citable and bool(quote.text) and quote.text in quote.passage.text
        quotes.append(quote)
    pairs = []
    for pair in sorted(row["pairs"], key=lambda pair: (pair["hop"], pair["id"])):
        qa = QA(pair["id"], pair["question"], list(pair["answers"] or ()))
        pairs.append(CachedPair(qa, pair["passage"]))
    verdict, source = row["verdict"], None
    if row["source_id"] and row["from_cache"]:
        source = (row["source_id"], row["source_question"], row["source_asked_at"])
        verdict = verdict or row["source_verdict"]
    if row["source_verdict"] == "rejected":
        verdict = "rejected"  # what is based on a rejected answer is rejected with it
    names = ("id", "question", "answer", "asked_at", "strategy", "model", "confidence", "inferred")
    return CachedQuestion(
        **{name: row[name] for name in names},
        verdict=verdict,
        plan=json.loads(row["plan"]) if row["plan"] else [],
        cosine=2 * row["score"] - 1,
        is_citable=is_citable,
        quotes=quotes,
        pairs=pairs,
        source=source,
    )
