"""Compact evidence: facts in the place of passages, in half the tokens.

What a passage says is in the graph already, one statement a fact: propositions and, of passages that have
none, pairs with their answers. Of a passage without either, as of a plain document, the sentences are taken.
Those nearest to the question, or to one of the questions that the best chain asked, are shown, each passage
under one number, as a codebook (`codebook.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gsw_graph.answer.codebook import Edge, Fact, Run, Sentence, edge_of
from gsw_graph.answer.evidence import Item, cut, flat
from gsw_graph.answer.sentences import sentences_of, word_shares
from gsw_graph.inference.chat.tokens import estimate
from gsw_graph.names import normalise
from gsw_graph.store.facts import of_passages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.strategy import Retrieved
    from gsw_graph.store.facts import PassageFact

ENOUGH = 500  # tokens of all facts, about half of what lines take
PASSAGES = 20  # that are looked at, those of chains among them
FACTS = 400  # of them that are looked at
_FACT = 100  # tokens of one fact
_LOWER = 0.02  # that a fact of the next passage must be nearer


@dataclass(frozen=True, slots=True)
class _Said:
    """A fact that may be shown: its passage by place, and how near it is to what is asked."""

    place: int
    fact: Fact
    near: float

    @property
    def words(self) -> str:
        return normalise(" ".join(self.fact[1:] if isinstance(self.fact, Sentence) else self.fact))


class CompactEvidence:
    """What a language model is shown of what was found; to be called as `gather.lines` is."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def __call__(self, asked: Sequence[str], found: Retrieved) -> list[Item]:
        """The facts nearest to one of some questions, by passage, the best passage first."""
        chained = (
            [hop.pair.passage for chain in found.beams.ends() for hop in chain.hops] if found.beams else []
        )
        ranked = [*found.passages, *found.below, *(found.cited[id_] for id_ in chained if id_ in found.cited)]
        passages = list({passage.id: passage for passage in ranked}.values())[:PASSAGES]
        chosen: dict[int, list[Fact]] = {}
        for one in self._chosen(passages, asked):
            chosen.setdefault(one.place, []).append(one.fact)
        return [_item(passages[place], chosen[place]) for place in sorted(chosen)]

    def _chosen(self, passages: Sequence[RankedPassage], asked: Sequence[str]) -> Iterator[_Said]:
        """The nearest first, as many as there is room for; what is said twice once."""
        room, known, shown = ENOUGH, set[str](), set[tuple[int, str]]()
        for one in sorted(self._said(passages, asked), key=lambda one: _LOWER * one.place - one.near):
            subject, *rest = one.fact
            # a subject is said once, and a number costs its brackets
            size = estimate(" ".join(rest)) + 2
            if (one.place, subject) not in shown:
                size += estimate(subject) + 4
            if one.words in known or size > room:
                continue
            room -= size
            known.add(one.words)
            shown.add((one.place, subject))
            yield one

    def _said(self, passages: Sequence[RankedPassage], asked: Sequence[str]) -> Iterator[_Said]:
        """All that could be shown."""
        places = {passage.id: place for place, passage in enumerate(passages)}
        rest = set(places)
        facts = self._facts(list(places), asked)
        nearness = [max(fact.cosines, default=0.0) for fact in facts]
        if facts and not self._by_vectors:
            nearness = self._nearness(asked, [fact.line for fact in facts]).tolist()
        for fact, near in zip(facts, nearness, strict=True):
            rest.discard(fact.passage)
            yield _Said(places[fact.passage], _fact(fact, passages[places[fact.passage]]), near)
        plain = [(places[id_], one) for id_ in rest for one in sentences_of(passages[places[id_]])]
        titled = [f"{passages[place].title}: {one}" for place, one in plain]
        for (place, one), near in zip(plain, self._nearness(asked, titled), strict=True):
            yield _Said(place, Sentence(flat(passages[place].title), cut(flat(one), _FACT)), float(near))

    def _facts(self, passages: Sequence[str], asked: Sequence[str]) -> list[PassageFact]:
        """Propositions and, of passages without any, pairs."""
        context = self._context
        embeddings = (
            [vector.tolist() for vector in context.vectors(asked).values()] if self._by_vectors else []
        )
        with context.clock("database"):
            facts = of_passages(context.reader, passages, embeddings, most=FACTS)
        stated = {fact.passage for fact in facts if not fact.answers}
        return [fact for fact in facts if not fact.answers or fact.passage not in stated]

    @property
    def _by_vectors(self) -> bool:
        """Where the strategy needed no embedder none is loaded for this alone."""
        return "embedder" in self._context.used

    def _nearness(self, asked: Sequence[str], texts: Sequence[str]) -> NDArray[np.float64]:
        """(texts,): the greatest cosine with a question or, without an embedder, share of its words."""
        if not texts:
            return np.zeros(0)
        if not self._by_vectors:
            return np.array([word_shares(one, texts) for one in asked]).max(axis=0)
        questions = np.stack(list(self._context.vectors(asked).values()))
        return (self._context.text_vectors(texts) @ questions.T).max(axis=1).astype(np.float64)


def _fact(fact: PassageFact, passage: RankedPassage) -> Fact:
    about, said = flat(passage.title), cut(flat(fact.line), _FACT)
    return Sentence(about, said) if fact.answers else edge_of(said, map(flat, fact.names), about)


def _item(passage: RankedPassage, facts: Sequence[Fact]) -> Item:
    said = "; ".join(" ".join(fact if isinstance(fact, Edge) else fact[1:]) for fact in facts)
    title = flat(passage.title)
    return Item(f"{title}: {said}" if title else said, passage, run=Run(tuple(facts)))
