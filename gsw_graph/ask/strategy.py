"""What a strategy is: what it is given, what it gives back, and the record that the table of strategies is
made of.

`CONTRIBUTING.md` shows how one is added.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gsw_graph.ask.answer.evidence import Item
    from gsw_graph.ask.plan import Plan
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.ask.retrieve.qa_chains import Beams
    from gsw_graph.model.results import Citation, Conflict, PastAnswer, RankedPassage

Need = Literal["pairs", "propositions", "llm"]
Gives = Literal["passages", "chains", "answer"]
RecipeT = TypeVar("RecipeT")


@dataclass(frozen=True, slots=True)
class Query:
    """A question and what is wanted for it. plan: sub-questions to follow, where there is one. k: passages
    wanted. answer: whether an answer is wanted, or the evidence alone. below: so many passages below these
    are wanted for a reader, of a strategy that has them for nothing."""

    question: str
    plan: Plan | None = None
    k: int = 5
    answer: bool = True
    below: int = 0


@dataclass(frozen=True)
class AnswerDraft:
    """What is answered, how sure that is, and what it stands on. source: "llm", "chain", "past" or "none".
    missing: what the evidence lacks. tokens: `evidence` and `prompt` as they were sent to a language model.
    inferred: it follows from what it stands on, and does not stand there."""

    answer: str | None = None
    source: str = "none"
    abstained: bool = False
    confidence: float | None = None
    citations: list[Citation] = field(default_factory=list)
    missing: str | None = None
    tokens: dict[str, int] = field(default_factory=dict)
    inferred: bool = False


@dataclass(frozen=True)
class Retrieved:
    """What a strategy found.

    passages: best first; below: those that come next, where the query wanted them. beams: its chains, where
    it grows them, and cited: their passages by id. draft: an answer of its own, with its own evidence;
    without one the answer is read off the chains, or worded by the language model from what was found. plan:
    the one it made, where it makes its own. ran: the strategy that ran, where it was not the one asked for,
    and why: words after "as".
    note: what could not be done on the way, as where the language model gave no reply that could be used;
    `eval` counts it as a failure. conflicts: where passages say different things. past: the earlier question
    that it comes from. items: what a language model reads, in the place of chains and passages; evidence,
    reader: else in which form it reads these, and by which prompt, where the question does not say.
    confidence: where there are no chains, how sure it is that the memory holds the answer.
    """

    passages: list[RankedPassage]
    beams: Beams | None = None
    cited: dict[str, RankedPassage] = field(default_factory=dict)
    draft: AnswerDraft | None = None
    plan: Plan | None = None
    ran: str | None = None
    why: str | None = None
    note: str | None = None
    conflicts: list[Conflict] = field(default_factory=list)
    below: list[RankedPassage] = field(default_factory=list)
    past: PastAnswer | None = None
    items: list[Item] | None = None
    evidence: str = "lines"
    reader: str = "answer"
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class ChainConfidence:
    """A logistic scale over the features of chains (`answer.chains`), fitted to a strategy, as walks raise
    the scores of pairs; without weights the plain mean of the hops."""

    weights: tuple[float, ...]
    bias: float


@dataclass(frozen=True)
class Strategy(Generic[RecipeT]):
    """A way to find what answers a question.

    name: of `--strategy`. help: one line. run: finds; it may search, call the language model of the context,
    search again, and bring its own answer. recipe: its constants; recipes: its own and others by name, where
    they have names. follows_plan: a plan can be given, and where a language model is set one is made for it.
    makes_plan: none is, as it takes the question apart itself. needs: what it cannot run without. gives: what
    comes back. confidence: how sure its chains are. steady: its first passages are the same however many
    are wanted, and more cost nothing to speak of. scoped: it searches within a scope.
    """

    name: str
    help: str
    run: Callable[[Context, Query, RecipeT], Retrieved]
    recipe: RecipeT
    recipes: Mapping[str, RecipeT] = field(default_factory=dict)
    follows_plan: bool = False
    makes_plan: bool = False
    needs: frozenset[Need] = frozenset()
    gives: frozenset[Gives] = frozenset({"passages"})
    confidence: ChainConfidence | None = None
    steady: bool = False
    scoped: bool = True

    def __call__(self, context: Context, query: Query) -> Retrieved:
        """Run it with its recipe."""
        if not (self.steady and query.below):
            return self.run(context, query, self.recipe)
        found = self.run(context, replace(query, k=query.k + query.below, below=0), self.recipe)
        return replace(found, passages=found.passages[: query.k], below=found.passages[query.k :])

    def with_recipe(self, recipe: RecipeT) -> Strategy[RecipeT]:
        """Return the same with other constants."""
        return replace(self, recipe=recipe)


@dataclass(frozen=True, slots=True)
class NoRecipe:
    """Of a strategy without constants."""


RANK_CONSTANT = 60  # k of Cormack 2009


def reciprocal_rank_fusion(
    rankings: Iterable[Sequence[RankedPassage]],
    weights: Iterable[float] = repeat(1.0),
    k: float = RANK_CONSTANT,
) -> list[RankedPassage]:
    """Fuse rankings: score = sum of weight / (k + rank), each passage once, the best first."""
    scores: dict[str, float] = {}
    passages: dict[str, RankedPassage] = {}
    for ranking, weight in zip(rankings, weights, strict=False):
        for rank, passage in enumerate(ranking, 1):
            passages.setdefault(passage.id, passage)
            scores[passage.id] = scores.get(passage.id, 0.0) + weight / (k + rank)
    return [replace(passages[id_], score=scores[id_]) for id_ in sorted(scores, key=lambda id_: -scores[id_])]
