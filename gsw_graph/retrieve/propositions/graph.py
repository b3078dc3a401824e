"""The propositions of a memory as sparse matrices: what PropRAG's walk and beam search need of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.retrieve.recipes import EdgeWeights

PassagePropositions = tuple[str, Sequence[str], Sequence[Sequence[float]], Sequence[Sequence[str]]]
"""A passage, its propositions, their vectors, and the concepts that each mentions."""


@dataclass(frozen=True)
class PropositionGraph:
    """Passages, concepts and propositions by number.

    passages, concepts, propositions: their ids. mentions: (propositions, concepts), 1 where one mentions the
    other. home: the passage of each proposition, ascending. vectors: (propositions, dimension), unit vectors
    times 127 in one signed byte a dimension. similar: (concepts, concepts), symmetric, the cosine of names
    that are similar, 0 elsewhere. aliases: concepts that are another one, by id, which have no number of
    their own.
    """

    passages: list[str]
    concepts: list[str]
    propositions: list[str]
    mentions: sparse.csr_array
    home: NDArray[np.int32]
    vectors: NDArray[np.int8]
    similar: sparse.csr_array
    aliases: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def passage_numbers(self) -> dict[str, int]:
        """The number of each passage id."""
        return {passage: number for number, passage in enumerate(self.passages)}

    @cached_property
    def proposition_numbers(self) -> dict[str, int]:
        """The number of each proposition id."""
        return {proposition: number for number, proposition in enumerate(self.propositions)}

    @cached_property
    def concept_numbers(self) -> dict[str, int]:
        """The number of each concept."""
        return {concept: number for number, concept in enumerate(self.concepts)}

    @cached_property
    def contains(self) -> sparse.csr_array:
        """(passages, concepts): 1 where a proposition of the passage mentions the concept."""
        size = (len(self.passages), len(self.propositions))
        holds = sparse.csr_array(
            (np.ones(len(self.home), np.float32), (self.home, np.arange(len(self.home)))), shape=size
        )
        found = sparse.csr_array(holds @ self.mentions)
        found.data[:] = 1
        return found

    @cached_property
    def together(self) -> sparse.csr_array:
        """(concepts, concepts): in how many propositions two concepts stand together; 0 for one with
        itself."""
        return _without_diagonal(sparse.csr_array(self.mentions.T @ self.mentions))

    def edges(self, weights: EdgeWeights) -> sparse.csr_array:
        """All edges in one symmetric matrix over the nodes: the passages, then the concepts."""
        aside = np.float32(weights.clique) * self.together + np.float32(weights.synonymy) * self.similar
        return join(np.float32(weights.containment) * self.contains, aside)

    def propositions_of(self, passages: NDArray[np.intp]) -> NDArray[np.intp]:
        """The propositions of some passages, one passage after the other."""
        begins, ends = (
            np.searchsorted(self.home, passages),
            np.searchsorted(self.home, passages, side="right"),
        )
        return (
            np.concatenate([np.arange(a, b) for a, b in zip(begins, ends, strict=True)])
            if len(passages)
            else np.zeros(0, dtype=np.intp)
        )

    def unit(self, propositions: NDArray[np.intp]) -> NDArray[np.float32]:
        """Vectors of some propositions, of length 1: (n, dimension)."""
        vectors = self.vectors[propositions].astype(np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float32] = vectors / np.maximum(lengths, 1)
        return unit


def build(rows: Iterable[PassagePropositions]) -> PropositionGraph:
    """A graph from rows of a passage, its propositions, their vectors and the concepts that each mentions;
    no names are similar yet."""
    passages: list[str] = []
    propositions: list[str] = []
    numbers: dict[str, int] = {}
    columns: list[int] = []
    ends = [0]
    home: list[int] = []
    vectors: list[NDArray[np.int8]] = []
    for passage, ids, found, mentioned in rows:
        propositions.extend(ids)
        home.extend([len(passages)] * len(ids))
        passages.append(passage)
        if len(ids):
            vectors.append(np.rint(np.array(found, dtype=np.float32) * 127).astype(np.int8))
        for concepts in mentioned:
            columns.extend(numbers.setdefault(concept, len(numbers)) for concept in concepts)
            ends.append(len(columns))
    column = np.array(columns, dtype=np.int32)
    size = (len(propositions), len(numbers))
    mentions = sparse.csr_array(
        (np.ones(len(column), np.float32), column, np.array(ends, dtype=np.int32)), shape=size
    )
    packed = np.concatenate(vectors) if vectors else np.zeros((0, 0), np.int8)
    nothing = _without_diagonal(sparse.eye_array(len(numbers), dtype=np.float32, format="csr"))
    return PropositionGraph(
        passages, list(numbers), propositions, mentions, np.array(home, dtype=np.int32), packed, nothing
    )


def join(up: sparse.csr_array, aside: sparse.csr_array) -> sparse.csr_array:
    """One symmetric matrix over passages, then concepts, of the edges between (passages, concepts) and
    among (concepts, concepts)."""
    found = sparse.block_array([[None, up], [up.T, aside]], format="csr", dtype=np.float32)
    kind = (
        np.int32 if found.nnz <= np.iinfo(np.int32).max else np.int64
    )  # half the bytes: a walk over millions waits for memory
    return sparse.csr_array(
        (found.data, found.indices.astype(kind), found.indptr.astype(kind)), shape=found.shape
    )


def _without_diagonal(matrix: sparse.csr_array) -> sparse.csr_array:
    entries = matrix.tocoo()
    kept = entries.row != entries.col
    return sparse.csr_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=matrix.shape)
