"""What a walk does not see: the words of the question. Bridge entities in the best sentences lead to a
second walk, and the first passages are put in a better order by a softmax over a few features.

docs/linked.md has what each feature is worth, and bench/linked_order.py fits their weights.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.ask.retrieve.names.linking import link, mentions
from gsw_graph.text.names import normalise, title_names
from gsw_graph.text.words import STOP_WORDS, sentences, stem, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.names.graph import NameGraph, Near
    from gsw_graph.ask.retrieve.recipes import BridgeRecipe, RerankRecipe
    from gsw_graph.model.results import RankedPassage

WALK_FEATURES = ("walk_score", "rank", "uncovered", "named", "joint")
WORD_FEATURES = ("unread", "nearness", "coverage")
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
    """

    def __init__(self, question: str, texts: Sequence[str]) -> None:
        self.terms = [
            stem(word)
            for word in dict.fromkeys(words(question))
            if word not in STOP_WORDS and len(word) >= _SHORTEST
        ]
        of_texts = [stems_of(text) for text in texts]
        self.has = np.array(
            [[term in stems for term in self.terms] for stems in of_texts], dtype=np.float64
        ).reshape(len(texts), len(self.terms))
        rarity = np.log1p(len(texts) / (1 + self.has.sum(axis=0)))
        self.shares: NDArray[np.float64] = rarity / (rarity.sum() or 1)

    def coverage(self, text: str) -> float:
        """Return how much of the question a text has, in [0, 1]."""
        stems = stems_of(text)
        return float(sum(share for term, share in zip(self.terms, self.shares, strict=True) if term in stems))


@lru_cache(maxsize=256)  # both walks of a question find much the same texts
def stems_of(text: str) -> frozenset[str]:
    """Return the words of a text without their endings."""
    return frozenset(map(stem, set(words(text))))


def text_of(passage: RankedPassage) -> str:
    """Return a passage with its title."""
    return f"{passage.title}\n{passage.text}"


def bridge_entities(
    graph: NameGraph, question: str, passages: Sequence[RankedPassage], recipe: BridgeRecipe
) -> list[str]:
    """Return the first `recipe.names` names, as written, of the best sentences of some passages, each with
    the passage's title before it.

    A sentence weighs what the walk gave its passage times exp(sharpness * its coverage of the question). Left
    out is what stands in the question, and a name that leads nowhere as no other passage has it; a title
    leads to its own passage. A passage without names takes the place of one, and leads nowhere else.
    """
    terms = QueryTerms(question, list(map(text_of, passages)))
    sentences = [
        (passage.score * exp(recipe.sharpness * terms.coverage(sentence)), passage, sentence)
        for passage in passages
        for sentence in _sentences(passage)
        if sentence.strip()
    ]
    asked = f" {normalise(question)} "
    bridges: dict[str, str] = {}
    for _, passage, sentence in sorted(sentences, key=lambda entry: -entry[0]):
        own = {normalise(name) for name in title_names(passage.title)}
        if graph.nameless[graph.names_of(graph.passage_numbers[passage.id])].any():
            bridges.setdefault(passage.id, "")
        for name, key in _names(graph, passage.title, sentence):
            number = graph.name_numbers.get(key)
            if number is None or f" {key} " in asked:
                continue
            if key in own or graph.frequency[number] > 1:
                bridges.setdefault(key, name)
            if len(bridges) >= recipe.names:
                break
        if len(bridges) >= recipe.names:
            break
    return [name for name in list(bridges.values())[: recipe.names] if name]


def _sentences(passage: RankedPassage) -> list[str]:
    text = passage.text[:_LONGEST].removeprefix(f"{passage.title}\n")
    return list(sentences(text))


def _names(graph: NameGraph, title: str, sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the title and the names of a sentence that the graph knows, in their order, with their keys."""
    yield title, normalise(title)
    for mention in sorted(link(mentions(sentence), graph.name_numbers), key=lambda one: one.first):
        yield mention.text, mention.key


def rerank(
    graph: NameGraph,
    question: str,
    passages: Sequence[RankedPassage],
    near: Near,
    specificity: float,
    recipe: RerankRecipe,
) -> tuple[list[int], list[float]]:
    """Put passages in order by the walk as far as the question's names tell passages apart, and by words and
    vectors for the rest.

    Args:
        graph: The neighbourhood.
        question: What was asked.
        passages: In the order of a walk, its weights as their scores.
        near: Passages of the vector index with their cosines, best first.
        specificity: Of the question's names, in [0, 1] (`NameGraph.specificity`).
        recipe: Weights of the features.

    Returns:
        Numbers of the passages, best first, and the share of each in the softmax.
    """
    terms = QueryTerms(question, list(map(text_of, passages)))
    table = features(graph, passages, near, terms, recipe)
    logits = table @ weights(recipe, specificity)
    shares = np.exp(logits - logits.max(initial=0.0))
    shares /= shares.sum() or 1
    order = np.argsort(-shares, kind="stable")
    return order.tolist(), shares[order].tolist()


def weights(recipe: RerankRecipe, specificity: float) -> NDArray[np.float64]:
    """Return the weights of WALK_FEATURES, then of WORD_FEATURES, at some specificity of the question's
    names."""
    of_walk = [getattr(recipe, name) * specificity for name in WALK_FEATURES]
    of_words = [getattr(recipe, name) * (1 - specificity) for name in WORD_FEATURES]
    return np.array(of_walk + of_words)


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
    names, titles = [], []
    for passage in passages:
        names.append(set(graph.names_of(graph.passage_numbers[passage.id]).tolist()))
        keys = map(normalise, title_names(passage.title))
        titles.append({graph.name_numbers[key] for key in keys if key in graph.name_numbers})
    found = [[bool(own & others) for others in titles] for own in names]
    matrix = np.array(found, dtype=bool).reshape(len(passages), len(passages))
    np.fill_diagonal(matrix, False)
    return matrix
