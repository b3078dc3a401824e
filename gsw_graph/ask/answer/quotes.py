"""What an answer says, and the sentence of a passage that proves it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

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

_STEM = 4  # letters: "American" stands for America, "Malian" for Mali, "Roomassa" for Rooma
_WORD = re.compile(LETTERS)
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)  # scripts without spaces
_ANSWER = 1.5  # weight of the answer in a sentence, where all words of the question weigh 1
_PRONOUN = 0.9  # share of a name that a pronoun says, where the name stands before it
_PRONOUNS = frozenset("he she they it his her their its him them who whose".split())


@dataclass(frozen=True, slots=True)
class Said:
    """What an answer says: its words, and its numbers, days and units, which a text may write otherwise."""

    words: frozenset[str]
    quantities: Quantities

    @classmethod
    def of(cls, text: str) -> Said:
        """Return what a text says. If it has neither words of content nor numbers, its other words count, and
        if it has no words at all, its signs."""
        numbers = quantities(text)
        words = words_of(numbers.rest)
        if not (words or numbers.parts):
            words = words_of(text, every=True) or frozenset([text.casefold()])
        return cls(words, numbers)

    def share(self, text: str) -> float:
        """Return the share of it that a text says."""
        text_words, folded = words_of(text, every=True), text.casefold()
        holds = [_is_in(word, text_words, folded) for word in self.words]
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


def _is_in(word: str, words: Collection[str], text: str) -> bool:
    if word in words or (word in text and (_UNSPACED.search(word) or not _WORD.search(word))):
        return True
    return (
        word.isalpha()
        and len(word) >= _STEM
        and any(
            len(other_word) >= _STEM and (other_word.startswith(word) or word.startswith(other_word))
            for other_word in words
        )
    )


def quote(text: str, question: str, answer: str, title: str = "") -> str:
    """Return the sentence of a text that proves an answer: it has the answer and most words of the question.

    Every sentence is about the title, so it has the words of the title too: in the passage about an
    architect, "she designed the theatre" proves who did. A pronoun stands for an answer that is named before.
    """
    pieces = [sentence for part in written_sentences(text) if (sentence := part.strip())]
    sentences = [piece for piece in pieces if not _is_heading(piece, title)] or pieces
    if not sentences:
        return text
    said, code = Said.of(answer), detect(question).code
    wanted = _stems(question, code) - _stems(title, code) - _stems(answer, code)
    alternatives = {
        word: _alternatives(word, code) for word in content_words(question) if stem(word, code) in wanted
    }
    sentence_stems = [_stems(sentence, code) for sentence in sentences]
    has = [{word for word, forms in alternatives.items() if forms & stems} for stems in sentence_stems]
    weights = idf(alternatives, has)
    scores: list[tuple[float, float]] = []
    is_name = answer[:1].isupper() and not said.quantities.parts  # a pronoun stands for no date
    is_named = False  # before the sentence
    for sentence, words in zip(sentences, has, strict=True):
        own = said.share(sentence)
        share = max(own, said.share(f"{title} {sentence}") if title else 0.0)
        if is_name and is_named and _PRONOUNS & words_of(sentence, every=True):
            share = max(share, _PRONOUN)
        is_named = is_named or own == 1
        asked = 0.0 if sentence.endswith("?") else term_coverage(alternatives, words, idf=weights)
        scores.append((_ANSWER * share + asked, own))
    best = max(range(len(sentences)), key=lambda number: scores[number])
    return sentences[best]


def _is_heading(sentence: str, title: str) -> bool:
    return sentence.startswith("#") or normalise(sentence) == normalise(title)


def _stems(text: str, language: str) -> frozenset[str]:
    return frozenset(stem(word, language) for word in content_words(text))


def _alternatives(word: str, language: str) -> frozenset[str]:
    return family(word) if language == "en" else frozenset([stem(word, language)])
