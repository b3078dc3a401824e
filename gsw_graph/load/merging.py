"""Find concepts that are the same thing, join them by `ALIAS_OF`, and undo that. English.

Two kinds of evidence join two names: the same letters, and an abbreviation or alias that a text states; where
that is wanted also near vectors. Kinds, numbers, generations and years of birth keep them apart.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gsw_graph.engine import Connection
from gsw_graph.errors import InputError
from gsw_graph.load.spellings import abbreviates, generation, letters, numbers, same_letters, words
from gsw_graph.model.documents import content_id
from gsw_graph.model.results import Alias, Merged, MergeGroup, Suspicion, Unmerged
from gsw_graph.store import now, writer
from gsw_graph.store.reader import Reader
from gsw_graph.text.names import normalise
from gsw_graph.text.safe_text import cut
from gsw_graph.text.words import kinds_of_roles
from gsw_graph.values import single_spaced

Encode = Callable[[Sequence[str]], NDArray[np.float32]]
SURE = 0.85  # from here on concepts are merged
SUSPICIOUS = 0.6  # from here on they are listed
_REASON = 300  # characters of a reason that are kept
_ROWS = 1024  # names that are compared with all others at once
_BLOCK = 40  # names under one key; what more share says nothing
_ONE_THING = ("place", "organisation", "work", "event")  # kinds whose names mean the same everywhere
_FACTS = ("score", "reason", "method", "run", "at")  # of an alias
_BORN = re.compile(r"\s*\(\s*(?:[^()]{0,60}?\b)?(?:born|b\.)?[^()]{0,40}?\b(1[0-9]{3}|20[0-2][0-9])\b")


class Name(NamedTuple):
    """Hold a name of a passage: its concept, as written, whether it is the title, its roles."""

    key: str
    written: str
    title: bool
    roles: Sequence[str]


class Pair(NamedTuple):
    """Hold the ids of two concepts that may be the same.

    Attributes:
        reasons: Reasons for and against.
        ambiguous: Whether the evidence may join the shorter name to other names too.
        method: Method of the evidence: `rules` or `vectors`.
    """

    first: str
    second: str
    score: float
    reasons: tuple[str, ...]
    ambiguous: bool = False
    method: str = "rules"

    @property
    def reason(self) -> str:
        """Return all reasons in a line."""
        return cut(single_spaced("; ".join(self.reasons)), _REASON)


Aliases = dict[str, Pair]
"""Of each alias of a canonical concept the pair that joins it to that."""


@dataclass(slots=True)
class Concept:
    """Hold a concept and where it occurs: passages by number, documents by id.

    Attributes:
        titles: The passages that it is the title of.
        born: First years in parentheses behind it.
        typed: Mentions whose roles name a kind.
    """

    id: str
    spellings: set[str] = field(default_factory=set)
    passages: set[int] = field(default_factory=set)
    documents: set[str] = field(default_factory=set)
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


class ConceptIndex:
    """Index all concepts that are no dates, and what passages state of them, in one pass over passages."""

    def __init__(self, rows: Iterable[tuple[str, str, Sequence[Name]]]) -> None:
        """Read rows of a document, a passage's text and its names."""
        self.concepts: dict[str, Concept] = {}
        self.statements: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)  # words by how
        for number, (document, text, names) in enumerate(rows):
            for name in names:
                self._add(name, number, document, text)
            for first, second, how, stated in find_statements(text, names):
                self.statements[min(first, second), max(first, second)].setdefault(how, stated)

    def _add(self, name: Name, passage: int, document: str, text: str) -> None:
        concept = self.concepts.setdefault(name.key, Concept(name.key))
        concept.spellings.add(name.written)
        concept.passages.add(passage)
        concept.documents.add(document)
        if name.title:
            concept.titles.add(passage)
        kinds = kinds_of_roles(name.roles)
        if kinds:
            concept.kinds.update(kinds)
            concept.typed += 1
        if "(" in text:
            for _, end in name_places(text, name.written):
                born = _BORN.match(text, end)
                if born:
                    concept.born.add(born[1])


# --- what merge, show and undo do ---


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
        nearest = near_pairs(index, encode, near)
        if at_most:
            del nearest[max(len(index.concepts) - at_most, 0) :]
        pairs = nearest + pairs
    groups, doubtful = group_pairs(index, pairs, reader.aliases())
    run = at = None
    if groups and not dry_run:
        at = now("microseconds")
        run = content_id("merge", at)[:8]
    results = []
    for canonical, aliases in groups:
        group = MergeGroup(*_shown(index, canonical), [])
        for key, pair in aliases.items():
            alias = Alias(*_shown(index, key), pair.score, pair.reason, pair.method, run, at)
            group.aliases.append(alias)
        results.append(group)
    if run:
        results = _write(connection, results)
    suspicions = []
    for pair in doubtful:
        ids = [pair.first, pair.second]
        names = [index.concepts[id_].name for id_ in ids]
        suspicions.append(Suspicion(ids, names, pair.score, pair.reason))
    return Merged(run, results, suspicions)


def _shown(index: ConceptIndex, key: str) -> tuple[str, str, int]:
    concept = index.concepts[key]
    return key, concept.name, len(concept.passages)


def _write(connection: Connection, groups: Sequence[MergeGroup]) -> list[MergeGroup]:
    """Write merges; return those written. A name that was removed meanwhile is left out."""
    rows = []
    for group in groups:
        for alias in group.aliases:
            facts = {name: getattr(alias, name) for name in _FACTS}
            rows.append({"alias": alias.id, "canonical": group.id, **facts})
    with connection.session() as session:
        written = set(writer.merge(session, rows))
    return _chosen(groups, lambda alias: alias.id in written)


def merged(connection: Connection, name: str = "") -> Merged:
    """Return all groups of merged names, or the group of a name. Raises InputError for a name in no group."""
    groups = _stored(Reader(connection))
    if name:
        groups = _groups_of(groups, name)
        if not groups:
            raise InputError(f"{name!r} is not merged", hint="See what is: gswgraph merge --show")
    return Merged(None, groups)


def unmerge(connection: Connection, target: str) -> Unmerged:
    """Undo merges: of a group, by any of its names, of a run by its id, or `all`.

    Raises:
        InputError: There is no such group or run.
    """
    groups = _stored(Reader(connection))
    if target != "all":
        groups = _chosen(groups, lambda alias: alias.run == target) or _groups_of(groups, target)
        if not groups:
            raise InputError(
                f"there is no merged name and no run {target!r}",
                hint="See what is merged: gswgraph merge --show",
            )
    aliases = [alias for group in groups for alias in group.aliases]
    with connection.session() as session:
        writer.unmerge(session, [alias.id for alias in aliases])
    return Unmerged([group.name for group in groups], [alias.name for alias in aliases])


def _groups_of(groups: Sequence[MergeGroup], name: str) -> list[MergeGroup]:
    key = normalise(name)
    return [group for group in groups if key in (group.id, *(alias.id for alias in group.aliases))]


def _chosen(groups: Iterable[MergeGroup], choose: Callable[[Alias], bool]) -> list[MergeGroup]:
    """Return the groups with the aliases that are chosen, without those that have none left."""
    result = []
    for group in groups:
        aliases = list(filter(choose, group.aliases))
        if aliases:
            result.append(replace(group, aliases=aliases))
    return result


def _rows(reader: Reader) -> Iterator[tuple[str, str, list[Name]]]:
    for row in reader.stream("read/named_passages"):
        names = []
        for name in sorted(row["names"], key=lambda name: str(name["name"])):  # engines differ in the order
            roles = [role["role"] for role in name["roles"] if role["role"]]
            names.append(Name(name["key"], name["name"], bool(name["title"]), roles))
        yield row["document"], row["text"], names


def _stored(reader: Reader) -> list[MergeGroup]:
    groups: dict[str, MergeGroup] = {}
    for row in reader.rows("read/merges"):
        key = row["canonical"]
        group = groups.setdefault(key, MergeGroup(key, row["name"], row["passages"], []))
        facts = [row[name] for name in _FACTS]
        group.aliases.append(Alias(row["alias"], row["alias_name"], row["alias_passages"], *facts))
    return sorted(groups.values(), key=lambda group: group.id)


# --- pairs and groups ---


def near_pairs(index: ConceptIndex, encode: Encode, least: float) -> list[Pair]:
    """Find pairs of names that may be the same and whose vectors have a cosine of `least` at least, best
    first (AutoPrunedRetriever, section 2.7)."""
    concepts = [concept for _, concept in sorted(index.concepts.items())]
    vectors = encode([concept.name for concept in concepts])
    pairs = []
    for begin in range(0, len(concepts), _ROWS):
        cosines = np.triu(vectors[begin : begin + _ROWS] @ vectors.T, begin + 1)
        for row, column in np.argwhere(cosines >= least).tolist():
            first, second = concepts[begin + row], concepts[column]
            if may_be_same(first, second):
                cosine = float(cosines[row, column])
                reason = f"the cosine of the names is {cosine:.2f}"
                score = round(max(cosine, SURE), 4)
                pairs.append(Pair(first.id, second.id, score, (reason,), True, "vectors"))
    return sorted(pairs, key=_best_first)


def find_pairs(index: ConceptIndex) -> list[Pair]:
    """Find all pairs with a score above 0, best first. Two concepts meet only under a common key or by a
    statement, so that the work grows with the names and not with their pairs."""
    blocks: defaultdict[str, list[str]] = defaultdict(list)
    for key in sorted(index.concepts):
        blocks[letters(key)].append(key)
    candidates = set(index.statements)
    for members in blocks.values():
        if len(members) <= _BLOCK:
            candidates.update(combinations(members, 2))
    pairs = (_scored(index, index.concepts[first], index.concepts[second]) for first, second in candidates)
    return sorted(filter(None, pairs), key=_best_first)


def _best_first(pair: Pair) -> tuple[float, str, str]:
    return -pair.score, pair.first, pair.second


def _scored(index: ConceptIndex, first: Concept, second: Concept) -> Pair | None:
    if not may_be_same(first, second):
        return None
    stated = index.statements.get((first.id, second.id), {})
    if stated:
        score, reasons = _by_statement(first, second, stated)
    elif not same_letters(first.id, second.id, (first.name, second.name)):
        return None
    else:
        score, reasons = 0.96, ["the same letters"]
        lengths = {len(words(first.id)), len(words(second.id))}
        if lengths == {1, 2} and not (first.name + second.name).islower():  # "Charles Town", "Charlestown"
            score, reasons = 0.8, ["the same letters, as one word and as two"]
    if first.titles - second.titles and second.titles - first.titles:
        score = min(score, 0.7)
        reasons.append("but each is the title of a passage of its own")
    is_ambiguous = bool(stated) and next(iter(stated)) != "alias"
    return Pair(first.id, second.id, round(score, 3), tuple(reasons), is_ambiguous)


def may_be_same(first: Concept, second: Concept) -> bool:
    """Tell whether nothing contradicts it: kinds, numbers, generations, years of birth."""
    if _differ(first.kind, second.kind) or _differ(first.born, second.born):
        return False
    if not {"measure", "people"}.isdisjoint(first.kind | second.kind):
        return False
    if numbers(first.id) != numbers(second.id) or generation(first.id) != generation(second.id):
        return False
    return any(map(str.isalpha, first.id + second.id))


def _differ(first: set[str], second: set[str]) -> bool:
    return bool(first and second and first.isdisjoint(second))


def _by_statement(first: Concept, second: Concept, stated: Mapping[str, str]) -> tuple[float, list[str]]:
    reasons = [f"{how} stated: {text}" for how, text in stated.items()]
    score = 0.97 if "abbreviation" in stated else 0.93
    for short, long in ((first, second), (second, first)):
        elsewhere = len(short.documents - long.documents)
        if not elsewhere:
            continue
        # "X" may be another thing than "X (film)".
        if " (" in long.id or not _means_one_thing(short, long):
            score = min(score, 0.7)
            reasons.append(f"but {short.name} occurs in {elsewhere} documents that do not say so")
        else:
            score = min(score, 0.88)
    return score, reasons


def _means_one_thing(name: Concept, other: Concept) -> bool:
    """Tell whether a name means the same wherever it occurs: a proper name of one kind, which is that of the
    other; of a person with two words."""
    kinds = name.kind
    if name.name.islower() or not kinds:
        return False
    if max(name.kinds.values()) < 0.9 * name.typed:
        return False
    if "person" in kinds:
        return len(words(name.id)) > 1
    return not _differ(kinds, other.kind) and not kinds.isdisjoint(_ONE_THING)


def group_pairs(
    index: ConceptIndex, pairs: Sequence[Pair], merged: Mapping[str, str] | None = None
) -> tuple[list[tuple[str, Aliases]], list[Pair]]:
    """Make groups of sure pairs. Names that only a chain of pairs joins stay apart.

    Args:
        index: The concepts.
        pairs: Pairs from `find_pairs`.
        merged: The canonical concept of each existing alias; groups grow around it.

    Returns:
        Canonical concepts with their aliases, and the pairs that are not sure enough: of a lower score, or of
        a name that may mean several things.
    """
    merged = merged or {}
    pairs = [p for p in pairs if merged.get(p.first, p.first) != merged.get(p.second, p.second)]
    near: dict[str, Aliases] = defaultdict(dict)
    for pair in pairs:
        if pair.score >= SURE:
            near[pair.first][pair.second] = near[pair.second][pair.first] = pair
    doubtful = _ambiguous(near)
    doubtful.update(pair for pair in pairs if SUSPICIOUS <= pair.score < SURE)
    for pair in doubtful:
        near[pair.first].pop(pair.second, None)
        near[pair.second].pop(pair.first, None)
    return sorted(_star_clusters(index, near, merged)), sorted(doubtful, key=_best_first)


def _ambiguous(near: dict[str, Aliases]) -> set[Pair]:
    """Find pairs of a short name with two longer ones that are no pair: "CMA" is one of them at most."""
    found: set[Pair] = set()
    for key, partners in near.items():
        size = len(letters(key))
        longer = [name for name, pair in partners.items() if pair.ambiguous and len(letters(name)) > size]
        for first, second in combinations(longer, 2):
            if second not in near[first]:
                found.update((partners[first], partners[second]))
    return found


def _star_clusters(
    index: ConceptIndex, near: dict[str, Aliases], merged: Mapping[str, str]
) -> Iterator[tuple[str, Aliases]]:
    """Make of each canonical concept and what is nearest to it a group (star clustering)."""
    heads = set(merged.values())

    def rank(key: str) -> tuple[bool, int, int, int, str]:
        concept = index.concepts[key]  # the name of most passages is shown, then a title, then the longest
        return key not in heads, -len(concept.passages), -len(concept.titles), -len(key), key

    left = {key for key, partners in near.items() if partners and key not in merged}
    for canonical in sorted(left, key=rank):
        if canonical not in left:
            continue
        aliases: Aliases = {}
        for alias, pair in sorted(near[canonical].items(), key=lambda item: (-item[1].score, item[0])):
            if alias not in left or alias in heads:
                continue
            best = max(
                left.intersection(near[alias]),
                key=lambda other: (near[alias][other].score, other == canonical, other),
            )
            mutual = best == canonical or best in near[canonical]
            if mutual and all(may_be_same(index.concepts[alias], index.concepts[key]) for key in aliases):
                aliases[alias] = pair
        if aliases:
            left -= {canonical, *aliases}
            yield canonical, aliases


# --- what texts state of names ---

_ADVERBS = "|".join(
    "also better best commonly formerly originally previously professionally officially popularly "
    "simply more sometimes often alternatively variously now".split()
)
_QUOTES = "[\"“”'‘’]?"
# Between two names: the second is another name of the first.
_ALIAS = re.compile(
    rf"^(?:\s*\([^()]*\))?,?\s*\(?\s*(?:(?:(?:who|which|that)\s+)?(?:is|was)\s+)?(?:"
    rf"(?:(?:{_ADVERBS})\s+){{0,3}}known(?:\s+simply)?\s+as"
    rf"|(?:(?:{_ADVERBS})\s+){{1,3}}(?:called|named|termed|titled|spelled|spelt|written\s+as"
    r"|referred\s+to\s+as|abbreviated(?:\s+(?:as|to))?)"
    rf"|abbreviated(?:\s+(?:as|to))?|referred\s+to\s+as|a\.?k\.?a\.?|officially|(?P<birth>née|nee|born)"
    rf")\s+(?:the\s+)?{_QUOTES}$",
    re.IGNORECASE,
)
_ENDS = re.compile(rf"{_QUOTES}\s*(?:[,.;:()\]–—]|(?:is|was|are|were|in|and|or|at|on|by|to|who|which)\b|$)")
# Before a name that is a part of what is meant: "the Battle of X, also known as".
_PART = re.compile(r"\b(?:of|de|von|van|del|di|da|for|in|at|on|to|from|near|by|with|and)\s+(?:the\s+)?$")
_OPENS = re.compile(rf"^\s*{_QUOTES}\s*\(\s*(?:the\s+|or\s+|also\s+)?{_QUOTES}$", re.IGNORECASE)
_CLOSES = re.compile(rf"{_QUOTES}\s*[),;]")
_NO_NAMES = frozenset(_ADVERBS.split("|"))
_JOINED = (" and ", " or ", " & ")
_BETWEEN = 60  # characters between two names of a statement
_NEXT = 5  # names that may be between them


def find_statements(text: str, names: Sequence[Name]) -> Iterator[tuple[str, str, str, str]]:
    """Yield what a passage says of its names: the ids of two, that one is an `abbreviation` or `alias` of the
    other, and the words that say so."""
    by_key = {name.key: name for name in names}
    spans = _spans(text, names)
    for number, (begin, end, key) in enumerate(spans, 1):
        for other_begin, other_end, other in spans[number : number + _NEXT]:
            between, stated = text[end:other_begin], text[begin : other_end + 1]
            if len(between) > _BETWEEN or key == other:
                continue
            if _OPENS.match(between) and _CLOSES.match(text, other_end):
                if abbreviates(key, other):
                    yield key, other, "abbreviation", stated
                continue
            alias = _ALIAS.match(between)
            if not alias or not _ENDS.match(text, other_end) or _PART.search(text, max(0, begin - 20), begin):
                continue
            if _plausible(by_key[key], by_key[other], alias["birth"]):
                yield key, other, "alias", stated


def _spans(text: str, names: Sequence[Name]) -> list[tuple[int, int, str]]:
    """Find where names occur in a text, in order: the longest that begin at a place, none within another."""
    places = []
    for name in names:
        places += [(begin, -end, name.key) for begin, end in name_places(text, name.written)]
    spans = []
    last = 0
    for begin, negative_end, key in sorted(places):
        if begin >= last:
            last = -negative_end
            spans.append((begin, last, key))
    return spans


def name_places(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Find where a name occurs in a text as whole words."""
    begin = text.find(name) if name else -1
    while begin >= 0:
        end = begin + len(name)
        if not (text[begin - 1 : begin].isalnum() or text[end : end + 1].isalnum()):
            yield begin, end
        begin = text.find(name, end)


def _plausible(first: Name, second: Name, birth: str | None) -> bool:
    """Tell whether a text that joins two names means these whole: no surname at birth, no half of "A and B",
    no common noun beside a name; a single word only where the passage is about it."""
    if first.key in _NO_NAMES or first.written.islower() != second.written.islower():
        return False
    if _joins(first) != _joins(second):
        return False
    if birth:
        return len(words(first.key)) > 1 and len(words(second.key)) > 1
    return bool(len(words(first.key)) > 1 or first.title or first.roles or second.title)


def _joins(name: Name) -> bool:
    return any(joint in name.key for joint in _JOINED)
