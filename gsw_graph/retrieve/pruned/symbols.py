"""Concepts or relations with their vectors, and which of them are near a question's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT = 50_000  # symbols up to which all are compared
_PROBED = 24  # of the groups of more, so many nearest to a vector are looked into
_BLOCK = 4096


@dataclass(frozen=True)
class Symbols:
    """names: what each is called. vectors: (names, dimension), unit vectors times 127 in one signed byte a
    dimension."""

    names: list[str]
    vectors: NDArray[np.int8]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each name."""
        return {name: number for number, name in enumerate(self.names)}

    def unit(self, numbers: NDArray[np.intp] | slice) -> NDArray[np.float32]:
        """Vectors of some symbols, of length 1."""
        vectors = self.vectors[numbers].astype(np.float32)
        unit: NDArray[np.float32] = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1)
        return unit

    def best(self, queries: NDArray[np.float32]) -> NDArray[np.float32]:
        """(names,): the largest cosine of each symbol with any of some vectors (n, dimension) of length 1.
        Of more than _EXACT symbols those far from all of them have 0, as have all where there is none."""
        found = np.zeros(len(self.names), dtype=np.float32)
        if not len(queries) or not len(self.names):
            return found
        if len(self.names) <= _EXACT:
            return np.max(self._whole @ queries.T, axis=1)
        pivots, order, begins = self._groups
        near = np.argpartition(-(queries @ pivots.T), _PROBED, axis=1)[:, :_PROBED]
        inside = np.concatenate([order[begins[g] : begins[g + 1]] for g in np.unique(near)])
        found[inside] = np.max(self.unit(inside) @ queries.T, axis=1)
        return found

    @cached_property
    def _whole(self) -> NDArray[np.float32]:
        return self.unit(slice(None))

    @cached_property
    def _groups(self) -> tuple[NDArray[np.float32], NDArray[np.intp], NDArray[np.intp]]:
        """Evenly spread symbols as pivots, all symbols by the pivot each is nearest to, and where the group
        of each pivot begins."""
        count = int(np.sqrt(len(self.names)))
        pivots = self.unit(np.linspace(0, len(self.names) - 1, count).astype(np.intp))
        nearest = np.concatenate(
            [
                np.argmax(self.unit(slice(b, b + _BLOCK)) @ pivots.T, axis=1)
                for b in range(0, len(self.names), _BLOCK)
            ]
        )
        order = np.argsort(nearest, kind="stable")
        return pivots, order, np.searchsorted(nearest[order], np.arange(count + 1))
