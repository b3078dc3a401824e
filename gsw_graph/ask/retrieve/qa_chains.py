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
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gsw_graph.ask.plan import Plan, SubQuestion
from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood
from gsw_graph.ask.retrieve.names.linking import link, lucene_words, mentions
from gsw_graph.ask.retrieve.names.walk import rank_passages
from gsw_graph.ask.retrieve.pair_score import ConcreteQuestion, concrete, features, scores
from gsw_graph.ask.retrieve.recipes import CHAIN_SCORES, SIMILARITY_SHARE
from gsw_graph.ask.strategy import Retrieved
from gsw_graph.model.results import QA, Candidate, HopTrace
from gsw_graph.store.facts import HopQuestion, hop
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.names.graph import NameGraph
    from gsw_graph.ask.retrieve.names.walk import WalkResult
    from gsw_graph.ask.retrieve.recipes import ChainRecipe, FusionRecipe
    from gsw_graph.ask.strategy import Query
    from gsw_graph.models.rerank import Reranker
    from gsw_graph.store.facts import HopResult, Pair


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A pair, the ways it came, and how well it answers, in [0, 1]."""

    pair: Pair
    ways: tuple[str, ...]
    score: float


Candidates: TypeAlias = "list[list[ScoredPair]]"
Find: TypeAlias = "Callable[[str, Sequence[ConcreteQuestion]], Candidates]"
Similarity: TypeAlias = "Callable[[str, Sequence[BeamChain]], list[float]]"
Together: TypeAlias = "Callable[[Sequence[float]], float]"
Vectors: TypeAlias = "Mapping[str, NDArray[np.float32]]"


class CandidateSearch:
    """Finds candidates for the levels of one question. A concrete question that was asked before is not
    asked again."""

    def __init__(self, context: Context, recipe: ChainRecipe) -> None:
        self._context, self._recipe = context, recipe
        self._reranker = context.reranker
        self._known: dict[str, list[ScoredPair]] = {}

    def __call__(self, question: str, questions: Sequence[ConcreteQuestion]) -> Candidates:
        """Return scored candidates of each concrete question, best first."""
        new = list({item.text: item for item in questions if item.text not in self._known}.values())
        if new:
            self._known.update(zip((item.text for item in new), self._find(question, new), strict=True))
        return [self._known[item.text] for item in questions]

    def _vectors(self, question: str, questions: Sequence[ConcreteQuestion]) -> Vectors:
        """Embed all texts that the level needs, in one batch."""
        return self._context.vectors(
            [question, *(text for item in questions for text in (item.text, item.relation))]
        )

    def _find(
        self,
        question: str,
        questions: Sequence[ConcreteQuestion],
        offered: Mapping[str, list[str]] | None = None,
    ) -> Candidates:
        """Return what the graph has, scored. offered: passages whose pairs are candidates of a concrete
        question too."""
        vectors = self._vectors(question, questions)
        result = self._hop(questions, vectors, offered or {})
        with self._context.clock("rerank"):
            ranked = [
                self._ranked(item, candidates, result, vectors[question], vectors)
                for item, candidates in zip(questions, result.candidates, strict=True)
            ]
            return (
                ranked
                if self._reranker is None
                else _reranked(self._reranker, questions, ranked, self._recipe.reranked)
            )

    def _hop(
        self, concretes: Sequence[ConcreteQuestion], vectors: Vectors, offered: Mapping[str, list[str]]
    ) -> HopResult:
        recipe = self._recipe
        limits = {"pairs": recipe.pairs, "entities": recipe.entities, "common": recipe.common}
        with self._context.clock("database"):
            questions = [
                HopQuestion(
                    embedding=vectors[item.text].tolist(),
                    words=lucene_words(item.text) if recipe.entities else "",
                    keys=list({mention.key: 0 for mention in mentions(item.text)}) if recipe.entities else [],
                    passages=offered.get(item.text, []),
                )
                for item in concretes
            ]
            return hop(self._context.reader, questions, **limits)

    def _ranked(
        self,
        item: ConcreteQuestion,
        candidates: Sequence[tuple[Pair, tuple[str, ...]]],
        result: HopResult,
        original: NDArray[np.float32],
        vectors: Vectors,
    ) -> list[ScoredPair]:
        if not candidates:
            return []
        pairs, context = [pair for pair, _ in candidates], self._context
        values = features(item, pairs, result, vectors[item.text], original, vectors[item.relation])
        chances = scores(values, context.fit, fitted=context.is_fitted)
        order = sorted(range(len(pairs)), key=lambda n: (-chances[n], pairs[n].id))
        return [ScoredPair(pairs[n], candidates[n][1], float(chances[n])) for n in order]

    def similarity(self, question: str, chains: Sequence[BeamChain]) -> list[float]:
        """Return the cosines of the original question and chains, each written as one text."""
        texts = [" ".join(f"{hop.pair.question} {hop.answer}" for hop in chain.hops) for chain in chains]
        return (self._context.text_vectors(texts) @ self._context.vector(question)).tolist() if texts else []


def _reranked(
    reranker: Reranker, questions: Sequence[ConcreteQuestion], ranked: Candidates, most: int
) -> Candidates:
    """Return the `most` best candidates of each question as a reranker scores them, all in one call."""
    best = [candidates[:most] for candidates in ranked]
    read = [
        (item.text, document(scored.pair))
        for item, candidates in zip(questions, best, strict=True)
        for scored in candidates
    ]
    new_scores = iter(reranker.score(read).tolist())
    return [
        sorted(
            [replace(scored, score=next(new_scores)) for scored in candidates],
            key=lambda scored: (-scored.score, scored.pair.id),
        )
        for candidates in best
    ]


def document(pair: Pair) -> str:
    """Return what a reranker reads of a pair: question, answers, roles and states."""
    return " ".join([pair.question, ", ".join(pair.answers), ", ".join(pair.descriptions)]).strip()


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


@dataclass(slots=True)
class Considered:
    """A candidate of a concrete question and what became of it."""

    scored: ScoredPair
    fate: str = "not among the best candidates"


@dataclass(slots=True)
class Expansion:
    """A concrete question of a step, the chains that led to it, and what was found for it."""

    step: SubQuestion
    concrete: ConcreteQuestion
    parents: list[BeamChain] = field(default_factory=list)
    considered: list[Considered] = field(default_factory=list)
    instead: ConcreteQuestion | None = (
        None  # the original question, asked where nothing was found for any chain of the step
    )


@dataclass(slots=True)
class Beams:
    """What RICR found: the chains of every step, best first, and the way there.

    planned: False where the question was taken apart without a plan. width: chains kept. queries: texts that
    candidates were looked for, and round_trips that took: a text that was asked before takes none.
    """

    plan: Plan
    width: int
    planned: bool = True
    chains: dict[int, list[BeamChain]] = field(default_factory=dict)
    expansions: list[Expansion] = field(default_factory=list)
    queries: set[str] = field(default_factory=set)
    round_trips: int = 0

    def ends(self) -> list[BeamChain]:
        """Return the chains that reach an end of the plan: the best of each end, that of the last step first,
        then the second best of each, and so on; without a plan the best first."""
        by_end = [self.chains.get(step.id, []) for step in reversed(self.plan.sinks)]
        ends = [chain for rank in zip_longest(*by_end) for chain in rank if chain is not None]
        return ends if self.planned else sorted(ends, key=lambda chain: -chain.score)[: self.width]

    def best(self) -> list[BeamChain]:
        """Return the best chain of each end of the plan, that of the last step first; without a plan the
        best."""
        if not self.planned:
            return self.ends()[:1]
        return [chains[0] for step in reversed(self.plan.sinks) if (chains := self.chains.get(step.id))]


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
        question: The original one.
        find: Gives scored candidates for the concrete questions of a level, in one round trip.
        recipe: Width of the beam and the like.
        planned: False where the plan is none that was made for the question.
        similarity: Gives the cosines of the original question and chains; for the scores that need it.
    """
    beams, together = Beams(plan, recipe.beam, planned), CHAIN_SCORES[recipe.score]
    for level in plan.levels():
        by_step = {step.id: _expansions(step, beams, together) for step in level}
        expansions = [expansion for step in level for expansion in by_step[step.id]]
        candidates = _look_up(find, question, [item.concrete for item in expansions], beams)
        for expansion, scored in zip(expansions, candidates, strict=True):
            expansion.considered = [Considered(item) for item in scored]
        if lost := [
            item for step in level if not any(map(_usable, by_step[step.id])) for item in by_step[step.id]
        ]:
            _fall_back(lost, question, find, beams)
        beams.expansions += expansions
        for step in level:
            grown = _extensions(by_step[step.id], plan, together, recipe)
            if similarity and (share := SIMILARITY_SHARE.get(recipe.score)):
                cosines = similarity(question, [chain for chain, _, _ in grown])
                grown = [
                    (replace(chain, score=share * cosine + (1 - share) * chain.score), key, candidate)
                    for cosine, (chain, key, candidate) in zip(cosines, grown, strict=True)
                ]
            beams.chains[step.id] = _prune(grown, recipe.beam)
    return beams


def _look_up(find: Find, question: str, questions: Sequence[ConcreteQuestion], beams: Beams) -> Candidates:
    new = {item.text for item in questions} - beams.queries
    beams.queries |= new
    beams.round_trips += bool(new)
    return find(question, questions)


def _fall_back(lost: Sequence[Expansion], question: str, find: Find, beams: Beams) -> None:
    """Ask the original question where nothing was found for any chain of a step."""
    instead = concrete(question, {k: f"#{k}" for k in SubQuestion(0, question).parents})  # "#1" is text here
    (scored,) = _look_up(find, question, [instead], beams)
    for expansion in lost:
        expansion.instead, expansion.considered = instead, [Considered(pair) for pair in scored]


def _expansions(step: SubQuestion, beams: Beams, together: Together) -> list[Expansion]:
    """Return the concrete questions of a step, each once, with the chains that lead to it."""
    expansions: dict[str, Expansion] = {}
    for parent in join([beams.chains.get(step_id, []) for step_id in step.parents], together, beams.width):
        question = concrete(
            step.question, {step_id: parent.links[step_id].answer for step_id in step.parents}
        )
        expansions.setdefault(
            normalise(question.text) or question.text, Expansion(step, question)
        ).parents.append(parent)
    return list(expansions.values())


def join(parents: Sequence[Sequence[BeamChain]], together: Together, beam: int) -> list[BeamChain]:
    """Return chains of several parents as one: those that agree on the steps they share, evidence they share
    counted once; the `beam` best."""
    joined = [BeamChain({}, 1.0)]
    for chains in parents:
        agreeing = []
        for first, second in product(joined, chains):
            links = {**first.links, **second.links}
            if all(links[step] == link for step, link in first.links.items()):
                agreeing.append(BeamChain(links, together([link.score for link in links.values()])))
        joined = sorted(agreeing, key=lambda chain: -chain.score)[:_JOINED]
    return joined[:beam]


def _usable(expansion: Expansion) -> bool:
    return any(_refused(expansion, candidate.scored.pair) is None for candidate in expansion.considered)


def _refused(expansion: Expansion, pair: Pair) -> str | None:
    """Say why a pair cannot extend a chain."""
    if not pair.answers:
        return "has no answer"
    if all(_key(answer) in (expansion.instead or expansion.concrete).entities for answer in pair.answers):
        return "its answer is an entity of the question"
    return None


Grown: TypeAlias = "list[tuple[BeamChain, tuple[str, ...], Considered]]"


def _extensions(
    expansions: Sequence[Expansion], plan: Plan, together: Together, recipe: ChainRecipe
) -> Grown:
    """Extend the chains that lead to one step by the best candidates of all its concrete questions; each with
    the answers that tell it apart.

    Where a later join asks chains to agree on earlier steps, chains with other answers there are kept
    apart, or the join might find none that agree.
    """
    grown: Grown = []
    for expansion in expansions:
        step, question = expansion.step, expansion.instead or expansion.concrete
        goes_on = step not in plan.sinks
        apart = _agreed_later(plan, step.id)
        count = 0
        for candidate in expansion.considered:
            scored = candidate.scored
            if reason := _refused(expansion, scored.pair):
                candidate.fate = reason
                continue
            if count == recipe.candidates:
                break
            count += 1
            candidate.fate = "below the beam"
            answers = scored.pair.answers[: recipe.beam] if goes_on else (", ".join(scored.pair.answers),)
            for parent, answer in product(expansion.parents, answers):
                link = Link(
                    step.id, step.question, question.text, scored.pair, answer, scored.score, scored.ways
                )
                links = {**parent.links, step.id: link}
                key = (_key(answer), *(_key(links[earlier].answer) for earlier in apart))
                chain = BeamChain(links, together([link.score for link in links.values()]))
                grown.append((chain, key, candidate))
    return grown


def _prune(grown: Grown, beam: int) -> list[BeamChain]:
    """Return the best chains over all concrete questions of a step: one for each answer, `beam` in all."""

    def order(entry: tuple[BeamChain, tuple[str, ...], Considered]) -> tuple[Any, ...]:
        chain, key, _ = entry
        return -chain.score, key, [hop.pair.id for hop in chain.hops]

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
    """Return the ancestors of a step that a later join finds in a parent without that step too. A step that
    only compares joins nothing."""
    agreed: set[int] = set()
    for later in plan.steps:
        lines = [plan.ancestors(parent) | {parent} for parent in later.parents] if later.retrieve else []
        if any(step in line for line in lines):
            agreed.update(*(plan.ancestors(step) & line for line in lines if step not in line))
    return sorted(agreed)


def _key(answer: str) -> str:
    """Return the concept an answer stands for, in any document."""
    return normalise(answer) or answer


def rank(
    context: Context, question: str, beams: Beams, k: int, recipe: ChainRecipe, *, walk: bool
) -> list[tuple[str, float]]:
    """Return the `k` best passages with their scores; without a walk no round trip is made."""
    mass: dict[str, float] = defaultdict(float)
    if chains := beams.ends():
        scores = np.array([chain.score for chain in chains])
        weights = np.exp(recipe.sharpness * (scores - scores.max()))
        for chain, weight in zip(chains, weights / weights.sum(), strict=True):
            for passage in {hop.pair.passage for hop in chain.hops}:
                mass[passage] += float(weight)
    if walk:
        questions = _walked_from(beams, recipe.walked_from) or [question]
        graph, near = fetch_neighbourhood(context, questions, recipe.walk)
        with context.clock("rank"):
            near_each = list(zip(questions, near, strict=True))
            walked = rank_passages(graph, near_each, max(k, recipe.walked), recipe.walk)
            for passage, weight in zip(walked.passages, walked.scores, strict=True):
                mass[passage] += recipe.walk_weight * (weight / walked.scores[0]) ** 0.5
    return sorted(mass.items(), key=lambda item: (-item[1], item[0]))[:k]


def _walked_from(beams: Beams, most: int) -> list[str]:
    """Return the concrete questions of the best chains of each end; of chains without a plan none."""
    sinks = beams.plan.sinks if beams.planned else ()
    ends = [chain for sink in sinks for chain in beams.chains.get(sink.id, [])[:most]]
    return list(dict.fromkeys(hop.concrete for chain in ends for hop in chain.hops))


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
    bridge = (
        " ".join(_REFERENCE.sub(" ", _ASKS.sub(" ", text)).replace("?", " ").split()) or text
    )  # again: "#what#1" had none
    return Plan((SubQuestion(1, text), SubQuestion(2, bridge), SubQuestion(3, f"{text} #2")))


def follow(context: Context, query: Query, find: CandidateSearch, recipe: ChainRecipe) -> Retrieved:
    """Grow chains along the plan, or from the question alone; passages by the chains, and by a walk from
    what they asked."""
    plan = query.plan or (one_hop if recipe.unplanned == "one" else plan_from)(query.question)
    planned = query.plan is not None
    beams = grow_chains(plan, query.question, find, recipe, planned=planned, similarity=find.similarity)
    if context.trace is not None:
        context.trace.hops = [_hop_trace(expansion) for expansion in beams.expansions]
    chains = beams.ends()
    walk = beams.round_trips <= len(plan.levels())
    if not chains and not walk:  # nothing to rank by, and one round trip left
        embedding = context.vector(query.question).tolist()
        with context.clock("database"):
            passages = context.reader.dense(embedding, max(query.k, 10), once=True)[: query.k]
        return Retrieved(
            passages, beams, why=context.unfitted, evidence=recipe.evidence, reader=recipe.reader
        )
    ranked = dict(rank(context, query.question, beams, query.k, recipe, walk=walk))
    passage_ids = list(
        dict.fromkeys([*ranked, *(hop.pair.passage for chain in chains for hop in chain.hops)])
    )
    with context.clock("database"):
        fetched = context.reader.passages(passage_ids, [ranked.get(id_, 0.0) for id_ in passage_ids])
    cited = {passage.id: passage for passage in fetched}
    passages = [cited[id_] for id_ in ranked if id_ in cited]
    return Retrieved(
        passages, beams, cited, why=context.unfitted, evidence=recipe.evidence, reader=recipe.reader
    )


def _hop_trace(expansion: Expansion) -> HopTrace:
    candidates = [
        Candidate(
            QA(candidate.scored.pair.id, candidate.scored.pair.question, list(candidate.scored.pair.answers)),
            list(candidate.scored.ways),
            candidate.scored.score,
            candidate.fate,
        )
        for candidate in expansion.considered
    ]
    return HopTrace(expansion.step.id, expansion.concrete.text, expansion.instead is not None, candidates)


def with_one_pair(context: Context, query: Query, retrieved: Retrieved, sure: float) -> Retrieved:
    """Return what was found, with the answer of one hop, where its confidence is `sure` at least. A question
    of several hops has words that no one pair speaks of."""
    from gsw_graph.ask.answer.chains import from_chains
    from gsw_graph.ask.retrieve.strategies.fusion import RICR

    plan, chains = one_hop(query.question), RICR.recipe
    beams = grow_chains(plan, query.question, CandidateSearch(context, chains), chains, planned=False)
    ends = beams.ends()
    if not ends:
        return retrieved
    with context.clock("database"):
        cited = context.reader.passages([ends[0].hops[-1].pair.passage], [ends[0].score])
    if not cited:  # its document was replaced meanwhile
        return retrieved
    hop = replace(retrieved, beams=beams, cited={passage.id: passage for passage in cited})
    draft = from_chains(query.question, hop, context.confidence(RICR), answer=True)
    is_sure = (draft.confidence or 0.0) >= sure and draft.answer is not None
    return replace(hop, draft=draft) if is_sure else retrieved


def bridges(
    memory: NameGraph,
    question: str,
    vector: NDArray[np.float32],
    walked: Sequence[tuple[str, float]],
    pairs: Sequence[tuple[Sequence[str], str]],
    vectors: NDArray[np.float32],
    recipe: FusionRecipe,
) -> list[str]:
    """Return the answers of some pairs that weigh most, `recipe.bridges` of them and none below
    `recipe.least`: walk weight of the passage times exp(sharpness * cosine of pair and question).

    Left out is what occurs in the question, and what names nothing that another passage names too: a date or
    a number leads nowhere.

    Args:
        memory: Names and the passages that they occur in.
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
    worth = np.array([weight[passage] for _, passage in pairs]) * np.exp(
        recipe.sharpness * (vectors @ vector)
    )
    padded = f" {normalise(question)} "
    texts: dict[str, str] = {}
    top = 0.0
    for n in np.argsort(-worth, kind="stable"):
        if worth[n] < recipe.least * top or len(texts) == recipe.bridges:
            break
        answers, passage = pairs[n]
        for answer in answers:
            key = normalise(answer)
            if (
                key
                and key not in texts
                and f" {key} " not in padded
                and len(texts) < recipe.bridges
                and _leads_on(memory, answer, passage)
            ):
                texts[key] = answer
                top = top or float(worth[n])
    return list(texts.values())


def _leads_on(memory: NameGraph, answer: str, passage: str) -> bool:
    """Tell whether a name in the answer occurs in a passage other than this one."""
    own = memory.passage_numbers[passage]
    names = (memory.name_numbers[mention.key] for mention in link(mentions(answer), memory.name_numbers))
    return any((memory.passages_of(n) != own).any() for n in names)


_LEAST = 1e-9


class WalkingCandidateSearch(CandidateSearch):
    """Finds candidates for the levels of one question, and scores them with the walk of each concrete
    question."""

    def __init__(self, context: Context, recipe: FusionRecipe) -> None:
        super().__init__(context, recipe.chains)
        self._fusion = recipe

    def _find(
        self,
        question: str,
        questions: Sequence[ConcreteQuestion],
        offered: Mapping[str, list[str]] | None = None,  # the walks offer them
    ) -> Candidates:
        context, recipe = self._context, self._fusion
        self._vectors(question, questions)
        graph, near = fetch_neighbourhood(context, [item.text for item in questions], recipe.walk)
        with context.clock("rank"):
            walked = [
                rank_passages(graph, [(item.text, passages)], recipe.walked, recipe.walk)
                for item, passages in zip(questions, near, strict=True)
            ]
        offered = {
            item.text: result.passages[: recipe.offered]
            for item, result in zip(questions, walked, strict=True)
        }
        candidates = super()._find(question, questions, offered)
        shares = [
            dict(zip(item.passages, (score / item.scores[0] for score in item.scores), strict=True))
            for item in walked
        ]
        return [
            rescored(of_one, share, recipe.walk_weight)
            for of_one, share in zip(candidates, shares, strict=True)
        ]


def rescored(
    candidates: Sequence[ScoredPair], share: dict[str, float], walk_weight: float
) -> list[ScoredPair]:
    """Return candidates scored anew, best first; `share` is what a walk gave to passages, 1 for the best:
    walk_weight * (root of it - 1/2) joins the logit."""
    results = []
    for candidate in candidates:
        chance = min(max(candidate.score, _LEAST), 1 - _LEAST)
        logit = log(chance / (1 - chance)) + walk_weight * (
            share.get(candidate.pair.passage, 0.0) ** 0.5 - 0.5
        )
        results.append(replace(candidate, score=1 / (1 + exp(-logit))))
    return sorted(results, key=lambda candidate: (-candidate.score, candidate.pair.id))


def walk_twice(
    context: Context, question: str, k: int, recipe: FusionRecipe
) -> tuple[WalkResult, list[str] | None]:
    """Walk as `linked` does, take the answers that its best passages offer, and walk once more from the
    question and from the question with these in it. Return what the last walk found, and these answers, None
    where the best passages have no pairs at all."""
    vector, trace = context.vector(question), context.trace is not None
    graph, (near,) = fetch_neighbourhood(context, [question], recipe.walk)
    with context.clock("rank"):
        first = rank_passages(graph, [(question, near)], max(k, recipe.best), recipe.walk, trace=trace)
    best = list(zip(first.passages, first.scores, strict=True))[: recipe.best]
    with context.clock("database"):
        offered = context.reader.pairs_of([passage for passage, _ in best])
    with context.clock("rank"):
        pairs = list(zip(offered.answers, offered.passages, strict=True))
        bridge_texts = bridges(graph, question, vector, best, pairs, offered.vectors, recipe)
    if not bridge_texts:
        return first, [] if pairs else None
    further = " ".join([question, *bridge_texts])
    graph, (further_near,) = fetch_neighbourhood(context, [further], recipe.walk, recipe.nearest)
    with context.clock("rank"):
        questions = [(question, near), (further, further_near)]
        return rank_passages(
            graph, questions, k, recipe.walk, weights=[1.0, recipe.ask], trace=trace
        ), bridge_texts
