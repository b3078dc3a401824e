"""Questions that were asked, kept with what their answers used."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from gsw_graph.model.documents import content_id
from gsw_graph.store.statements import statement
from gsw_graph.text.words import without_surrogates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.engine import Connection
    from gsw_graph.model.results import Answer


def keep(connection: Connection, answer: Answer, vector: Sequence[float] | None = None) -> str | None:
    """Write a Question with its USED relationships in one round trip; its id, or None where this memory may
    not be written by whoever asks. vector: of the question, by which it is found when it is asked again.

    The version stamp stays: no cache looks at questions.
    """
    from neo4j.exceptions import DriverError, Neo4jError

    asked_at = datetime.now(timezone.utc).isoformat(timespec="microseconds")
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
    }
    try:
        with connection.session() as session:
            session.execute_write(
                lambda tx: tx.run(
                    statement("write/question"),
                    id=question,
                    properties={
                        name: _clean(value) for name, value in properties.items() if value is not None
                    },
                    pairs=_pairs(answer),
                    passages=_passages(answer),
                    past=answer.past.id if answer.past else None,
                ).consume()
            )
    except (Neo4jError, DriverError):  # the answer stands, and was perhaps paid for
        return None
    return question


def _clean(value: Any) -> Any:
    """A text without halves of surrogate pairs, which no database takes."""
    return without_surrogates(value) if isinstance(value, str) else value


def _pairs(answer: Answer) -> list[dict[str, Any]]:
    """Each pair of the chains once, with its hop and the place of the best chain that holds it."""
    found: dict[str, dict[str, Any]] = {}
    for rank, chain in enumerate(answer.chains, 1):
        for number, hop in enumerate(chain.hops, 1):
            found.setdefault(hop.qa.id, {"id": hop.qa.id, "hop": number, "rank": rank, "score": hop.score})
    return list(found.values())


def _passages(answer: Answer) -> list[dict[str, Any]]:
    """The passages that were given back, and those that are cited."""
    found: dict[str, dict[str, Any]] = {
        passage.id: {"id": passage.id, "rank": rank, "score": passage.score}
        for rank, passage in enumerate(answer.passages, 1)
    }
    for citation in answer.citations:
        found.setdefault(citation.passage, {"id": citation.passage, "rank": len(found) + 1, "score": None})
    quotes = {citation.passage: _clean(citation.text) for citation in reversed(answer.citations)}
    return [{**row, "cited": row["id"] in quotes, "quote": quotes.get(row["id"])} for row in found.values()]
