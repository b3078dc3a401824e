"""Fetch the graph of names around a question as sparse matrices: passages and the names in them. Each round
of questions takes one bounded query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from math import log
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from gsw_graph.ask.retrieve.names.linking import Mention, link, mentions
from gsw_graph.text.languages import ENGLISH, detect
from gsw_graph.text.scripts import is_latin, known_names, uninflected

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.recipes import WalkRecipe
    from gsw_graph.model.results import RankedPassage

CONTAINMENT_WEIGHT = 0.3
_LONGEST = 10  # words of a name that are looked at for shorter names within
_SCAN = 500  # passages of a very common name that are looked at
_TEXTS = 30  # passages of a question whose texts come with the neighbourhood

Near = Sequence[tuple[str, float]]  # passages of the vector index, best first, with their cosine
PassageNames = tuple[str, Sequence[str], Sequence[float]]  # a passage, its names, and the weight of each


@dataclass(frozen=True)
class NameGraph:
    """Hold passages and names by number, and the relationships between them.

    Attributes:
        passages: Ids of passages, ascending.
        names: Ids of concepts, ascending; the name of a passage without names is the passage's own id.
        name_numbers: The number of each name; an alias has that of its canonical name.
        incidence: (passages, names) float32. An edge has the weight of its relationship times
            sqrt(ln(1 + N/pf) / ln(1 + N)); pf is the number of passages with the name, N of all passages.
        containment: (names, names), symmetric, CONTAINMENT_WEIGHT between a name and a shorter name of at
            least two words that it contains.
        frequency: pf of each name in the whole memory.
        total: Number of passages in the whole memory.
        titled: Whether a name is the title of a passage.
        is_artificial: Whether a name is the artificial one of a passage without names.
    """

    passages: list[str]
    names: list[str]
    name_numbers: dict[str, int]
    incidence: sparse.csr_array
    containment: sparse.csr_array
    frequency: NDArray[np.int32]
    total: int
    titled: NDArray[np.bool_]
    is_artificial: NDArray[np.bool_]

    @cached_property
    def passage_numbers(self) -> dict[str, int]:
        """Return the number of each passage id."""
        return numbered(self.passages)

    @cached_property
    def edges(self) -> sparse.csr_array:
        """Return all edges in one symmetric matrix over the nodes: the passages, then the names."""
        up = self.incidence.sorted_indices()
        # Put together by hand: a matrix of blocks takes the way over coordinates, three times as long.
        down = sparse.hstack([up.T.tocsr(), self.containment], format="csr")
        weights = np.concatenate([up.data, down.data])
        ends = np.concatenate([up.indices + len(self.passages), down.indices])
        begins = np.concatenate([up.indptr, down.indptr[1:] + up.nnz])
        nodes = len(self.passages) + len(self.names)
        return sparse.csr_array((weights, ends, begins), shape=(nodes, nodes))

    def names_of(self, passage: int) -> NDArray[np.int32]:
        """Return the numbers of the names in a passage."""
        begin, end = self.incidence.indptr[passage : passage + 2]
        numbers: NDArray[np.int32] = self.incidence.indices[begin:end]
        return numbers

    def mentions_in(self, text: str) -> list[Mention]:
        """Return the names in a text that the graph has, longest first, an alias with the key of its
        canonical name."""
        numbers = self.name_numbers
        linked = link(mentions(text), numbers)
        return [replace(name, key=self.names[numbers[name.key]]) for name in linked]

    def specificity(self, names: Iterable[str], unnamed: float) -> float:
        """Return how far the names of a question tell passages apart in this memory, in [0, 1].

        1 - ln(pf) / ln(N) of the rarest name: 1 if one passage of all N has it, 0 if all have it.

        Args:
            names: Names of the question that are linked, by id.
            unnamed: The value without any name.
        """
        counts = [int(self.frequency[self.name_numbers[name]]) for name in names]
        if not counts:
            return unnamed
        rarest = max(min(counts), 1)
        return max(0.0, 1 - log(rarest) / log(max(self.total, 2)))

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
    """Build a graph of passages and their names. An alias becomes its canonical name.

    Args:
        rows: Passages with their names. They are sorted, since engines give them in any order and the first
            of equal passages wins.
        aliases: The canonical name of each alias.
        total: Passages of the memory, if the rows are a part of it.
        frequency: Passages of each name in the memory, if the rows are a part of it.
    """
    aliases = aliases or {}
    passages = []
    artificial = []
    held: list[str] = []
    values: list[float] = []
    ends = [0]
    for passage, names, weights in sorted(rows):
        own = names
        if aliases:
            own = [aliases.get(name, name) for name in names]
        weight_of_name = dict(zip(own, weights, strict=True))
        if len(weight_of_name) < len(own):
            for name, weight in zip(own, weights, strict=True):
                weight_of_name[name] = max(weight_of_name[name], weight)
        if not own:
            weight_of_name[passage] = 1.0
            artificial.append(passage)
        passages.append(passage)
        held += weight_of_name
        values += weight_of_name.values()
        ends.append(len(values))
    names = sorted(set(held))
    numbers = numbered(names)
    column = np.array([numbers[name] for name in held], dtype=np.int32)
    weight_of = np.array(values, dtype=np.float32)
    if frequency is None:
        frequency = Counter(held)
    counts = np.array([frequency.get(name, 1) for name in names], dtype=np.int32)
    whole = max(total or len(passages), 1)
    rarity = np.log1p(whole / np.maximum(counts, 1)) / np.log1p(whole)
    weight_of_edge = weight_of * np.sqrt(rarity).astype(np.float32)[column]
    incidence = sparse.csr_array((weight_of_edge, column, ends), shape=(len(passages), len(names)))
    titled = np.zeros(len(names), dtype=bool)
    titled[column[weight_of > 1]] = True
    is_artificial = np.zeros(len(names), dtype=bool)
    is_artificial[[numbers[name] for name in artificial]] = True
    if aliases:
        numbers = numbered(names, aliases)
    containment = _containment(numbers, len(names))
    return NameGraph(passages, names, numbers, incidence, containment, counts, whole, titled, is_artificial)


def numbered(names: Sequence[str], aliases: Mapping[str, str] | None = None) -> dict[str, int]:
    """Return the number of each name, and of each alias the number of its canonical name if that is there."""
    of_names = {name: number for number, name in enumerate(names)}
    numbers = dict(of_names)
    for alias, name in (aliases or {}).items():
        if name in of_names:
            numbers[alias] = of_names[name]
    return numbers


def _containment(numbers: Mapping[str, int], size: int) -> sparse.csr_array:
    pairs = set()
    for name, longer in numbers.items():
        if name.count(" ") < 2:  # no name of two words is a part of it
            continue
        words = name.split(" ", _LONGEST)[:_LONGEST]
        for first in range(len(words) - 1):
            last = None if first else -1  # not the name itself
            part = words[first]
            for word in words[first + 1 : last]:
                part = f"{part} {word}"
                shorter = numbers.get(part.strip(","), longer)
                if shorter != longer:
                    pairs |= {(longer, shorter), (shorter, longer)}
    ends = np.array(sorted(pairs), dtype=np.int32)
    rows, columns = ends.reshape(-1, 2).T
    weights = np.full(len(rows), CONTAINMENT_WEIGHT, dtype=np.float32)
    return sparse.csr_array((weights, (rows, columns)), shape=(size, size))


def fetch_neighbourhood(
    context: RetrievalContext, questions: Sequence[str], recipe: WalkRecipe, nearest: int | None = None
) -> tuple[NameGraph, list[Near]]:
    """Fetch the part of the graph around some questions, beside that of earlier questions of the context.

    Args:
        context: Context of the answered question, which keeps the neighbourhood.
        questions: Questions from which the walk starts.
        recipe: Bounds of the neighbourhood.
        nearest: Number of passages near each question; by default the recipe's.

    Returns:
        The graph of all that was fetched, and the nearest passages of each question.
    """
    vectors = {question: vector.tolist() for question, vector in context.vectors(questions).items()}
    near = context.neighbourhood.fetch(context, vectors, recipe, nearest)
    with context.clock("rank"):
        return context.neighbourhood.graph, near


class Neighbourhood:
    """Hold the part of the graph that was fetched for one question. Each round adds to it.

    Attributes:
        texts: Passages by id, if their texts were fetched too.
    """

    def __init__(self) -> None:
        self.texts: dict[str, RankedPassage] = {}
        self._total = 0
        self._language = ENGLISH
        self._near: dict[tuple[str, int], Near] = {}
        self._seeds: set[str] = set()
        self._passages: dict[str, tuple[list[str], list[float]]] = {}
        self._frequent: dict[str, int] = {}
        self._aliases: dict[str, str] = {}
        self._graph: NameGraph | None = None

    def fetch(
        self,
        context: RetrievalContext,
        vectors: Mapping[str, list[float]],
        recipe: WalkRecipe,
        nearest: int | None = None,
    ) -> list[Near]:
        """Return the passages near some questions. The surroundings of new questions take one query."""
        top_k = recipe.nearest if nearest is None else nearest
        self._language = detect(next(iter(vectors), ""))
        new = {text: vector for text, vector in vectors.items() if (text, top_k) not in self._near}
        if new:
            keys = {mention.key for question in new for mention in mentions(question)}
            with context.clock("database"):
                part = context.reader.neighbourhood(
                    list(new.values()),
                    sorted(keys),
                    seen=sorted(self._seeds),
                    known=list(self._passages),
                    near=top_k,
                    best=recipe.best,
                    cap=recipe.cap,
                    scan=_SCAN,
                    limit=max(recipe.limit, top_k * len(new)),
                    texts=_TEXTS,
                )
            for question, near in zip(new, part.near, strict=True):
                self._near[question, top_k] = near
            self._total = part.total
            self._seeds.update(part.seeds)
            self._passages.update(part.passages)
            self._frequent.update(part.frequent)
            self._aliases.update(part.aliases)
            for passage in part.texts:
                self.texts[passage.id] = passage
            self._graph = None
        return [self._near[question, top_k] for question in vectors]

    @property
    def graph(self) -> NameGraph:
        """Return the graph of all that was fetched."""
        if self._graph is None:
            mentioned = self._names_in_texts()
            rows = []
            for passage, (names, weights) in self._passages.items():
                others = mentioned.get(passage, [])
                rows.append((passage, names + others, weights + [1.0] * len(others)))
            frequency = self._frequencies(mentioned.values())
            self._graph = build(rows, aliases=self._aliases, total=self._total, frequency=frequency)
        return self._graph

    def _frequencies(self, mentioned: Iterable[list[str]]) -> dict[str, int]:
        """Return in how many passages names are, those of one passage left out.

        Args:
            mentioned: Names of the texts in which rules did not find them.
        """
        frequency = dict(self._frequent)
        for name in chain.from_iterable(mentioned):
            frequency[name] = frequency.get(name, 1) + 1
        if self._aliases:
            own = set().union(*(names for names, _ in self._passages.values()))
            for alias, name in self._aliases.items():
                before = frequency.get(name, int(name in own))
                frequency[name] = before + self._frequent.get(alias, 1)
        return frequency

    def _names_in_texts(self) -> dict[str, list[str]]:
        """Return the names of other passages that occur in texts in another script than Latin, or for a
        German question in any: rules see few there, or not in every case."""
        german, code = self._language.nouns, self._language.code
        written: dict[str, str] = {}
        for names, weights in self._passages.values():
            if not german and "".join(names).isascii():
                continue
            for name, weight in zip(names, weights, strict=True):
                if not is_latin(name) or (german and (weight > 1 or " " in name)):
                    written[name] = uninflected(name, code)
        mentioned = {}
        if written:
            for id_, (names, _) in self._passages.items():
                text = self.texts[id_].text if id_ in self.texts else ""
                if text and (german or not is_latin(text)):
                    others = {name: written[name] for name in written.keys() - names}
                    mentioned[id_] = sorted(known_names(text, others, code))
        return mentioned
