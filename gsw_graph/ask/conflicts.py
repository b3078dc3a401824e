"""Where passages contradict each other: the same question about the same thing, answered differently at the
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

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.strategy import AnswerDraft, Retrieved
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.store.reader import PairOf

_ASKS = frozenset("who whom whose what which when where why how many much".split())
Days = list[tuple[str, str]]


class Group(NamedTuple):
    """Answers that agree, their passages, and the days of the sentences that state them."""

    answers: list[str]
    passages: list[str]
    days: Days


def with_conflicts(context: Context, retrieved: Retrieved) -> Retrieved:
    """Add what pairs of the passages say against each other, in one round trip, where there were pairs."""
    if not (context.met_pairs or (retrieved.beams and retrieved.beams.ends())) or not retrieved.passages:
        return retrieved
    passages = {passage.id: passage for passage in retrieved.passages}
    with context.clock("database"):
        pairs = context.reader.claims(list(passages))
    return replace(retrieved, conflicts=[*retrieved.conflicts, *find_conflicts(pairs, passages)])


def weighed(draft: AnswerDraft, conflicts: Iterable[Conflict]) -> AnswerDraft:
    """Lower the confidence of an answer by the share of documents that say so, where others contradict."""
    if draft.answer is None or draft.confidence is None:
        return draft
    claims = (claim for conflict in conflicts for claim in conflict.claims)
    share = min((c.confidence for c in claims if _agree([c.answer], [draft.answer])), default=1.0)
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
        if len(set(sources)) > 1 and not len(claims) == len(sources) > 2:
            conflicts.setdefault(frozenset(c.answer for c in claims), Conflict(group[0].question, claims))
    return list(conflicts.values())


def _claims(pairs: Sequence[PairOf], passages: Mapping[str, RankedPassage]) -> list[Claim]:
    """Group answers that contradict another: those of one passage are one claim, and those that agree."""
    groups: list[Group] = []
    for pair in pairs:
        group = next(
            (g for g in groups if pair.passage in g.passages or _agree(g.answers, pair.answers)), None
        )
        if group is None:
            groups.append(group := Group([], [], []))
        group.answers.extend(answer for answer in pair.answers if answer not in group.answers)
        group.passages.extend([pair.passage] if pair.passage not in group.passages else [])
        group.days.extend(_days_of(pair, passages[pair.passage].text))
    disagreeing = [
        group
        for group in groups
        if any(group is not rival and not _apart(group.days, rival.days) for rival in groups)
    ]
    documents = [len({passages[id_].document for id_ in group.passages}) for group in disagreeing]
    claims = [
        Claim(
            ", ".join(group.answers),
            group.passages,
            [passages[id_].title for id_ in group.passages],
            n / sum(documents),
        )
        for group, n in zip(disagreeing, documents, strict=True)
    ]
    return sorted(claims, key=lambda claim: -claim.confidence)


def _days_of(pair: PairOf, text: str) -> Days:
    """Return the days of the sentence that states a pair; none where the answer itself is a date."""
    if any(date.days for answer in pair.answers for date in find_dates(answer)):
        return []
    return [date.days for date in find_dates(quote(text, pair.question, pair.answers[0])) if date.days]


def _apart(first: Days, second: Days) -> bool:
    return bool(first and second) and not any(a[0] <= b[1] and b[0] <= a[1] for a in first for b in second)


def _agree(first: Sequence[str], second: Sequence[str]) -> bool:
    """Tell whether an answer of one is an answer of the other, or a part of it: "1902" and "3 May 1902"."""
    return any(_is_part(a, b) or _is_part(b, a) for a in first for b in second)


def _is_part(small: str, large: str) -> bool:
    if f" {normalise(small)} " in f" {normalise(large)} ":
        return True
    days = [[date.days for date in find_dates(text) if date.days] for text in (small, large)]
    return bool(days[0] and days[1]) and not any(_apart([day], days[1]) for day in days[0])


def _question_key(question: str) -> frozenset[str]:
    """Reduce a question to the words that matter, the question word among them."""
    words = [normalise(word) for word in re.findall(r"\w+", question)]
    return frozenset(word for word in words if word not in FUNCTION_WORDS or word in _ASKS)
