"""Searches of an agent of `grasp` for facts, and the passages that facts vote for (GRASP, section 3.3):
score(passage) = sum of 1 / (k + rank) over its propositions, k = 60."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import EvidenceLine, passage_lines, sentences_of, single_line
from gsw_graph.ask.answer.quotes import words_of
from gsw_graph.ask.retrieve.names.linking import lucene_words, mentions
from gsw_graph.ask.strategy import RANK_CONSTANT, reciprocal_rank_fusion
from gsw_graph.store import facts as store
from gsw_graph.store.facts import FoundFact
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from gsw_graph.ask.retrieve.agents import Agent
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.recipes import GraspRecipe
    from gsw_graph.model.results import RankedPassage

    Passages: TypeAlias = Sequence[RankedPassage]
    FoundFacts: TypeAlias = Sequence[FoundFact]

_ALIKE = 0.75  # share of two lines' words in common from which they say the same
_EACH = 5  # facts that a passage has among the first, about: so much further down is the next one's rank
_LONG = 300  # characters of a line
_PASSAGE_TOKENS = 450  # tokens of passages, where there are no facts: three of them
_READ = 1_200  # of passages that facts vote for
_SHORT = 100  # of one in the trace
_TRACED = 10  # passages of a search in the trace


@dataclass(frozen=True)
class Evidence:
    """Hold lines, the best first, and passages with their votes, the best first."""

    items: list[EvidenceLine]
    passages: list[RankedPassage]


def search(agent: Agent, statement: str, keywords: str, recipe: GraspRecipe) -> Evidence:
    """Find evidence for a statement by its vector, its words and the keywords."""
    text = f"{statement} {keywords}".strip()
    words = lucene_words(text)

    def facts(context: RetrievalContext) -> Evidence:
        vector = context.vector(statement).tolist()
        keys = [mention.key for mention in mentions(text)]
        with context.clock("database"):
            result = store.near(
                context.reader,
                vector,
                words,
                keys,
                nearest=recipe.near,
                worded=recipe.worded,
                common=recipe.common,
                most=recipe.most,
                units=recipe.units,
                lexical=recipe.lexical,
            )
        return of_facts(result.facts, text, recipe)

    def passages(context: RetrievalContext) -> Evidence:
        vector = context.vector(statement)
        with context.clock("database"):
            dense = context.reader.dense(vector.tolist(), recipe.near)
            lexical = context.reader.bm25(words, recipe.near) if words else []
        evidence = of_passages(dense, lexical)
        if recipe.units != "sentences":
            return evidence
        sentences = _sentences(evidence.passages)
        titled = [f"{fact.passage.title}: {fact.text}" for fact in sentences]
        cosines = context.text_vectors(titled) @ vector
        nearest = [sentences[number] for number in (-cosines).argsort(kind="stable")]
        return of_facts(nearest, text, recipe)

    if recipe.units not in ("sentences", "passages"):
        evidence = _look(agent, "search", text, facts, "read/facts")
        if evidence.items:
            return evidence
        kinds = "propositions and no pairs" if recipe.units == "facts" else recipe.units
        text = f"{text} (no {kinds}: passages)"
    return _look(agent, "search", text, passages, "read/dense", "read/bm25")


def follow(agent: Agent, name: str, fact: str, recipe: GraspRecipe) -> Evidence:
    """Find the facts of a name that are nearest to the fact that is looked for."""

    def run(context: RetrievalContext) -> Evidence:
        vector = context.vector(fact).tolist()
        with context.clock("database"):
            found = store.of_name(context.reader, normalise(name), vector, scan=recipe.scan, most=recipe.most)
        pairs = recipe.units in ("facts", "pairs")
        propositions = recipe.units in ("facts", "propositions")
        facts = [item for item in found.facts if (pairs if item.answers else propositions)]
        return of_facts(facts, fact, recipe) if facts else of_passages(found.passages)

    return _look(agent, "follow", f"{name}: {fact}", run, "read/entity_facts")


def _sentences(passages: Passages) -> list[FoundFact]:
    """Return the sentences of some passages as facts."""
    facts = []
    for passage in passages:
        for number, sentence in enumerate(sentences_of(passage)):
            facts.append(FoundFact(f"{passage.id} {number}", sentence, (), 0.0, passage))
    return facts


def _look(
    agent: Agent, stage: str, text: str, run: Callable[[RetrievalContext], Evidence], *statements: str
) -> Evidence:
    def shown(evidence: Evidence) -> Passages:
        return evidence.passages[:_TRACED]

    def describe(evidence: Evidence) -> str:
        return "; ".join(item.text[:_SHORT] for item in evidence.items[:3]) or "nothing"

    return agent.search(stage, text, run, statements, shown, describe)


def of_facts(facts: FoundFacts, text: str, recipe: GraspRecipe) -> Evidence:
    """Rank facts by vectors and words, and passages by the facts that vote for them (GRASP, section 3.3). The
    rank of its passage counts for a line too."""
    lexical = [fact.lexical for fact in facts]
    if not any(lexical):
        lexical = _overlaps(facts, text)
    worded = [number for number, score in enumerate(lexical) if score]
    worded.sort(key=lambda number: -lexical[number])
    votes = [_vote(rank) for rank in range(1, len(facts) + 1)]
    for rank, number in enumerate(worded, 1):
        votes[number] += _vote(rank)
    voted = _by_votes(facts, votes, recipe)
    if recipe.read == "passages":
        return Evidence(list(passage_lines(voted, _READ, recipe.voted)), voted)
    ranks = {passage.id: _EACH * rank for rank, passage in enumerate(voted, 1)}
    for number, fact in enumerate(facts):
        votes[number] += _vote(ranks.get(fact.passage.id, len(facts)))
    items = []
    ranked = _sorted(facts, votes)
    for fact in _distinct(ranked, recipe.lines):
        answer = fact.answers[0] if fact.answers else ""
        items.append(EvidenceLine(single_line(fact.line)[:_LONG], fact.passage, fact.text, answer))
    passages = {passage.id: passage for passage in _by_votes(facts, votes, recipe)}
    for fact in ranked:
        passages.setdefault(fact.passage.id, fact.passage)
    return Evidence(items, list(passages.values()))


def of_passages(*rankings: Passages) -> Evidence:
    """Return passages of several searches, joined by reciprocal ranks."""
    passages = reciprocal_rank_fusion(rankings)
    return Evidence(list(passage_lines(passages, _PASSAGE_TOKENS)), passages)


def _vote(rank: int) -> float:
    return 1 / (RANK_CONSTANT + rank)


def _sorted(facts: FoundFacts, votes: Sequence[float]) -> list[FoundFact]:
    order = sorted(range(len(facts)), key=lambda number: -votes[number])
    return [facts[number] for number in order]


def _by_votes(facts: FoundFacts, votes: Sequence[float], recipe: GraspRecipe) -> list[RankedPassage]:
    """Return the passages of the facts with the most votes, by reciprocal ranks of their facts."""
    return reciprocal_rank_fusion([[fact.passage for fact in _sorted(facts, votes)[: recipe.voting]]])


def _overlaps(facts: FoundFacts, text: str) -> list[float]:
    """Count for each fact, how many of the words that are asked for occur in it, rare ones among the facts
    more."""
    text_words = words_of(text)
    shared = [text_words & words_of(fact.line) for fact in facts]
    often = Counter(word for words in shared for word in words)
    return [fsum(1 / often[word] for word in words) for words in shared]


def _distinct(facts: FoundFacts, most: int) -> list[FoundFact]:
    """Return the first facts, without a fact that repeats an earlier fact of the same passage."""
    distinct = []
    known: dict[str, list[frozenset[str]]] = defaultdict(list)
    for fact in facts:
        words = words_of(fact.line)
        said = known[fact.passage.id]
        if not any(len(words & other) >= _ALIKE * len(words | other) for other in said):
            distinct.append(fact)
            said.append(words)
    return distinct[:most]
