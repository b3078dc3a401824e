"""Names that lead on: those in the best sentences of the first passages of a walk, for another walk."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import exp
from typing import TYPE_CHECKING

from sentencex import segment

from gsw_graph.names import normalise
from gsw_graph.naming.finding import title_names
from gsw_graph.retrieve.names.linking import link, mentions

if TYPE_CHECKING:
    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.names.graph import NameGraph
    from gsw_graph.retrieve.names.wording import Wording
    from gsw_graph.retrieve.recipes import LeadRecipe

_BLOCKS = re.compile(r"\n\s*\n")
_LONG = 20_000  # characters of a passage that are looked at


def leads(
    memory: NameGraph,
    question: str,
    passages: Sequence[RankedPassage],
    wording: Wording,
    recipe: LeadRecipe,
) -> list[str]:
    """The first `recipe.names` names, as written, of the best sentences of some passages, each with the
    passage's title before it.

    A sentence weighs what the walk gave its passage times exp(sharpness * share of the question's words that
    it has). Left out is what stands in the question, and a name that leads nowhere as no other passage has
    it; a title leads to its own passage.
    """
    asked = f" {normalise(question)} "
    found: dict[str, str] = {}
    for passage, sentence in _best_sentences(passages, wording, recipe.sharpness):
        own = {normalise(name) for name in title_names(passage.title)}
        for name, key in _names(memory, passage.title, sentence):
            if len(found) == recipe.names:
                return list(found.values())
            number = memory.name_numbers.get(key)
            if number is None or f" {key} " in asked:
                continue
            if key in own or memory.matrices.frequency[number] > 1:
                found.setdefault(key, name)
    return list(found.values())[: recipe.names]


def _best_sentences(
    passages: Sequence[RankedPassage], wording: Wording, sharpness: float
) -> list[tuple[RankedPassage, str]]:
    sentences = [
        (passage, sentence) for passage in passages for sentence in _sentences(passage) if sentence.strip()
    ]
    weights = [passage.score * exp(sharpness * wording.share(sentence)) for passage, sentence in sentences]
    order = sorted(range(len(sentences)), key=lambda n: -weights[n])
    return [sentences[n] for n in order]


def _sentences(passage: RankedPassage) -> list[str]:
    text = passage.text[:_LONG].removeprefix(f"{passage.title}\n")
    return [one for block in _BLOCKS.split(text) for one in segment("en", " ".join(block.split()))]


def _names(memory: NameGraph, title: str, sentence: str) -> Iterator[tuple[str, str]]:
    """The title and the names of a sentence that the memory knows, in their order, with their normal
    form."""
    yield title, normalise(title)
    for mention in sorted(link(mentions(sentence), memory.name_numbers), key=lambda one: one.first):
        yield mention.text, mention.key
