"""Pairs of concepts that may be one, each with a score in [0, 1] and the reasons for it. Two concepts meet
only under a common key or by a statement, so that the work grows with the names and not with their pairs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from gsw_graph.merging import spellings
from gsw_graph.merging.seen import Concept, Seen

_BLOCK = 40  # names under one key; what more share tells nothing
_BESIDE = 2  # rare names beside both that make up for what a name leaves open


@dataclass(frozen=True, slots=True)
class Pair:
    """Two concepts by id that may be one."""

    one: str
    other: str
    score: float
    reasons: tuple[str, ...]  # the first says how they were found
    method: str = "rules"  # or the language model that was asked

    @property
    def ambiguous(self) -> bool:
        """Whether what joins them may join the shorter name to other things as well."""
        return not self.reasons[0].startswith(("the same letters", "alias stated", "opening stated"))


def pairs(seen: Seen) -> list[Pair]:
    """All pairs with a score above 0, best first."""
    found: dict[tuple[str, str], Pair] = {}
    stated = _stated(seen)
    for one, other in {*_blocked(seen), *stated}:
        if pair := _judged(seen, seen.concepts[one], seen.concepts[other], stated.get((one, other), {})):
            found[one, other] = pair
    return sorted(found.values(), key=lambda pair: (-pair.score, pair.one, pair.other))


def _blocked(seen: Seen) -> Iterator[tuple[str, str]]:
    blocks: defaultdict[str, list[str]] = defaultdict(list)
    for key in seen.concepts:
        for block in set(spellings.keys(key, seen.concepts[key].name)):
            if len(block) > 1:
                blocks[block].append(key)
    for members in blocks.values():
        if 1 < len(members) <= _BLOCK:
            members.sort()
            yield from ((a, b) for n, a in enumerate(members) for b in members[n + 1 :])


def _stated(seen: Seen) -> dict[tuple[str, str], dict[str, tuple[str, set[int]]]]:
    """Statements by pair: how, in what words, in which passages."""
    found: defaultdict[tuple[str, str], dict[str, tuple[str, set[int]]]] = defaultdict(dict)
    for statement, passage in seen.stated:
        if statement.one in seen.concepts and statement.other in seen.concepts:
            one, other = sorted((statement.one, statement.other))
            found[one, other].setdefault(statement.how, (statement.words, set()))[1].add(passage)
    return dict(found)


def _judged(seen: Seen, one: Concept, other: Concept, stated: dict[str, tuple[str, set[int]]]) -> Pair | None:
    if not may_be_one(one, other):
        return None
    score, reasons = _by_statement(seen, one, other, stated)
    if not score:
        score, reasons = _by_name(seen, one, other)
    if not score:
        return None
    if one.titles - other.titles and other.titles - one.titles:
        score, reasons = min(score, 0.7), [*reasons, "but each is the title of a passage of its own"]
    return Pair(one.id, other.id, round(score, 3), tuple(reasons))


def may_be_one(one: Concept, other: Concept) -> bool:
    """Whether nothing contradicts it: kinds, numbers, generations, years of birth."""
    if one.kind and other.kind and not one.kind & other.kind:
        return False
    if {"measure", "people"} & (one.kind | other.kind) or not any(c.isalpha() for c in one.id + other.id):
        return False
    if spellings.numbers(one.id) != spellings.numbers(other.id):
        return False
    if spellings.generation(one.id) != spellings.generation(other.id):
        return False
    return not (one.born and other.born and not one.born & other.born)


def _by_statement(
    seen: Seen, one: Concept, other: Concept, stated: dict[str, tuple[str, set[int]]]
) -> tuple[float, list[str]]:
    if not stated:
        return 0.0, []
    reasons = [f"{how} stated: {words}" for how, (words, _) in stated.items()]
    scores = []
    for short, long in ((one, other), (other, one)):
        strict = spellings.bare(long.id) != long.id  # "X" may be another thing than "X (film)"
        lost = _unexplained(seen, short, long, strict=strict)
        settled = _means_one(short, long) or ("opening" in stated and _is_whole(short, long))
        if lost and (strict or not settled):
            scores.append(0.7)
            reasons.append(f"but {short.name} stands in {lost} documents that do not say so")
        else:
            scores.append(0.88 if lost else 0.97 if len(stated) > 1 or "abbreviation" in stated else 0.93)
    return min(scores), reasons


def _unexplained(seen: Seen, short: Concept, long: Concept, *, strict: bool) -> int:
    """Documents with one name that hold neither the other nor, unless strict, a rare name that stands beside
    it."""
    if strict or not short.documents - long.documents:
        return len(short.documents - long.documents)
    beside = seen.neighbours(long) - {short.id}
    known = {
        seen.document_of[p] for p in short.passages if not beside.isdisjoint(seen.inside[p])
    } | long.documents
    return len(short.documents - known)


def _means_one(name: Concept, other: Concept) -> bool:
    """Whether a name means the same wherever it stands: a proper name of one kind, which is that of the
    other; of a person with two words."""
    if name.name.islower() or len(name.kind) == 0 or name.mixed:
        return False
    if "person" in name.kind:
        return len(spellings.words(name.id)) > 1
    return bool(name.kind & {"place", "organisation", "work", "event"}) and bool(
        not other.kind or name.kind & other.kind
    )


def _is_whole(name: Concept, full: Concept) -> bool:
    """Whether a name is that of an article about a person whose full name it opens with, without a remark
    that tells it from others: it means the same elsewhere as a rule."""
    return bool(name.titles) and "(" not in name.id and spellings.middle_names(name.id, full.id)


def _by_name(seen: Seen, one: Concept, other: Concept) -> tuple[float, list[str]]:
    forms = [spellings.country(concept.id, concept.name) for concept in (one, other)]
    written = one.name, other.name
    if spellings.same_letters(one.id, other.id, written):
        if _joined(one, other) and not seen.shared(one, other):
            return 0.8, ["the same letters, as one word and as two"]
        return 0.96, ["the same letters"]
    if forms != [one.id, other.id] and spellings.same_letters(forms[0], forms[1]):
        return 0.95, ["the same letters, the country written out"]
    together = bool(set(one.passages) & set(other.passages))
    shared = seen.shared(one, other)
    support = min(len(shared), _BESIDE) / _BESIDE
    reasons = [f"beside both: {', '.join(sorted(shared)[:3])}"] if shared else []
    persons = "person" in one.kind and "person" in other.kind
    if persons and spellings.middle_names(one.id, other.id):
        return 0.72 + 0.2 * support - 0.2 * together, ["a middle name more", *reasons]
    if persons and spellings.initials(one.id, other.id):
        return 0.5 + 0.4 * support - 0.2 * together, ["given names as initials", *reasons]
    if persons and spellings.same_letters(spellings.untitled(one.id), spellings.untitled(other.id)):
        return 0.86 + 0.1 * support - 0.1 * together, ["a title more", *reasons]
    if spellings.same_letters(spellings.informal(one.id), spellings.informal(other.id)):
        organisations = "organisation" in one.kind & other.kind
        return 0.65 + 0.2 * organisations + 0.1 * support - 0.2 * together, ["a legal form more", *reasons]
    if spellings.same_letters(spellings.bare(one.id), spellings.bare(other.id)):
        return 0.5 + 0.4 * support, ["a remark in parentheses more", *reasons]
    return _by_place(seen, one, other)


def _by_place(seen: Seen, one: Concept, other: Concept) -> tuple[float, list[str]]:
    """A place with and without what it lies in: "Richmond, Virginia" and "Richmond" beside "Virginia"."""
    long, short = (one, other) if ", " in one.id else (other, one)
    head, within = spellings.place(long.id)
    if (
        not within
        or ", " in short.id
        or "place" not in one.kind & other.kind
        or not spellings.same_letters(head, short.id)
    ):
        return 0.0, []
    if set(one.passages) & set(other.passages):
        return 0.65, [f"the place within {within}, but a passage has both"]
    known = {seen.document_of[p] for p in short.passages if within in seen.inside[p]}
    said = len(known & short.documents)
    reason = f"the place within {within}, which {said} of {len(short.documents)} documents name"
    return 0.6 + 0.3 * (said / len(short.documents)), [reason]


def _joined(one: Concept, other: Concept) -> bool:
    """Whether two names, not common words, differ as "Charles Town" and "Charlestown" do."""
    count = sorted(len(spellings.words(concept.id)) for concept in (one, other))
    return count == [1, 2] and not (one.name.islower() and other.name.islower())
