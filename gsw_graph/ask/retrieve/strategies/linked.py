"""The strategy `linked`: names of the question linked to concepts, a walk over the graph around them,
another walk from the bridge entities that the first found, and an order of what both found.
docs/linked.md."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gsw_graph.ask.retrieve.recipes import LinkedRecipe, RerankRecipe
from gsw_graph.ask.strategy import Query, Retrieved, Strategy
from gsw_graph.errors import ModelError, StoppedError
from gsw_graph.text.scripts import is_uncased

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.names.graph import NameGraph, Near
    from gsw_graph.ask.retrieve.names.linking import Mention
    from gsw_graph.ask.retrieve.names.walk import WalkResult
    from gsw_graph.model.results import RankedPassage

_READ = 8  # sentences in a script without capitals in which titles are looked up
SURE_PASSAGES = 5  # in which the answer is looked for; not k, on which the confidence must not depend


def run(context: Context, query: Query, recipe: LinkedRecipe) -> Retrieved:
    """Walk twice over the part of the graph around the question, in at most three round trips, four
    where the best passages are in a script without capitals."""
    from gsw_graph.ask.retrieve.names.graph import fetch_neighbourhood
    from gsw_graph.ask.retrieve.names.walk import best_sentences, bridge_entities, rank_passages, write_walk

    question, traced = query.question, context.trace is not None
    graph, (near,) = fetch_neighbourhood(context, [question], recipe.walk)
    top_k = max(query.k, recipe.rerank.passages)
    with context.clock("rank"):
        first = result = rank_passages(graph, [(question, near)], top_k, recipe.walk, trace=traced)
    bridges: list[str] = []
    if recipe.bridges.names:
        best = known_passages(context, first, recipe.bridges.passages)
        if any(is_uncased(passage.text) for passage in best):  # names in it are known by a look-up alone
            sentences = best_sentences(question, best, recipe.bridges)[:_READ]
            read = "\n".join(sentence for _, sentence in sentences)
            graph, _ = fetch_neighbourhood(context, [read], recipe.walk, recipe.bridges.nearest)
        with context.clock("rank"):
            bridges = bridge_entities(graph, question, best, recipe.bridges)
    if bridges:
        further = " ".join([question, *bridges])
        graph, (further_near,) = fetch_neighbourhood(context, [further], recipe.walk, recipe.bridges.nearest)
        with context.clock("rank"):
            queries = [(question, near), (further, further_near)]
            result = rank_passages(graph, queries, top_k, recipe.walk, trace=traced)
    passages = fetch_passages(context, result, top_k)
    ranked, sure = in_order(context, graph, question, first.mentions, near, passages, recipe.rerank, query.k)
    if context.trace is not None:
        both = replace(first, passages=result.passages + first.passages, paths=result.paths + first.paths)
        write_walk(context, context.trace, both, ranked, twice=False)
        context.trace.bridges = bridges
    return Retrieved(ranked, confidence=sure)


def known_passages(context: Context, result: WalkResult, top_k: int) -> list[RankedPassage]:
    """Return the first passages of a walk whose texts came with the neighbourhood, with its weights: most
    of its first ones, and no round trip."""
    texts = context.neighbourhood.texts if context.neighbourhood is not None else {}
    scores = zip(result.passages, result.scores, strict=True)
    return [replace(texts[id_], score=score) for id_, score in scores if id_ in texts][:top_k]


def fetch_passages(context: Context, result: WalkResult, top_k: int) -> list[RankedPassage]:
    """Return the first passages of a walk with its weights; texts that are known are not asked for again."""
    texts = context.neighbourhood.texts if context.neighbourhood is not None else {}
    first = replace(result, passages=result.passages[:top_k], scores=result.scores[:top_k])
    if new := [id_ for id_ in first.passages if id_ not in texts]:
        with context.clock("database"):
            texts.update((passage.id, passage) for passage in context.reader.passages(new, [0.0] * len(new)))
    return known_passages(context, first, top_k)


def in_order(
    context: Context,
    graph: NameGraph,
    question: str,
    linked: Sequence[Mention],
    near: Near,
    passages: list[RankedPassage],
    recipe: RerankRecipe,
    k: int,
) -> tuple[list[RankedPassage], float | None]:
    """Put the first passages of a walk and those nearest to the question in order.

    Args:
        context: Of the question; its neighbourhood has the texts of the nearest passages.
        graph: The neighbourhood.
        question: What was asked.
        linked: Names of the question.
        near: Passages near the question, best first, with their cosines.
        passages: Of the walk, with its weights.
        recipe: How many are put in order, and by which weights.
        k: Passages wanted.

    Returns:
        The first `k`, their shares in the softmax as scores, below them the others as the walk has them; and
        how sure it is that the memory holds the answer, None where nothing is put in order.
    """
    from gsw_graph.ask.retrieve.names.walk import QueryTerms, confidence, rerank, text_of

    candidates = passages[: recipe.passages]
    if not candidates:
        return passages[:k], None
    texts = context.neighbourhood.texts if context.neighbourhood is not None else {}
    walked, least = {passage.id for passage in candidates}, candidates[-1].score
    nearest = [id_ for id_, _ in near[: recipe.passages] if id_ in texts and id_ not in walked]
    candidates += [replace(texts[id_], score=least) for id_ in nearest]
    names = [mention.key for mention in linked]
    specificity = graph.specificity(names, recipe.unnamed)
    if context.trace is not None:
        context.trace.specificity = specificity
    relevance = None
    if recipe.relevance * (1 - specificity) > 0:
        try:
            relevance = context.relevance(question, candidates)
        except StoppedError:
            raise
        except ModelError as error:
            context.notes.append(f"the order is without the reranker: {error}")
    with context.clock("rank"):
        terms = QueryTerms(question, list(map(text_of, candidates)))
        numbers, shares = rerank(graph, terms, candidates, near, specificity, recipe, relevance)
        sure = confidence(graph, names, terms, [candidates[n] for n in numbers[:SURE_PASSAGES]])
    first = [replace(candidates[n], score=share) for n, share in zip(numbers[:k], shares, strict=False)]
    ids = {passage.id for passage in candidates}
    rest = [
        replace(passage, score=min(passage.score, shares[-1]))
        for passage in passages
        if passage.id not in ids
    ]
    return (first + rest)[:k], sure


LINKED = Strategy(
    "linked",
    "names of the question, two personalised PageRanks over names and passages, then an order by what "
    "passages say together; no language model",
    run,
    LinkedRecipe(),
    steady=True,
)
