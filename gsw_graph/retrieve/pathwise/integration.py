"""What paths found, put together (PathwiseRAG, equations 13 to 16): near duplicates merged, lists joined by
reciprocal rank, and what passages say against each other.

confidence(c) = sum_j w_j [d_j supports c] (equation 16). Ours: w_j is 1 for each document, as the graph
knows nothing of the credibility of a source, and the sum is divided by that of all claims. Passages
contradict each other where the graph holds the same question about the same concept with answers of which
none is a part of another. Near duplicates share most of their words; the better placed one stays.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gsw_graph.names import FUNCTION_WORDS, normalise
from gsw_graph.naming.dates import find_dates
from gsw_graph.results import Claim, Conflict
from gsw_graph.retrieve.votes import by_votes

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage
    from gsw_graph.store.reader import PairOf

_WORD = re.compile(r"\w+")


def merged(
    lists: Sequence[tuple[float, Sequence[RankedPassage]]], k: int, *, rank: float, duplicate: float
) -> list[RankedPassage]:
    """The `k` best of weighted lists, score = sum of weight / (rank + place), each passage once and of near
    duplicates the best alone."""
    voted = by_votes([found for _, found in lists], weights=[weight for weight, _ in lists], added=rank)
    return without_duplicates(voted, duplicate)[:k]


def without_duplicates(passages: Sequence[RankedPassage], share: float) -> list[RankedPassage]:
    """The passages, without those that share so much of all their words (Jaccard) with one before them."""
    kept: list[tuple[frozenset[str], RankedPassage]] = []
    for passage in passages:
        words = frozenset(_WORD.findall(passage.text.casefold()))
        if not any(len(words & other) >= share * len(words | other) > 0 for other, _ in kept):
            kept.append((words, passage))
    return [passage for _, passage in kept]


def conflicts(pairs: Sequence[PairOf], titles: dict[str, str]) -> list[Conflict]:
    """Where pairs answer the same question about the same concept, and differently, from different passages.
    titles: of the passages, by id."""
    asked: dict[tuple[str, frozenset[str]], list[PairOf]] = defaultdict(list)
    for pair in pairs:
        if pair.passage in titles:
            for concept in pair.about:
                asked[concept, _key(pair.question)].append(pair)
    found: dict[frozenset[str], Conflict] = {}
    for several in asked.values():
        claims = _claims(several, titles)
        if len(claims) > 1 and len({passage for claim in claims for passage in claim.passages}) > 1:
            found.setdefault(
                frozenset(claim.answer for claim in claims), Conflict(several[0].question, claims)
            )
    return list(found.values())


def _claims(pairs: Sequence[PairOf], titles: dict[str, str]) -> list[Claim]:
    """What is said, by whom, and how sure that is: answers of a passage are one claim, and so are those that
    agree."""
    said: list[tuple[list[str], list[str]]] = []  # answers, passages
    for pair in pairs:
        agreeing = next((one for one in said if pair.passage in one[1] or _agree(one[0], pair.answers)), None)
        if agreeing is None:
            said.append((list(pair.answers), [pair.passage]))
        else:
            agreeing[0].extend(answer for answer in pair.answers if answer not in agreeing[0])
            agreeing[1].extend([pair.passage] if pair.passage not in agreeing[1] else [])
    total = sum(len(passages) for _, passages in said)
    claims = [
        Claim(", ".join(answers), passages, [titles[one] for one in passages], len(passages) / total)
        for answers, passages in said
    ]
    return sorted(claims, key=lambda claim: -claim.confidence)


def _agree(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether an answer of one is an answer of the other, or a part of it: "1902" and "3 May 1902" agree."""
    return any(_part(a, b) or _part(b, a) for a in first for b in second)


def _part(small: str, large: str) -> bool:
    if f" {normalise(small)} " in f" {normalise(large)} ":
        return True
    days = [[date.days for date in find_dates(text) if date.days] for text in (small, large)]
    return bool(days[0] and days[1]) and all(
        any(a[0] <= b[1] and b[0] <= a[1] for b in days[1]) for a in days[0]
    )


def _key(question: str) -> frozenset[str]:
    """A question as the words that matter, the question word among them."""
    words = [normalise(word) for word in _WORD.findall(question)]
    return frozenset(word for word in words if word not in FUNCTION_WORDS or word in _ASKS)


_ASKS = frozenset("who whom whose what which when where why how many much".split())
