"""Compact evidence: facts in the place of passages, in half the tokens.

What a passage says is in the graph already, one statement a fact: propositions and, of passages that have
none, pairs with their answers. Of a passage without either, as of a plain document, the sentences are taken.
Those nearest to the question, or to one of the questions that the best chain asked, are shown, each passage
under one number, as a codebook (`codebook.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.ask.answer.evidence import (
    Edge,
    Fact,
    Item,
    Run,
    Sentence,
    cut,
    edge_of,
    flat,
    sentences_of,
    word_shares,
)
from gsw_graph.models.chat.request import estimate
from gsw_graph.store.facts import of_passages
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.strategy import Retrieved
    from gsw_graph.model.results import RankedPassage
    from gsw_graph.store.facts import PassageFact

ENOUGH = 530  # tokens of all facts; with the rest of a payload 0.6 of what lines take
PASSAGES = 20  # that are looked at, those of chains among them
FACTS = 400  # of them that are looked at
ASKED = 12  # questions by which they are chosen
_FACT = 100  # tokens of one fact
_VECTORS = 0.6  # share of the cosine in a fact's nearness to a question; the rest is that of the words it has
_LOWER = 0.04  # nearer that a fact of the next passage must be


@dataclass(frozen=True, slots=True)
class _Said:
    """A fact that may be shown, its passage by place, and what the fact says in one text."""

    place: int
    fact: Fact
    text: str
    cosines: Sequence[float]


class CompactEvidence:
    """What a language model is shown of what was found; to be called as `gather.lines` is."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def __call__(self, asked: Sequence[str], found: Retrieved) -> list[Item]:
        """The facts nearest to some questions, or to one that a chain asked on its way: of each in turn the
        nearest, as long as there is room; by passage, the best passage first."""
        hops = [hop for chain in found.beams.ends() for hop in chain.hops] if found.beams else []
        asked = list(dict.fromkeys([*asked, *(hop.concrete for hop in hops)]))[:ASKED]
        chained = (found.cited[hop.pair.passage] for hop in hops if hop.pair.passage in found.cited)
        ranked = {passage.id: passage for passage in (*found.passages, *found.below, *chained)}
        passages = list(ranked.values())[:PASSAGES]
        chosen: dict[int, list[Fact]] = {}
        for one in self._chosen(self._said(passages, asked), passages, asked):
            chosen.setdefault(one.place, []).append(one.fact)
        return [_item(passages[place], chosen[place]) for place in sorted(chosen)]

    def _chosen(
        self, facts: Sequence[_Said], passages: Sequence[RankedPassage], asked: Sequence[str]
    ) -> Iterator[_Said]:
        """As many as there is room for; what is said twice once."""
        room, known, subjects = ENOUGH, set[str](), set[tuple[int, str]]()
        for one in _in_turn(facts, self._nearness(facts, passages, asked)):
            subject, *rest = one.fact
            size = estimate(" ".join(rest)) + 2
            if (one.place, subject) not in subjects:  # it is said once
                size += estimate(subject) + 4
            if size > room or (words := normalise(one.text)) in known:
                continue
            room -= size
            known.add(words)
            subjects.add((one.place, subject))
            yield one

    def _said(self, passages: Sequence[RankedPassage], asked: Sequence[str]) -> list[_Said]:
        """All that could be shown."""
        context, places = self._context, {passage.id: place for place, passage in enumerate(passages)}
        vectors = context.vectors(asked).values() if self._by_vectors else ()
        embeddings = [vector.tolist() for vector in vectors]
        with context.clock("database"):
            facts = of_passages(context.reader, list(places), embeddings, most=FACTS)
        stated = {fact.passage for fact in facts if not fact.answers}
        said = [
            _Said(places[fact.passage], _fact(fact, passages[places[fact.passage]]), fact.line, fact.cosines)
            for fact in facts
            if not fact.answers or fact.passage not in stated
        ]
        for place in set(places.values()) - {one.place for one in said}:
            title = flat(passages[place].title)
            said += (
                _Said(place, Sentence(title, cut(flat(sentence), _FACT)), sentence, ())
                for sentence in sentences_of(passages[place])
            )
        return said

    def _nearness(
        self, facts: Sequence[_Said], passages: Sequence[RankedPassage], asked: Sequence[str]
    ) -> NDArray[np.float64]:
        """(questions, facts). Where the strategy needed no embedder none is loaded for this alone, and words
        alone are compared."""
        titled = [f"{passages[one.place].title}: {one.text}" for one in facts]
        words = np.array([word_shares(question, titled) for question in asked])
        lower = _LOWER * np.array([one.place for one in facts])
        if not (facts and self._by_vectors):
            return words - lower
        cosines = np.array([one.cosines or [0.0] * len(asked) for one in facts]).T
        if plain := [number for number, one in enumerate(facts) if not one.cosines]:
            questions = np.stack(list(self._context.vectors(asked).values()))
            texts = self._context.text_vectors([facts[number].text for number in plain])
            cosines[:, plain] = questions @ texts.T
        nearness: NDArray[np.float64] = _VECTORS * cosines + (1 - _VECTORS) * words - lower
        return nearness

    @property
    def _by_vectors(self) -> bool:
        return "embedder" in self._context.used


def _in_turn(facts: Sequence[_Said], nearness: NDArray[np.float64]) -> list[_Said]:
    """For each question in turn its nearest, then its second and so on; each fact once."""
    orders = np.argsort(-nearness, axis=1, kind="stable")
    return [facts[number] for number in dict.fromkeys(orders.T.ravel().tolist())]


def _fact(fact: PassageFact, passage: RankedPassage) -> Fact:
    about, said = flat(passage.title), cut(flat(fact.line), _FACT)
    return Sentence(about, said) if fact.answers else edge_of(said, map(flat, fact.names), about)


def _item(passage: RankedPassage, facts: Sequence[Fact]) -> Item:
    said = "; ".join(" ".join(fact if isinstance(fact, Edge) else fact[1:]) for fact in facts)
    title = flat(passage.title)
    return Item(f"{title}: {said}" if title else said, passage, run=Run(tuple(facts)))
