"""The graph of propositions of a memory, version by version, with its similar names."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from gsw_graph.retrieve.propositions import synonyms
from gsw_graph.retrieve.propositions.graph import PropositionGraph, build
from gsw_graph.retrieve.propositions.walk_graph import WalkGraph, alone, with_names
from gsw_graph.retrieve.versions import (
    Files,
    Versions,
    packed,
    packed_aliases,
    packed_matrix,
    unpacked,
    unpacked_aliases,
    unpacked_matrix,
)
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.engine import Connection
    from gsw_graph.retrieve.names.graph import NameGraph
    from gsw_graph.retrieve.propositions.graph import PassagePropositions
    from gsw_graph.retrieve.recipes import EdgeWeights, PropositionRecipe
    from gsw_graph.retrieve.versions import Arrays

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]

FORM = f"2 {synonyms.CHANCE} {synonyms.FALLBACK} {synonyms.NEIGHBOURS} {synonyms.SLACK}"
_BATCH = 4096  # names embedded at once


@dataclass(frozen=True)
class Compared:
    """A graph with what makes its next version cheap: the vectors of its names, one signed byte a
    dimension, and the pairs of names that are similar."""

    graph: PropositionGraph
    names: NDArray[np.int8]
    pairs: synonyms.Pairs


class PropositionGraphs:
    """Keeps the graph of the last version asked for, in this process and in `folder`. encode: vectors of
    names."""

    def __init__(self, connection: Connection, folder: Path, encode: Encode) -> None:
        self._reader, self._encode = Reader(connection), encode
        self._graphs = Versions(self._reader, files(folder), self._read)
        self._version = -1
        self._walk_graphs: dict[tuple[EdgeWeights, bool], WalkGraph] = {}
        self._joining = threading.Lock()

    def walk_graph(
        self, version: int, recipe: PropositionRecipe, named: Callable[[int], NameGraph]
    ) -> WalkGraph:
        """What a recipe walks over, of a version of the memory or a later one. named: the name graph of a
        version, asked only where the recipe joins it."""
        key = (recipe.weights, recipe.names)
        with self._joining:
            if version != self._version:
                self._version, self._walk_graphs = version, {}
            if key not in self._walk_graphs:
                graph = self._graphs.of(version).graph
                names = named(version) if recipe.names else None
                self._walk_graphs[key] = (
                    with_names(graph, names, recipe.weights) if names else alone(graph, recipe.weights)
                )
            return self._walk_graphs[key]

    def _read(self, before: Callable[[], Compared | None]) -> Compared:
        aliases = self._reader.aliases()
        graph = replace(build(self._rows(aliases)), aliases=aliases)
        return compared(graph, self._encode, before())

    def _rows(self, aliases: Mapping[str, str]) -> Iterator[PassagePropositions]:
        for passage, *lists in self._reader.proposition_graph():
            facts = sorted(
                zip(*lists, strict=True), key=lambda fact: str(fact[0])
            )  # engines differ in the order
            ids, vectors, mentioned = zip(*facts, strict=True) if facts else ((), (), ())
            yield (
                passage,
                ids,
                vectors,
                [sorted({aliases.get(name, name) for name in names}) for names in mentioned],
            )


def compared(graph: PropositionGraph, encode: Encode, before: Compared | None = None) -> Compared:
    """The graph with its similar names. Only names that an earlier version has not are embedded and
    compared: that costs new names times all names."""
    names = graph.concepts
    old = before.graph.concept_numbers if before else {}
    place = np.array([old.get(name, -1) for name in names], dtype=np.intp)
    new = place < 0
    fresh = [name for name, is_new in zip(names, new, strict=True) if is_new]
    found = [
        np.rint(encode(fresh[n : n + _BATCH]) * 127).astype(np.int8) for n in range(0, len(fresh), _BATCH)
    ]
    width = found[0].shape[1] if found else before.names.shape[1] if before else 0
    vectors = np.zeros((len(names), width), dtype=np.int8)
    if found:
        vectors[new] = np.concatenate(found)
    if before is not None and not new.all():
        vectors[~new] = before.names[place[~new]]
    unit = vectors.astype(np.float32)
    unit /= np.maximum(np.linalg.norm(unit, axis=1, keepdims=True), 1)
    least = synonyms.threshold(unit)
    if before is None or before.pairs.least > least:  # what is known does not reach down to the threshold
        pairs = synonyms.pairs(names, unit, least - synonyms.SLACK)
    else:
        now = np.full(len(old), -1, dtype=np.int32)
        now[place[~new]] = np.flatnonzero(~new)
        known, more = before.pairs, synonyms.pairs(names, unit, before.pairs.least, new)
        one, other = now[known.one], now[known.other]
        kept = (one >= 0) & (other >= 0)
        pairs = synonyms.Pairs(
            np.concatenate([one[kept], more.one]),
            np.concatenate([other[kept], more.other]),
            np.concatenate([known.cosines[kept], more.cosines]),
            known.least,
        )
    return Compared(replace(graph, similar=synonyms.matrix(pairs, len(names), least)), vectors, pairs)


def files(folder: Path) -> Files[Compared]:
    """Where and how graphs of propositions are kept."""
    return Files(folder, FORM, _pack, _unpack)


def _pack(kept: Compared) -> Arrays:
    graph = kept.graph
    return {
        **{name: packed(getattr(graph, name)) for name in ("passages", "concepts", "propositions")},
        **{
            f"mentions_{part}": getattr(graph.mentions, part) for part in ("indices", "indptr")
        },  # all data are 1
        "home": graph.home,
        "vectors": graph.vectors,
        **packed_matrix("similar", graph.similar),
        "names": kept.names,
        **packed_aliases(graph.aliases),
        **{f"pairs_{part}": getattr(kept.pairs, part) for part in ("one", "other", "cosines")},
        "least": np.array(kept.pairs.least),
    }


def _unpack(found: Arrays) -> Compared:
    passages, concepts, propositions = (
        unpacked(found[name]) for name in ("passages", "concepts", "propositions")
    )
    indices = found["mentions_indices"]
    data = np.ones(len(indices), np.float32)
    mentions = sparse.csr_array(
        (data, indices, found["mentions_indptr"]), shape=(len(propositions), len(concepts))
    )
    similar = unpacked_matrix("similar", found, (len(concepts),) * 2)
    graph = PropositionGraph(
        passages,
        concepts,
        propositions,
        mentions,
        found["home"],
        found["vectors"],
        similar,
        unpacked_aliases(found),
    )
    pairs = synonyms.Pairs(
        found["pairs_one"], found["pairs_other"], found["pairs_cosines"], float(found["least"])
    )
    return Compared(graph, found["names"], pairs)
