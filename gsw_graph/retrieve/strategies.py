"""The strategies behind one call: embed the question, ask the graph, rank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING

from gsw_graph.results import QA, Asked, Candidate, Fact, FactPath, RankedPassage, Step, Trace
from gsw_graph.retrieve.words import lucene_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from gsw_graph.inference.reranker import Reranker
    from gsw_graph.plan import Plan
    from gsw_graph.retrieve.candidates import Finder
    from gsw_graph.retrieve.linked import Linked
    from gsw_graph.retrieve.names import NameGraphs
    from gsw_graph.retrieve.proposition_cache import PropositionGraphs
    from gsw_graph.retrieve.proprag_recipe import Recipe
    from gsw_graph.retrieve.ricr import Beams, Considered
    from gsw_graph.store.reader import Reader


@dataclass
class Search:
    """One question on its way: what the strategies share.

    encode gives vectors (n, dimension) of questions; each is encoded once. Up to client_passages passages the walk uses the name graph, above it asks for
    the neighbourhood. embedder: its name. propositions: what `proprag` walks over. encode_texts: vectors of texts as the memory holds them, which a recipe
    that embeds paths needs.
    """

    reader: Reader
    encode: Callable[[Sequence[str]], NDArray[np.float32]]
    names: NameGraphs
    client_passages: int
    embedder: str = ""
    propositions: PropositionGraphs | None = None
    encode_texts: Callable[[Sequence[str]], NDArray[np.float32]] | None = None
    plan: Plan | None = None
    reranker: Reranker | None = None
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(("plan", "embed", "database", "rank", "rerank", "answer"), 0.0))
    _vectors: dict[str, NDArray[np.float32]] = field(default_factory=dict)

    def vectors(self, texts: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """The vectors of some texts, those that are new encoded in one batch."""
        with self.clock("embed"):
            if new := [text for text in dict.fromkeys(texts) if text not in self._vectors]:
                self._vectors.update(zip(new, self.encode(new), strict=True))
        return {text: self._vectors[text] for text in texts}

    def embed(self, question: str) -> list[float]:
        """The vector of one question, as the driver takes it."""
        vector: list[float] = self.vectors([question])[question].tolist()
        return vector

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
    """Ranked passages; the chains, where the strategy has them; and, where asked for, how they were found."""

    passages: list[RankedPassage]
    trace: Trace | None = None
    beams: Beams | None = None
    cited: dict[str, RankedPassage] = field(default_factory=dict)  # passages of the chains, by id
    strategy: str | None = None  # the one that ran, where it was not the one asked for


def dense(search: Search, question: str, k: int, *, trace: bool) -> Found:  # noqa: ARG001 - the same shape for all
    """Passages whose vectors are nearest to the question's: the baseline."""
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

    embedding = search.embed(question)
    with search.clock("database"):
        if search.names.size > search.client_passages:
            graph, near = neighbourhood.fetch(search.reader, question, embedding, search.names.size)
            walked = "neighbourhood by query"
        else:
            nearest = search.reader.nearest([embedding], strategy.NEAREST)
            near, graph = nearest.passages[0], search.names.of(nearest.version)
            walked = "whole graph" if graph.graph.size <= strategy.WHOLE else "neighbourhood"
    with search.clock("rank"):
        found = strategy.retrieve(graph, question, near, k, trace=trace)
    with search.clock("database"):
        passages = search.reader.passages(found.passages, found.scores)
    return Found(passages, _trace(search, found, passages, walked) if trace else None)


def ricr(search: Search, question: str, k: int, *, trace: bool) -> Found:
    """Chains of question-answer pairs along the plan, one query a level: see `retrieve.ricr`. Passages by the chains, and by a walk from what they asked."""
    from gsw_graph.retrieve.candidates import Finder

    return _chains(search, question, k, Finder(search, search.reranker), trace=trace)


def proprag(search: Search, question: str, k: int, *, trace: bool) -> Found:
    """Beam search over paths of propositions between two walks: see `retrieve.proprag`."""
    from gsw_graph.retrieve.proprag_recipe import QUICK

    return _proprag(search, question, k, QUICK, trace=trace)


def proprag_linked(search: Search, question: str, k: int, *, trace: bool) -> Found:
    """PropRAG with the names of the question linked, over the edges of `linked` too: see `retrieve.proprag`."""
    from gsw_graph.retrieve.proprag_recipe import LINKED

    return _proprag(search, question, k, LINKED, trace=trace)


def fusion(search: Search, question: str, k: int, *, trace: bool) -> Found:
    """With a plan chains whose every hop walks, without one two walks: see `retrieve.fusion_hops` and `retrieve.fusion`."""
    from gsw_graph.retrieve import linked as walks
    from gsw_graph.retrieve.fusion_hops import WalkingFinder
    from gsw_graph.retrieve.fusion_search import walk_twice

    if search.names.size > search.client_passages:  # every walk would be a query of its own
        instead = "ricr" if search.plan else "linked"
        return replace(STRATEGIES[instead](search, question, k, trace=trace), strategy=instead)
    if search.plan:
        return _chains(search, question, k, WalkingFinder(search, search.reranker), trace=trace)
    found, bridges = walk_twice(search, question, k, trace=trace)
    found = replace(found, passages=found.passages[:k], scores=found.scores[:k], paths=found.paths[:k])
    with search.clock("database"):
        passages = search.reader.passages(found.passages, found.scores)
    with search.clock("database"):
        ran = "linked" if bridges is None and not search.reader.has_pairs() else None
    walked = "twice" if bridges else "whole graph" if search.names.size <= walks.WHOLE else "neighbourhood"
    return Found(passages, replace(_trace(search, found, passages, walked), bridges=bridges or []) if trace else None, strategy=ran)


def _proprag(search: Search, question: str, k: int, recipe: Recipe, *, trace: bool) -> Found:
    from gsw_graph.retrieve.proprag_search import ask

    found = ask(search, question, k, recipe)
    with search.clock("database"):
        passages = search.reader.passages(found.passages, found.scores)
    if not trace:
        return Found(passages)
    linked = [{"text": mention.text, "concept": mention.key} for mention in dict.fromkeys(found.mentions)]
    seeds = [{"concept": name, "weight": round(weight, 6)} for name, weight in found.seeds]
    with search.clock("database"):
        ids = list(dict.fromkeys(fact for path, _ in found.paths for fact in path))
        facts = {row["id"]: Fact(row["id"], row["text"], row["passage"]) for row in search.reader.run("read/proposition_texts", ids=ids)} if ids else {}
    paths = [FactPath(cosine, [facts[fact] for fact in path]) for path, cosine in found.paths if all(fact in facts for fact in path)]
    return Found(passages, Trace(linked=linked, seeds=seeds, walked="propositions", passages_walked=found.walked, fact_paths=paths))


def _chains(search: Search, question: str, k: int, find: Finder, *, trace: bool) -> Found:
    from gsw_graph.retrieve import chain_score, evidence, unplanned
    from gsw_graph.retrieve import ricr as strategy

    plan = search.plan or unplanned.grow(question)
    beams = strategy.ricr(plan, question, find, beam=strategy.BEAM, score=chain_score.DEFAULT)
    beams.planned = search.plan is not None
    chains = beams.ends()
    walk = find.round_trips <= len(plan.levels()) and search.names.size <= search.client_passages
    if not chains and not walk:  # nothing to rank by, and one round trip left
        embedding = search.embed(question)
        with search.clock("database"):
            return Found(search.reader.dense(embedding, max(k, 10), once=True)[:k], _asked(beams) if trace else None, beams)
    best = [chain for sink in plan.sinks for chain in beams.chains.get(sink.id, [])[: find.walked_from]] if beams.planned else []
    ranked = dict(evidence.rank(search, question, chains, best, k, walk=walk))
    wanted = list(dict.fromkeys([*ranked, *(hop.pair.passage for chain in chains for hop in chain.hops)]))
    with search.clock("database"):
        passages = {passage.id: passage for passage in search.reader.passages(wanted, [ranked.get(i, 0.0) for i in wanted])}
    return Found([passages[i] for i in ranked if i in passages], _asked(beams) if trace else None, beams, passages)


STRATEGIES: dict[str, Callable[..., Found]] = {
    "linked": linked,
    "ricr": ricr,
    "fusion": fusion,
    "proprag": proprag,
    "proprag-linked": proprag_linked,
    "dense": dense,
    "bm25": bm25,
}


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
        linked=[{"text": mention.text, "concept": mention.key} for mention in dict.fromkeys(found.mentions)],
        seeds=[{"concept": name, "weight": round(weight, 6)} for name, weight in found.seeds],
        paths={passage: [steps[node] for node in path] for passage, path in zip(found.passages, found.paths, strict=True)},
        walked=walked,
        passages_walked=found.walked,
    )


def _asked(beams: Beams) -> Trace:
    """What was asked hop by hop, and what became of every candidate."""
    return Trace(
        asked=[
            Asked(asking.step.id, asking.concrete.text, asking.instead is not None, [_candidate(one) for one in asking.considered]) for asking in beams.asked
        ]
    )


def _candidate(one: Considered) -> Candidate:
    pair = one.scored.pair
    return Candidate(QA(pair.id, pair.question, list(pair.answers)), list(one.scored.ways), one.scored.score, one.fate)
