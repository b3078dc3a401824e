"""Where runs come from: what documents say, and what answers to earlier questions stood on."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from gsw_graph.policy import Policy, features
from gsw_graph.retrieve.pruned import runs
from gsw_graph.retrieve.pruned.selection import chosen

if TYPE_CHECKING:
    from gsw_graph.retrieve.context import Context
    from gsw_graph.retrieve.pruned.codebook import Codebook
    from gsw_graph.retrieve.pruned.question import Asked
    from gsw_graph.retrieve.pruned.runs import Scored
    from gsw_graph.retrieve.recipes import PrunedRecipe
    from gsw_graph.retrieve.strategy import Query


def channels(
    context: Context, book: Codebook, query: Query, asked: Asked, recipe: PrunedRecipe
) -> dict[str, Scored]:
    """The chosen runs of each channel, by its name. Raises InputError where the recipe names a policy that
    cannot be read."""
    question = query.question
    cited = _past(context, question, recipe) if context.past else []
    with context.clock("rank"):
        found = {
            "facts": runs.facts(book, asked, recipe),
            "answers": runs.ranked(book, book.runs_in(cited), asked, recipe),
        }
        choices = _choices(query, found, recipe, model=context.llm is not None)
        return {name: chosen(book, one, choices[name], recipe.same) for name, one in found.items()}


def _choices(query: Query, found: dict[str, Scored], recipe: PrunedRecipe, *, model: bool) -> dict[str, str]:
    """What is done with each channel: as the recipe says, or its policy for this question."""
    if not recipe.policy:
        return {"facts": recipe.facts, "answers": recipe.answers}
    scores = {name: one.scores.tolist() for name, one in found.items()}
    steps = len(query.plan.steps) if query.plan else 0
    seen = features(query.question, scores, steps=steps, model=model)
    return asdict(Policy.load(recipe.policy).choose(seen))


def _past(context: Context, question: str, recipe: PrunedRecipe) -> list[str]:
    """Passages that answers to questions like this one cite. What was rejected, or cites what is there no
    more, is left out; what nobody confirmed may point at evidence, as no answer is taken from here."""
    from gsw_graph.store.past import near

    vector, least = context.vector(question).tolist(), recipe.like
    with context.clock("database"):
        found = near(context.reader, vector, recipe.asked)
    good = [
        one
        for one in found
        if one.cosine >= least
        and one.is_citable
        and one.verdict != "rejected"
    ]
    cited = [quoted.passage.id for one in good for quoted in one.quotes]
    return list(dict.fromkeys(cited))
