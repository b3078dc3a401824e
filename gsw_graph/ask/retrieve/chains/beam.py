"""The beam search of RICR: chains grow hop by hop along a plan, with one query, one embedding batch and one
rerank batch a level."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gsw_graph.ask.plan import Plan, SubQuestion
from gsw_graph.ask.retrieve.chains.records import BeamChain, ChainSearch, Considered, Expansion, Link
from gsw_graph.ask.retrieve.pair_score import fill_references
from gsw_graph.ask.retrieve.recipes import CHAIN_SCORES, SIMILARITY_SHARE
from gsw_graph.text.names import normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gsw_graph.ask.retrieve.chains.records import ScoredPair
    from gsw_graph.ask.retrieve.pair_score import ConcreteQuestion
    from gsw_graph.ask.retrieve.recipes import ChainRecipe
    from gsw_graph.store.facts import Pair

Find: TypeAlias = "Callable[[str, Sequence[ConcreteQuestion]], list[list[ScoredPair]]]"
Similarity: TypeAlias = "Callable[[str, Sequence[BeamChain]], list[float]]"
CombineScores: TypeAlias = "Callable[[Sequence[float]], float]"

_JOINED = 100  # best combinations that a join keeps after each parent


def grow_chains(
    plan: Plan,
    question: str,
    find: Find,
    recipe: ChainRecipe,
    *,
    planned: bool = True,
    similarity: Similarity | None = None,
) -> ChainSearch:
    """Grow chains along a plan.

    Args:
        plan: Sub-questions.
        question: The original question.
        find: Gives scored candidates for the concrete questions of a level, in one round trip.
        recipe: Width of the beam and the like.
        planned: Whether the user or a model made the plan.
        similarity: Gives the cosine of the question and each chain, if `recipe.score` needs cosines.
    """
    chain_search = ChainSearch(plan, recipe.beam, planned)
    combine_scores = CHAIN_SCORES[recipe.score]
    share = SIMILARITY_SHARE.get(recipe.score)
    for level in plan.levels():
        by_step = {step.id: _expansions(step, chain_search, combine_scores) for step in level}
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
        chain_search.expansions += expansions
        for step in level:
            grown = _extensions(by_step[step.id], plan, combine_scores, recipe)
            if similarity and share:
                cosines = similarity(question, [extension.chain for extension in grown])
                for number, cosine in enumerate(cosines):
                    chain = grown[number].chain
                    chain = replace(chain, score=share * cosine + (1 - share) * chain.score)
                    grown[number] = grown[number]._replace(chain=chain)
            chain_search.chains[step.id] = _prune(grown, recipe.beam)
    return chain_search


def _fall_back(lost: Sequence[Expansion], question: str, find: Find) -> None:
    """Ask the original question if nothing was found for any chain of a step."""
    references = SubQuestion(0, question).parents
    instead = fill_references(question, {number: f"#{number}" for number in references})  # "#1" is text here
    (scored,) = find(question, [instead])
    for expansion in lost:
        expansion.fallback_question = instead
        expansion.considered = list(map(Considered, scored))


def _expansions(
    step: SubQuestion, chain_search: ChainSearch, combine_scores: CombineScores
) -> list[Expansion]:
    """Return the concrete questions of a step, each once, with the chains that lead to it."""
    expansions: dict[str, Expansion] = {}
    parents = [chain_search.chains.get(id_, []) for id_ in step.parents]
    for parent in join(parents, combine_scores, chain_search.width):
        question = fill_references(step.question, {id_: parent.links[id_].answer for id_ in step.parents})
        expansion = expansions.setdefault(_key(question.text), Expansion(step, question))
        expansion.parents.append(parent)
    return list(expansions.values())


def _chain(links: Mapping[int, Link], combine_scores: CombineScores) -> BeamChain:
    return BeamChain(links, combine_scores([link.score for link in links.values()]))


def join(parents: Sequence[Sequence[BeamChain]], combine_scores: CombineScores, beam: int) -> list[BeamChain]:
    """Join chains, one of each parent, if they agree on the steps they share. Return the `beam` best;
    evidence that chains share counts once."""
    joined = [BeamChain({}, 1.0)]
    for chains in parents:
        agreeing = []
        for first, second in product(joined, chains):
            links = {**first.links, **second.links}
            if all(links[step] == link for step, link in first.links.items()):
                agreeing.append(_chain(links, combine_scores))
        joined = sorted(agreeing, key=lambda chain: -chain.score)[:_JOINED]
    return joined[:beam]


def _usable(expansion: Expansion, *, own: bool) -> bool:
    pairs = [candidate.scored.pair for candidate in expansion.considered]
    return any(_refused(expansion, pair, own=own) is None for pair in pairs)


def _refused(expansion: Expansion, pair: Pair, *, own: bool) -> str | None:
    """Return why a pair cannot extend a chain; None if it can. own: Whether the answer may be an entity of
    the question."""
    if not pair.answers:
        return "has no answer"
    if not own and expansion.asked.entities.issuperset(map(_key, pair.answers)):
        return "its answer is an entity of the question"
    return None


class Extension(NamedTuple):
    """Hold a chain that a candidate extended. key: Answers; of chains with the same key the beam keeps
    one."""

    chain: BeamChain
    key: tuple[str, ...]
    candidate: Considered


def _extensions(
    expansions: Sequence[Expansion], plan: Plan, combine_scores: CombineScores, recipe: ChainRecipe
) -> list[Extension]:
    """Extend the chains that lead to one step by the best candidates of all its concrete questions.

    If a later step joins two branches, chains with other answers at their shared steps are kept apart;
    otherwise the beam could drop the only pair that agrees.
    """
    grown = []
    for expansion in expansions:
        step = expansion.step
        apart = _join_ancestors(plan, step.id)
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
                grown.append(Extension(_chain(links, combine_scores), key, candidate))
    return grown


def _prune(grown: Sequence[Extension], beam: int) -> list[BeamChain]:
    """Return the best chains over all concrete questions of a step: one for each key, at most `beam`."""

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


def _join_ancestors(plan: Plan, step: int) -> list[int]:
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
    """Return the concept of an answer, which is the same in all documents."""
    return normalise(answer) or answer
