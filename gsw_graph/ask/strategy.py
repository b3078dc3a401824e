"""Define strategies: the query, the result, and the record in the table of strategies.

`CONTRIBUTING.md` shows how to add a strategy.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gsw_graph.ask.answer.evidence import EvidenceLine
    from gsw_graph.ask.plan import Plan
    from gsw_graph.ask.retrieve.chains.records import BeamChain, ChainSearch
    from gsw_graph.ask.retrieve.context import RetrievalContext
    from gsw_graph.model.results import CachedAnswer, Citation, Conflict, RankedPassage, Statement

Need = Literal["pairs", "propositions", "llm"]
Gives = Literal["passages", "chains", "answer"]
RecipeT = TypeVar("RecipeT")


@dataclass(frozen=True, slots=True)
class Query:
    """Hold a question with its options.

    Attributes:
        plan: Sub-questions to follow.
        k: The number of passages.
        answer: Whether to answer, or to return only the evidence.
        extra_k: The number of further passages for the reader, from a strategy that returns them at no cost.
        plan_source: Source of the plan, "given" or "llm".
        plan_note: Why the language model made no plan.
    """

    question: str
    plan: Plan | None = None
    k: int = 5
    answer: bool = True
    extra_k: int = 0
    plan_source: str | None = None
    plan_note: str | None = None


@dataclass(frozen=True)
class AnswerDraft:
    """Hold an answer with its confidence and citations.

    Attributes:
        source: "llm", "chain", "cache", "graph", "added" (by a person) or "none".
        missing: Missing evidence, in words.
        tokens: Tokens of `evidence` and `prompt`, as sent to a language model.
        inferred: Whether the answer follows from the citations without being stated there.
        text: The answer in full, with the numbers of its citations; None if it is as short as the answer.
        statements: The parts of the answer.
    """

    answer: str | None = None
    source: str = "none"
    abstained: bool = False
    confidence: float | None = None
    citations: list[Citation] = field(default_factory=list)
    missing: str | None = None
    tokens: dict[str, int] = field(default_factory=dict)
    inferred: bool = False
    text: str | None = None
    statements: list[Statement] = field(default_factory=list)


@dataclass(frozen=True)
class RetrievalResult:
    """Hold the result of a strategy.

    Attributes:
        passages: Passages, best first.
        chain_search: The chains.
        chain_passages: The passages of the chains, by id.
        draft: The strategy's own answer; without it, chains or the language model answer.
        plan: The strategy's own plan.
        ran: The strategy that ran, if another than the chosen one.
        why: Reason that `ran` was chosen, as words after "as".
        note: A failure on the way, such as a useless reply of the language model; `eval` counts it.
        conflicts: Contradictions between passages.
        extra: The passages after `passages`, as many as the query names.
        cached: The earlier question whose answer this is.
        items: The evidence for the language model, instead of chains and passages.
        evidence: The form of the evidence, if the options name none.
        prompt_name: The prompt of the answer.
        confidence: Without chains, the probability that the memory contains the answer.
        selected: Whether a language model chose the passages; a small confidence then decides nothing.
    """

    passages: list[RankedPassage]
    chain_search: ChainSearch | None = None
    chain_passages: dict[str, RankedPassage] = field(default_factory=dict)
    draft: AnswerDraft | None = None
    plan: Plan | None = None
    ran: str | None = None
    why: str | None = None
    note: str | None = None
    conflicts: list[Conflict] = field(default_factory=list)
    extra: list[RankedPassage] = field(default_factory=list)
    cached: CachedAnswer | None = None
    items: list[EvidenceLine] | None = None
    evidence: str = "lines"
    prompt_name: str = "answer"
    confidence: float | None = None
    selected: bool = False

    @property
    def chains(self) -> list[BeamChain]:
        """Return the chains that reach an end of the plan, best first."""
        return self.chain_search.ends() if self.chain_search is not None else []

    @property
    def best_chains(self) -> list[BeamChain]:
        """Return the best chain of each end of the plan."""
        return self.chain_search.best() if self.chain_search is not None else []

    def split(self, query: Query) -> RetrievalResult:
        """Return the result with the first `query.k` passages, and the next `query.extra_k` below them."""
        first, rest = self.passages[: query.k], self.passages[query.k :]
        return replace(self, passages=first, extra=rest[: query.extra_k])


# A logistic model over the features of chains (`answer.chains`): its weights, then the bias. It is fitted to
# a strategy, as walks raise the scores of pairs. Without numbers it is the mean of the hops.
ChainScale: TypeAlias = "tuple[float, ...]"


@dataclass(frozen=True)
class Strategy(Generic[RecipeT]):
    """Retrieve passages for a question.

    Attributes:
        name: The name for `--strategy`.
        help: A line of help.
        run: Retrieves; it may search, call the language model, search again, and answer.
        recipe: Constants of the strategy.
        recipes: Recipes by name.
        follows_plan: Whether it follows a plan, of the user or of a language model.
        makes_plan: Whether it makes its own plan, so that no other is made.
        needs: Parts that it requires, such as "llm".
        gives: Parts of its result.
        confidence: The scale of the confidence of its chains.
        prefix_stable: Whether its first passages do not depend on `k`, and further passages cost little.
    """

    name: str
    help: str
    run: Callable[[RetrievalContext, Query, RecipeT], RetrievalResult]
    recipe: RecipeT
    recipes: Mapping[str, RecipeT] = field(default_factory=dict)
    follows_plan: bool = False
    makes_plan: bool = False
    needs: frozenset[Need] = frozenset()
    gives: frozenset[Gives] = frozenset({"passages"})
    confidence: ChainScale | None = None
    prefix_stable: bool = False

    def __call__(self, context: RetrievalContext, query: Query) -> RetrievalResult:
        """Run the strategy with its recipe."""
        if not (self.prefix_stable and query.extra_k):
            return self.run(context, query, self.recipe)
        wide = replace(query, k=query.k + query.extra_k, extra_k=0)
        return self.run(context, wide, self.recipe).split(query)

    @property
    def wants_plan(self) -> bool:
        """Tell whether a language model makes a plan for it."""
        reads_triples = getattr(self.recipe, "symbols", False)  # in the place of sub-questions
        return self.follows_plan and not (self.makes_plan or reads_triples)

    def with_recipe(self, recipe: RecipeT) -> Strategy[RecipeT]:
        """Return the strategy with other constants."""
        return replace(self, recipe=recipe)


@dataclass(frozen=True, slots=True)
class NoRecipe:
    """Hold no constants, for a strategy without any."""


RANK_CONSTANT = 60  # k of Cormack 2009


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[RankedPassage]],
    weights: Iterable[float] = repeat(1.0),
    k: float = RANK_CONSTANT,
) -> list[RankedPassage]:
    """Fuse rankings: score = sum of weight / (k + rank); each passage once, best first."""
    scores: dict[str, float] = {}
    passages: dict[str, RankedPassage] = {}
    for ranking, weight in zip(rankings, weights, strict=False):
        for rank, passage in enumerate(ranking, 1):
            id_ = passage.id
            passages.setdefault(id_, passage)
            scores[id_] = scores.get(id_, 0.0) + weight / (k + rank)
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    return [replace(passages[id_], score=score) for id_, score in ranked]
