"""What PropRAG walks over: the graph of propositions with its edges weighed, alone or joined with the names that `linked` knows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from gsw_graph.retrieve.proposition_graph import join

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.retrieve.name_graph import NamedGraph
    from gsw_graph.retrieve.proposition_graph import PropositionGraph, Weights


WHOLE = 30_000  # nodes up to which a walk goes over all of them
CAP = 100  # neighbours of one node that a part takes, those of the heaviest edges
LIMIT = 20_000  # nodes of a part
_HOPS = 2


@dataclass(frozen=True)
class Part:
    """Some nodes of a ground, ascending, and the edges among them. size: how many of them are passages."""

    nodes: NDArray[np.intp]
    edges: sparse.csr_array
    size: int

    def place(self, nodes: NDArray[np.intp]) -> NDArray[np.intp]:
        """Where some of its nodes stand in it."""
        return np.searchsorted(self.nodes, nodes)

    def among(self, places: NDArray[np.intp]) -> Part:
        """The part of it at these places, ascending."""
        return Part(self.nodes[places], self.edges[places][:, places], int(np.searchsorted(places, self.size)))


@dataclass(frozen=True)
class Ground:
    """Nodes are the passages, then the names, of which the graph's concepts come first.

    edges: (nodes, nodes), symmetric. frequency: passages of each name. titled: whether a name is the title of a passage.
    """

    graph: PropositionGraph
    edges: sparse.csr_array
    names: list[str]
    frequency: NDArray[np.int32]
    titled: NDArray[np.bool_]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each name."""
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def whole(self) -> Part:
        """All nodes."""
        return Part(np.arange(self.edges.shape[0]), self.edges, len(self.graph.passages))

    def around(self, nodes: NDArray[np.intp]) -> Part:
        """What a walk from some nodes reaches in two steps, LIMIT nodes at most: the cost does not grow with the ground. All of a small ground."""
        if self.edges.shape[0] <= WHOLE:
            return self.whole
        found = edge = np.unique(nodes)
        for _ in range(_HOPS):
            reached, weights = self._heads(edge)
            strongest = reached[np.argsort(-weights, kind="stable")]
            _, first = np.unique(strongest, return_index=True)
            new = strongest[np.sort(first)]
            edge = new[~np.isin(new, found)][: max(LIMIT - len(found), 0)]
            found = np.union1d(found, edge)
        return Part(found, self.edges[found][:, found], int(np.searchsorted(found, len(self.graph.passages))))

    def _heads(self, nodes: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
        """The neighbours of some nodes with the weights of the edges, CAP of each."""
        rows = self.edges[nodes]
        row = np.repeat(np.arange(len(nodes)), np.diff(rows.indptr))
        order = np.lexsort((rows.indices, -rows.data, row))
        kept = order[np.arange(len(order)) - rows.indptr[row] < CAP]  # order keeps rows together
        return rows.indices[kept].astype(np.intp), rows.data[kept]


def alone(graph: PropositionGraph, weights: Weights) -> Ground:
    """Passages and concepts as the paper has them."""
    frequency = np.bincount(graph.contains.indices, minlength=len(graph.concepts)).astype(np.int32)
    return Ground(graph, graph.edges(weights), graph.concepts, frequency, np.zeros(len(graph.concepts), dtype=bool))


def with_names(graph: PropositionGraph, named: NamedGraph, weights: Weights) -> Ground:
    """The same with the edges of `linked` between passages and names, and between names of which one contains the other."""
    numbers = dict(graph.concept_numbers)
    for name in named.names:
        numbers.setdefault(name, len(numbers))
    place = np.array([numbers[name] for name in named.names], dtype=np.intp)
    row = np.array([graph.passage_numbers.get(passage, -1) for passage in named.passages], dtype=np.intp)
    sizes = (len(graph.passages), len(numbers))

    there = named.graph.incidence.tocoo()
    kept = row[there.row] >= 0
    of_names = sparse.csr_array((there.data[kept], (row[there.row][kept], place[there.col][kept])), shape=sizes)
    of_facts = _padded(graph.contains, sizes)
    aside = named.graph.containment.tocoo()
    contained = sparse.csr_array((aside.data, (place[aside.row], place[aside.col])), shape=(sizes[1],) * 2)
    among = np.float32(weights.clique) * graph.together + np.float32(weights.synonymy) * graph.similar
    edges = join(np.float32(weights.containment) * of_facts + of_names, _padded(among, (sizes[1],) * 2) + contained)
    frequency = np.bincount((of_names + of_facts).tocsr().indices, minlength=sizes[1]).astype(np.int32)
    titled = np.zeros(sizes[1], dtype=bool)
    titled[place] = named.graph.titled
    return Ground(graph, edges, list(numbers), frequency, titled)


def _padded(matrix: sparse.csr_array, shape: tuple[int, int]) -> sparse.csr_array:
    entries = matrix.tocoo()
    return sparse.csr_array((entries.data, (entries.row, entries.col)), shape=shape)
