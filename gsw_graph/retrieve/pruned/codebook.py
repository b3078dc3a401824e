"""The symbol codebook of a memory as arrays, version by version."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.results import FoundRun, RunEdge
from gsw_graph.retrieve.pruned.symbols import Holders, Symbols, within
from gsw_graph.retrieve.versions import Files, Versions, packed, packed_aliases, unpacked, unpacked_aliases
from gsw_graph.store import codebook as store
from gsw_graph.store.reader import Reader

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.engine import Connection
    from gsw_graph.retrieve.pruned.runs import Scored
    from gsw_graph.retrieve.versions import Arrays
    from gsw_graph.store.codebook import StoredEdge
    from gsw_graph.turns import Check

FORM = "1"


@dataclass(frozen=True)
class Codebook:
    """Runs, edges and symbols by number. An edge that stands on several statements has a line for each; the
    lines of a run stand together, in the order of the text.

    concepts, relations: the symbols with their vectors; shown: how each concept is shown. runs, passages,
    statements: ids, of the statements one for each line. begins: (runs + 1,), where the lines of a run begin.
    subject, relation, object, passage: (lines,), by number. edges: (lines,), the number of the edge, the same
    wherever it stands. vectors: (lines, dimension), of the statements, unit vectors times 127 in one signed
    byte a dimension.
    """

    concepts: Symbols
    relations: Symbols
    shown: list[str]
    runs: list[str]
    passages: list[str]
    statements: list[str]
    begins: NDArray[np.int32]
    subject: NDArray[np.int32]
    relation: NDArray[np.int32]
    object: NDArray[np.int32]
    passage: NDArray[np.int32]
    edges: NDArray[np.int64]
    vectors: NDArray[np.int8]

    @cached_property
    def runs_by_concept(self) -> Holders:
        """The runs that hold each concept, at either end of an edge."""
        ends = np.concatenate([self.subject, self.object])
        return Holders.of(ends, np.tile(self._run_of_line, 2), len(self.concepts.names))

    @cached_property
    def runs_by_relation(self) -> Holders:
        """The runs that hold each relation."""
        return Holders.of(self.relation, self._run_of_line, len(self.relations.names))

    @property
    def _run_of_line(self) -> NDArray[np.int32]:
        return np.repeat(np.arange(len(self.runs), dtype=np.int32), np.diff(self.begins))

    def runs_of(self, statements: Sequence[str]) -> NDArray[np.intp]:
        """The runs that hold some statements, ascending."""
        wanted = set(statements)
        lines = [line for line, one in enumerate(self.statements) if one in wanted] if wanted else []
        return self._with(np.array(lines, dtype=np.intp))

    def runs_in(self, passages: Sequence[str]) -> NDArray[np.intp]:
        """The runs that stand in some passages, ascending."""
        wanted = set(passages)
        numbers = [n for n, one in enumerate(self.passages) if one in wanted] if wanted else []
        return self._with(np.flatnonzero(np.isin(self.passage, numbers)) if numbers else np.zeros(0, np.intp))

    def _with(self, lines: NDArray[np.intp]) -> NDArray[np.intp]:
        return np.unique(np.searchsorted(self.begins, lines, side="right") - 1)

    def lines(self, runs: NDArray[np.intp]) -> NDArray[np.intp]:
        """The lines of some runs, one run after the other."""
        return within(self.begins, runs)

    def unit(self, lines: NDArray[np.intp]) -> NDArray[np.float32]:
        """Vectors of some lines, of length 1: (n, dimension)."""
        vectors = self.vectors[lines].astype(np.float32)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: NDArray[np.float32] = vectors / np.maximum(lengths, 1)
        return unit

    def means(self, runs: NDArray[np.intp]) -> NDArray[np.float32]:
        """Vectors of some runs, of length 1: the means of their lines."""
        return means(self.unit(self.lines(runs)), np.diff(self.begins)[runs].astype(np.intp))

    def shown_runs(self, channel: str, found: Scored) -> Iterator[FoundRun]:
        """Runs as people see them."""
        for run, score in zip(found.runs.tolist(), found.scores.tolist(), strict=True):
            edges: dict[int, RunEdge] = {}
            for line in range(self.begins[run], self.begins[run + 1]):
                ends = (self.shown[int(one[line])] for one in (self.subject, self.object))
                subject, object_ = ends
                relation = self.relations.names[int(self.relation[line])]
                home = self.statements[line], self.passages[int(self.passage[line])]
                number = int(self.edges[line])
                edges.setdefault(number, RunEdge(number, subject, relation, object_, *home))
            yield FoundRun(self.runs[run], channel, score, list(edges.values()))


class Codebooks:
    """Keeps the codebook of the last version asked for, in this process and in `folder`."""

    def __init__(self, connection: Connection, folder: Path) -> None:
        self._reader = Reader(connection)
        self._books = Versions(self._reader, files(folder), lambda _: self._read())

    def of(self, version: int, complete: Callable[[], None], check: Check) -> Codebook:
        """The codebook of a version of the memory; of a later one where somebody wrote meanwhile. complete:
        builds the runs that are missing, called before it is read; check: while another question builds them.
        Both are of the question that waits, which ends alone."""
        return self._books.of(version, complete, check)

    def _read(self) -> Codebook:
        return build(store.edges(self._reader), *store.symbols(self._reader), self._reader.aliases())


def build(
    edges: Iterable[StoredEdge],
    concepts: Mapping[str, bytes],
    relations: Mapping[str, bytes],
    shown: Mapping[str, str],
    aliases: Mapping[str, str] | None = None,
) -> Codebook:
    """A codebook from edges in any order, the packed vectors of symbols, which may be more than the edges
    have, and how concepts are shown. aliases: concepts that are another one, by id: their edges are its."""
    aliases = aliases or {}
    concepts = dict(concepts)
    for alias, canonical in sorted(aliases.items()):
        if alias in concepts:
            concepts.setdefault(canonical, concepts[alias])
    edges = [
        replace(
            one, subject=aliases.get(one.subject, one.subject), object=aliases.get(one.object, one.object)
        )
        for one in edges
    ]
    ordered = sorted(edges, key=lambda one: (one.run, one.position, one.statement))
    names = sorted({name for one in ordered for name in (one.subject, one.object)} & set(concepts))
    kinds = sorted({one.relation for one in ordered} & set(relations))
    number = {name: n for n, name in enumerate(names)}
    kind = {name: n for n, name in enumerate(kinds)}
    ordered = [
        one for one in ordered if one.subject in number and one.object in number and one.relation in kind
    ]
    runs, at = _numbered([one.run for one in ordered])
    passages, home = _numbered([one.passage for one in ordered])
    return Codebook(
        Symbols(names, _matrix([concepts[name] for name in names]), aliases),
        Symbols(kinds, _matrix([relations[name] for name in kinds])),
        [" ".join(shown.get(name, name).split()) for name in names],
        runs,
        passages,
        [one.statement for one in ordered],
        np.searchsorted(at, np.arange(len(runs) + 1)).astype(np.int32),
        np.array([number[one.subject] for one in ordered], dtype=np.int32),
        np.array([kind[one.relation] for one in ordered], dtype=np.int32),
        np.array([number[one.object] for one in ordered], dtype=np.int32),
        home,
        np.array([one.number for one in ordered], dtype=np.int64),
        np.stack([one.vector for one in ordered]) if ordered else np.zeros((0, 0), np.int8),
    )


def means(vectors: NDArray[np.float32], lengths: NDArray[np.intp]) -> NDArray[np.float32]:
    """The means, of length 1, of vectors that stand one group after the other; lengths: of each group."""
    sums = np.add.reduceat(vectors, np.cumsum(lengths) - lengths, axis=0)
    found: NDArray[np.float32] = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-12)
    return found


def _numbered(names: Sequence[str]) -> tuple[list[str], NDArray[np.int32]]:
    """The different names in the order in which they come, and the number of each."""
    numbers: dict[str, int] = {}
    found = [numbers.setdefault(name, len(numbers)) for name in names]
    return list(numbers), np.array(found, dtype=np.int32)


def _matrix(vectors: Sequence[bytes]) -> NDArray[np.int8]:
    if not vectors:
        return np.zeros((0, 0), np.int8)
    return np.frombuffer(b"".join(vectors), np.int8).reshape(len(vectors), -1)


def files(folder: Path) -> Files[Codebook]:
    """Where and how codebooks are kept."""
    return Files(folder, FORM, _pack, _unpack)


_ARRAYS = ("begins", "subject", "relation", "object", "passage", "edges", "vectors")
_TEXTS = ("shown", "runs", "passages", "statements")


def _pack(book: Codebook) -> Arrays:
    return {
        "concepts": packed(book.concepts.names),
        "concept_vectors": book.concepts.vectors,
        **packed_aliases(book.concepts.aliases),
        "relations": packed(book.relations.names),
        "relation_vectors": book.relations.vectors,
        **{name: packed(getattr(book, name)) for name in _TEXTS},
        **{f"{name}_": getattr(book, name) for name in _ARRAYS},
    }


def _unpack(found: Arrays) -> Codebook:
    return Codebook(
        Symbols(unpacked(found["concepts"]), found["concept_vectors"], unpacked_aliases(found)),
        Symbols(unpacked(found["relations"]), found["relation_vectors"]),
        **{name: unpacked(found[name]) for name in _TEXTS},  # type: ignore[arg-type]
        **{name: found[f"{name}_"] for name in _ARRAYS},
    )
