"""What PropRAG walks over: the graph of propositions with its edges weighed, alone or joined with the
names that `linked` knows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from gsw_graph.retrieve.names.graph import numbered
from gsw_graph.retrieve.propositions.graph import join

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.retrieve.names.graph import NameGraph
    from gsw_graph.retrieve.propositions.graph import PropositionGraph
    from gsw_graph.retrieve.recipes import EdgeWeights, PropositionRecipe


_HOPS = 2


@dataclass(frozen=True)
class Subgraph:
    """Some nodes of a walk graph, ascending, and the edges among them. size: how many of them are
    passages."""

    nodes: NDArray[np.intp]
    edges: sparse.csr_array
    size: int

    def place(self, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where some of its nodes stand in it."""
        return np.searchsorted(self.nodes, nodes)

    def among(self, places: NDArray[np.intp]) -> Subgraph:
        """The part of it at these places, ascending."""
        return Subgraph(
            self.nodes[places], self.edges[places][:, places], int(np.searchsorted(places, self.size))
        )


@dataclass(frozen=True)
class WalkGraph:
    """Nodes are the passages, then the names, of which the graph's concepts come first.

    edges: (nodes, nodes), symmetric. frequency: passages of each name. titled: whether a name is the title
    of a passage.
    """

    graph: PropositionGraph
    edges: sparse.csr_array
    names: list[str]
    frequency: NDArray[np.int32]
    titled: NDArray[np.bool_]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each name, of an alias that of its canonical name."""
        return numbered(self.names, self.graph.aliases)

    @cached_property
    def whole(self) -> Subgraph:
        """All nodes."""
        return Subgraph(np.arange(self.edges.shape[0]), self.edges, len(self.graph.passages))

    def around(self, nodes: NDArray[np.intp], recipe: PropositionRecipe) -> Subgraph:
        """What a walk from some nodes reaches in two steps, `recipe.limit` nodes at most: the cost does
        not grow with the graph. All of a small one."""
        if self.edges.shape[0] <= recipe.whole:
            return self.whole
        found = edge = np.unique(nodes)
        for _ in range(_HOPS):
            reached, weights = self._heads(edge, recipe.cap)
            strongest = reached[np.argsort(-weights, kind="stable")]
            _, first = np.unique(strongest, return_index=True)
            new = strongest[np.sort(first)]
            edge = new[~np.isin(new, found)][: max(recipe.limit - len(found), 0)]
            found = np.union1d(found, edge)
        return Subgraph(
            found, self.edges[found][:, found], int(np.searchsorted(found, len(self.graph.passages)))
        )

    def _heads(self, nodes: NDArray[np.intp], cap: int) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """The neighbours of some nodes with the weights of the edges, of each the `cap` heaviest."""
        rows = self.edges[nodes]
        row = np.repeat(np.arange(len(nodes)), np.diff(rows.indptr))
        order = np.lexsort((rows.indices, -rows.data, row))
        kept = order[np.arange(len(order)) - rows.indptr[row] < cap]  # order keeps rows together
        return rows.indices[kept].astype(np.intp), rows.data[kept]


def alone(graph: PropositionGraph, weights: EdgeWeights) -> WalkGraph:
    """Passages and concepts as the paper has them."""
    frequency = np.bincount(graph.contains.indices, minlength=len(graph.concepts)).astype(np.int32)
    return WalkGraph(
        graph, graph.edges(weights), graph.concepts, frequency, np.zeros(len(graph.concepts), dtype=bool)
    )


def with_names(graph: PropositionGraph, named: NameGraph, weights: EdgeWeights) -> WalkGraph:
    """The same with the edges of `linked` between passages and names, and between names of which one
    contains the other."""
    numbers = dict(graph.concept_numbers)
    for name in named.names:
        numbers.setdefault(name, len(numbers))
    place = np.array([numbers[name] for name in named.names], dtype=np.intp)
    row = np.array([graph.passage_numbers.get(passage, -1) for passage in named.passages], dtype=np.intp)
    sizes = (len(graph.passages), len(numbers))

    there = named.matrices.incidence.tocoo()
    kept = row[there.row] >= 0
    of_names = sparse.csr_array(
        (there.data[kept], (row[there.row][kept], place[there.col][kept])), shape=sizes
    )
    of_facts = _padded(graph.contains, sizes)
    aside = named.matrices.containment.tocoo()
    contained = sparse.csr_array((aside.data, (place[aside.row], place[aside.col])), shape=(sizes[1],) * 2)
    among = np.float32(weights.clique) * graph.together + np.float32(weights.synonymy) * graph.similar
    edges = join(
        np.float32(weights.containment) * of_facts + of_names, _padded(among, (sizes[1],) * 2) + contained
    )
    frequency = np.bincount((of_names + of_facts).tocsr().indices, minlength=sizes[1]).astype(np.int32)
    titled = np.zeros(sizes[1], dtype=bool)
    titled[place] = named.matrices.titled
    return WalkGraph(graph, edges, list(numbers), frequency, titled)


def _padded(matrix: sparse.csr_array, shape: tuple[int, int]) -> sparse.csr_array:
    entries = matrix.tocoo()
    return sparse.csr_array((entries.data, (entries.row, entries.col)), shape=shape)
