"""Run the strategy `linked`: link names of the question to concepts, walk over the graph around them, walk
again from bridge entities of the first walk, and order the passages of both. docs/linked.md."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.ask.retrieve.recipes import LinkedRecipe, RerankRecipe
from gsw_graph.ask.strategy import Query, RetrievalResult, Strategy
from gsw_graph.errors import ModelError, ModelUnavailableError
from gsw_graph.text.scripts import is_uncased

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.ask.retrieve.names.graph import NameGraph, Near
    from gsw_graph.ask.retrieve.names.linking import Mention
    from gsw_graph.ask.retrieve.names.walk import WalkResult
    from gsw_graph.model.results import RankedPassage

_READ = 8  # sentences in a script without capitals in which titles are looked up
SURE_PASSAGES = 5  # in which the answer is looked for; not k, on which the confidence must not depend


def retrieve(context: RetrievalContext, query: Query, recipe: LinkedRecipe) -> RetrievalResult:
    """Walk twice over the part of the graph around the question, in at most three round trips, or four if the
    best passages are in a script without capitals."""
    from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood
    from gsw_graph.ask.retrieve.names.rerank import best_sentences, bridge_entities
    from gsw_graph.ask.retrieve.names.trace import write_walk
    from gsw_graph.ask.retrieve.names.walk import rank_passages, walk_again

    question, trace = query.question, context.trace
    walk, bridging = recipe.walk, recipe.bridges
    top_k = max(query.k, recipe.rerank.passages)
    graph, (near,) = fetch_neighbourhood(context, [question], walk)
    with context.clock("rank"):
        first = rank_passages(graph, [(question, near)], top_k, walk, trace=trace is not None)
    result = first
    bridges: list[str] = []
    if bridging.names:
        best = known_passages(context, first, bridging.passages)
        if any(is_uncased(passage.text) for passage in best):  # only a look-up finds the names in it
            sentences = best_sentences(question, best, bridging)[:_READ]
            read = "\n".join(sentence for _, sentence in sentences)
            graph, _ = fetch_neighbourhood(context, [read], walk, bridging.nearest)
        with context.clock("rank"):
            bridges = bridge_entities(graph, question, best, bridging)
    if bridges:
        graph, result = walk_again(context, question, near, bridges, top_k, walk, bridging.nearest)
    passages = fetch_passages(context, result, top_k)
    ranked, sure = rerank_passages(
        context, graph, question, first.mentions, near, passages, recipe.rerank, query.k
    )
    if trace is not None:
        both = replace(first, passages=result.passages + first.passages, paths=result.paths + first.paths)
        write_walk(context, trace, both, ranked, twice=False)
        trace.bridges = bridges
    return RetrievalResult(ranked, confidence=sure)


def known_passages(context: RetrievalContext, result: WalkResult, top_k: int) -> list[RankedPassage]:
    """Return the first passages of a walk, with its weights, whose texts came with the neighbourhood. These
    are most of its first passages, and take no round trip."""
    texts = context.neighbourhood.texts
    scores = zip(result.passages, result.scores, strict=True)
    known = [replace(texts[id_], score=score) for id_, score in scores if id_ in texts]
    return known[:top_k]


def fetch_passages(context: RetrievalContext, result: WalkResult, top_k: int) -> list[RankedPassage]:
    """Return the first passages of a walk with its weights; fetch only texts that are not known."""
    texts = context.neighbourhood.texts
    first = result.first(top_k)
    new = [id_ for id_ in first.passages if id_ not in texts]
    if new:
        with context.clock("database"):
            fetched = context.reader.passages(new, [0.0] * len(new))
        texts.update({passage.id: passage for passage in fetched})
    return known_passages(context, first, top_k)


def rerank_passages(
    context: RetrievalContext,
    graph: NameGraph,
    question: str,
    linked: Sequence[Mention],
    near: Near,
    passages: list[RankedPassage],
    recipe: RerankRecipe,
    k: int,
) -> tuple[list[RankedPassage], float | None]:
    """Order the first passages of a walk together with the passages nearest to the question.

    Args:
        context: Context of the question, whose neighbourhood has the texts of the nearest passages.
        graph: The neighbourhood.
        question: The question.
        linked: Ids of the names in the question.
        near: Passages near the question, best first, with their cosines.
        passages: Passages of the walk, with its weights.
        recipe: Number of ordered passages, and weights of features.
        k: Number of passages.

    Returns:
        The top `k` with their softmax shares as scores, then the remaining passages in the order of the walk;
        and the probability that the memory can answer, None if no passage is ordered.
    """
    from gsw_graph.ask.retrieve.names.rerank import QueryTerms, confidence, rerank, text_of

    candidates = passages[: recipe.passages]
    if not candidates:
        return passages[:k], None
    texts = context.neighbourhood.texts
    ids = {passage.id for passage in candidates}
    least = candidates[-1].score
    for id_, _ in near[: recipe.passages]:
        if id_ in texts and id_ not in ids:
            ids.add(id_)
            candidates.append(replace(texts[id_], score=least))
    names = [mention.key for mention in linked]
    specificity = graph.specificity(names, recipe.unnamed)
    if context.trace is not None:
        context.trace.specificity = specificity
    relevance = None
    if recipe.relevance > 0 and specificity < 1:
        try:
            relevance = context.relevance(question, candidates)
        except ModelUnavailableError:
            raise
        except ModelError as error:
            context.notes.append(f"the order is without the reranker: {error}")
    with context.clock("rank"):
        terms = QueryTerms(question, list(map(text_of, candidates)))
        numbers, shares = rerank(graph, terms, candidates, near, specificity, recipe, relevance)
        order = [candidates[number] for number in numbers]
        sure = confidence(graph, names, terms, order[:SURE_PASSAGES])
    scored = zip(order[:k], shares, strict=False)
    first = [replace(passage, score=share) for passage, share in scored]
    rest = [passage for passage in passages if passage.id not in ids]
    first += [replace(passage, score=min(passage.score, shares[-1])) for passage in rest]
    return first[:k], sure


LINKED = Strategy(
    "linked",
    "names of the question, two personalised PageRanks over names and passages, then an order by what "
    "passages say together; no language model",
    retrieve,
    LinkedRecipe(),
    prefix_stable=True,
)
