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

from gsw_graph.ask.answer.quotes import related_coverage
from gsw_graph.ask.plan import rewrite
from gsw_graph.ask.retrieve.names.linking import mentions
from gsw_graph.text.names import find_names, normalise
from gsw_graph.text.words import FINE_KINDS, content_words, fine_kind
from gsw_graph.values import single_spaced, word_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.recipes import Fit
    from gsw_graph.store.facts import HopResult, Pair

    Floats: TypeAlias = NDArray[np.float32]


# Kinds of answers by the words that ask for them.
_ASKING = {
    "date": r"\bwhen\b|\b(?:what|which) (?:year|date|month|day|century|decade)\b",
    "number": r"\bhow (?:many|much|large|big|long|tall|high|old|far)\b"
    r"|\bwhat (?:is the )?(?:number|population|percentage|amount)\b",
    "person": r"\bwho(?:m|se)?\b",
    "place": r"\bwhere\b|\b(?:what|which) (?:city|country|nation|state|county|place|town|village|hamlet"
    r"|municipality|borough|continent|region|province|district|island|location)\b",
}
# Relations written "Subject >> relation", as knowledge bases and MuSiQue have them.
_RELATIONS = {
    "date": r"\b(?:date|year|inception|time)\b",
    "place": r"\b(?:place|location|located|country|city|capital|headquarters|border|continent)\b",
    "person": r"\b(?:director|author|performer|spouse|father|mother|child|sibling|composer|founder|producer"
    r"|creator|editor|screenwriter|singer|president|head of)\b",
    "number": r"\b(?:number|population)\b",
}
_ROLES = {
    "date": "date year time",
    "number": "number quantity amount",
    "person": "person people character",
    "place": "location place city country state county region town village hamlet municipality settlement",
    "organisation": "organisation organization group team company",
}
_KIND_OF_ROLE = {role: kind for kind, roles in _ROLES.items() for role in roles.split()}
_LOOKS_DATED = re.compile(
    r"\b(?:1\d{3}|20\d\d)\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_DATE_LENGTH = 30  # a longer answer with a year in it is something else
_LOOKS_NUMERIC = re.compile(r"[$€£]? ?\d")


def expected_type(question: str) -> str | None:
    """Return the kind of answer that a question asks for: date, number, person or place; None if unclear."""
    _, sign, relation = question.partition(">>")
    if sign:
        for kind, pattern in _RELATIONS.items():
            if re.search(pattern, relation.lower()):
                return kind
        return None
    kinds = []
    for kind, pattern in _ASKING.items():
        match = re.search(pattern, question, re.IGNORECASE)
        if match:
            kinds.append((match.start(), kind))
    return min(kinds)[1] if kinds else None  # the word that asks is the first: "Who was president when ..."


def answer_types(answers: Iterable[str], descriptions: Iterable[str]) -> set[str]:
    """Return the kinds of some answers, by the roles in the descriptions of their entities ("role: states;
    role") and by their form."""
    kinds = set()
    for part in ";".join(descriptions).split(";"):
        role = part.partition(":")[0].strip().casefold()
        if role in _KIND_OF_ROLE:
            kinds.add(_KIND_OF_ROLE[role])
    for answer in answers:
        if len(answer) < _DATE_LENGTH and _LOOKS_DATED.search(answer):
            kinds.add("date")
        if _LOOKS_NUMERIC.match(answer):
            kinds.add("number")
    return kinds


def type_match(kind: str | None, answer_kinds: set[str]) -> float:
    """Return 1 if the answer is of the kind asked for, -1 if not, 0 if the question does not say; an
    organisation may be a "who"."""
    if kind is None:
        return 0.0
    if kind in answer_kinds:
        return 1.0
    return 0.3 if kind == "person" and "organisation" in answer_kinds else -1.0


Sort: TypeAlias = "tuple[str, int]"  # a kind of text.FINE_KINDS, and a line of it
Sorts: TypeAlias = "frozenset[Sort]"

# Relations written "Subject >> relation": the sorts that are right, and after a bar the sorts that are wrong,
# else every other sort of the kind. A birthplace is no country: that has its own relation.
_FINE_RELATIONS = {
    "administrative territorial entity": "county state city | country continent",
    "place of (?:birth|death|burial)|residence": "city | country continent state",
    "country": "country",
    "continent": "continent",
    "capital|headquarters": "city",
    "educated at": "university",
    "sports team": "team",
    "political party": "party",
    "body of water|watercourse": "river lake sea",
    r"\bleague": "league",
    "record label|publisher": "company",
}
_WORD = re.compile(r"\w+")
_ASKS = re.compile(
    r"\b(?:which|what)(?: (?:is|was|are|were) (?:the|an?))?(?: the)?(?: names? of(?: the)?)? "
    r"(?!kinds?\b|types?\b|sorts?\b)(.*)"
)
_ENDS_A_NOUN = word_set(
    "did do does is was are were has have had can will in on at to of for from by with that which who"
)
_LONGEST = 7  # words of what is asked for: "Which American professional football team"


@dataclass(frozen=True, slots=True)
class FineType:
    """Hold the sorts that an answer may have, and the sorts that it may not; both are empty if unclear."""

    right: Sorts = frozenset()
    wrong: Sorts = frozenset()


@lru_cache(maxsize=4096)
def expected_fine_type(question: str) -> FineType:
    """Return the sort of answer that a sub-question names: "in which county", "#1 >> country"."""
    _, sign, relation = question.partition(">>")
    right = wrong = frozenset[Sort]()
    if not sign:
        right = _fine_kind_of_noun(question)
    for pattern, sorts in _FINE_RELATIONS.items() if sign else ():
        if re.search(pattern, relation.lower()):
            right_words, _, wrong_words = sorts.partition("|")
            right, wrong = _line(right_words), _line(wrong_words)
            break
    if not wrong:  # every other sort of the same kinds
        for kind in {kind for kind, _ in right}:
            wrong |= {(kind, number) for number in range(len(FINE_KINDS[kind]))}
    return FineType(right, wrong - right)


def fine_type_match(
    expected: FineType, question: str, answers: Sequence[str], descriptions: Sequence[str]
) -> float:
    """Return 1 if the answer of a pair has a wanted sort, -1 if it has another sort of the same kind, and 0
    if one sort is unclear. question, answers, descriptions: Of the pair."""
    if not expected.right:
        return 0.0
    actual = _given(question, tuple(answers), tuple(descriptions))
    if actual & expected.right:
        return 1.0
    return -1.0 if actual & expected.wrong else 0.0


@lru_cache(maxsize=65536)
def _given(question: str, answers: tuple[str, ...], descriptions: tuple[str, ...]) -> Sorts:
    """Find the sorts by the noun that the pair's question asks for, else by the last word of an answer
    ("Warren County"), else by roles and states."""
    asked = _fine_kind_of_noun(question)
    if asked:
        return asked
    names = [_WORD.findall(answer.lower()) for answer in answers]
    last_words = [words[-1] for words in names if len(words) > 1]
    named = _line(" ".join(last_words))
    if named:
        return named
    states = re.split("[;:,]", ";".join(descriptions).lower())
    return frozenset().union(*(_head(_WORD.findall(state)) for state in states))


@lru_cache(maxsize=65536)
def _fine_kind_of_noun(question: str) -> Sorts:
    """Return the sort of the noun after "which" or "what"; "what kind of" asks for no sort."""
    match = _ASKS.search(question.lower())
    return _head(_WORD.findall(match[1])[:_LONGEST]) if match else frozenset()


def _head(words: Sequence[str]) -> Sorts:
    """Return the last known sort before a word that ends the noun: "state park in the city" is a park."""
    sort = None
    for word in words:
        if word in _ENDS_A_NOUN:
            break
        sort = fine_kind(word) or sort
    return frozenset({sort}) if sort else frozenset()


def _line(words: str) -> Sorts:
    return frozenset(sort for word in words.split() if (sort := fine_kind(word)))


FEATURES = ("pair", "original", "phrase", "passage", "names", "words", "kind", "sort")


@dataclass(frozen=True, slots=True)
class ConcreteQuestion:
    """Hold a sub-question with the answers of earlier hops in it.

    Attributes:
        text: The text that is embedded.
        relation: The text without names.
        kind: The kind of the answer.
        names: The words of the names.
        words: The other words, without function words.
        sort: The sort of the answer.
        entities: Normal forms of the mentioned entities, earlier answers too.
    """

    text: str
    relation: str
    kind: str | None
    names: frozenset[str]
    words: frozenset[str]
    sort: FineType = FineType()
    entities: frozenset[str] = frozenset()


def fill_references(question: str, answers: Mapping[int, str]) -> ConcreteQuestion:
    """Return the concrete question of a sub-question. `answers` by step."""
    text = single_spaced(rewrite(question, answers.__getitem__).replace(" >> ", " "))
    names = frozenset[str]()
    for name in (*answers.values(), *(found.text for found in find_names(text))):
        names |= content_words(name)
    words = content_words(text) - names
    kind, sort = expected_type(question), expected_fine_type(question)
    entities = entities_in(text).union(map(normalise, answers.values()))
    return ConcreteQuestion(text, relation_of(question), kind, names, words, sort, entities)


def entities_in(question: str) -> frozenset[str]:
    """Return the normal forms of the entities that a question mentions. A name counts with and without its
    place ("Paris, Texas"); a part of a longer name does not count. If no name is in capitals, every possible
    name counts."""
    names = [name.text for name in find_names(question)]
    if not names:
        return frozenset(mention.key for mention in mentions(question))
    longer = [name for name in names if " and " not in name]
    whole = [name for name in names if not any(name != other and name in other for other in longer)]
    found = set(map(normalise, whole))
    for joined in map(", ".join, pairwise(whole)):
        if joined in question:
            found.add(normalise(joined))
    return frozenset(found)


def relation_of(question: str) -> str:
    """Return a sub-question without the names and references in it."""
    text = rewrite(question, lambda _: " ").replace(" >> ", " ")
    for name in sorted((name.text for name in find_names(text)), key=len, reverse=True):
        text = text.replace(name, " ")
    return single_spaced(text.replace("?", " "))


def features(
    target: ConcreteQuestion,
    pairs: Sequence[Pair],
    hop: HopResult,
    question: Floats,
    original: Floats,
    relation: Floats,
) -> Floats:
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
        answers, descriptions = pair.answers, pair.descriptions
        own = content_words(pair.question)
        named = target.names & (own | content_words(pair.title))
        names = len(named) / len(target.names) if target.names else 0.5
        text_words = own.union(*map(content_words, descriptions))
        words = related_coverage(target.words, text_words)
        kind = type_match(target.kind, answer_types(answers, descriptions))
        sort = fine_type_match(target.sort, pair.question, answers, descriptions)
        matrix[row, 4:] = names, words, kind, sort
    return matrix


def scores(matrix: Floats, fit: Fit, *, fitted: bool) -> NDArray[np.float64]:
    """Turn features (n, 8) into chances in [0, 1] that a pair gives the answer.

    Args:
        matrix: The features of the candidates of one question.
        fit: The weights.
        fitted: False if another embedder made the cosines: they are scaled to the mean and deviation that
            the weights know.
    """
    if not fitted:
        matrix = matrix.copy()
        cosines = matrix[:, :4]
        spread = np.maximum(cosines.std(axis=0), 1e-3)
        scaled = (cosines - cosines.mean(axis=0)) / spread
        cosines[:] = fit.mean + scaled * fit.deviation
    *weights, bias = fit.pair
    logits = matrix @ np.array(weights) - bias
    chances: NDArray[np.float64] = 1 / (1 + np.exp(-logits))
    return chances
