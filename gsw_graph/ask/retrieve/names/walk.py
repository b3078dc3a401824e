"""The best passages by a walk: the question's names linked to concepts, then a personalised PageRank over
names and passages. No language model anywhere.

What `linked` is; docs/linked.md has its constants, how they were chosen, and what did not help. The order of
the first passages, and the bridge entities to a second walk, come from the words of the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from gsw_graph.ask.retrieve.names.linking import Mention, canonical, link, mentions
from gsw_graph.model.results import Step
from gsw_graph.text.languages import detect
from gsw_graph.text.names import normalise, title_names
from gsw_graph.text.quantities import same_words
from gsw_graph.text.scripts import is_uncased, uninflected
from gsw_graph.text.words import STOP_WORDS, sentences, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.names.graph import NameGraph, Near
    from gsw_graph.ask.retrieve.recipes import BridgeRecipe, RerankRecipe, WalkRecipe
    from gsw_graph.model.results import RankedPassage, Trace

_SHOWN = 20  # seeds of a trace


@dataclass(frozen=True, slots=True)
class WalkResult:
    """What a walk found.

    Attributes:
        passages: Ids, best first, with their `scores`.
        mentions: Names of the questions that were linked.
        seeds: Names with their seed weights, the heaviest first.
        walked: Passages that the walk went over.
        paths: For each passage the names and passage ids of its strongest path; empty without a trace.
    """

    passages: list[str]
    scores: list[float]
    mentions: list[Mention]
    seeds: list[tuple[str, float]]
    walked: int
    paths: list[list[str]]


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where a walk starts and what it prefers, for each node: `weight` sums to 1, `preference` is a factor
    in (0, 1]."""

    weight: NDArray[np.float32]
    preference: NDArray[np.float32]


def rank_passages(
    graph: NameGraph,
    queries: Sequence[tuple[str, Near]],
    k: int,
    recipe: WalkRecipe,
    *,
    weights: Sequence[float] | None = None,
    trace: bool = False,
) -> WalkResult:
    """Rank passages for some questions in one walk: their seeds add up, of their preferences the strongest
    holds.

    Args:
        graph: The neighbourhood of the questions.
        queries: Questions with the passages near each.
        k: Passages wanted.
        recipe: Constants of the walk.
        weights: Of the questions, where some count more than others.
        trace: Whether seeds and strongest paths are wanted too.
    """
    size = len(graph.passages)
    linked: list[Mention] = []
    parts: list[Seeds] = []
    for question, near in queries:
        mentioned = canonical(link(mentions(question), graph.name_numbers), graph.name_numbers, graph.names)
        linked += mentioned
        nearest = [
            (graph.passage_numbers[id_], cosine) for id_, cosine in near if id_ in graph.passage_numbers
        ]
        parts.append(
            seed(
                graph,
                np.array([number for number, _ in nearest], dtype=np.intp),
                np.array([cosine for _, cosine in nearest], dtype=np.float32),
                np.array([graph.name_numbers[mention.key] for mention in mentioned], dtype=np.intp),
                recipe,
            )
        )
    shares = np.array([1.0] * len(queries) if weights is None else weights, dtype=np.float32)
    seeds = Seeds(
        (shares / shares.sum()) @ np.stack([part.weight for part in parts]),
        np.maximum.reduce([part.preference for part in parts]),
    )
    mass = walk(graph.edges, seeds, restart=recipe.restart, steps=recipe.steps)[:size]
    best = np.argsort(-mass, kind="stable")[: min(k, int(np.count_nonzero(mass)))]
    nodes = [*graph.passages, *graph.names]
    paths: list[list[str]] = []
    heaviest: list[tuple[str, float]] = []
    if trace:
        found_paths = strongest_paths(graph.edges, seeds, best.tolist(), restart=recipe.restart)
        paths = [[nodes[node] for node in path] for path in found_paths]
        of_names = np.where(graph.nameless, 0, seeds.weight[size:])
        top = np.argsort(-of_names, kind="stable")[:_SHOWN]
        heaviest = [(graph.names[n], float(of_names[n])) for n in top.tolist() if of_names[n] > 0]
    return WalkResult([nodes[n] for n in best], mass[best].tolist(), linked, heaviest, size, paths)


def seed(
    graph: NameGraph,
    near: NDArray[np.intp],
    cosines: NDArray[np.float32],
    linked: NDArray[np.intp],
    recipe: WalkRecipe,
) -> Seeds:
    """Return the seeds of a walk: passages near the question, the names of the best of them, and the names in
    the question.

    A passage without names stands for its own one, which weighs what the names of the others of the best do
    on average, so that it competes by its vector on equal terms.

    Args:
        graph: The neighbourhood.
        near: Passages near the question by number, best first, with their `cosines`.
        cosines: See `near`.
        linked: Names of the question by number.
        recipe: Constants of the walk.
    """
    size = len(graph.passages)
    passages = np.zeros(size, dtype=np.float32)
    preference = np.ones(size + len(graph.names), dtype=np.float32)
    names = np.zeros(len(graph.names), dtype=np.float32)
    spread = 1 / np.sqrt(np.maximum(graph.frequency, 1)).astype(np.float32)
    if len(near):
        distance = cosines - cosines[0]
        sharp = np.exp(recipe.sharpness * distance)
        passages[near] = recipe.passage_mass * sharp / sharp.sum()
        preference[:size] = np.exp(recipe.preference * distance[-1])
        preference[near] = np.exp(recipe.preference * distance)
        best = [graph.names_of(int(passage)) for passage in near[: recipe.best]]
        sums = [float(spread[own].sum()) for own in best if not graph.nameless[own].any()]
        mean = sum(sums) / len(sums) if sums else 1.0
        for own, weight in zip(best, sharp, strict=False):
            each = np.where(graph.nameless[own], np.float32(mean), spread[own])
            names[own] = np.maximum(names[own], weight * each)
        names /= names.sum() or 1
    if len(linked):
        weight = spread[linked] * np.where(
            graph.titled[linked], np.float32(recipe.title_bonus), np.float32(1)
        )
        np.add.at(names, linked, recipe.linked_mass * weight / weight.sum())
        names /= names.sum()
    weights = np.concatenate([passages, names])
    return Seeds((weights / (weights.sum() or 1)).astype(np.float32), preference)


def walk(edges: sparse.csr_array, seeds: Seeds, *, restart: float, steps: int) -> NDArray[np.float32]:
    """Return the weights of the nodes after `steps` of a personalised PageRank by power iteration:
    x <- (1 - restart) D W (x / colsum(D W)) + restart seed.

    W are the symmetric edges, D the preferences. A node without an edge gives its weight to nobody.
    """
    outflow = _outflow(edges, seeds)
    forth = np.float32(1 - restart) * seeds.preference
    back = np.float32(restart) * seeds.weight
    weight = seeds.weight
    for _ in range(steps):
        weight = forth * (edges @ (weight * outflow)) + back
    return weight


def strongest_paths(
    edges: sparse.csr_array, seeds: Seeds, targets: Sequence[int], *, restart: float
) -> list[list[int]]:
    """Return for each target the path from a seed that carries most weight: its nodes, the target last. Empty
    where none leads there."""
    nodes = edges.shape[0]
    entries = edges.tocoo()
    chance = (
        (1 - restart) * seeds.preference[entries.row] * entries.data * _outflow(edges, seeds)[entries.col]
    )
    started = np.flatnonzero(seeds.weight)
    # One node more, from which every seed is reached with its weight.
    source = np.full(len(started), nodes)
    lengths = -np.log(np.minimum(np.concatenate([chance, seeds.weight[started]]), 1 - 1e-6))
    graph = sparse.csr_array(
        (lengths, (np.concatenate([entries.col, source]), np.concatenate([entries.row, started]))),
        shape=(nodes + 1, nodes + 1),
    )
    _, before = csgraph.dijkstra(graph, indices=nodes, return_predecessors=True)  # type: ignore[call-overload]  # stubs know matrices only
    paths = []
    for target in targets:
        path, node = [], int(target)
        while 0 <= node < nodes and before[node] >= 0:
            path.append(node)
            node = int(before[node])
        paths.append(path[::-1])
    return paths


def _outflow(edges: sparse.csr_array, seeds: Seeds) -> NDArray[np.float32]:
    """Return one over the column sums of D W, 0 where a node has no edge."""
    sums: NDArray[np.float32] = edges @ seeds.preference  # W is symmetric
    shares: NDArray[np.float32] = np.divide(1, sums, out=np.zeros_like(sums), where=sums > 0)
    return shares


def write_walk(
    context: Context, trace: Trace, result: WalkResult, passages: Sequence[RankedPassage], *, twice: bool
) -> None:
    """Write into a trace how a walk came to its passages: names linked, seeds, and the strongest path to each
    passage, of two the last. twice: it is the second walk of `fusion`."""
    result_ids = {passage.id for passage in passages}
    ways = {id_: way for id_, way in zip(result.passages, result.paths, strict=True) if id_ in result_ids}
    texts = context.neighbourhood.texts if context.neighbourhood else {}
    titles = {passage.id: passage.title or passage.text[:60] for passage in [*texts.values(), *passages]}
    nodes = {node for path in ways.values() for node in path}
    between_ids = sorted(node for node in nodes if node not in titles)
    with context.clock("database"):
        names = context.reader.concept_names(between_ids)
        between = [node for node in between_ids if node not in names]
        if between:
            between_passages = context.reader.passages(between, [0.0] * len(between))
            titles |= {passage.id: passage.title or passage.text[:60] for passage in between_passages}
    steps = {
        node: Step("passage", node, titles[node])
        if node in titles
        else Step("name", node, names.get(node, node))
        for node in nodes
    }
    names_linked = [
        {"text": mention.text, "concept": mention.key} for mention in dict.fromkeys(result.mentions)
    ]
    trace.linked, trace.seeds = names_linked, seed_weights(result.seeds)
    # A passage without names leads to itself by its own one; no path leads to one that its vector brought.
    trace.paths = {
        passage.id: [steps[node] for node, _ in groupby(ways.get(passage.id, ()))] for passage in passages
    }
    trace.walked, trace.passages_walked = "twice" if twice else "neighbourhood", result.walked


def seed_weights(weights: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    """Return concepts with their seed weights, as `Trace.seeds` has them."""
    return [{"concept": name, "weight": round(weight, 6)} for name, weight in weights]


# The order by the walk, and by the words and the vector of the question. docs/linked.md has what each feature
# is worth, and bench/linked_order.py fits their weights.

WALK_FEATURES = ("walk_score", "rank", "uncovered", "named", "joint")
WORD_FEATURES = ("unread", "nearness", "coverage")
CONFIDENCE = (2.2, 2.41, 2.68, -4.15)  # weights of titled, coverage and sentence, and the bias
_UNLIKELY = 1e-6  # relevance that counts as none
_SHORTEST = 2  # letters of a term
_LONGEST = 20_000  # characters of a passage that are looked at


class QueryTerms:
    """A question's words without their endings, function words apart, each with its share of all: the rarer
    among the texts, the more. The texts are what was found for the question, so that nothing need be known
    of the whole memory.

    Attributes:
        terms: The words.
        has: (texts, terms), which text has which term.
        shares: (terms,), which sum to 1.
        language: Of the question, ISO 639-1.
    """

    def __init__(self, question: str, texts: Sequence[str]) -> None:
        language = detect(question)
        self.language = language.code
        if any(map(str.isdigit, question)):  # a number is the same in every form
            question, texts = same_words(question), list(map(same_words, texts))
        self.terms = [
            stem(word, self.language)
            for word in dict.fromkeys(words(question))
            if not (word in STOP_WORDS or word in language.folded) and len(word) >= _SHORTEST
        ]
        of_texts = [stems_of(text, self.language) for text in texts]
        self.has = np.array(
            [[term in stems for term in self.terms] for stems in of_texts], dtype=np.float64
        ).reshape(len(texts), len(self.terms))
        rarity = np.log1p(len(texts) / (1 + self.has.sum(axis=0)))
        self.shares: NDArray[np.float64] = rarity / (rarity.sum() or 1)

    def coverage(self, text: str) -> float:
        """Return how much of the question a text has, in [0, 1]."""
        if any(map(str.isdigit, "".join(self.terms))):
            text = same_words(text)
        stems = stems_of(text, self.language)
        return float(sum(share for term, share in zip(self.terms, self.shares, strict=True) if term in stems))


@lru_cache(maxsize=256)  # both walks of a question find much the same texts
def stems_of(text: str, language: str) -> frozenset[str]:
    """Return the words of a text without their endings."""
    return frozenset(stem(word, language) for word in words(text))


def text_of(passage: RankedPassage) -> str:
    """Return a passage with its title."""
    return f"{passage.title}\n{passage.text}"


def best_sentences(
    question: str, passages: Sequence[RankedPassage], recipe: BridgeRecipe
) -> list[tuple[RankedPassage, str]]:
    """Return the sentences of some passages, best first: a sentence weighs what the walk gave its passage
    times exp(sharpness * its coverage of the question)."""
    terms = QueryTerms(question, list(map(text_of, passages)))
    sentences = [
        (passage.score * exp(recipe.sharpness * terms.coverage(sentence)), passage, sentence)
        for passage in passages
        for sentence in _sentences(passage, terms.language)
        if sentence.strip()
    ]
    return [entry[1:] for entry in sorted(sentences, key=lambda entry: -entry[0])]


def bridge_entities(
    graph: NameGraph, question: str, passages: Sequence[RankedPassage], recipe: BridgeRecipe
) -> list[str]:
    """Return the first `recipe.names` names, as written, of the best sentences of some passages, each with
    the passage's title before it.

    Left out is what occurs in the question, and a name that leads nowhere as no other passage has it; a title
    leads to its own passage. A passage without names takes the place of one, and leads nowhere else.
    """
    code = detect(question).code
    padded = f" {uninflected(normalise(question), code)} "
    bridges: dict[str, str] = {}
    for passage, sentence in best_sentences(question, passages, recipe):
        own = {normalise(name) for name in title_names(passage.title)}
        if graph.nameless[graph.names_of(graph.passage_numbers[passage.id])].any():
            bridges.setdefault(passage.id, "")
        for name, key in _names(graph, passage.title, sentence):
            number = graph.name_numbers.get(key)
            form = uninflected(key, code)
            if number is None or (form if is_uncased(key) else f" {form} ") in padded:
                continue
            if key in own or graph.frequency[number] > 1:
                bridges.setdefault(key, name)
        if len(bridges) >= recipe.names:
            break
    return [name for name in list(bridges.values())[: recipe.names] if name]


def _sentences(passage: RankedPassage, language: str) -> list[str]:
    text = passage.text[:_LONGEST].removeprefix(f"{passage.title}\n")
    return list(sentences(text, language=language))


def _names(graph: NameGraph, title: str, sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the title and the names of a sentence that the graph knows, in their order, with their keys."""
    yield title, normalise(title)
    for mention in sorted(link(mentions(sentence), graph.name_numbers), key=lambda name: name.first):
        yield mention.text, mention.key


def rerank(
    graph: NameGraph,
    terms: QueryTerms,
    passages: Sequence[RankedPassage],
    near: Near,
    specificity: float,
    recipe: RerankRecipe,
    relevance: Sequence[float] | None = None,
) -> tuple[list[int], list[float]]:
    """Put passages in order by the walk as far as the question's names tell passages apart, and by words,
    vectors and a reranker, where one is set, for the rest.

    Args:
        graph: The neighbourhood.
        terms: The question's words, with the passages as its texts.
        passages: In the order of a walk, its weights as their scores.
        near: Passages of the vector index with their cosines, best first.
        specificity: Of the question's names, in [0, 1] (`NameGraph.specificity`).
        recipe: Weights of the features.
        relevance: Of each passage by the reranker, in [0, 1]. Its log-odds count, 0 for the best and -1 for
            the worst, so that no reranker's scale matters.

    Returns:
        Numbers of the passages, best first, and the share of each in the softmax.
    """
    table = features(graph, passages, near, terms, recipe)
    of_walk = [getattr(recipe, name) * specificity for name in WALK_FEATURES]
    of_words = [getattr(recipe, name) * (1 - specificity) for name in WORD_FEATURES]
    logits = table @ np.array(of_walk + of_words)
    if relevance is not None:
        likely = np.clip(relevance, _UNLIKELY, 1 - _UNLIKELY)
        odds = np.log(likely / (1 - likely))
        share = recipe.relevance * (1 - specificity)
        logits += share * (odds - odds.max()) / max(np.ptp(odds), _UNLIKELY)
    shares = np.exp(logits - logits.max(initial=0.0))
    shares /= shares.sum() or 1
    order = np.argsort(-shares, kind="stable")
    return order.tolist(), shares[order].tolist()


def confidence(
    graph: NameGraph, linked: Iterable[str], terms: QueryTerms, passages: Sequence[RankedPassage]
) -> float:
    """Return in [0, 1] how sure it is that the memory holds what a question needs: a logistic scale that
    bench/linked_confidence.py fits on questions asked with and without their passages."""
    *weights, bias = CONFIDENCE
    logit = bias + np.dot(weights, confidence_features(graph, linked, terms, passages))
    return float(1 / (1 + np.exp(-logit)))


def confidence_features(
    graph: NameGraph, linked: Iterable[str], terms: QueryTerms, passages: Sequence[RankedPassage]
) -> tuple[bool, float, float]:
    """Return whether a name of the question is the title of a passage; the share of the question's words that
    the first passages have together; the greatest share that one sentence of them has with its title.

    Args:
        graph: The neighbourhood.
        linked: Names of the question, by id.
        terms: The question's words.
        passages: The first ones.
    """
    titled = any(graph.titled[graph.name_numbers[name]] for name in linked)
    coverage = terms.coverage("\n".join(map(text_of, passages)))
    texts = (
        f"{passage.title}\n{text}" for passage in passages for text in _sentences(passage, terms.language)
    )
    return titled, coverage, max(map(terms.coverage, texts), default=0.0)


def features(
    graph: NameGraph, passages: Sequence[RankedPassage], near: Near, terms: QueryTerms, recipe: RerankRecipe
) -> NDArray[np.float64]:
    """Return the features of some passages: (passages, WALK_FEATURES and WORD_FEATURES).

    walk_score, rank: logarithms of the walk's weight, 0 for the best, and of the place in its order, from 1.
    uncovered: the share of the question that the passage has and the first `recipe.read` passages lack.
    named: whether one of the first `recipe.first` passages has its title among its names. joint: the share of
    the question that it has together with one of the first whose title it names, or that names its title; 0
    without such a one. unread: as uncovered. nearness: the cosine, 0 for the nearest passage and -1 for the
    `recipe.passages`th, so that no embedder's scale matters. coverage: the share of the question that the
    passage has.
    """
    scores = np.maximum([passage.score for passage in passages], np.finfo(np.float32).tiny)
    names_title = _names_title_of(graph, passages)
    has, first = terms.has, recipe.first
    unread = 1 - has[: recipe.read].max(axis=0, initial=0)
    either = (names_title | names_title.T)[:, :first]
    both = np.maximum(has[:, None], has[None, :first]) @ terms.shares
    uncovered = has @ (terms.shares * unread)
    cosines = dict(near)
    lowest = near[-1][1] if near else 0.0
    cosine = np.array([cosines.get(passage.id, lowest) for passage in passages])
    best, last = (near[0][1], near[: recipe.passages][-1][1]) if near else (0.0, 0.0)
    return np.stack(
        [
            np.log(scores / scores.max(initial=np.finfo(np.float32).tiny)),
            np.log1p(np.arange(len(passages))),
            uncovered,
            names_title.T[:, :first].any(axis=1).astype(float),
            np.where(either, both, 0.0).max(axis=1, initial=0.0),
            uncovered,
            (cosine - best) / max(best - last, 1e-6),
            has @ terms.shares,
        ],
        axis=1,
    )


def _names_title_of(graph: NameGraph, passages: Sequence[RankedPassage]) -> NDArray[np.bool_]:
    """Return (passages, passages): whether the first has the title of the second among its names; of itself
    no passage has."""
    names = [set(graph.names_of(graph.passage_numbers[passage.id]).tolist()) for passage in passages]
    titles = [
        {graph.name_numbers.get(key) for key in map(normalise, title_names(passage.title))}
        for passage in passages
    ]
    matches = [[bool(own & title) for title in titles] for own in names]
    matrix = np.array(matches, dtype=bool).reshape(len(passages), len(passages))
    np.fill_diagonal(matrix, False)
    return matrix
