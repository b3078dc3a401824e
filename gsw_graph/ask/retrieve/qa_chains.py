"""Chains of question-answer pairs, grown hop by hop along a plan (RICR: Panini, section 2.3 and appendix C),
and the passages they lead to. One query, one embedding batch and one rerank batch a level.

Departures from the published code, with reasons: docs/ricr.md.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field, replace
from itertools import product, zip_longest
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from gsw_graph.ask.plan import Plan, SubQuestion
from gsw_graph.ask.retrieve.entities import best_entities
from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood
from gsw_graph.ask.retrieve.names.linking import lucene_words, mentions
from gsw_graph.ask.retrieve.names.walk import rank_passages, walk_again
from gsw_graph.ask.retrieve.pair_score import ConcreteQuestion, concrete, features, scores
from gsw_graph.ask.retrieve.recipes import CHAIN_SCORES, SIMILARITY_SHARE
from gsw_graph.ask.strategy import Retrieved
from gsw_graph.model.results import QA, Candidate, Chain, Hop, HopTrace
from gsw_graph.store.facts import HopQuestion, hop
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.names.graph import NameGraph
    from gsw_graph.ask.retrieve.names.walk import WalkResult
    from gsw_graph.ask.retrieve.pair_score import Floats
    from gsw_graph.ask.retrieve.recipes import ChainRecipe, FusionRecipe
    from gsw_graph.ask.strategy import Query
    from gsw_graph.store.facts import HopResult, Pair


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair, the ways in which it was found, and how well it answers, in [0, 1]."""

    pair: Pair
    ways: tuple[str, ...]
    score: float

    @property
    def order(self) -> tuple[float, str]:
        """Return the key by which candidates are sorted, best first."""
        return -self.score, self.pair.id


Candidates: TypeAlias = "list[list[ScoredPair]]"
Find: TypeAlias = "Callable[[str, Sequence[ConcreteQuestion]], Candidates]"
Similarity: TypeAlias = "Callable[[str, Sequence[BeamChain]], list[float]]"
Together: TypeAlias = "Callable[[Sequence[float]], float]"
Vectors: TypeAlias = "Mapping[str, Floats]"


class CandidateSearch:
    """Find candidates for the levels of one question. No concrete question is looked up twice.

    Attributes:
        round_trips: Levels that were looked up.
    """

    def __init__(self, context: Context, recipe: ChainRecipe) -> None:
        self._context = context
        self._recipe = recipe
        self._reranker = context.reranker
        self.round_trips = 0
        self._known: dict[str, list[ScoredPair]] = {}
        self._offered: dict[str, list[str]] = {}  # passages whose pairs are candidates too, by question

    def __call__(self, question: str, questions: Sequence[ConcreteQuestion]) -> Candidates:
        """Return scored candidates of each concrete question, best first."""
        new = {item.text: item for item in questions if item.text not in self._known}
        if new:
            self.round_trips += 1
            found = self._find(question, list(new.values()))
            self._known.update(zip(new, found, strict=True))
        return [self._known[item.text] for item in questions]

    def _vectors(self, question: str, questions: Sequence[ConcreteQuestion]) -> Vectors:
        """Embed all texts that the level needs, in one batch."""
        texts = [question]
        for item in questions:
            texts += [item.text, item.relation]
        return self._context.vectors(texts)

    def _find(self, question: str, questions: Sequence[ConcreteQuestion]) -> Candidates:
        """Return scored candidates of the graph."""
        vectors = self._vectors(question, questions)
        result = self._hop(questions, vectors)
        original = vectors[question]
        found = zip(questions, result.candidates, strict=True)
        with self._context.clock("rerank"):
            ranked = [self._ranked(item, pairs, result, original, vectors) for item, pairs in found]
            return self._reranked(questions, ranked)

    def _hop(self, concretes: Sequence[ConcreteQuestion], vectors: Vectors) -> HopResult:
        recipe = self._recipe
        entities: dict[str, list[str]] = {}
        if recipe.entities and not recipe.concepts:
            vectors_of = {item.text: vectors[item.text] for item in concretes}
            entities = best_entities(self._context, vectors_of, recipe.entities)
        with self._context.clock("database"):
            questions = []
            for item in concretes:
                words, keys = "", []
                if recipe.entities and recipe.concepts:
                    words = lucene_words(item.text)
                    keys = list(dict.fromkeys(mention.key for mention in mentions(item.text)))
                asked = HopQuestion(
                    embedding=vectors[item.text].tolist(),
                    words=words,
                    entities=entities.get(item.text, []),
                    keys=keys,
                    passages=self._offered.get(item.text, []),
                )
                questions.append(asked)
            limits = {"pairs": recipe.pairs, "entities": recipe.entities, "common": recipe.common}
            return hop(self._context.reader, questions, **limits)

    def _ranked(
        self,
        item: ConcreteQuestion,
        candidates: Sequence[tuple[Pair, tuple[str, ...]]],
        result: HopResult,
        original: Floats,
        vectors: Vectors,
    ) -> list[ScoredPair]:
        if not candidates:
            return []
        context = self._context
        pairs = [pair for pair, _ in candidates]
        asked, relation = vectors[item.text], vectors[item.relation]
        values = features(item, pairs, result, asked, original, relation)
        chances = scores(values, context.fit, fitted=context.is_fitted).tolist()
        scored = [ScoredPair(*found, chance) for found, chance in zip(candidates, chances, strict=True)]
        scored.sort(key=lambda candidate: candidate.order)
        return scored

    def _reranked(self, questions: Sequence[ConcreteQuestion], ranked: Candidates) -> Candidates:
        """Return the best candidates of each question as the reranker scores them, all in one call."""
        if self._reranker is None:
            return ranked
        best = [candidates[: self._recipe.reranked] for candidates in ranked]
        reads = []
        for item, candidates in zip(questions, best, strict=True):
            reads += [(item.text, document(candidate.pair)) for candidate in candidates]
        new_scores = iter(self._reranker.score(reads).tolist())
        results = []
        for candidates in best:
            rescored = [replace(candidate, score=next(new_scores)) for candidate in candidates]
            results.append(sorted(rescored, key=lambda candidate: candidate.order))
        return results

    def similarity(self, question: str, chains: Sequence[BeamChain]) -> list[float]:
        """Return the cosines of the original question and chains, each written as one text."""
        if not chains:
            return []
        texts = []
        for chain in chains:
            hops = [f"{hop.pair.question} {hop.answer}" for hop in chain.hops]
            texts.append(" ".join(hops))
        vectors = self._context.text_vectors(texts)
        cosines: list[float] = (vectors @ self._context.vector(question)).tolist()
        return cosines


def document(pair: Pair) -> str:
    """Return the text of a pair for a reranker: question, answers, roles and states."""
    answers, descriptions = ", ".join(pair.answers), ", ".join(pair.descriptions)
    return f"{pair.question} {answers} {descriptions}".strip()


def _qa(pair: Pair) -> QA:
    return QA(pair.id, pair.question, list(pair.answers))


_JOINED = 100  # combinations of some parents, the best, that a join goes on with


@dataclass(frozen=True, slots=True)
class Link:
    """One hop of a chain: the concrete question asked at a step, the pair that answers it, and the answer
    that goes on."""

    step: int
    question: str
    concrete: str
    pair: Pair
    answer: str
    score: float
    ways: tuple[str, ...]

    def to_hop(self) -> Hop:
        """Return the hop as part of a result."""
        qa, ways = _qa(self.pair), list(self.ways)
        passage = self.pair.passage
        return Hop(self.step, self.question, self.concrete, self.answer, qa, passage, self.score, ways)


@dataclass(frozen=True, slots=True)
class BeamChain:
    """Links by step, and their score together."""

    links: Mapping[int, Link]
    score: float

    @property
    def hops(self) -> list[Link]:
        """Return the links, each after those it needs, so that the last one ends the chain; a step may need
        a later one of the plan."""
        return list(self.links.values())

    def to_chain(self) -> Chain:
        """Return the chain as part of a result."""
        return Chain(self.score, [link.to_hop() for link in self.hops])


@dataclass(slots=True)
class Considered:
    """A candidate of a concrete question and its outcome."""

    scored: ScoredPair
    fate: str = "not among the best candidates"


@dataclass(slots=True)
class Expansion:
    """A concrete question of a step, the chains that led to it, and its candidates.

    Attributes:
        instead: The original question, asked if nothing was found for any chain of the step.
    """

    step: SubQuestion
    concrete: ConcreteQuestion
    parents: list[BeamChain] = field(default_factory=list)
    considered: list[Considered] = field(default_factory=list)
    instead: ConcreteQuestion | None = None

    @property
    def asked(self) -> ConcreteQuestion:
        """Return the question that the candidates answer."""
        return self.instead or self.concrete

    def to_trace(self) -> HopTrace:
        """Return the expansion as part of a trace."""
        candidates = []
        for candidate in self.considered:
            scored = candidate.scored
            entry = Candidate(_qa(scored.pair), list(scored.ways), scored.score, candidate.fate)
            candidates.append(entry)
        return HopTrace(self.step.id, self.concrete.text, self.instead is not None, candidates)


@dataclass(slots=True)
class Beams:
    """The result of RICR: the chains of every step, best first, and the way there.

    Attributes:
        width: Chains kept.
        planned: False if the question was taken apart without a plan.
    """

    plan: Plan
    width: int
    planned: bool = True
    chains: dict[int, list[BeamChain]] = field(default_factory=dict)
    expansions: list[Expansion] = field(default_factory=list)

    def _by_end(self) -> list[list[BeamChain]]:
        return [self.chains.get(step.id, []) for step in reversed(self.plan.sinks)]

    def ends(self) -> list[BeamChain]:
        """Return the chains that reach an end of the plan: the best of each end, that of the last step first,
        then the second best of each, and so on; without a plan the best first."""
        ends = []
        for rank in zip_longest(*self._by_end()):
            ends += [chain for chain in rank if chain is not None]
        if self.planned:
            return ends
        return sorted(ends, key=lambda chain: -chain.score)[: self.width]

    def best(self) -> list[BeamChain]:
        """Return the best chain of each end of the plan, that of the last step first; without a plan the
        best."""
        if not self.planned:
            return self.ends()[:1]
        return [chains[0] for chains in self._by_end() if chains]


def grow_chains(
    plan: Plan,
    question: str,
    find: Find,
    recipe: ChainRecipe,
    *,
    planned: bool = True,
    similarity: Similarity | None = None,
) -> Beams:
    """Grow chains along a plan.

    Args:
        plan: Sub-questions.
        question: The original question.
        find: Gives scored candidates for the concrete questions of a level, in one round trip.
        recipe: Width of the beam and the like.
        planned: False if the plan is not one that was made for the question.
        similarity: Gives the cosines of the original question and chains, for the scores that need it.
    """
    beams = Beams(plan, recipe.beam, planned)
    together = CHAIN_SCORES[recipe.score]
    share = SIMILARITY_SHARE.get(recipe.score)
    for level in plan.levels():
        by_step = {step.id: _expansions(step, beams, together) for step in level}
        expansions = [expansion for step in level for expansion in by_step[step.id]]
        candidates = find(question, [expansion.concrete for expansion in expansions])
        for expansion, scored in zip(expansions, candidates, strict=True):
            expansion.considered = list(map(Considered, scored))
        lost = []
        for group in by_step.values():
            usable = any(_usable(expansion, own=recipe.own) for expansion in group)
            if recipe.fallback and not usable:
                lost += group
        if lost:
            _fall_back(lost, question, find)
        beams.expansions += expansions
        for step in level:
            grown = _extensions(by_step[step.id], plan, together, recipe)
            if similarity and share:
                cosines = similarity(question, [extension.chain for extension in grown])
                for number, cosine in enumerate(cosines):
                    chain = grown[number].chain
                    chain = replace(chain, score=share * cosine + (1 - share) * chain.score)
                    grown[number] = grown[number]._replace(chain=chain)
            beams.chains[step.id] = _prune(grown, recipe.beam)
    return beams


def _fall_back(lost: Sequence[Expansion], question: str, find: Find) -> None:
    """Ask the original question if nothing was found for any chain of a step."""
    references = SubQuestion(0, question).parents
    instead = concrete(question, {number: f"#{number}" for number in references})  # "#1" is text here
    (scored,) = find(question, [instead])
    for expansion in lost:
        expansion.instead = instead
        expansion.considered = list(map(Considered, scored))


def _expansions(step: SubQuestion, beams: Beams, together: Together) -> list[Expansion]:
    """Return the concrete questions of a step, each once, with the chains that lead to it."""
    expansions: dict[str, Expansion] = {}
    parents = [beams.chains.get(id_, []) for id_ in step.parents]
    for parent in join(parents, together, beams.width):
        question = concrete(step.question, {id_: parent.links[id_].answer for id_ in step.parents})
        expansion = expansions.setdefault(_key(question.text), Expansion(step, question))
        expansion.parents.append(parent)
    return list(expansions.values())


def _chain(links: Mapping[int, Link], together: Together) -> BeamChain:
    return BeamChain(links, together([link.score for link in links.values()]))


def join(parents: Sequence[Sequence[BeamChain]], together: Together, beam: int) -> list[BeamChain]:
    """Return chains of several parents as one: chains that agree on the steps they share, evidence they share
    counted once; the `beam` best."""
    joined = [BeamChain({}, 1.0)]
    for chains in parents:
        agreeing = []
        for first, second in product(joined, chains):
            links = {**first.links, **second.links}
            if all(links[step] == link for step, link in first.links.items()):
                agreeing.append(_chain(links, together))
        joined = sorted(agreeing, key=lambda chain: -chain.score)[:_JOINED]
    return joined[:beam]


def _usable(expansion: Expansion, *, own: bool) -> bool:
    pairs = [candidate.scored.pair for candidate in expansion.considered]
    return any(_refused(expansion, pair, own=own) is None for pair in pairs)


def _refused(expansion: Expansion, pair: Pair, *, own: bool) -> str | None:
    """Return why a pair cannot extend a chain, None if it can. own: Its answer may be an entity of the
    question."""
    if not pair.answers:
        return "has no answer"
    if not own and expansion.asked.entities.issuperset(map(_key, pair.answers)):
        return "its answer is an entity of the question"
    return None


class Extension(NamedTuple):
    """A chain that was grown by a candidate. key: The answers that tell it apart from others."""

    chain: BeamChain
    key: tuple[str, ...]
    candidate: Considered


def _extensions(
    expansions: Sequence[Expansion], plan: Plan, together: Together, recipe: ChainRecipe
) -> list[Extension]:
    """Extend the chains that lead to one step by the best candidates of all its concrete questions.

    If a later step joins two branches, chains with other answers at their shared steps are kept apart;
    otherwise the beam could drop the only pair that agrees.
    """
    grown = []
    for expansion in expansions:
        step = expansion.step
        apart = _agreed_later(plan, step.id)
        count = 0
        for candidate in expansion.considered:
            scored = candidate.scored
            pair = scored.pair
            if reason := _refused(expansion, pair, own=recipe.own):
                candidate.fate = reason
                continue
            if count == recipe.candidates:
                break
            count += 1
            candidate.fate = "below the beam"
            answers = pair.answers[: recipe.beam]
            if step in plan.sinks:
                answers = (", ".join(pair.answers),)
            for parent, answer in product(expansion.parents, answers):
                text = expansion.asked.text
                link = Link(step.id, step.question, text, pair, answer, scored.score, scored.ways)
                links = {**parent.links, step.id: link}
                answers_apart = [answer, *(links[earlier].answer for earlier in apart)]
                key = tuple(map(_key, answers_apart))
                grown.append(Extension(_chain(links, together), key, candidate))
    return grown


def _prune(grown: Sequence[Extension], beam: int) -> list[BeamChain]:
    """Return the best chains over all concrete questions of a step: one for each answer, `beam` in all."""

    def order(extension: Extension) -> tuple[float, tuple[str, ...], list[str]]:
        chain = extension.chain
        return -chain.score, extension.key, [hop.pair.id for hop in chain.hops]

    best: dict[tuple[str, ...], BeamChain] = {}
    for chain, key, candidate in sorted(grown, key=order):
        if key in best:
            if candidate.fate != "kept":
                candidate.fate = "a better chain has the same answer"
        elif len(best) < beam:
            best[key] = chain
            candidate.fate = "kept"
    return list(best.values())


def _agreed_later(plan: Plan, step: int) -> list[int]:
    """Return the ancestors that a step shares with another branch of a later join: chains must agree on them.
    A step that only compares joins nothing."""
    agreed: set[int] = set()
    for later in plan.steps:
        if later.retrieve:
            branches = [plan.ancestors(parent) | {parent} for parent in later.parents]
            if any(step in branch for branch in branches):
                others = [branch for branch in branches if step not in branch]
                agreed |= plan.ancestors(step) & frozenset().union(*others)
    return sorted(agreed)


def _key(answer: str) -> str:
    """Return the concept an answer stands for, in any document."""
    return normalise(answer) or answer


def rank(
    context: Context, question: str, beams: Beams, k: int, recipe: ChainRecipe, *, walk: bool
) -> list[tuple[str, float]]:
    """Return the `k` best passages with their scores; without a walk no round trip is made."""
    mass: dict[str, float] = defaultdict(float)
    chains = beams.ends()
    if chains:
        chain_scores = np.array([chain.score for chain in chains])
        weights = np.exp(recipe.sharpness * (chain_scores - chain_scores.max()))
        weights /= weights.sum()
        for chain, weight in zip(chains, weights.tolist(), strict=True):
            for passage in {hop.pair.passage for hop in chain.hops}:
                mass[passage] += weight
    if walk:
        questions = _walked_from(beams, recipe.walked_from) or [question]
        graph, near = fetch_neighbourhood(context, questions, recipe.walk)
        with context.clock("rank"):
            queries = list(zip(questions, near, strict=True))
            walked = rank_passages(graph, queries, max(k, recipe.walked), recipe.walk)
            for passage, share in walked.shares().items():
                mass[passage] += recipe.walk_weight * share**0.5
    ranked = sorted(mass.items(), key=lambda item: (-item[1], item[0]))
    return ranked[:k]


def _walked_from(beams: Beams, most: int) -> list[str]:
    """Return the concrete questions of the best chains of each end; none without a plan."""
    questions: dict[str, None] = {}
    for sink in beams.plan.sinks if beams.planned else ():
        for chain in beams.chains.get(sink.id, [])[:most]:
            questions.update(dict.fromkeys(hop.concrete for hop in chain.hops))
    return list(questions)


_ASKS = re.compile(
    r"\b(?:who(?:m|se)?|when|where|why|which|what|how (?:many|much|long|old|far|large|big))\b", re.IGNORECASE
)
_REFERENCE = re.compile(r"(?<![^\W_])#(?=[0-9])")


def one_hop(question: str) -> Plan:
    """Return the question as the only step of a plan."""
    return Plan((SubQuestion(1, _REFERENCE.sub(" ", question)),))


def plan_from(question: str) -> Plan:
    """Plan two ways at once: the question in one hop; and a hop to what it names, whatever kind of thing
    that is, then the question with that answer in it."""
    text = _REFERENCE.sub(" ", question)  # "#1" is text here
    rest = _REFERENCE.sub(" ", _ASKS.sub(" ", text))  # again, as "#what#1" had none
    bridge = " ".join(rest.replace("?", " ").split()) or text
    return Plan((SubQuestion(1, text), SubQuestion(2, bridge), SubQuestion(3, f"{text} #2")))


def follow(context: Context, query: Query, find: CandidateSearch, recipe: ChainRecipe) -> Retrieved:
    """Grow chains along the plan, or from the question alone; rank passages by the chains, and by a walk from
    their concrete questions."""
    question, plan = query.question, query.plan
    planned = plan is not None
    if plan is None:
        plan = one_hop(question) if recipe.unplanned == "one" else plan_from(question)
    beams = grow_chains(plan, question, find, recipe, planned=planned, similarity=find.similarity)
    if context.trace is not None:
        context.trace.hops = [expansion.to_trace() for expansion in beams.expansions]
    chains = beams.ends()
    walk = find.round_trips <= len(plan.levels())
    cited = {}
    if chains or walk:
        ranked = dict(rank(context, question, beams, query.k, recipe, walk=walk))
        score_of = dict(ranked)
        for chain in chains:
            for hop in chain.hops:
                score_of.setdefault(hop.pair.passage, 0.0)
        with context.clock("database"):
            fetched = context.reader.passages(list(score_of), list(score_of.values()))
        cited = {passage.id: passage for passage in fetched}
        passages = [cited[id_] for id_ in ranked if id_ in cited]
    else:  # nothing to rank by, and one round trip left
        embedding = context.vector(question).tolist()
        with context.clock("database"):
            nearest = context.reader.dense(embedding, max(query.k, 10), once=True)
        passages = nearest[: query.k]
    return Retrieved(
        passages, beams, cited, why=context.unfitted, evidence=recipe.evidence, reader=recipe.reader
    )


def with_one_pair(context: Context, query: Query, retrieved: Retrieved, sure: float) -> Retrieved:
    """Add the answer of one hop to a result, if its confidence is `sure` at least. A question of several hops
    has words that no one pair speaks of."""
    from gsw_graph.ask.answer.chains import from_chains
    from gsw_graph.ask.retrieve.strategies.fusion import RICR

    question, recipe = query.question, RICR.recipe
    find = CandidateSearch(context, recipe)
    beams = grow_chains(one_hop(question), question, find, recipe, planned=False)
    ends = beams.ends()
    if not ends:
        return retrieved
    best = ends[0]
    with context.clock("database"):
        cited = context.reader.passages([best.hops[-1].pair.passage], [best.score])
    if not cited:  # its document was replaced meanwhile
        return retrieved
    hop = replace(retrieved, beams=beams, cited={passage.id: passage for passage in cited})
    draft = from_chains(question, hop, context.confidence(RICR), answer=True)
    if draft.answer is None or (draft.confidence or 0.0) < sure:
        return retrieved
    return replace(hop, draft=draft)


def bridges(
    graph: NameGraph,
    question: str,
    vector: Floats,
    walked: Sequence[tuple[str, float]],
    pairs: Sequence[tuple[Sequence[str], str]],
    vectors: Floats,
    recipe: FusionRecipe,
) -> list[str]:
    """Return the answers of some pairs that weigh most, `recipe.bridges` of them and none below
    `recipe.least`: walk weight of the passage times exp(sharpness * cosine of pair and question).

    Answers that occur in the question are skipped, and answers without a name that another passage has too: a
    date or a number leads nowhere.

    Args:
        graph: Names and the passages that they occur in.
        question: The question.
        vector: Of the question, length 1.
        walked: Passages with the weight of the first walk.
        pairs: Answers and passage of each.
        vectors: (pairs, dimension), of length 1.
        recipe: Constants.
    """
    if not pairs:
        return []
    weight = dict(walked)
    weights = np.array([weight[passage] for _, passage in pairs])
    cosines = vectors @ vector
    worth = weights * np.exp(recipe.sharpness * cosines)
    padded = f" {normalise(question)} "
    texts: dict[str, str] = {}
    least = 0.0
    for number in np.argsort(-worth, kind="stable"):
        answers, passage = pairs[number]
        for answer in answers:
            if worth[number] < least or len(texts) == recipe.bridges:
                return list(texts.values())
            key = normalise(answer)
            known = not key or key in texts or f" {key} " in padded
            if not known and _leads_on(graph, answer, passage):
                texts[key] = answer
                least = least or recipe.least * float(worth[number])
    return list(texts.values())


def _leads_on(graph: NameGraph, answer: str, passage: str) -> bool:
    """Tell whether a name in the answer occurs in a passage other than this one."""
    own = graph.passage_numbers[passage]
    names = [graph.name_numbers[mention.key] for mention in graph.mentions_in(answer)]
    return any((graph.passages_of(name) != own).any() for name in names)


_LEAST = 1e-9


class WalkingCandidateSearch(CandidateSearch):
    """Find candidates for the levels of one question, and score them with the walk of each concrete
    question."""

    def __init__(self, context: Context, recipe: FusionRecipe) -> None:
        super().__init__(context, recipe.chains)
        self._fusion = recipe

    def _find(self, question: str, questions: Sequence[ConcreteQuestion]) -> Candidates:
        context, recipe = self._context, self._fusion
        self._vectors(question, questions)
        texts = [item.text for item in questions]
        graph, near = fetch_neighbourhood(context, texts, recipe.walk)
        walks = []
        with context.clock("rank"):
            for query in zip(texts, near, strict=True):
                walked = rank_passages(graph, [query], recipe.walked, recipe.walk)
                self._offered[query[0]] = walked.passages[: recipe.offered]
                walks.append(walked)
        candidates = super()._find(question, questions)
        weight = recipe.walk_weight
        found = zip(candidates, walks, strict=True)
        return [rescored(pairs, walked.shares(), weight) for pairs, walked in found]


def rescored(
    candidates: Sequence[ScoredPair], shares: Mapping[str, float], walk_weight: float
) -> list[ScoredPair]:
    """Return candidates scored anew, best first: walk_weight * (sqrt(share) - 1/2) is added to the logit.
    shares: Weights of passages by a walk, 1 for the best."""
    results = []
    for candidate in candidates:
        share = shares.get(candidate.pair.passage, 0.0)
        chance = min(max(candidate.score, _LEAST), 1 - _LEAST)
        logit = log(chance / (1 - chance))
        logit += walk_weight * (share**0.5 - 0.5)
        results.append(replace(candidate, score=1 / (1 + exp(-logit))))
    return sorted(results, key=lambda candidate: candidate.order)


def walk_twice(
    context: Context, question: str, k: int, recipe: FusionRecipe
) -> tuple[WalkResult, list[str] | None]:
    """Walk as `linked` does, take the answers that the best passages offer, and walk once more from the
    question and from the question with these answers in it.

    Returns:
        The last walk, and these answers, None if the best passages have no pairs at all.
    """
    vector = context.vector(question)
    trace = context.trace is not None
    graph, (near,) = fetch_neighbourhood(context, [question], recipe.walk)
    with context.clock("rank"):
        first = rank_passages(graph, [(question, near)], max(k, recipe.best), recipe.walk, trace=trace)
    best = list(zip(first.passages, first.scores, strict=True))[: recipe.best]
    with context.clock("database"):
        offered = context.reader.pairs_of([passage for passage, _ in best])
    pairs = list(zip(offered.answers, offered.passages, strict=True))
    if not pairs:
        return first, None
    with context.clock("rank"):
        answers = bridges(graph, question, vector, best, pairs, offered.vectors, recipe)
    if not answers:
        return first, []
    _, last = walk_again(context, question, near, answers, k, recipe.walk, recipe.nearest, recipe.ask)
    return last, answers
