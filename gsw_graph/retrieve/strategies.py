"""The strategies behind one call: embed the question, ask the graph, rank."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from gsw_graph.names import LETTERS
from gsw_graph.results import RankedPassage, Step, Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.retrieve.linked import Linked
    from gsw_graph.retrieve.names import NameGraphs
    from gsw_graph.store.reader import Reader

_WORDS = 64  # a question has no more; Lucene refuses more than 1,024


@dataclass
class Search:
    """One question on its way: what the strategies share.

    embed gives a question's vector as a list. Up to client_passages passages the walk uses the name graph, above it asks for the neighbourhood.
    """

    reader: Reader
    embed: Callable[[str], list[float]]
    names: NameGraphs
    client_passages: int
    seconds: dict[str, float] = field(default_factory=lambda: {"embed": 0.0, "database": 0.0, "rank": 0.0})

    @contextmanager
    def clock(self, stage: str) -> Iterator[None]:
        """Add what passes inside to a stage's seconds."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += perf_counter() - start


@dataclass(frozen=True)
class Found:
    """Ranked passages and, where asked for, how they were found."""

    passages: list[RankedPassage]
    trace: Trace | None = None


def dense(search: Search, question: str, k: int, *, trace: bool) -> Found:  # noqa: ARG001 - the same shape for all
    """Passages whose vectors are nearest to the question's: the baseline."""
    with search.clock("embed"):
        embedding = search.embed(question)
    with search.clock("database"):
        return Found(search.reader.dense(embedding, max(k, 10))[:k])


def bm25(search: Search, question: str, k: int, *, trace: bool) -> Found:  # noqa: ARG001 - the same shape for all
    """Passages that share rare words with the question, by the engine's full-text index: the other baseline."""
    words = lucene_words(question)
    with search.clock("database"):
        return Found(search.reader.bm25(words, k) if words else [])


def linked(search: Search, question: str, k: int, *, trace: bool) -> Found:
    """Names of the question linked to concepts, then a walk over names and passages: see `retrieve.linked`."""
    from gsw_graph.retrieve import linked as strategy
    from gsw_graph.retrieve import neighbourhood

    with search.clock("embed"):
        embedding = search.embed(question)
    with search.clock("database"):
        if search.names.size > search.client_passages:
            graph, near = neighbourhood.fetch(search.reader, question, embedding, search.names.size)
            walked = "neighbourhood by query"
        else:
            nearest = search.reader.nearest(embedding, strategy.NEAREST)
            near, graph = nearest.passages, search.names.of(nearest.version)
            if sum(passage in graph.passage_numbers for passage, _ in near) < min(strategy.NEAREST, graph.graph.size) and (hidden := search.reader.hidden()):
                near = search.reader.nearest(embedding, strategy.NEAREST + hidden).passages
            walked = "whole graph" if graph.graph.size <= strategy.WHOLE else "neighbourhood"
    with search.clock("rank"):
        found = strategy.retrieve(graph, question, near, k, trace=trace)
    with search.clock("database"):
        passages = search.reader.passages(found.passages, found.scores)
    return Found(passages, _trace(search, found, passages, walked) if trace else None)


STRATEGIES: dict[str, Callable[..., Found]] = {"linked": linked, "dense": dense, "bm25": bm25, "auto": linked}


def lucene_words(question: str) -> str:
    """A question as words that Lucene takes for words alone: no operator, no syntax, no more than it accepts."""
    return " ".join(re.findall(LETTERS, question.lower())[:_WORDS])


def _trace(search: Search, found: Linked, passages: Sequence[RankedPassage], walked: str) -> Trace:
    titles = {passage.id: passage.title or passage.text[:60] for passage in passages}
    inner = {node for path in found.paths for node in path}
    others = [node for node in inner if node not in titles]
    with search.clock("database"):
        names = search.reader.concept_names(others)
        between = [node for node in others if node not in names]
        titles |= {p.id: p.title or p.text[:60] for p in search.reader.passages(between, [0.0] * len(between))}
    steps = {node: Step("passage", node, titles[node]) if node in titles else Step("name", node, names.get(node, node)) for node in inner}
    return Trace(
        linked=[{"text": mention.text, "concept": mention.key} for mention in found.mentions],
        seeds=[{"concept": name, "weight": round(weight, 6)} for name, weight in found.seeds],
        paths={passage: [steps[node] for node in path] for passage, path in zip(found.passages, found.paths, strict=True)},
        walked=walked,
        passages_walked=found.walked,
    )
