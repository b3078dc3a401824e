"""What a sub-agent of GRASP is shown: facts ranked for what it looks for, and the votes of facts for their
passages.

Of the paper: hybrid search over propositions, and `score(passage) = sum 1 / (k + rank)` over its
propositions, k = 60. Ours: question-answer pairs are facts beside propositions, "question answer" in one
line. There is no full-text index over facts, so the lexical half are facts of passages that the index over
passages finds, and facts about names of the statement; the order by vectors and the order by shared words are
joined by reciprocal ranks too, and a fact gets the vote of its passage's rank. Of facts that say the same the
first is shown. Where a memory has neither propositions nor pairs, passages are found by vectors and words and
their beginnings shown.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING

from gsw_graph.answer.evidence import Item, flat, texts
from gsw_graph.answer.reader import words_of
from gsw_graph.retrieve.names.linking import lucene_words, mentions
from gsw_graph.retrieve.votes import RANK_CONSTANT, reciprocal_rank_fusion
from gsw_graph.store import facts as store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.results import RankedPassage
    from gsw_graph.retrieve.agents.agent import Agent
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.recipes import GraspRecipe
    from gsw_graph.store.facts import FoundFact

FACTS, NAMED, DENSE, WORDS = "read/facts", "read/entity_facts", "read/dense", "read/bm25"
_ALIKE = 0.75  # share of two lines' words in common from which they say the same
_EACH = 5  # facts that a passage has among the first, about: so much further down is the next one's rank
_LONG = 300  # characters of a line
_ROOM = 450  # tokens of passages, where there are no facts: three of them
_SHORT = 100  # of one in the trace
_TRACED = 10  # passages of a search in the trace


@dataclass(frozen=True)
class Evidence:
    """Lines, the best first, and passages with their votes, best first."""

    items: list[Item]
    passages: list[RankedPassage] = field(default_factory=list)


def search(agent: Agent, stage: str, statement: str, keywords: str, recipe: GraspRecipe) -> Evidence:
    """What is found for a statement, by its vector and by its words and these keywords."""
    asked = f"{statement} {keywords}".strip()
    words = lucene_words(asked)

    def facts(context: Context) -> Evidence:
        vector = context.vector(statement).tolist()
        limits = {"nearest": recipe.near, "worded": recipe.worded, "common": recipe.common}
        keys = [mention.key for mention in mentions(asked)]
        with context.clock("database"):
            found = store.near(context.reader, vector, words, keys, **limits, most=recipe.most)
        return of_facts(found.facts, asked, recipe)

    def passages(context: Context) -> Evidence:
        vector = context.vector(statement).tolist()
        with context.clock("database"):
            dense = context.reader.dense(vector, recipe.near)
            return of_passages([dense, context.reader.bm25(words, recipe.near) if words else []])

    found = agent.search(stage, asked, facts, [FACTS], _first, told)
    if found.items:
        return found
    asked = f"{asked} (no propositions and no pairs: passages)"
    return agent.search(stage, asked, passages, [DENSE, WORDS], _first, told)


def follow(agent: Agent, name: str, key: str, fact: str, recipe: GraspRecipe) -> Evidence:
    """The facts of a name that are nearest to the fact that is looked for. key: the name's normal form."""

    def run(context: Context) -> Evidence:
        vector = context.vector(fact).tolist()
        with context.clock("database"):
            found = store.of_name(context.reader, key, vector, scan=recipe.scan, most=recipe.most)
        return of_facts(found.facts, fact, recipe) if found.facts else of_passages([found.passages])

    return agent.search("follow", f"{name}: {fact}", run, [NAMED], _first, told)


def told(found: Evidence) -> str:
    """What was found, in words."""
    return "; ".join(item.text[:_SHORT] for item in found.items[:3]) or "nothing"


def _first(found: Evidence) -> list[RankedPassage]:
    return found.passages[:_TRACED]


def of_facts(facts: Sequence[FoundFact], asked: str, recipe: GraspRecipe) -> Evidence:
    """Facts that came in the order of their vectors, ranked by their words too, and by what passage they
    stand in."""
    by_words = _overlaps(facts, asked)
    worded = sorted(
        (place for place in range(len(facts)) if by_words[place]), key=lambda place: -by_words[place]
    )
    votes = [1 / (RANK_CONSTANT + rank) for rank in range(1, len(facts) + 1)]
    for rank, place in enumerate(worded, 1):
        votes[place] += 1 / (RANK_CONSTANT + rank)
    first = reciprocal_rank_fusion([[fact.passage for fact in _sorted(facts, votes)[: recipe.voting]]])
    ranks = {passage.id: _EACH * rank for rank, passage in enumerate(first, 1)}
    for place, fact in enumerate(facts):
        votes[place] += 1 / (RANK_CONSTANT + ranks.get(fact.passage.id, len(facts)))
    ranked = _sorted(facts, votes)
    items = [
        Item(flat(fact.line)[:_LONG], fact.passage, fact.text, fact.answers[0] if fact.answers else "")
        for fact in _distinct(ranked, recipe.lines)
    ]
    voters, others = ranked[: recipe.voting], ranked[recipe.voting :]
    passages = reciprocal_rank_fusion([[fact.passage for fact in voters]])
    chosen = {passage.id for passage in passages}
    further = {fact.passage.id: fact.passage for fact in others if fact.passage.id not in chosen}
    return Evidence(items, [*passages, *further.values()])


def of_passages(rankings: Sequence[Sequence[RankedPassage]]) -> Evidence:
    """Passages of several searches, joined by reciprocal ranks."""
    passages = reciprocal_rank_fusion(rankings)
    return Evidence(list(texts(passages, _ROOM)), passages)


def _sorted(facts: Sequence[FoundFact], votes: Sequence[float]) -> list[FoundFact]:
    return [facts[place] for place in sorted(range(len(facts)), key=lambda place: (-votes[place], place))]


def _overlaps(facts: Sequence[FoundFact], asked: str) -> list[float]:
    """For each fact, how many of the words that are asked for stand in it, rare ones among the facts more."""
    wanted = words_of(asked)
    each = [wanted & words_of(fact.line) for fact in facts]
    often: dict[str, int] = defaultdict(int)
    for words in each:
        for word in words:
            often[word] += 1
    return [fsum(1 / often[word] for word in words) for words in each]


def _distinct(facts: Sequence[FoundFact], most: int) -> list[FoundFact]:
    """The first facts of which none says what one before it says in the same passage."""
    kept: list[tuple[FoundFact, frozenset[str]]] = []
    for fact in facts:
        if len(kept) == most:
            break
        words = words_of(fact.line)
        if not any(
            fact.passage.id == other.passage.id and len(words & theirs) >= _ALIKE * len(words | theirs)
            for other, theirs in kept
        ):
            kept.append((fact, words))
    return [fact for fact, _ in kept]
