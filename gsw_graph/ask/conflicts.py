"""Find contradictions between passages: the same question about the same thing, answered differently for the
same time (PathwiseRAG, equation 16)."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gsw_graph.ask.answer.quotes import quote
from gsw_graph.model.results import Claim, Conflict
from gsw_graph.text.dates import find_dates
from gsw_graph.text.names import normalise
from gsw_graph.text.words import FUNCTION_WORDS
from gsw_graph.values import word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.strategy import AnswerDraft, RetrievalResult
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.store.reader import PairOf

_ASKS = word_set("who whom whose what which when where why how many much")
Days = list[tuple[str, str]]


class Group(NamedTuple):
    """Hold answers that agree, their passages, and the days of the sentences that state them."""

    answers: dict[str, None]  # in their order
    passages: dict[str, RankedPassage]
    days: Days


def with_conflicts(context: RetrievalContext, retrieved: RetrievalResult) -> RetrievalResult:
    """Add the contradictions between pairs of the passages, in one round trip, if there were pairs."""
    if not retrieved.passages or not (context.pairs_seen or retrieved.chains):
        return retrieved
    passages = {passage.id: passage for passage in retrieved.passages}
    with context.clock("database"):
        pairs = context.reader.claims(list(passages))
    return replace(retrieved, conflicts=retrieved.conflicts + find_conflicts(pairs, passages))


def discount_confidence(draft: AnswerDraft, conflicts: Iterable[Conflict]) -> AnswerDraft:
    """Lower the confidence of an answer by the share of documents that say so, if others contradict."""
    if draft.answer is None or draft.confidence is None:
        return draft
    share = 1.0
    for conflict in conflicts:
        for claim in conflict.claims:
            if _agree([claim.answer], [draft.answer]):
                share = min(share, claim.confidence)
    return replace(draft, confidence=draft.confidence * share)


def find_conflicts(pairs: Iterable[PairOf], passages: Mapping[str, RankedPassage]) -> list[Conflict]:
    """Find pairs that answer the same question about the same concept differently, in different passages.

    Answers whose sentences are dated apart do not contradict each other: mayors of 1901 and of 1990.
    confidence(c) = sum_j w_j [d_j supports c] / sum over all claims (equation 16), with w_j = 1 for each
    document, as the graph knows nothing of the credibility of a source.
    """
    same: dict[tuple[str, frozenset[str]], list[PairOf]] = defaultdict(list)
    for pair in pairs:
        if pair.passage in passages:
            for concept in pair.about:
                same[concept, _question_key(pair.question)].append(pair)
    conflicts: dict[frozenset[str], Conflict] = {}
    for group in same.values():
        claims = _claims(group, passages)
        sources = [passage for claim in claims for passage in claim.passages]
        # Three answers and more, each of one passage, are a list: the provinces of a country.
        is_list = len(claims) == len(sources) > 2
        if len(set(sources)) > 1 and not is_list:
            answers = frozenset(claim.answer for claim in claims)
            conflicts.setdefault(answers, Conflict(group[0].question, claims))
    return list(conflicts.values())


def _claims(pairs: Sequence[PairOf], passages: Mapping[str, RankedPassage]) -> list[Claim]:
    """Group answers that contradict another: answers of one passage are one claim, and answers that agree."""
    groups: list[Group] = []
    for pair in pairs:
        for group in groups:
            if pair.passage in group.passages or _agree(group.answers, pair.answers):
                break
        else:
            group = Group({}, {}, [])
            groups.append(group)
        group.answers.update(dict.fromkeys(pair.answers))
        group.passages[pair.passage] = passages[pair.passage]
        group.days.extend(_days_of(pair, passages[pair.passage].text))
    claims = []
    for group in groups:
        if any(group is not rival and not _apart(group.days, rival.days) for rival in groups):
            documents = len({passage.document for passage in group.passages.values()})
            titles = [passage.title for passage in group.passages.values()]
            answer, ids = ", ".join(group.answers), list(group.passages)
            claims.append(Claim(answer, ids, titles, documents))
    total = sum(claim.confidence for claim in claims)
    claims = [replace(claim, confidence=claim.confidence / total) for claim in claims]
    return sorted(claims, key=lambda claim: -claim.confidence)


def _days_of(pair: PairOf, text: str) -> Days:
    """Return the days of the sentence that states a pair; none if the answer itself is a date."""
    if any(map(_days_in, pair.answers)):
        return []
    return _days_in(quote(text, pair.question, pair.answers[0]))


def _days_in(text: str) -> Days:
    return [date.days for date in find_dates(text) if date.days]


def _apart(first: Days, second: Days) -> bool:
    for begin, end in first:
        if any(begin <= other_end and other_begin <= end for other_begin, other_end in second):
            return False
    return bool(first and second)


def _agree(first: Iterable[str], second: Sequence[str]) -> bool:
    """Tell whether an answer of one is an answer of the other, or a part of it: "1902" and "3 May 1902"."""
    return any(_is_part(a, b) or _is_part(b, a) for a in first for b in second)


def _is_part(small: str, large: str) -> bool:
    if f" {normalise(small)} " in f" {normalise(large)} ":
        return True
    days, others = _days_in(small), _days_in(large)
    return bool(days and others) and not any(_apart([day], others) for day in days)


def _question_key(question: str) -> frozenset[str]:
    """Reduce a question to the words that matter, the question word among them."""
    words = map(normalise, re.findall(r"\w+", question))
    return frozenset(word for word in words if word not in FUNCTION_WORDS or word in _ASKS)
