"""Find concepts that are the same thing, join them by `ALIAS_OF`, and undo that.

Two kinds of evidence join two names: the same letters, and an abbreviation or alias that a text states; where
that is wanted also near vectors. Kinds, numbers, generations and years of birth keep them apart. English.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.errors import InputError
from gsw_graph.load.merging.same_names import (
    Name,
    find_statements,
    generation,
    letters,
    name_places,
    numbers,
    same_letters,
    without_remark,
    words,
)
from gsw_graph.model.documents import content_id
from gsw_graph.model.results import Alias, Merged, MergeGroup, Suspicion, Unmerged
from gsw_graph.store import writer
from gsw_graph.store.reader import Reader
from gsw_graph.text.names import normalise
from gsw_graph.text.words import kinds_of_roles

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from gsw_graph.engine import Connection

    Encode = Callable[[Sequence[str]], NDArray[np.float32]]

EVERYTHING = "all"
SURE = 0.85  # from here on concepts are merged
SUSPICIOUS = 0.6  # from here on they are listed
_REASON = 300  # characters of a reason that are kept
_COMMON = 30  # passages: a name in more of them is no sign that two others are the same
_NEIGHBOUR_PASSAGES = 100  # of a name that are looked at
_ROWS = 1024  # names that are compared with all others at once
_COSINE = "the cosine"
_BLOCK = 40  # names under one key; what more share tells nothing
_FACTS = ("score", "reason", "method", "run", "at")  # of an alias
_BORN = re.compile(r"\s*\(\s*(?:[^()]{0,60}?\b)?(?:born|b\.)?[^()]{0,40}?\b(1[0-9]{3}|20[0-2][0-9])\b")


@dataclass(frozen=True, slots=True)
class Pair:
    """Hold two concepts by id that may be the same, with the reasons; the first says how they met."""

    first: str
    second: str
    score: float
    reasons: tuple[str, ...]

    @property
    def method(self) -> str:
        """Name what joined them first."""
        return "vectors" if self.reasons[0].startswith(_COSINE) else "rules"

    @property
    def ambiguous(self) -> bool:
        """Tell whether what joins them may join the shorter name to other things as well."""
        return not self.reasons[0].startswith(("the same letters", "alias stated"))


@dataclass(frozen=True, slots=True)
class Group:
    """Hold a canonical concept, and for each alias the pair that joins it to that."""

    canonical: str
    aliases: dict[str, Pair]


@dataclass(slots=True)
class Concept:
    """Hold a concept and where it stands: passages and documents by number.

    Attributes:
        titles: the passages that it is the title of.
        born: first years in parentheses behind it.
        typed: mentions whose roles tell a kind.
    """

    id: str
    spellings: set[str] = field(default_factory=set)
    passages: list[int] = field(default_factory=list)
    documents: set[int] = field(default_factory=set)
    titles: set[int] = field(default_factory=set)
    kinds: Counter[str] = field(default_factory=Counter)
    typed: int = 0
    born: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """Return the spelling that the memory shows."""
        return max(self.spellings)

    @property
    def kind(self) -> set[str]:
        """Return the kinds that at least half of its typed mentions have."""
        return {kind for kind, count in self.kinds.items() if 2 * count >= self.typed}

    @property
    def mixed(self) -> bool:
        """Tell whether some of its mentions are of no kind that most are."""
        return bool(self.kind) and max(self.kinds[kind] for kind in self.kind) < 0.9 * self.typed


class ConceptIndex:
    """Index all concepts that are no dates, and what passages state of them, in one pass over passages."""

    def __init__(self, rows: Iterable[tuple[str, str, Sequence[Name]]]) -> None:
        """Read rows of a document, a passage's text and its names."""
        self.concepts: dict[str, Concept] = {}
        self.names_in: list[list[str]] = []  # the concepts of each passage
        self.document_of: list[int] = []  # of each passage
        self.statements: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)  # words by how
        documents: dict[str, int] = {}
        for number, (document, text, names) in enumerate(rows):
            place = documents.setdefault(document, len(documents))
            self.document_of.append(place)
            self.names_in.append(list(dict.fromkeys(name.key for name in names)))
            for name in names:
                self._add(name, number, place, text)
            for statement in find_statements(text, names):
                first, second = sorted((statement.first, statement.second))
                self.statements[first, second].setdefault(statement.how, statement.words)

    def _add(self, name: Name, passage: int, document: int, text: str) -> None:
        concept = self.concepts.setdefault(name.key, Concept(name.key))
        concept.spellings.add(name.written)
        if not concept.passages or concept.passages[-1] != passage:
            concept.passages.append(passage)
        concept.documents.add(document)
        if name.title:
            concept.titles.add(passage)
        if kinds := kinds_of_roles(role for role, _ in name.roles):
            concept.kinds.update(kinds)
            concept.typed += 1
        for _, end in name_places(text, name.written) if "(" in text else ():
            if born := _BORN.match(text, end):
                concept.born.add(born[1])

    def neighbours(self, concept: Concept) -> set[str]:
        """Return the names beside a concept that stand in few passages."""
        return {
            other
            for passage in concept.passages[:_NEIGHBOUR_PASSAGES]
            for other in self.names_in[passage]
            if len(self.concepts[other].passages) <= _COMMON
        }


# What merge, show and undo do


def merge(
    connection: Connection,
    *,
    dry_run: bool,
    encode: Encode | None = None,
    near: float = 0.0,
    at_most: int = 0,
) -> Merged:
    """Join concepts that are the same; see `Memory.merge`. encode: gives vectors of names, of length 1."""
    reader = Reader(connection)
    index = ConceptIndex(_rows(reader))
    pairs = find_pairs(index)
    if encode is not None and near:
        most = max(len(index.concepts) - at_most, 0) if at_most else None
        pairs = near_pairs(index, encode, near)[:most] + pairs
    groups, doubtful = group_pairs(index, pairs, reader.aliases())
    at = datetime.now(timezone.utc).isoformat(timespec="microseconds") if groups and not dry_run else None
    run = content_id("merge", at)[:8] if at else None
    results = [_result(index, group, run, at) for group in groups]
    if run:
        rows = [
            {"alias": alias.id, "canonical": group.id} | {name: getattr(alias, name) for name in _FACTS}
            for group in results
            for alias in group.aliases
        ]
        with connection.session() as session:
            written = set(writer.merge(session, rows))
        results = _chosen(results, lambda alias: alias.id in written)
    suspicious = [
        Suspicion(
            [pair.first, pair.second],
            [index.concepts[key].name for key in (pair.first, pair.second)],
            pair.score,
            _reason(pair),
        )
        for pair in doubtful
    ]
    return Merged(run, results, suspicious)


def merged(connection: Connection, name: str = "") -> Merged:
    """Return what is merged, all or the group of a name; InputError where the name is of none."""
    groups = _stored(Reader(connection))
    if name and not (groups := _groups_of(groups, name)):
        raise InputError(f"{name!r} is not merged", hint="See what is: gswgraph merge --show")
    return Merged(None, groups)


def unmerge(connection: Connection, what: str) -> Unmerged:
    """Undo merges: of a group, by any of its names, of a run by its id, or `all`.

    Raises:
        InputError: there is no such group or run.
    """
    groups = _stored(Reader(connection))
    if what != EVERYTHING:
        groups = _chosen(groups, lambda alias: alias.run == what) or _groups_of(groups, what)
        if not groups:
            raise InputError(
                f"there is no merged name and no run {what!r}",
                hint="See what is merged: gswgraph merge --show",
            )
    with connection.session() as session:
        writer.unmerge(session, [alias.id for group in groups for alias in group.aliases])
    return Unmerged(
        [group.name for group in groups], [alias.name for group in groups for alias in group.aliases]
    )


def _groups_of(groups: Sequence[MergeGroup], name: str) -> list[MergeGroup]:
    key = normalise(name)
    return [group for group in groups if key in (group.id, *(alias.id for alias in group.aliases))]


def _rows(reader: Reader) -> Iterator[tuple[str, str, list[Name]]]:
    for row in reader.stream("read/named_passages"):
        names = [
            Name(
                name["key"],
                name["name"],
                bool(name["title"]),
                tuple(
                    sorted(
                        (role["role"], tuple(role["states"] or ())) for role in name["roles"] if role["role"]
                    )
                ),
            )
            # Engines differ in the order.
            for name in sorted(row["names"], key=lambda name: str(name["name"]))
        ]
        yield row["document"], row["text"], names


def _chosen(groups: Iterable[MergeGroup], choose: Callable[[Alias], bool]) -> list[MergeGroup]:
    """Return the groups with the aliases that are chosen, without those that have none left."""
    chosen = (replace(group, aliases=list(filter(choose, group.aliases))) for group in groups)
    return [group for group in chosen if group.aliases]


def _result(index: ConceptIndex, group: Group, run: str | None, at: str | None) -> MergeGroup:
    def shown(key: str) -> tuple[str, int]:
        return index.concepts[key].name, len(index.concepts[key].passages)

    aliases = [
        Alias(key, *shown(key), pair.score, _reason(pair), pair.method, run, at)
        for key, pair in group.aliases.items()
    ]
    return MergeGroup(group.canonical, *shown(group.canonical), aliases)


def _reason(pair: Pair) -> str:
    text = " ".join("; ".join(pair.reasons).split())
    return text if len(text) <= _REASON else f"{text[: _REASON - 4]} ..."


def _stored(reader: Reader) -> list[MergeGroup]:
    groups: dict[str, MergeGroup] = {}
    for row in reader.rows("read/merges"):
        group = groups.setdefault(
            row["canonical"], MergeGroup(row["canonical"], row["name"], row["passages"], [])
        )
        facts = (row[name] for name in _FACTS)
        group.aliases.append(Alias(row["alias"], row["alias_name"], row["alias_passages"], *facts))
    return [group for _, group in sorted(groups.items())]


# Pairs and groups


def near_pairs(index: ConceptIndex, encode: Encode, least: float) -> list[Pair]:
    """Find pairs of names that may be the same and whose vectors have a cosine of `least` at least, best
    first (AutoPrunedRetriever, section 2.7). What only a chain of them joins stays apart in `group_pairs`."""
    concepts = [index.concepts[id_] for id_ in sorted(index.concepts)]
    vectors = encode([concept.name for concept in concepts])
    pairs = []
    for begin in range(0, len(concepts), _ROWS):
        cosines = np.triu(vectors[begin : begin + _ROWS] @ vectors.T, begin + 1)
        for row, column in np.argwhere(cosines >= least).tolist():
            first, second, cosine = concepts[begin + row], concepts[column], float(cosines[row, column])
            if may_be_same(first, second):
                reason = f"{_COSINE} of the names is {cosine:.2f}"
                pairs.append(Pair(first.id, second.id, round(max(cosine, SURE), 4), (reason,)))
    return sorted(pairs, key=lambda pair: (-pair.score, pair.first, pair.second))


def find_pairs(index: ConceptIndex) -> list[Pair]:
    """Find all pairs with a score above 0, best first.

    Two concepts meet only under a common key or by a statement, so that the work grows with the names and
    not with their pairs.
    """
    blocks: defaultdict[str, list[str]] = defaultdict(list)
    for key in index.concepts:
        if len(block := letters(key)) > 1:
            blocks[block].append(key)
    candidates = {
        pair
        for members in blocks.values()
        if 1 < len(members) <= _BLOCK
        for pair in combinations(sorted(members), 2)
    }
    candidates.update(
        (first, second)
        for first, second in index.statements
        if first in index.concepts and second in index.concepts
    )
    pairs = (_scored(index, index.concepts[first], index.concepts[second]) for first, second in candidates)
    return sorted(filter(None, pairs), key=lambda pair: (-pair.score, pair.first, pair.second))


def _scored(index: ConceptIndex, first: Concept, second: Concept) -> Pair | None:
    if not may_be_same(first, second):
        return None
    score, reasons = _by_statement(index, first, second)
    if not reasons and not same_letters(first.id, second.id, (first.name, second.name)):
        return None
    if not reasons:
        count = sorted(len(words(concept.id)) for concept in (first, second))
        is_split = count == [1, 2] and not (first.name.islower() and second.name.islower())
        # "Charles Town" and "Charlestown"
        score = 0.8 if is_split else 0.96
        reasons = ["the same letters, as one word and as two" if is_split else "the same letters"]
    if first.titles - second.titles and second.titles - first.titles:
        score, reasons = min(score, 0.7), [*reasons, "but each is the title of a passage of its own"]
    return Pair(first.id, second.id, round(score, 3), tuple(reasons))


def may_be_same(first: Concept, second: Concept) -> bool:
    """Tell whether nothing contradicts it: kinds, numbers, generations, years of birth."""
    if first.kind and second.kind and not first.kind & second.kind:
        return False
    if {"measure", "people"} & (first.kind | second.kind):
        return False
    if not any(c.isalpha() for c in first.id + second.id) or numbers(first.id) != numbers(second.id):
        return False
    if generation(first.id) != generation(second.id):
        return False
    return not (first.born and second.born and not first.born & second.born)


def _by_statement(index: ConceptIndex, first: Concept, second: Concept) -> tuple[float, list[str]]:
    stated = index.statements.get((first.id, second.id)) or {}
    if not stated:
        return 0.0, []
    reasons = [f"{how} stated: {words}" for how, words in stated.items()]
    scores = []
    for short, long in ((first, second), (second, first)):
        strict = without_remark(long.id) != long.id  # "X" may be another thing than "X (film)"
        elsewhere = _unexplained(index, short, long, strict=strict)
        if elsewhere and (strict or not _means_one_thing(short, long)):
            scores.append(0.7)
            reasons.append(f"but {short.name} stands in {elsewhere} documents that do not say so")
        else:
            scores.append(
                0.88 if elsewhere else 0.97 if len(stated) > 1 or "abbreviation" in stated else 0.93
            )
    return min(scores), reasons


def _unexplained(index: ConceptIndex, short: Concept, long: Concept, *, strict: bool) -> int:
    """Count documents with one name that hold neither the other nor, unless strict, a rare name beside it."""
    if strict or not short.documents - long.documents:
        return len(short.documents - long.documents)
    beside = index.neighbours(long) - {short.id}
    explained = {index.document_of[p] for p in short.passages if not beside.isdisjoint(index.names_in[p])}
    return len(short.documents - explained - long.documents)


def _means_one_thing(name: Concept, other: Concept) -> bool:
    """Tell whether a name means the same wherever it stands: a proper name of one kind, which is that of the
    other; of a person with two words."""
    if name.name.islower() or not name.kind or name.mixed:
        return False
    if "person" in name.kind:
        return len(words(name.id)) > 1
    return bool(name.kind & {"place", "organisation", "work", "event"}) and bool(
        not other.kind or name.kind & other.kind
    )


Near = dict[str, dict[str, Pair]]


def group_pairs(
    index: ConceptIndex, pairs: Sequence[Pair], merged: Mapping[str, str] | None = None
) -> tuple[list[Group], list[Pair]]:
    """Make groups of sure pairs. What only a chain of pairs joins stays apart.

    Args:
        index: the concepts.
        pairs: as of `find_pairs`.
        merged: the canonical concept of each alias there is already; groups grow around these.

    Returns:
        The groups, and the pairs that are not sure enough: of a lower score, or of a name that may mean
        several things.
    """
    merged = merged or {}
    pairs = [
        pair for pair in pairs if merged.get(pair.first, pair.first) != merged.get(pair.second, pair.second)
    ]
    near: Near = defaultdict(dict)
    for pair in pairs:
        if pair.score >= SURE:
            near[pair.first][pair.second] = near[pair.second][pair.first] = pair
    doubtful = {id(pair): pair for pair in pairs if SUSPICIOUS <= pair.score < SURE}
    doubtful.update((id(pair), pair) for pair in _ambiguous(near))
    for pair in doubtful.values():
        near[pair.first].pop(pair.second, None)
        near[pair.second].pop(pair.first, None)
    groups = _star_clusters(index, near, set(merged), set(merged.values()))
    return (
        sorted(groups, key=lambda group: group.canonical),
        sorted(doubtful.values(), key=lambda pair: (-pair.score, pair.first, pair.second)),
    )


def _ambiguous(near: Near) -> list[Pair]:
    """Find pairs of a short name with two longer ones that are no pair: "CMA" is one of them at most."""
    return [
        theirs[name]
        for key, theirs in near.items()
        for longer in combinations(
            [
                other
                for other, pair in theirs.items()
                if pair.ambiguous and len(letters(other)) > len(letters(key))
            ],
            2,
        )
        if longer[1] not in near[longer[0]]
        for name in longer
    ]


def _star_clusters(index: ConceptIndex, near: Near, aliased: set[str], heads: set[str]) -> Iterator[Group]:
    """Make of each canonical concept and what is nearest to it a group (star clustering)."""

    def rank(key: str) -> tuple[bool, int, int, int, str]:
        concept = index.concepts[key]  # the name of most passages is shown, then a title, then the longest
        return key not in heads, -len(concept.passages), -len(concept.titles), -len(key), key

    left = {key for key, theirs in near.items() if theirs} - aliased
    for canonical in sorted(left, key=rank):
        if canonical not in left:
            continue
        aliases: dict[str, Pair] = {}
        for alias, pair in sorted(near[canonical].items(), key=lambda item: (-item[1].score, item[0])):
            best = max(
                (other for other in near[alias] if other in left),
                key=lambda other: (near[alias][other].score, other == canonical, other),
            )
            mutual = best == canonical or best in near[canonical]
            agree = all(may_be_same(index.concepts[alias], index.concepts[other]) for other in aliases)
            if alias in left - heads and mutual and agree:
                aliases[alias] = pair
        if aliases:
            left -= {canonical, *aliases}
            yield Group(canonical, aliases)
