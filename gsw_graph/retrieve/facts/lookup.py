"""Facts by one hop each: what is asked of a thing, all at once.

A pair of the memory is a fact where its chance is good enough (`chains/pair_score.py`), it speaks of the
thing, and its answer is of the kind asked for. Else the sentences of the nearest passages are read
(`sentences.py`). Which pairs and sentences count as facts is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gsw_graph.naming.numbers import find_numbers
from gsw_graph.results import Citation
from gsw_graph.retrieve.chains.pair_score import concrete, words_of
from gsw_graph.retrieve.facts.families import cues
from gsw_graph.retrieve.facts.sentences import Line, Sentences, about, lines_of, share, without
from gsw_graph.retrieve.facts.values import Edge, Kind, Value, asks_own, dated, is_own, value_in
from gsw_graph.retrieve.recipes import ChainRecipe
from gsw_graph.retrieve.times.intervals import spans

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.chains.candidates import ScoredPair
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.facts.recipe import FactRecipe

_SENTENCE = 0.9  # a sentence of full score is less sure than a pair of chance 1
_FULL = 1.6  # score of a sentence that is counted as full


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of a thing. text: as a question. subject: the thing, as the question names it. kind: of
    the value. edge: of a range of dates, which end. place: the name of a place is asked for."""

    text: str
    subject: str
    kind: Kind
    edge: Edge = "whole"
    place: bool = False


@dataclass(frozen=True, slots=True)
class Fact:
    """A value with where it stands, how sure it is in [0, 1], and whether a pair or a sentence said it."""

    value: Value
    citation: Citation
    passage: RankedPassage
    score: float
    by: Literal["pair", "sentence"]


class Lookup:
    """Looks up facts for one question. What was read for one is kept for the next."""

    def __init__(self, context: Context, question: str, recipe: FactRecipe) -> None:
        self._context, self._question, self._recipe = context, question, recipe
        self.sentences = Sentences(context, recipe)
        self._passages: dict[str, RankedPassage] = {}

    def __call__(self, asked: Sequence[Asked]) -> list[Fact | None]:
        """The best fact for each, or None where nothing says it: two or three round trips for all."""
        found: list[Fact | None] = [None] * len(asked)
        if not asked:
            return found
        if self.has_pairs:
            found = self._of_pairs(asked)
        if open_ := [n for n, fact in enumerate(found) if fact is None]:
            for n, fact in zip(open_, self._of_sentences([asked[n] for n in open_]), strict=True):
                found[n] = fact
        return found

    @property
    def has_pairs(self) -> bool:
        """Whether the memory has pairs at all."""
        return self._context.has_pairs

    def pairs(self, texts: Sequence[str]) -> list[list[ScoredPair]]:
        """Scored pairs for some questions, best first."""
        from gsw_graph.retrieve.chains.candidates import CandidateSearch

        search = CandidateSearch(self._context, ChainRecipe())
        return search(self._question, [concrete(text.replace("#", " "), {}) for text in texts])

    def near(self, texts: Sequence[str]) -> list[list[RankedPassage]]:
        """The passages nearest to some questions."""
        vectors = self._context.vectors(texts)
        with self._context.clock("database"):
            return [self._context.reader.dense(vectors[text].tolist(), self._recipe.near) for text in texts]

    def fetch(self, ids: Sequence[str]) -> list[RankedPassage]:
        """Passages by id, each read once a question."""
        if new := [id_ for id_ in dict.fromkeys(ids) if id_ not in self._passages]:
            with self._context.clock("database"):
                self._passages.update(
                    (one.id, one) for one in self._context.reader.passages(new, [0.0] * len(new))
                )
        return [self._passages[id_] for id_ in ids if id_ in self._passages]

    def _of_pairs(self, asked: Sequence[Asked]) -> list[Fact | None]:
        ranked = self.pairs([one.text for one in asked])
        best = [
            next(
                (
                    (pair, value)
                    for pair in pairs[: self._recipe.kept]
                    if pair.score >= self._recipe.sure and (value := _value_of(one, pair)) is not None
                ),
                None,
            )
            for one, pairs in zip(asked, ranked, strict=True)
        ]
        self.fetch([found[0].pair.passage for found in best if found is not None])
        return [None if found is None else self.fact_of(*found) for found in best]

    def fact_of(self, scored: ScoredPair, value: Value) -> Fact | None:
        """What a pair says, with the sentence that it was taken from."""
        from gsw_graph.answer.quote import quote

        passages = self.fetch([scored.pair.passage])
        if not passages:
            return None
        text = quote(passages[0].text, scored.pair.question, value.text)
        return Fact(value, cited(passages[0], text), passages[0], scored.score, "pair")

    def _of_sentences(self, asked: Sequence[Asked]) -> list[Fact | None]:
        near = self.near([one.text for one in asked])
        return [self._best(one, lines_of(passages)) for one, passages in zip(asked, near, strict=True)]

    def _best(self, asked: Asked, lines: Sequence[Line]) -> Fact | None:
        wanted = cues(without(asked.text, asked.subject))
        fit = [
            line
            for line in lines
            if (not asked.subject or about(asked.subject, line) >= 1)
            and (share(wanted, line) > 0 or _is_life(asked, line, wanted))
        ]
        scores = self.sentences.scores(asked.text, asked.subject, fit) + [
            self._recipe.words * (_is_life(asked, line, wanted) and not share(wanted, line)) for line in fit
        ]
        for n in sorted(range(len(fit)), key=lambda n: -scores[n]):
            if scores[n] < self._recipe.least:
                return None
            value = value_in(fit[n], asked.kind, asked.edge, asked.subject, wanted, place=asked.place)
            if value is not None:
                sure = min(1.0, float(scores[n]) / _FULL) * _SENTENCE
                return Fact(value, cited(fit[n].passage, fit[n].text), fit[n].passage, sure, "sentence")
        return None


def _is_life(asked: Asked, line: Line, wanted: Sequence[frozenset[str]]) -> bool:
    """Whether the years after the name in the line are what is asked: its words need not say so."""
    return (
        asked.kind == "date"
        and asks_own(asked.edge, wanted)
        and any(is_own(line, span) for span in line.spans)
    )


def cited(passage: RankedPassage, text: str) -> Citation:
    """A sentence of a passage as a citation."""
    return Citation(passage.id, passage.document, passage.title, passage.source, text)


def _value_of(asked: Asked, scored: ScoredPair) -> Value | None:
    """The answer of a pair as a value of the kind asked for, where the pair speaks of the subject and of
    what is asked."""
    pair = scored.pair
    own = words_of(pair.question) | words_of(pair.title)
    if not pair.answers or (asked.subject and not words_of(asked.subject) <= own):
        return None
    if all(words_of(answer) <= words_of(asked.text) for answer in pair.answers):
        return None
    answer = ", ".join(pair.answers)
    if asked.kind == "date":
        found = spans(answer)
        return dated(found[0], asked.edge, answer) if found else None
    if asked.kind == "number":
        number = next(find_numbers(answer), None)
        return Value(answer, number=number) if number else None
    return Value(pair.answers[0]) if not answer[0].isdigit() else None
