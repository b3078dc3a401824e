"""Choose the passages that an overview reads: documents in turn, of each its sections in turn, of these first
the passages whose names lead to most other passages. For a topic the nearest passages are chosen.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import zip_longest
from posixpath import commonprefix
from typing import TYPE_CHECKING, NamedTuple

from gsw_graph.ask.answer.evidence import EvidenceLine, body_of, single_line, truncate_tokens
from gsw_graph.ask.retrieve.names.linking import lucene_words
from gsw_graph.ask.strategy import reciprocal_rank_fusion
from gsw_graph.models.chat.request import estimate
from gsw_graph.text.words import terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.overviews import OverviewQuestion, Time
    from gsw_graph.ask.retrieve.recipes import OverviewRecipe
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.store.reader import Row

DOCUMENTS, PASSAGES = 2_000, 20_000  # among which is chosen
_LEAST = 20  # tokens of a short passage
_SEARCHED = 5  # passages for each that is read, as a time may leave some out


class Side(NamedTuple):
    """What is read of one time, or of any.

    Attributes:
        time: The time, as the question writes it.
        items: The passages, as lines.
        documents, passages: Their numbers in the scope.
    """

    time: str
    items: list[EvidenceLine]
    documents: int
    passages: int


def cover(
    context: RetrievalContext, wanted: OverviewQuestion, tokens: int, recipe: OverviewRecipe
) -> list[Side]:
    """Return the passages that an overview reads, in so many tokens, for each time that is compared."""
    share = tokens // len(wanted.times)
    return [_side(context, wanted, time, share, recipe) for time in wanted.times]


def _side(
    context: RetrievalContext, wanted: OverviewQuestion, time: Time, tokens: int, recipe: OverviewRecipe
) -> Side:
    reader = context.reader
    bounds = {"since": time.since, "until": time.until}
    with context.clock("database"):
        documents = reader.rows("read/cover_documents", **bounds)
        named = _named(documents, wanted)
        documents = named or documents
        ids = [document["id"] for document in documents[:DOCUMENTS]]
        places = reader.rows("read/cover_passages", documents=ids, limit=PASSAGES, **bounds)
    longest = recipe.longest
    if wanted.topic and not named:
        passages = _nearest(context, wanted.topic, recipe.near * _SEARCHED)
        if time.since:
            inside = {place["id"] for place in places}
            passages = [passage for passage in passages if passage.id in inside]
        passages = passages[: recipe.near]
    else:
        longest = min(longest, max(recipe.shortest, tokens // max(len(ids), 1)))  # so that all documents fit
        order = [place["id"] for place in in_turn(in_turn(places, "part"), "document")]
        order = order[: tokens // _LEAST]
        with context.clock("database"):
            passages = reader.passages(order, [1 / rank for rank in range(1, len(order) + 1)])
    total = sum(document["passages"] for document in documents)
    return Side(time.text, _that_fit(passages, tokens, longest), len(documents), total)


def _named(documents: Sequence[Row], wanted: OverviewQuestion) -> list[Row]:
    """Return the documents that a question names by words of their titles or sources."""
    root = commonprefix([row["source"] for row in documents]).rpartition("/")[0]
    titles = [terms(f"{row['title']} {row['source'].removeprefix(root)}") for row in documents]
    for words in wanted.titles:
        named = [row for row, title in zip(documents, titles, strict=True) if words <= title]
        if named:
            return named
    return []


def _nearest(context: RetrievalContext, topic: str, k: int) -> list[RankedPassage]:
    """Return passages near a topic by vectors and words."""
    vector, words = context.vector(topic).tolist(), lucene_words(topic)
    with context.clock("database"):
        nearest = context.reader.dense(vector, k)
        worded = context.reader.bm25(words, k) if words else []
    return reciprocal_rank_fusion([nearest, worded])


def in_turn(rows: Sequence[Row], key: str) -> list[Row]:
    """Order rows so that each group by a key gives one before any gives another; groups and the rows of each
    keep their order."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    rounds = zip_longest(*groups.values())
    return [row for some in rounds for row in some if row is not None]


def _that_fit(passages: Sequence[RankedPassage], tokens: int, longest: int) -> list[EvidenceLine]:
    """Return the first passages in so many tokens, as lines after their headings; those of a document stand
    together."""
    by_document: dict[str, list[EvidenceLine]] = defaultdict(list)
    for passage in passages:
        headings = passage.section or passage.title
        text = truncate_tokens(single_line(f"{headings}: {body_of(passage)}"), longest)
        tokens -= estimate(text)
        if tokens < 0:
            break
        by_document[passage.document].append(EvidenceLine(text, passage))
    return [item for items in by_document.values() for item in items]
