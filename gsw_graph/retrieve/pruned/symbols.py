"""Concepts or relations with their vectors, which of them are near a question's, and which runs hold them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.retrieve.names.graph import numbered

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT = 50_000  # symbols up to which all are compared
_PROBED = 48  # of the groups of more, so many nearest to a vector are looked into
_BLOCK = 4096


@dataclass(frozen=True)
class Symbols:
    """names: what each is called. vectors: (names, dimension), unit vectors times 127 in one signed byte a
    dimension. aliases: names that stand for another, their canonical one."""

    names: list[str]
    vectors: NDArray[np.int8]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each name, of an alias that of its canonical name."""
        return numbered(self.names, self.aliases)

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
            every: NDArray[np.float32] = np.max(queries @ self._whole.T, axis=0)
            return every
        groups = self._groups
        near = np.argpartition(-(queries @ groups.pivots.T), _PROBED, axis=1)[:, :_PROBED]
        for query, some in zip(queries, near.tolist(), strict=True):
            for group in some:
                inside = slice(groups.begins[group], groups.begins[group + 1])
                numbers = groups.order[inside]
                cosines = (groups.vectors[inside].astype(np.float32) @ query) * groups.scale[inside]
                found[numbers] = np.maximum(found[numbers], cosines)
        return found

    @cached_property
    def _whole(self) -> NDArray[np.float32]:
        return self.unit(slice(None))

    @cached_property
    def _groups(self) -> _Groups:
        count = int(np.sqrt(len(self.names)))
        pivots = self.unit(np.linspace(0, len(self.names) - 1, count).astype(np.intp))
        blocks = range(0, len(self.names), _BLOCK)
        nearest = [np.argmax(self.unit(slice(b, b + _BLOCK)) @ pivots.T, axis=1) for b in blocks]
        of = np.concatenate(nearest).astype(np.int32)
        order = np.argsort(of, kind="stable")
        vectors = self.vectors[order]
        parts = [np.linalg.norm(vectors[b : b + _BLOCK].astype(np.float32), axis=1) for b in blocks]
        scale = 1 / np.maximum(np.concatenate(parts), 1)
        begins = np.searchsorted(of[order], np.arange(count + 1)).tolist()
        return _Groups(pivots, order, begins, vectors, scale)


@dataclass(frozen=True)
class _Groups:
    """Symbols by the pivot that each is nearest to. pivots: some of the symbols, evenly spread. order: all
    by their group; vectors, scale: theirs in this order, and what makes their length 1. begins: of each
    group."""

    pivots: NDArray[np.float32]
    order: NDArray[np.intp]
    begins: list[int]
    vectors: NDArray[np.int8]
    scale: NDArray[np.float32]


@dataclass(frozen=True)
class Holders:
    """Which runs hold a symbol. runs: by number, those of one symbol after those of another. begins:
    (symbols + 1,), where the runs of a symbol begin."""

    runs: NDArray[np.int32]
    begins: NDArray[np.intp]

    @classmethod
    def of(cls, symbols: NDArray[np.int32], runs: NDArray[np.int32], count: int) -> Holders:
        """From the symbols that stand in runs, place by place; count: of all symbols."""
        order = np.argsort(symbols, kind="stable")
        return cls(runs[order], np.searchsorted(symbols[order], np.arange(count + 1)))

    def best(self, scores: NDArray[np.float32], count: int) -> NDArray[np.float32]:
        """(count,): the largest score of a symbol of each run, at least 0. scores: of each symbol. It costs
        what the symbols with a score above 0 stand in, not all runs there are."""
        near = np.flatnonzero(scores > 0)
        found = np.zeros(count, dtype=np.float32)
        lengths = self.begins[near + 1] - self.begins[near]
        np.maximum.at(found, self.runs[within(self.begins, near)], np.repeat(scores[near], lengths))
        return found


def within(begins: NDArray[np.signedinteger], groups: NDArray[np.intp]) -> NDArray[np.intp]:
    """The places of what stands in some groups, one group after the other. begins: (all groups + 1,), where
    each begins."""
    first = begins[groups].astype(np.intp)
    lengths = begins[groups + 1] - first
    ends = np.cumsum(lengths)
    places: NDArray[np.intp] = np.arange(ends[-1] if len(ends) else 0) + np.repeat(
        first - ends + lengths, lengths
    )
    return places
