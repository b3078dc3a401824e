"""Rerank the passages of a walk by words and vectors, estimate the confidence that they answer the question,
and find bridge entities for a second walk. docs/linked.md explains the features; bench/linked_order.py fits
their weights.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.ask.retrieve.names.linking import link, mentions
from gsw_graph.text.languages import detect
from gsw_graph.text.names import normalise, title_names
from gsw_graph.text.quantities import same_words
from gsw_graph.text.scripts import is_uncased, uninflected
from gsw_graph.text.words import STOP_WORDS, sentences, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.names.graph import NameGraph, Near
    from gsw_graph.ask.retrieve.recipes import BridgeRecipe, RerankRecipe
    from gsw_graph.model.results import RankedPassage

WALK_FEATURES = ("walk_score", "rank", "uncovered", "named", "joint")
WORD_FEATURES = ("unread", "nearness", "coverage")
CONFIDENCE = (2.2, 2.41, 2.68, -4.15)  # weights of titled, coverage and sentence, and the bias
_UNLIKELY = 1e-6  # relevance that counts as none
_SHORTEST = 2  # letters of a term
_LONGEST = 20_000  # characters of a passage that are looked at


class QueryTerms:
    """Hold the words of a question, without endings and function words. The share of a word grows with its
    rarity among the texts found for the question, so no counts over the whole memory are needed.

    Attributes:
        terms: The words.
        has: (texts, terms), 1 if the text has the term, else 0.
        shares: (terms,), weights that sum to 1.
        language: Language of the question, ISO 639-1.
    """

    def __init__(self, question: str, texts: Sequence[str]) -> None:
        language = detect(question)
        self.language = language.code
        if any(map(str.isdigit, question)):  # a number is the same in every form
            question = same_words(question)
            texts = [same_words(text) for text in texts]
        self.terms = []
        for word in dict.fromkeys(words(question)):
            if len(word) >= _SHORTEST and word not in STOP_WORDS and word not in language.folded:
                self.terms.append(stem(word, self.language))
        self.has = np.zeros((len(texts), len(self.terms)))
        for row, text in enumerate(texts):
            stems = stems_of(text, self.language)
            self.has[row] = [term in stems for term in self.terms]
        rarity = np.log1p(len(texts) / (1 + self.has.sum(axis=0)))
        self.shares = rarity / (rarity.sum() or 1)

    def coverage(self, text: str) -> float:
        """Return the summed shares of the terms that a text has, in [0, 1]."""
        if any(map(str.isdigit, "".join(self.terms))):
            text = same_words(text)
        stems = stems_of(text, self.language)
        covered = 0.0
        for term, share in zip(self.terms, self.shares, strict=True):
            if term in stems:
                covered += share
        return float(covered)


@lru_cache(maxsize=256)  # the two walks of a question find many texts twice
def stems_of(text: str, language: str) -> frozenset[str]:
    """Return the words of a text without their endings."""
    return frozenset(stem(word, language) for word in words(text))


def text_of(passage: RankedPassage) -> str:
    """Return a passage with its title."""
    return f"{passage.title}\n{passage.text}"


def _sentences(passage: RankedPassage, language: str) -> tuple[str, ...]:
    text = passage.text[:_LONGEST].removeprefix(f"{passage.title}\n")
    return sentences(text, language=language)


def best_sentences(
    question: str, passages: Sequence[RankedPassage], recipe: BridgeRecipe
) -> list[tuple[RankedPassage, str]]:
    """Return the sentences of some passages, best first: the weight of a sentence is the score of its passage
    times exp(sharpness * its coverage of the question)."""
    terms = QueryTerms(question, list(map(text_of, passages)))
    found = []
    for passage in passages:
        for sentence in _sentences(passage, terms.language):
            if sentence.strip():
                weight = passage.score * exp(recipe.sharpness * terms.coverage(sentence))
                found.append((weight, passage, sentence))
    found.sort(key=lambda entry: -entry[0])
    return [(passage, sentence) for _, passage, sentence in found]


def bridge_entities(
    graph: NameGraph, question: str, passages: Sequence[RankedPassage], recipe: BridgeRecipe
) -> list[str]:
    """Return at most `recipe.names` names, as written, from the best sentences of some passages. The title of
    a passage comes before the names of its sentence.

    Names of the question are skipped. A name in one passage only is skipped too, unless it is a title of the
    passage. A passage without names counts as one name and adds none.
    """
    code = detect(question).code
    padded = f" {uninflected(normalise(question), code)} "
    bridges: dict[str, str] = {}
    for passage, sentence in best_sentences(question, passages, recipe):
        if graph.is_artificial[graph.names_of(graph.passage_numbers[passage.id])].any():
            bridges.setdefault(passage.id, "")
        titles = set(map(normalise, title_names(passage.title)))
        linked = link(mentions(sentence), graph.name_numbers)
        linked.sort(key=lambda mention: mention.first)
        names = [(passage.title, normalise(passage.title))]
        names += [(mention.text, mention.key) for mention in linked]
        for name, key in names:
            number = graph.name_numbers.get(key)
            form = uninflected(key, code)
            if not is_uncased(key):
                form = f" {form} "
            if number is None or form in padded:
                continue
            if key in titles or graph.frequency[number] > 1:
                bridges.setdefault(key, name)
        if len(bridges) >= recipe.names:
            break
    return [name for name in list(bridges.values())[: recipe.names] if name]


def rerank(
    graph: NameGraph,
    terms: QueryTerms,
    passages: Sequence[RankedPassage],
    near: Near,
    specificity: float,
    recipe: RerankRecipe,
    relevance: Sequence[float] | None = None,
) -> tuple[list[int], list[float]]:
    """Put passages in order. The walk counts in proportion to `specificity`; words, vectors and the reranker,
    if one is set, count for the rest.

    Args:
        graph: The neighbourhood.
        terms: The question's words, with the passages as its texts.
        passages: In the order of a walk, its weights as their scores.
        near: Passages of the vector index with their cosines, best first.
        specificity: How well the question's names tell passages apart, in [0, 1] (`NameGraph.specificity`).
        recipe: Weights of the features.
        relevance: The reranker's relevance of each passage, in [0, 1]. Log-odds are scaled to 0 for the best
            passage and -1 for the worst, so that the scale of the reranker does not matter.

    Returns:
        Numbers of the passages, best first, and the share of each in the softmax.
    """
    by_words = 1 - specificity
    weights = [getattr(recipe, name) * specificity for name in WALK_FEATURES]
    weights += [getattr(recipe, name) * by_words for name in WORD_FEATURES]
    logits = features(graph, passages, near, terms, recipe) @ np.array(weights)
    if relevance is not None:
        likely = np.clip(relevance, _UNLIKELY, 1 - _UNLIKELY)
        odds = np.log(likely / (1 - likely))
        spread = max(np.ptp(odds), _UNLIKELY)
        share = recipe.relevance * by_words
        logits += share * (odds - odds.max()) / spread
    shares = np.exp(logits - logits.max(initial=0.0))
    shares /= shares.sum() or 1
    order = np.argsort(-shares, kind="stable")
    return order.tolist(), shares[order].tolist()


def confidence(
    graph: NameGraph, linked: Iterable[str], terms: QueryTerms, passages: Sequence[RankedPassage]
) -> float:
    """Return the probability that the memory can answer a question, by logistic regression. The weights come
    from bench/linked_confidence.py, which asks questions with and without their passages."""
    *weights, bias = CONFIDENCE
    logit = bias + np.dot(weights, confidence_features(graph, linked, terms, passages))
    return float(1 / (1 + np.exp(-logit)))


def confidence_features(
    graph: NameGraph, linked: Iterable[str], terms: QueryTerms, passages: Sequence[RankedPassage]
) -> tuple[bool, float, float]:
    """Return the features of the confidence.

    Args:
        graph: The neighbourhood.
        linked: Ids of the names in the question.
        terms: The question's words.
        passages: The best passages.

    Returns:
        Whether a name of the question is the title of a passage, the coverage of the question by all the
        passages together, and the best coverage by one sentence with its title.
    """
    titled = any(graph.titled[graph.name_numbers[name]] for name in linked)
    together = "\n".join(map(text_of, passages))
    coverage = terms.coverage(together)
    best = 0.0
    for passage in passages:
        for sentence in _sentences(passage, terms.language):
            best = max(best, terms.coverage(f"{passage.title}\n{sentence}"))
    return titled, coverage, best


def features(
    graph: NameGraph, passages: Sequence[RankedPassage], near: Near, terms: QueryTerms, recipe: RerankRecipe
) -> NDArray[np.float64]:
    """Return the features of some passages: (passages, WALK_FEATURES and WORD_FEATURES).

    - walk_score: log of the walk's weight, 0 for the best passage.
    - rank: log of the place in the order of the walk, from 1.
    - uncovered, unread: coverage by the words that the first `recipe.read` passages lack.
    - named: whether one of the first `recipe.first` passages names the title of the passage.
    - joint: best coverage together with one of the first passages, if one of the two names the other's title.
    - nearness: cosine, scaled to 0 for the nearest passage and -1 for the `recipe.passages`th.
    - coverage: summed shares of the question's words in the passage.
    """
    least = np.finfo(np.float32).tiny
    scores = np.maximum([passage.score for passage in passages], least)
    walk_score = np.log(scores / scores.max(initial=least))
    rank = np.log1p(np.arange(len(passages)))
    has, shares = terms.has, terms.shares
    coverage = has @ shares
    unread = 1 - has[: recipe.read].max(axis=0, initial=0)
    uncovered = has @ (shares * unread)
    names_title = _names_title_of(graph, passages)
    first = slice(recipe.first)
    named = names_title[first].any(axis=0)
    linked = (names_title | names_title.T)[:, first]
    both = np.maximum(has[:, None], has[first]) @ shares
    joint = (both * linked).max(axis=1, initial=0.0)
    nearness = np.zeros(len(passages))
    if near:
        cosines = dict(near)
        best, lowest = near[0][1], near[-1][1]
        last = near[: recipe.passages][-1][1]
        cosine = np.array([cosines.get(passage.id, lowest) for passage in passages])
        nearness = (cosine - best) / max(best - last, 1e-6)
    return np.column_stack([walk_score, rank, uncovered, named, joint, uncovered, nearness, coverage])


def _names_title_of(graph: NameGraph, passages: Sequence[RankedPassage]) -> NDArray[np.bool_]:
    """Return (passages, passages): whether the passage of the row names the title of the passage of the
    column. The diagonal is False."""
    matrix = np.zeros((len(passages), len(passages)), dtype=bool)
    titles = []
    for passage in passages:
        keys = map(normalise, title_names(passage.title))
        titles.append(set(map(graph.name_numbers.get, keys)))
    for row, passage in enumerate(passages):
        names = set(graph.names_of(graph.passage_numbers[passage.id]).tolist())
        matrix[row] = [bool(names & title) for title in titles]
    np.fill_diagonal(matrix, False)
    return matrix
