"""The graph of propositions of a memory, version by version: from this process, from disk, or read from the graph and its names compared."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from gsw_graph.retrieve import proposition_ground as grounds
from gsw_graph.retrieve import proposition_synonyms as synonyms
from gsw_graph.retrieve.graph_cache import keep
from gsw_graph.retrieve.proposition_graph import PropositionGraph, build
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from gsw_graph.engine import Connection
    from gsw_graph.retrieve.name_graph import NamedGraph
    from gsw_graph.retrieve.proposition_graph import Row
    from gsw_graph.retrieve.proprag_recipe import Recipe

# Graphs made with other constants are other graphs.
_FORMAT = f"1 {synonyms.CHANCE} {synonyms.FALLBACK} {synonyms.NEIGHBOURS} {synonyms.SLACK}"
_TRIES = 3  # to read it while nobody writes
_BATCH = 4096  # names embedded at once


@dataclass(frozen=True)
class Kept:
    """A graph with what makes its next version cheap: the vectors of its names, one signed byte a dimension, and the pairs of names that are similar."""

    graph: PropositionGraph
    names: NDArray[np.int8]
    pairs: synonyms.Pairs


class PropositionGraphs:
    """Keeps the graph of the last version asked for. folder: its place on disk, None for a memory that has no name yet. encode: vectors of names."""

    def __init__(self, connection: Connection, folder: Path | None, encode: Callable[[Sequence[str]], NDArray[np.float32]]) -> None:
        self._reader, self._encode = Reader(connection), encode
        self._folder = folder / "propositions" if folder else None
        self._last: tuple[int, Kept] | None = None
        self._grounds: dict[tuple[object, int | None], grounds.Ground] = {}

    def ground(self, version: int, recipe: Recipe, named: Callable[[int], NamedGraph]) -> grounds.Ground:
        """What a recipe walks over, of a version of the memory or a later one. named: the name graph of a version, asked only where the recipe joins it."""
        graph = self._of(version).graph
        names = named(version) if recipe.names else None
        key = (recipe.weights, id(names) if names else None)
        if key not in self._grounds:
            self._grounds[key] = grounds.with_names(graph, names, recipe.weights) if names else grounds.alone(graph, recipe.weights)
        return self._grounds[key]

    def _of(self, version: int) -> Kept:
        if self._last is not None and self._last[0] == version:
            return self._last[1]
        self._grounds = {}
        kept = load(self._folder / f"{version}.npz") if self._folder else None
        for _ in range(_TRIES):
            if kept is not None:
                break
            read = grown(build(self._rows()), self._encode, self._before())
            now = self._reader.size()[0]
            if now == version:
                kept = read
                if self._folder:
                    save(kept, self._folder, version)
            version = now
        if kept is None:
            return read  # somebody writes all the time: good for this question, not to be kept
        self._last = version, kept
        return kept

    def _rows(self) -> Iterator[Row]:
        for record in self._reader.stream("read/proposition_graph"):
            facts = sorted(zip(record["ids"], record["vectors"], record["mentions"], strict=True), key=lambda fact: str(fact[0]))  # engines differ in it
            ids, vectors, mentioned = zip(*facts, strict=True) if facts else ((), (), ())
            yield record["id"], ids, vectors, [sorted(names) for names in mentioned]

    def _before(self) -> Kept | None:
        """Any earlier version, from this process or from disk."""
        if self._last is not None or self._folder is None:
            return self._last[1] if self._last else None
        return next((kept for file in sorted(self._folder.glob("*.npz")) if (kept := load(file)) is not None), None)


def grown(graph: PropositionGraph, encode: Callable[[Sequence[str]], NDArray[np.float32]], before: Kept | None = None) -> Kept:
    """The graph with its similar names. Only names that an earlier version has not are embedded and compared: that costs new names times all names."""
    names = graph.concepts
    old = before.graph.concept_numbers if before else {}
    place = np.array([old.get(name, -1) for name in names], dtype=np.intp)
    new = place < 0
    fresh = [name for name, is_new in zip(names, new, strict=True) if is_new]
    found = [np.rint(encode(fresh[n : n + _BATCH]) * 127).astype(np.int8) for n in range(0, len(fresh), _BATCH)]
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
            np.concatenate([one[kept], more.one]), np.concatenate([other[kept], more.other]), np.concatenate([known.cosines[kept], more.cosines]), known.least
        )
    return Kept(replace(graph, similar=synonyms.matrix(pairs, len(names), least)), vectors, pairs)


def save(kept: Kept, folder: Path, version: int) -> None:
    """Keep a graph."""
    graph = kept.graph
    arrays: dict[str, Any] = {
        "format": np.array(_FORMAT),
        **{name: _packed(getattr(graph, name)) for name in ("passages", "concepts", "propositions")},
        **{f"mentions_{part}": getattr(graph.mentions, part) for part in ("indices", "indptr")},
        "home": graph.home,
        "vectors": graph.vectors,
        **{f"similar_{part}": getattr(graph.similar, part) for part in ("data", "indices", "indptr")},
        "names": kept.names,
        **{f"pairs_{part}": getattr(kept.pairs, part) for part in ("one", "other", "cosines")},
        "least": np.array(kept.pairs.least),
    }
    keep(arrays, folder, version)


def load(file: Path) -> Kept | None:
    """A graph from its file, None where there is none that can be read."""
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as found:
            if str(found["format"]) != _FORMAT:
                return None
            passages, concepts, propositions = (_unpacked(found[name]) for name in ("passages", "concepts", "propositions"))
            indices = found["mentions_indices"]
            mentions = sparse.csr_array((np.ones(len(indices), np.float32), indices, found["mentions_indptr"]), shape=(len(propositions), len(concepts)))
            similar = sparse.csr_array((found["similar_data"], found["similar_indices"], found["similar_indptr"]), shape=(len(concepts),) * 2)
            graph = PropositionGraph(passages, concepts, propositions, mentions, found["home"], found["vectors"], similar)
            pairs = synonyms.Pairs(found["pairs_one"], found["pairs_other"], found["pairs_cosines"], float(found["least"]))
            return Kept(graph, found["names"], pairs)
    except Exception:  # a file can be broken in many ways; it is made again
        return None


def _packed(texts: list[str]) -> NDArray[np.uint8]:
    return np.frombuffer("\n".join(texts).encode("utf-8"), dtype=np.uint8)  # neither ids nor normalised names hold a line feed


def _unpacked(data: NDArray[np.uint8]) -> list[str]:
    return data.tobytes().decode("utf-8").split("\n") if len(data) else []
