"""Groups of concepts that are one: a canonical concept and its aliases, each joined to it by a pair of its
own. What only a chain of pairs joins stays apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from gsw_graph.merging.pairs import Pair, may_be_one
from gsw_graph.merging.seen import Concept, Seen
from gsw_graph.merging.spellings import letters

SURE = 0.85  # from here on concepts are merged
SUSPICIOUS = 0.6  # from here on a language model may be asked

Near = dict[str, dict[str, Pair]]


@dataclass(frozen=True, slots=True)
class Group:
    """A canonical concept, and by alias the pair that joins it to that."""

    canonical: str
    aliases: dict[str, Pair]


def grouped(
    seen: Seen, pairs: Sequence[Pair], merged: Mapping[str, str] | None = None
) -> tuple[list[Group], list[Pair]]:
    """Groups by pairs that are sure, and the pairs that a second look might make so: of a lower score, or of
    a name that may mean several things. merged: the canonical concept of each alias there is already; groups
    grow around these, and what is merged is named in none."""
    merged = merged or {}
    pairs = [pair for pair in pairs if not _known(pair, merged)]
    near: Near = defaultdict(dict)
    for pair in pairs:
        if pair.score >= SURE:
            near[pair.one][pair.other] = near[pair.other][pair.one] = pair
    doubtful = {id(pair): pair for pair in pairs if SUSPICIOUS <= pair.score < SURE}
    for pair in _ambiguous(near):
        doubtful[id(pair)] = pair
    for pair in doubtful.values():
        near[pair.one].pop(pair.other, None)
        near[pair.other].pop(pair.one, None)
    groups = sorted(_stars(seen, near, set(merged), set(merged.values())), key=lambda group: group.canonical)
    return groups, sorted(doubtful.values(), key=lambda pair: (-pair.score, pair.one, pair.other))


def _ambiguous(near: Near) -> Iterator[Pair]:
    """Pairs of a short name with two longer ones that are no pair: "CMA" is one of them at most."""
    for key, theirs in near.items():
        longer = [
            other
            for other, pair in theirs.items()
            if pair.ambiguous and len(letters(other)) > len(letters(key))
        ]
        for n, one in enumerate(longer):
            for other in longer[n + 1 :]:
                if other not in near[one]:
                    yield theirs[one]
                    yield theirs[other]


def _known(pair: Pair, merged: Mapping[str, str]) -> bool:
    """Whether both are in one group already."""
    return merged.get(pair.one, pair.one) == merged.get(pair.other, pair.other)


def _stars(seen: Seen, near: Near, aliased: set[str], heads: set[str]) -> Iterator[Group]:
    left = {key for key, theirs in near.items() if theirs} - aliased
    for canonical in sorted(left, key=lambda key: (key not in heads, _rank(seen.concepts[key]))):
        if canonical not in left:
            continue
        aliases: dict[str, Pair] = {}
        for alias, pair in sorted(near[canonical].items(), key=lambda item: (-item[1].score, item[0])):
            best = max(
                (other for other in near[alias] if other in left),
                key=lambda other: (near[alias][other].score, other == canonical, other),
            )
            mutual = best == canonical or best in near[canonical]
            agree = all(may_be_one(seen.concepts[alias], seen.concepts[other]) for other in aliases)
            if alias in left - heads and mutual and agree:
                aliases[alias] = pair
        if aliases:
            left -= {canonical, *aliases}
            yield Group(canonical, aliases)


def _rank(concept: Concept) -> tuple[int, int, int, str]:
    """What is shown of a group: the name of most passages, then a title, then the longest."""
    return -len(concept.passages), -len(concept.titles), -len(concept.id), concept.id
