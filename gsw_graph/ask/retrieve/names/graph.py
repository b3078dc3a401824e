"""The graph of names around a question: passages and the names in them, fetched in one bounded query for each
round of questions, as the sparse matrices that a walk goes over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import log
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from gsw_graph.ask.retrieve.names.linking import mentions
from gsw_graph.text.languages import ENGLISH, detect
from gsw_graph.text.scripts import is_latin, known_names, uninflected

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.recipes import WalkRecipe
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.store.reader import NeighbourName

CONTAINMENT_WEIGHT = 0.3
_LONGEST = 10  # words of a name that are looked at for shorter names within
_SCAN = 500  # passages of a very common name that are looked at
_TEXTS = 30  # passages of a question whose texts come with the neighbourhood

Near = Sequence[tuple[str, float]]  # passages of the vector index, best first, with their cosine
PassageNames = tuple[str, Sequence[str], Sequence[float]]  # a passage, its names, and the weight of each


@dataclass(frozen=True)
class NameGraph:
    """Passages and names by number, with the relationships between them.

    Attributes:
        passages: Their ids, ascending.
        names: Ids of concepts, ascending; a passage without names has its own id for one.
        incidence: (passages, names) float32. An edge weighs what its relationship does times
            sqrt(ln(1 + N/pf) / ln(1 + N)), pf the number of passages with the name and N of all.
        containment: (names, names), symmetric, CONTAINMENT_WEIGHT between a name and a shorter one of two
            words or more within it.
        frequency: pf of each name in the whole memory.
        total: Passages of the whole memory.
        titled: Whether a name is the title of a passage.
        nameless: Whether a name is the id of a passage without names.
        aliases: Names that stand for another, their canonical one, by id; they have no number of their own.
    """

    passages: list[str]
    names: list[str]
    incidence: sparse.csr_array
    containment: sparse.csr_array
    frequency: NDArray[np.int32]
    total: int
    titled: NDArray[np.bool_]
    nameless: NDArray[np.bool_]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def passage_numbers(self) -> dict[str, int]:
        """Return the number of each passage id."""
        return {passage: number for number, passage in enumerate(self.passages)}

    @cached_property
    def name_numbers(self) -> dict[str, int]:
        """Return the number of each name, of an alias that of its canonical name."""
        return numbered(self.names, self.aliases)

    @cached_property
    def edges(self) -> sparse.csr_array:
        """Return all edges in one symmetric matrix over the nodes: the passages, then the names."""
        up = self.incidence
        return sparse.csr_array(
            sparse.block_array([[None, up], [up.T, self.containment]], format="csr", dtype=np.float32)
        )

    def names_of(self, passage: int) -> NDArray[np.int32]:
        """Return the numbers of the names in a passage."""
        numbers: NDArray[np.int32] = self.incidence.indices[
            self.incidence.indptr[passage] : self.incidence.indptr[passage + 1]
        ]
        return numbers

    def specificity(self, names: Iterable[str], unnamed: float) -> float:
        """Return how far the names of a question tell passages apart in this memory, in [0, 1].

        1 - ln(pf) / ln(N) of the rarest name: 1 where one passage of all N has it, 0 where all have it.

        Args:
            names: Names of the question that are linked, by id.
            unnamed: What is returned where there is none.
        """
        counts = [max(int(self.frequency[self.name_numbers[name]]), 1) for name in names]
        return max(0.0, 1 - log(min(counts)) / log(max(self.total, 2))) if counts else unnamed

    def passages_of(self, name: int) -> NDArray[np.int32]:
        """Return the numbers of the passages with a name."""
        numbers: NDArray[np.int32] = self.incidence[:, [name]].nonzero()[0]
        return numbers


def build(
    rows: Iterable[PassageNames],
    *,
    aliases: Mapping[str, str] | None = None,
    total: int | None = None,
    frequency: Mapping[str, int] | None = None,
) -> NameGraph:
    """Build a graph of passages and their names; names that are aliases become their canonical name.

    Args:
        rows: Passages with their names. They are sorted, since engines give them in any order and the first
            of equal passages wins.
        aliases: The canonical name of each alias.
        total: Passages of the memory, where the rows are a part of it.
        frequency: Passages of each name in the memory, where the rows are a part of it.
    """
    aliases = aliases or {}
    passages, weights_by_name = [], []
    for passage, names, weights in sorted(rows):
        merged: dict[str, float] = {}
        for name, weight in zip(names, weights, strict=True):
            canonical = aliases.get(name, name)
            merged[canonical] = max(merged.get(canonical, 0.0), weight)
        passages.append(passage)
        weights_by_name.append(merged or {passage: 1.0})
    nameless = {passage for passage, names in zip(passages, weights_by_name, strict=True) if passage in names}
    names = sorted({name for own in weights_by_name for name in own})
    numbers = {name: number for number, name in enumerate(names)}
    column = np.array([numbers[name] for own in weights_by_name for name in own], dtype=np.int32)
    weight_of = np.array([weight for own in weights_by_name for weight in own.values()], dtype=np.float32)
    ends = np.cumsum([0, *map(len, weights_by_name)])
    counts = np.bincount(column, minlength=len(names)).astype(np.int32)
    if frequency is not None:
        counts = np.array([frequency.get(name, 1) for name in names], dtype=np.int32)
    whole = max(total or len(passages), 1)
    rarity = np.sqrt(np.log1p(whole / np.maximum(counts, 1)) / np.log1p(whole)).astype(np.float32)
    size = (len(passages), len(names))
    incidence = sparse.csr_array((weight_of * rarity[column], column, ends), shape=size)
    titled = np.zeros(len(names), dtype=bool)
    titled[column[weight_of > 1]] = True
    return NameGraph(
        passages,
        names,
        incidence,
        _containment(numbered(names, aliases), len(names)),
        counts,
        whole,
        titled,
        np.array([name in nameless for name in names], dtype=bool),
        aliases,
    )


def numbered(names: Sequence[str], aliases: Mapping[str, str]) -> dict[str, int]:
    """Return the number of each name, of an alias that of its canonical name if that is there."""
    numbers = {name: number for number, name in enumerate(names)}
    return numbers | {alias: numbers[name] for alias, name in aliases.items() if name in numbers}


def _containment(numbers: Mapping[str, int], size: int) -> sparse.csr_array:
    parts = (
        (number, " ".join(words[first:last]).strip(","))
        for name, number in numbers.items()
        for words in [name.split(" ", _LONGEST)[:_LONGEST]]
        for first, last in combinations(range(len(words) + 1), 2)
        if 2 <= last - first < len(words)
    )
    within = [(longer, shorter) for longer, key in parts if (shorter := numbers.get(key, longer)) != longer]
    pairs = {*within, *((shorter, longer) for longer, shorter in within)}
    ends = np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2)
    weights = np.full(len(ends), CONTAINMENT_WEIGHT, dtype=np.float32)
    return sparse.csr_array((weights, (ends[:, 0], ends[:, 1])), shape=(size,) * 2)


def fetch_neighbourhood(
    context: Context, questions: Sequence[str], recipe: WalkRecipe, nearest: int | None = None
) -> tuple[NameGraph, list[Near]]:
    """Fetch the part of the graph around some questions; what earlier questions of the context brought stays.

    Args:
        context: Of the question that is answered; it keeps what was fetched for it.
        questions: What is walked from.
        recipe: Bounds of the neighbourhood.
        nearest: Passages of the vector index near each question, by default as the recipe has it.

    Returns:
        The graph of all that was fetched, and the nearest passages of each question.
    """
    vectors = context.vectors(questions)
    if context.neighbourhood is None:
        context.neighbourhood = Neighbourhood()
    near = context.neighbourhood.fetch(
        context, {question: vectors[question].tolist() for question in questions}, recipe, nearest
    )
    with context.clock("rank"):
        return context.neighbourhood.graph, near


class Neighbourhood:
    """What was fetched of the graph for one question; it grows with each round. `texts`: passages by id whose
    texts came too."""

    def __init__(self) -> None:
        self.texts: dict[str, RankedPassage] = {}
        self._total = 0
        self._language = ENGLISH
        self._near: dict[tuple[str, int], Near] = {}
        self._seeds: set[str] = set()
        self._passages: dict[str, tuple[list[str], list[float]]] = {}
        self._names: dict[str, NeighbourName] = {}
        self._graph: NameGraph | None = None

    def fetch(
        self,
        context: Context,
        vectors: Mapping[str, list[float]],
        recipe: WalkRecipe,
        nearest: int | None = None,
    ) -> list[Near]:
        """Return the passages near some questions; what is around the new ones is fetched in one query."""
        top_k = recipe.nearest if nearest is None else nearest
        self._language = detect(next(iter(vectors), ""))
        new = [question for question in vectors if (question, top_k) not in self._near]
        if new:
            with context.clock("database"):
                part = context.reader.neighbourhood(
                    [vectors[question] for question in new],
                    sorted({mention.key for question in new for mention in mentions(question)}),
                    seen=sorted(self._seeds),
                    known=list(self._passages),
                    near=top_k,
                    best=recipe.best,
                    cap=recipe.cap,
                    scan=_SCAN,
                    limit=max(recipe.limit, top_k * len(new)),
                    texts=_TEXTS,
                )
            self._total = part.total
            self._near.update(zip(((question, top_k) for question in new), part.near, strict=True))
            self._seeds.update(part.seeds)
            self._passages.update(part.passages)
            self._names.update((name.id, name) for name in part.names)
            self.texts.update((passage.id, passage) for passage in part.texts)
            self._graph = None
        return [self._near[question, top_k] for question in vectors]

    @property
    def graph(self) -> NameGraph:
        """Return the graph of all that was fetched."""
        if self._graph is None:
            names = self._names.values()
            mentioned = self._names_in_texts()
            frequency = Counter(name for titles in mentioned.values() for name in titles)
            for name in names:
                frequency[name.canonical] += name.frequency
            self._graph = build(
                (
                    (
                        passage,
                        own + mentioned.get(passage, []),
                        weights + [1.0] * len(mentioned.get(passage, [])),
                    )
                    for passage, (own, weights) in self._passages.items()
                ),
                aliases={name.id: name.canonical for name in names if name.id != name.canonical},
                total=self._total,
                frequency=frequency,
            )
        return self._graph

    def _names_in_texts(self) -> dict[str, list[str]]:
        """Return the names of other passages that occur in texts in another script than Latin, or for a
        German question in any: rules see few there, or not in every case."""
        written = {
            name
            for names, weights in self._passages.values()
            for name, weight in zip(names, weights, strict=True)
            if not is_latin(name) or (self._language.nouns and (weight > 1 or " " in name))
        }
        code = self._language.code
        plain = {name: uninflected(name, code) for name in written}
        return {
            id_: sorted(known_names(text, {n: plain[n] for n in written.difference(names)}, code))
            for id_, (names, _) in self._passages.items()
            if written and id_ in self.texts
            for text in [self.texts[id_].text]
            if not is_latin(text) or self._language.nouns
        }
