"""Find the sentence of a passage that proves an answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gsw_graph.model.results import Citation
from gsw_graph.text.languages import detect
from gsw_graph.text.names import normalise
from gsw_graph.text.quantities import Quantities, quantities
from gsw_graph.text.words import (
    CONNECTORS,
    FUNCTION_WORDS,
    LETTERS,
    content_words,
    family,
    idf,
    stem,
    term_coverage,
    written_sentences,
)
from gsw_graph.values import word_set

if TYPE_CHECKING:
    from gsw_graph.model.results import RankedPassage

_STEM = 4  # letters: "American" stands for America, "Malian" for Mali, "Roomassa" for Rooma
_WORD = re.compile(LETTERS)
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)  # scripts without spaces
_ANSWER = 1.5  # weight of the answer in a sentence, where all words of the question weigh 1
_PRONOUN = 0.9  # share of a name that a pronoun says, where the name stands before it
_PRONOUNS = word_set("he she they it his her their its him them who whose")


@dataclass(frozen=True, slots=True)
class Said:
    """Hold the words of an answer, and its numbers, days and units, which have several written forms."""

    words: frozenset[str]
    quantities: Quantities

    @classmethod
    def of(cls, text: str) -> Said:
        """Read the words and numbers of a text. Function words count only if there is nothing else, and signs
        only if there are no words."""
        numbers = quantities(text)
        words = words_of(numbers.rest)
        if not (words or numbers.parts):
            words = words_of(text, every=True) or frozenset([text.casefold()])
        return cls(words, numbers)

    def share(self, text: str) -> float:
        """Return the share of the words and numbers that a text has, in [0, 1]."""
        text_words, folded = words_of(text, every=True), text.casefold()
        holds = [is_in(word, text_words, folded) for word in self.words]
        if self.quantities.parts:
            holds += self.quantities.share(quantities(text).keys)
        return sum(holds) / len(holds) if holds else 0.0

    def is_number(self, number: int) -> bool:
        """Tell whether it says this number and no other."""
        return self.quantities.share(frozenset([f"#{number}"])) == [True]


def words_of(text: str, *, every: bool = False) -> frozenset[str]:
    """Return the words of a text, each in the normal form of names; function words only with `every`."""
    words = frozenset(filter(None, map(normalise, _WORD.findall(text))))
    return words if every else words - FUNCTION_WORDS - CONNECTORS


def is_in(word: str, words: Collection[str], text: str) -> bool:
    """Tell whether a word is among some words in any form, or in their text if its script has no spaces."""
    if word in words:
        return True
    if word in text and (_UNSPACED.search(word) or not _WORD.search(word)):
        return True
    if not word.isalpha() or len(word) < _STEM:
        return False
    return any(len(other) >= _STEM and (other.startswith(word) or word.startswith(other)) for other in words)


def quote(text: str, question: str, answer: str, title: str = "") -> str:
    """Return the sentence of a text that proves an answer: it has the answer and most words of the question.

    Every sentence is about the title, so it has the words of the title too: in the passage about an
    architect, "she designed the theatre" proves who did. A pronoun stands for an answer that is named before.
    """
    pieces = [piece.strip() for piece in written_sentences(text) if piece.strip()]
    sentences = [piece for piece in pieces if not _is_heading(piece, title)] or pieces
    if not sentences:
        return text
    said, code = Said.of(answer), detect(question).code
    wanted = _stems(question, code) - _stems(title, code) - _stems(answer, code)
    forms = {}
    for word in content_words(question):
        own_stem = stem(word, code)
        if own_stem in wanted:
            forms[word] = family(word) if code == "en" else frozenset([own_stem])
    has = []
    for sentence in sentences:
        stems = _stems(sentence, code)
        has.append({word for word, alike in forms.items() if alike & stems})
    weights = idf(forms, has)
    is_name = answer[:1].isupper() and not said.quantities.parts  # a pronoun stands for no date
    is_named = False  # before the sentence
    scores = []
    for sentence, words in zip(sentences, has, strict=True):
        own = said.share(sentence)
        share = max(own, said.share(f"{title} {sentence}")) if title else own
        if is_name and is_named and _PRONOUNS & words_of(sentence, every=True):
            share = max(share, _PRONOUN)
        is_named = is_named or own == 1
        asked = 0.0 if sentence.endswith("?") else term_coverage(forms, words, idf=weights)
        scores.append((_ANSWER * share + asked, own))
    return sentences[scores.index(max(scores))]


def related_coverage(query_words: Iterable[str], text_words: Iterable[str]) -> float:
    """Return the share of a query's words that a text has in any related form, such as "spouse" for
    "married"; 0 for a query without words."""
    families = {word: family(word) for word in query_words}
    return term_coverage(families, set(map(stem, text_words)), alternatives=families)


def cite(passage: RankedPassage, question: str, answer: str) -> Citation:
    """Return the citation of a passage, with the sentence that proves an answer."""
    title = passage.title
    text = quote(passage.text, question, answer, title)
    return Citation(passage.id, passage.document, title, passage.source, text, passage.section)


def _is_heading(sentence: str, title: str) -> bool:
    return sentence.startswith("#") or normalise(sentence) == normalise(title)


def _stems(text: str, language: str) -> frozenset[str]:
    return frozenset(stem(word, language) for word in content_words(text))
