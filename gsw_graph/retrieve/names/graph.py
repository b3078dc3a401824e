"""The names in the passages as sparse matrices: what a walk needs of the graph, whole or the neighbourhood
of some seeds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

TITLE_WEIGHT = 8.0
CONTAINMENT_WEIGHT = 0.3
_LONGEST = 10  # words of a name that are looked at for shorter names within

PassageNames = tuple[
    str, Sequence[str], Sequence["bool | None"]
]  # a passage, its names, whether each is its title


@dataclass(frozen=True)
class NameMatrices:
    """Passages and names by number, with their edges.

    incidence: (passages, names) float32, an edge weighs sqrt(ln(1 + N/pf) / ln(1 + N)), pf the number of
    passages with the name and N of all, times TITLE_WEIGHT where the name is the passage's title.
    containment: (names, names), symmetric, CONTAINMENT_WEIGHT between a name and a shorter one of two
    words or more that stands in it. frequency: pf of each name in the whole memory. titled: whether a name
    is the title of a passage.
    """

    incidence: sparse.csr_array
    containment: sparse.csr_array
    frequency: NDArray[np.int32]
    titled: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """Number of passages."""
        return int(self.incidence.shape[0])

    @cached_property
    def by_name(self) -> sparse.csr_array:
        """(names, passages): the incidence the other way round, in each row the passages that a name is
        the title of first."""
        turned = self.incidence.T.tocsr()
        row = np.repeat(np.arange(turned.shape[0]), np.diff(turned.indptr))
        order = np.lexsort((turned.indices, -turned.data, row))
        return sparse.csr_array(
            (turned.data[order], turned.indices[order], turned.indptr), shape=turned.shape
        )

    @cached_property
    def edges(self) -> sparse.csr_array:
        """All edges in one symmetric matrix over the nodes: the passages, then the names."""
        passages, names = self.incidence.shape
        up, aside = self.incidence.tocoo(), self.containment.tocoo()
        rows = np.concatenate([up.row, up.col + passages, aside.row + passages])
        columns = np.concatenate([up.col + passages, up.row, aside.col + passages])
        weights = np.concatenate([up.data, up.data, aside.data])
        return sparse.csr_array((weights, (rows, columns)), shape=(passages + names,) * 2)

    def names_of(self, passages: NDArray[np.intp]) -> NDArray[np.intp]:
        """The names in some passages, one after the other."""
        return _heads(self.incidence, passages)[0]

    def neighbourhood(
        self, near: NDArray[np.intp], names: NDArray[np.intp], *, cap: int, limit: int
    ) -> tuple[NameMatrices, NDArray[np.intp], NDArray[np.intp]]:
        """The part that a walk from these passages and names reaches first, with the numbers that its
        passages and names have here.

        Taken are the passages, those of the names and all names in them: of one name `cap` passages at most,
        those that it is the title of first, in all `limit`, the given ones first and all of them. What it
        costs does not grow with the graph. A second hop makes it five times larger and no better
        (docs/linked.md).
        """
        passages = _unique(np.concatenate([near, _heads(self.by_name, names, cap)[0]]))[
            : max(limit, len(np.unique(near)))
        ]
        columns, weights, lengths = _heads(self.incidence, passages)
        inside = np.sort(np.concatenate([names, columns]))  # and each once: seven times as fast as np.unique
        inside = inside[np.append(True, inside[1:] != inside[:-1])] if len(inside) else inside
        incidence = sparse.csr_array(
            (weights, np.searchsorted(inside, columns), np.concatenate([[0], np.cumsum(lengths)])),
            shape=(len(passages), len(inside)),
        )
        others, weights, lengths = _heads(self.containment, inside)
        rows, columns = (
            np.repeat(np.arange(len(inside)), lengths),
            np.minimum(np.searchsorted(inside, others), len(inside) - 1),
        )
        kept = inside[columns] == others if len(inside) else np.zeros(0, dtype=bool)
        containment = sparse.csr_array((weights[kept], (rows[kept], columns[kept])), shape=(len(inside),) * 2)
        return (
            NameMatrices(incidence, containment, self.frequency[inside], self.titled[inside]),
            passages,
            inside,
        )


@dataclass(frozen=True)
class NameGraph:
    """A name graph with the ids of its passages and names. aliases: names that stand for another, their
    canonical one, by id; they have no node of their own."""

    matrices: NameMatrices
    passages: list[str]
    names: list[str]
    aliases: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def passage_numbers(self) -> dict[str, int]:
        """The number of each passage id."""
        return {passage: number for number, passage in enumerate(self.passages)}

    @cached_property
    def name_numbers(self) -> dict[str, int]:
        """The number of each name, of an alias that of its canonical name."""
        return numbered(self.names, self.aliases)


def build(
    rows: Iterable[PassageNames],
    *,
    aliases: Mapping[str, str] | None = None,
    total: int | None = None,
    frequency: Mapping[str, int] | None = None,
) -> NameGraph:
    """A graph from rows of a passage, its names and whether each is its title. Names that are aliases are
    their canonical name here: the one place where walks follow merges.

    For a part of a memory give `total`, the number of passages of all, and `frequency`, in how many of
    them each name stands.
    """
    aliases = aliases or {}
    passages: list[str] = []
    numbers: dict[str, int] = {}
    columns: list[int] = []
    titles: list[bool] = []
    ends = [0]
    for passage, names, flags in rows:
        passages.append(passage)
        if aliases and not aliases.keys().isdisjoint(names):
            names, flags = _merged(names, flags, aliases)
        columns.extend(numbers.setdefault(name, len(numbers)) for name in names)
        titles.extend(bool(flag) for flag in flags)
        ends.append(len(columns))
    column, title = np.array(columns, dtype=np.int32), np.array(titles, dtype=bool)
    if frequency is None:
        counts = np.bincount(column, minlength=len(numbers)).astype(np.int32)
    else:
        counts = np.fromiter((frequency[name] for name in numbers), dtype=np.int32, count=len(numbers))
    whole = max(total or len(passages), 1)
    rarity = np.sqrt(np.log1p(whole / np.maximum(counts, 1)) / np.log1p(whole)).astype(np.float32)
    weights = rarity[column] * np.where(title, np.float32(TITLE_WEIGHT), np.float32(1))
    incidence = sparse.csr_array((weights, column, np.array(ends)), shape=(len(passages), len(numbers)))
    titled = np.zeros(len(numbers), dtype=bool)
    titled[column[title]] = True
    names = list(numbers)
    matrices = NameMatrices(incidence, _containment(numbered(names, aliases), len(names)), counts, titled)
    return NameGraph(matrices, passages, names, aliases)


def numbered(names: Sequence[str], aliases: Mapping[str, str]) -> dict[str, int]:
    """The number of each name, of an alias that of its canonical name; of one without such none."""
    numbers = {name: number for number, name in enumerate(names)}
    return numbers | {alias: numbers[name] for alias, name in aliases.items() if name in numbers}


def _merged(
    names: Sequence[str], flags: Sequence[bool | None], aliases: Mapping[str, str]
) -> tuple[list[str], list[bool]]:
    """The names of a passage with each that is merged once, and whether any of its spellings is the title."""
    found: dict[str, bool] = {}
    for name, flag in zip(names, flags, strict=True):
        canonical = aliases.get(name, name)
        found[canonical] = found.get(canonical, False) or bool(flag)
    return list(found), list(found.values())


def _containment(numbers: Mapping[str, int], size: int) -> sparse.csr_array:
    pairs: list[tuple[int, int]] = []
    for name, longer in numbers.items():
        words = name.split(" ", _LONGEST)[:_LONGEST]
        for length in range(2, len(words)):
            for first in range(len(words) - length + 1):
                shorter = numbers.get(" ".join(words[first : first + length]).strip(","))
                if shorter is not None and shorter != longer:
                    pairs.append((longer, shorter))
    ends = np.array(pairs, dtype=np.int32).reshape(-1, 2)
    both = np.unique(np.concatenate([ends, ends[:, ::-1]]), axis=0)
    weights = np.full(len(both), CONTAINMENT_WEIGHT, dtype=np.float32)
    return sparse.csr_array((weights, (both[:, 0], both[:, 1])), shape=(size,) * 2)


def _heads(
    matrix: sparse.csr_array, rows: NDArray[np.intp], cap: int | None = None
) -> tuple[NDArray[np.intp], NDArray[np.float32], NDArray[np.intp]]:
    """The first `cap` entries of each of these rows, one row after the other: columns, weights, and how
    many of each row."""
    begins, lengths = (
        matrix.indptr[rows].astype(np.intp),
        (matrix.indptr[rows + 1] - matrix.indptr[rows]).astype(np.intp),
    )
    if cap is not None:
        lengths = np.minimum(lengths, cap)
    ends = np.cumsum(lengths)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(begins - ends + lengths, lengths)
    return matrix.indices[places].astype(np.intp), matrix.data[places], lengths


def _unique(items: NDArray[np.intp]) -> NDArray[np.intp]:
    """Each item once, in the order in which they came."""
    _, first = np.unique(items, return_index=True)
    return items[np.sort(first)]
