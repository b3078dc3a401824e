"""The score of a question-answer pair for a concrete question: eight features and a logistic scale, from
vectors, words and the kinds of answers alone. docs/ricr.md has how they were chosen.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from gsw_graph.ask.plan import rewrite
from gsw_graph.ask.retrieve.names.linking import mentions
from gsw_graph.text.names import find_names, normalise
from gsw_graph.text.words import FINE_KINDS, content_words, family, fine_kind, stem, term_coverage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.recipes import Fit
    from gsw_graph.store.facts import HopResult, Pair


# Kinds of answers by the words that ask for them.
_ASKING = {
    "date": re.compile(r"\bwhen\b|\b(?:what|which) (?:year|date|month|day|century|decade)\b", re.IGNORECASE),
    "number": re.compile(
        r"\bhow (?:many|much|large|big|long|tall|high|old|far)\b"
        r"|\bwhat (?:is the )?(?:number|population|percentage|amount)\b",
        re.IGNORECASE,
    ),
    "person": re.compile(r"\bwho(?:m|se)?\b", re.IGNORECASE),
    "place": re.compile(
        r"\bwhere\b|\b(?:what|which) (?:city|country|nation|state|county|place|town|village|hamlet"
        r"|municipality|borough|continent|region|province|district|island|location)\b",
        re.IGNORECASE,
    ),
}
# Relations written "Subject >> relation", as knowledge bases and MuSiQue have them.
_RELATIONS = (
    (re.compile(r"\b(?:date|year|inception|time)\b"), "date"),
    (
        re.compile(r"\b(?:place|location|located|country|city|capital|headquarters|border|continent)\b"),
        "place",
    ),
    (
        re.compile(
            r"\b(?:director|author|performer|spouse|father|mother|child|sibling|composer|founder|producer|creator|editor"
            r"|screenwriter|singer|president|head of)\b"
        ),
        "person",
    ),
    (re.compile(r"\b(?:number|population)\b"), "number"),
)
_ROLES = {
    "date": {"date", "year", "time"},
    "number": {"number", "quantity", "amount"},
    "person": {"person", "people", "character"},
    "place": {
        "location",
        "place",
        "city",
        "country",
        "state",
        "county",
        "region",
        "town",
        "village",
        "hamlet",
        "municipality",
        "settlement",
    },
    "organisation": {"organisation", "organization", "group", "team", "company"},
}
_KIND_OF_ROLE = {role: kind for kind, roles in _ROLES.items() for role in roles}
_LOOKS_DATED = re.compile(
    r"\b(?:1\d{3}|20\d\d)\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_DATE_LENGTH = 30  # a longer answer with a year in it is something else
_LOOKS_NUMERIC = re.compile(r"[$€£]? ?\d")


def expected_type(question: str) -> str | None:
    """Return the kind a question asks for: date, number, person or place; None where it does not say."""
    _, sign, relation = question.partition(">>")
    if sign:
        return next((kind for pattern, kind in _RELATIONS if pattern.search(relation.lower())), None)
    kinds = [
        (match.start(), kind) for kind, pattern in _ASKING.items() if (match := pattern.search(question))
    ]
    return min(kinds)[1] if kinds else None  # the word that asks is the first: "Who was president when ..."


def answer_types(answers: Iterable[str], descriptions: Iterable[str]) -> set[str]:
    """Return the kinds of some answers, by the roles in the descriptions of their entities ("role: states;
    role") and by their form."""
    roles = {
        part.partition(":")[0].strip().casefold()
        for description in descriptions
        for part in description.split(";")
    }
    kinds = {_KIND_OF_ROLE[role] for role in roles if role in _KIND_OF_ROLE}
    for answer in answers:
        if len(answer) < _DATE_LENGTH and _LOOKS_DATED.search(answer):
            kinds.add("date")
        if _LOOKS_NUMERIC.match(answer):
            kinds.add("number")
    return kinds


def type_match(kind: str | None, answer_kinds: set[str]) -> float:
    """Return 1 where the answer is of the kind asked for, -1 where not, 0 where the question does not say;
    an organisation may be a "who"."""
    if kind is None:
        return 0.0
    if kind in answer_kinds:
        return 1.0
    return 0.3 if kind == "person" and "organisation" in answer_kinds else -1.0


Sort: TypeAlias = "tuple[str, int]"  # a kind of text.FINE_KINDS, and a line of it
Sorts: TypeAlias = "frozenset[Sort]"

# Relations written "Subject >> relation": the sorts that are right, and those that are not; "" is every
# other of the kind. What a place lies in next, or a birthplace, is no country: that has its own relation.
_FINE_RELATIONS = (
    (re.compile(r"administrative territorial entity"), "county state city", "country continent"),
    (re.compile(r"place of (?:birth|death|burial)|residence"), "city", "country continent state"),
    (re.compile(r"country"), "country", ""),
    (re.compile(r"continent"), "continent", ""),
    (re.compile(r"capital|headquarters"), "city", ""),
    (re.compile(r"educated at"), "university", ""),
    (re.compile(r"sports team"), "team", ""),
    (re.compile(r"political party"), "party", ""),
    (re.compile(r"body of water|watercourse"), "river lake sea", ""),
    (re.compile(r"\bleague"), "league", ""),
    (re.compile(r"record label|publisher"), "company", ""),
)
_WORD = re.compile(r"\w+")
_ASKS = re.compile(
    r"\b(?:which|what)(?: (?:is|was|are|were) (?:the|an?))?(?: the)?(?: names? of(?: the)?)? "
    r"(?!kinds?\b|types?\b|sorts?\b)(.*)"
)
_ENDS_A_NOUN = frozenset(
    "did do does is was are were has have had can will in on at to of for from by with that which who".split()
)
_LONGEST = 7  # words of what is asked for: "Which American professional football team"


@dataclass(frozen=True, slots=True)
class FineType:
    """The sorts an answer may be, and those it may not; both are empty where a question does not say."""

    right: Sorts = frozenset()
    wrong: Sorts = frozenset()


NO_FINE_TYPE = FineType()


@lru_cache(maxsize=4096)
def expected_fine_type(question: str) -> FineType:
    """Return what a sub-question says of the sort of its answer: "in which county", "#1 >> country"."""
    _, sign, relation = question.partition(">>")
    if not sign:
        sort = _fine_kind_of_noun(question)
        return FineType(frozenset({sort}), _others(frozenset({sort}))) if sort else NO_FINE_TYPE
    for pattern, right, wrong in _FINE_RELATIONS:
        if pattern.search(relation.lower()):
            sorts = _line(right)
            return FineType(sorts, _line(wrong) or _others(sorts))
    return NO_FINE_TYPE


def fine_type_match(
    expected: FineType, question: str, answers: Sequence[str], descriptions: Sequence[str]
) -> float:
    """Return 1 where a pair's answer is of a sort asked for, -1 where it is of another of the same kind, 0
    where one of the two does not say. question, answers, descriptions: of the pair."""
    if not expected.right:
        return 0.0
    actual = _given(question, tuple(answers), tuple(descriptions))
    return 1.0 if actual & expected.right else -1.0 if actual & expected.wrong else 0.0


@lru_cache(maxsize=65536)
def _given(question: str, answers: tuple[str, ...], descriptions: tuple[str, ...]) -> Sorts:
    """Find the sorts by the noun that the pair's question asks for, else by the last word of an answer
    ("Warren County"), else by roles and states."""
    if sort := _fine_kind_of_noun(question):
        return frozenset({sort})
    by_name = {fine_kind(words[-1]) for answer in answers if len(words := _WORD.findall(answer.lower())) > 1}
    if named := by_name - {None}:
        return frozenset(sort for sort in named if sort)
    states = [part for text in descriptions for part in re.split(r"[;:,]", text.lower())]
    return frozenset(sort for state in states if (sort := _head(_WORD.findall(state))))


@lru_cache(maxsize=65536)
def _fine_kind_of_noun(question: str) -> Sort | None:
    """Return the sort of the noun after "which" or "what"; "what kind of" asks for none of these."""
    match = _ASKS.search(question.lower())
    return _head(_WORD.findall(match[1])[:_LONGEST]) if match else None


def _head(words: Sequence[str]) -> Sort | None:
    """Return the last known sort before a word that ends the noun: "state park in the city" is a park."""
    kind = None
    for word in words:
        if word in _ENDS_A_NOUN:
            break
        kind = fine_kind(word) or kind
    return kind


def _line(words: str) -> Sorts:
    return frozenset(kind for word in words.split() if (kind := fine_kind(word)))


def _others(sorts: Sorts) -> Sorts:
    """Return every other sort of the same kinds."""
    kinds = {kind for kind, _ in sorts}
    return frozenset((kind, number) for kind in kinds for number in range(len(FINE_KINDS[kind]))) - sorts


FEATURES = ("pair", "original", "phrase", "passage", "names", "words", "kind", "sort")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ConcreteQuestion:
    """A sub-question with the answers of earlier hops in it. `text` is what is embedded; `relation` what
    is left of it without its names."""

    text: str
    relation: str
    kind: str | None
    names: frozenset[str]  # words of its names
    words: frozenset[str]  # the others, function words apart
    sort: FineType = NO_FINE_TYPE
    entities: frozenset[str] = frozenset()  # normal forms of those it mentions, earlier answers among them


def concrete(question: str, answers: dict[int, str]) -> ConcreteQuestion:
    """Return the concrete question of a sub-question. `answers` by step."""
    text = " ".join(rewrite(question, lambda step: answers[step]).replace(" >> ", " ").split())
    names = [*answers.values(), *(name.text for name in find_names(text))]
    name_words = frozenset(word for name in names for word in content_words(name))
    return ConcreteQuestion(
        text,
        relation_of(question),
        expected_type(question),
        name_words,
        content_words(text) - name_words,
        expected_fine_type(question),
        entities_in(text) | {normalise(answer) for answer in answers.values()},
    )


def entities_in(question: str) -> frozenset[str]:
    """Return the normal forms of the entities that a question mentions, each with and without the place it
    lies in ("Paris, Texas"); a part of a longer name is none. Without a name in capitals, all it may name."""
    names = [name.text for name in find_names(question)]
    longer = [name for name in names if " and " not in name]
    whole = [name for name in names if not any(name != other and name in other for other in longer)]
    joined = [f"{first}, {second}" for first, second in pairwise(whole) if f"{first}, {second}" in question]
    return frozenset(map(normalise, [*whole, *joined])) or frozenset(
        first.key for first in mentions(question)
    )


def relation_of(question: str) -> str:
    """Return a sub-question without the names and references in it: what it asks of them."""
    text = rewrite(question, lambda _: " ").replace(" >> ", " ")
    for name in sorted((name.text for name in find_names(text)), key=len, reverse=True):
        text = text.replace(name, " ")
    return " ".join(text.replace("?", " ").split())


def features(
    target: ConcreteQuestion,
    pairs: Sequence[Pair],
    hop: HopResult,
    question: NDArray[np.float32],
    original: NDArray[np.float32],
    relation: NDArray[np.float32],
) -> NDArray[np.float32]:
    """Return (pairs, 8): cosines of the pair with the concrete and with the original question, of its verb
    phrase with the relation asked for, of its passage with the concrete question; shares of the names and of
    the other words of the question that it has; and whether its answer is of the kind and the sort asked
    for."""
    numbers = [pair.number for pair in pairs]
    vectors = hop.pairs[numbers]
    matrix = np.empty((len(pairs), len(FEATURES)), dtype=np.float32)
    matrix[:, 0] = vectors @ question
    matrix[:, 1] = vectors @ original
    matrix[:, 2] = hop.phrases[numbers] @ relation
    matrix[:, 3] = hop.passages[numbers] @ question
    for row, pair in enumerate(pairs):
        own = content_words(pair.question)
        matching = target.names & (own | content_words(pair.title))
        matrix[row, 4] = len(matching) / len(target.names) if target.names else 0.5
        matrix[row, 5] = related_coverage(target.words, own.union(*map(content_words, pair.descriptions)))
        matrix[row, 6] = type_match(target.kind, answer_types(pair.answers, pair.descriptions))
        matrix[row, 7] = fine_type_match(target.sort, pair.question, pair.answers, pair.descriptions)
    return matrix


def related_coverage(query_words: frozenset[str], text_words: Iterable[str]) -> float:
    """Return the share of a query's words that a text has in whatever form, "spouse" for "married"; 0 of
    none."""
    families = {word: family(word) for word in query_words}
    return term_coverage(query_words, set(map(stem, text_words)), alternatives=families)


def scores(matrix: NDArray[np.float32], fit: Fit, *, fitted: bool) -> NDArray[np.float64]:
    """Turn features (n, 8) into chances in [0, 1] that a pair gives the answer.

    Args:
        matrix: The features of the candidates of one question.
        fit: The weights.
        fitted: False where another embedder made the cosines: these get the mean and deviation among the
            candidates that the weights know.
    """
    if not fitted:
        cosines = matrix[:, :4]
        matrix = matrix.copy()
        spread = np.maximum(cosines.std(axis=0), 1e-3)
        matrix[:, :4] = fit.mean + (cosines - cosines.mean(axis=0)) / spread * fit.deviation
    *weights, bias = fit.pair
    chances: NDArray[np.float64] = 1 / (1 + np.exp(bias - matrix @ np.array(weights)))
    return chances
