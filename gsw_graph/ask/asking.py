"""A question from end to end: plan -> retrieve -> answer -> report."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.answer.chains import from_chains, shown
from gsw_graph.ask.answer.evidence import BELOW
from gsw_graph.ask.conflicts import weighed, with_conflicts
from gsw_graph.ask.plan import parse
from gsw_graph.ask.retrieve.context import EVIDENCE
from gsw_graph.ask.retrieve.strategies import strategies
from gsw_graph.ask.strategy import AnswerDraft, Query, Retrieved, Strategy
from gsw_graph.errors import InputError, ReplyError
from gsw_graph.model.results import Answer, Trace
from gsw_graph.models.chat.language_model import Spent

if TYPE_CHECKING:
    from gsw_graph.ask.answer.evidence import Show
    from gsw_graph.ask.retrieve.context import Context
    from gsw_graph.models.chat.language_model import QuestionModel

MOST = 10_000  # passages of an answer


@dataclass(frozen=True)
class Planned:
    """A query with its plan, where there is one. source: "given" or "llm". note: why the language
    model made none."""

    query: Query
    source: str | None = None
    note: str | None = None


def prepared(
    question: str,
    strategy: str | Strategy[Any],
    *,
    plan: object = None,
    k: int = 5,
    answer: bool = True,
    evidence: str = "lines",
) -> tuple[Strategy[Any], Planned]:
    """What is asked, checked. plan: in any form that `plan.parse` reads; None or False for none. Raises
    InputError."""
    if evidence not in EVIDENCE:
        raise InputError(f"there is no form of evidence {evidence!r}", hint=f"Use {' or '.join(EVIDENCE)}")
    if isinstance(strategy, str):
        if strategy not in strategies():
            hint = f"Use one of {', '.join(strategies())}"
            raise InputError(f"there is no strategy {strategy!r}", hint=hint)
        strategy = strategies()[strategy]
    given = plan is not None and plan is not False
    if given and not strategy.follows_plan:
        followers = " or ".join(
            one.name for one in strategies().values() if one.follows_plan and one.name != "auto"
        )
        raise InputError(
            f"{strategy.name} does not follow a plan", hint=f"Ask without one, or with --strategy {followers}"
        )
    if not question.strip():
        raise InputError("the question is empty")
    if not 1 <= k <= MOST:
        raise InputError(f"k is {k}", hint=f"Ask for at least one passage, and at most {MOST:,}")
    return strategy, Planned(
        Query(question, parse(plan) if given else None, k, answer), "given" if given else None
    )


def ask(
    strategy: Strategy[Any],
    planned: Planned,
    context: Context,
    *,
    may_plan: bool = True,
    trace: bool = False,
    past: bool = False,
) -> Answer:
    """Answer a question by a memory that is not empty. past: from a question that was asked before, where it
    was this one in other words. may_plan: whether the language model, where there is
    one, may make a plan. trace: the answer has the context's trace."""
    start = perf_counter()
    if "llm" in strategy.needs and context.llm is None:
        hint = "Name one by --llm or GSWGRAPH_LLM, or ask with another strategy"
        raise InputError(f"{strategy.name} needs a language model", hint=hint)
    found = None
    if past:
        from gsw_graph.ask.question_cache import answer_from_cache

        found = answer_from_cache(planned.query, context)
    if found is None:
        if may_plan and planned.query.plan is None:
            planned = _plan(strategy, planned, context)
        read = context.llm is not None and planned.query.answer
        found = strategy(context, replace(planned.query, below=BELOW) if read else planned.query)
        if planned.query.answer:
            found = with_conflicts(context, found)
    draft, note = _answer(strategy, planned.query, found, context)
    draft = weighed(replace(draft, missing=_missing(found, draft, context)), found.conflicts)
    seconds = {**context.seconds, "total": perf_counter() - start}
    answer = _report(strategy, planned, found, draft, context, note, seconds)
    return answer if trace else replace(answer, trace=None)


def nothing(strategy: Strategy[Any], planned: Planned, llm: QuestionModel | None) -> Answer:
    """What an empty memory answers. llm: the language model that would have been asked."""
    query, spent = planned.query, _spent(llm)
    ran = strategy.name if strategy.name != "auto" else "fusion" if query.plan else "linked"
    return Answer(
        question=query.question,
        strategy=ran,
        answer=None,
        answer_source="none",
        abstained=True,
        confidence=None,
        missing="the memory is empty",
        citations=[],
        passages=[],
        chains=[],
        plan=query.plan.to_list() if query.plan else None,
        plan_source=planned.source,
        round_trips=0,
        seconds={"total": 0.0},
        tokens={**spent.tokens, "evidence": 0, "prompt": 0},
        dollars=spent.dollars,
        models={"embedder": None, "reranker": None, "llm": llm.model if llm else None},
    )


def _plan(strategy: Strategy[Any], planned: Planned, context: Context) -> Planned:
    """The model's plan, or why there is none: the question can be asked without. Without pairs there is
    nothing that a plan leads along, and a strategy that makes its own needs no other."""
    llm = context.llm
    if llm is None or not strategy.follows_plan or strategy.makes_plan or not context.has_pairs:
        return planned
    from gsw_graph.ask.plan import decompose

    with context.clock("plan"):
        try:
            return Planned(replace(planned.query, plan=decompose(planned.query.question, llm)), "llm")
        except ReplyError as error:
            return replace(planned, note=f"{llm.model} made no plan: {error}")


def _answer(
    strategy: Strategy[Any], query: Query, found: Retrieved, context: Context
) -> tuple[AnswerDraft, str | None]:
    """The strategy's own answer, else what its chains say, else what the language model reads from what
    was found; and why that read nothing."""
    if found.draft is not None:
        return found.draft, None
    ran = (
        strategies().get(found.ran, strategy) if found.ran else strategy
    )  # it may be one that the table has not
    draft = from_chains(query.question, found, ran.confidence, answer=query.answer)
    if context.llm is None or not query.answer:
        return draft, None
    from gsw_graph.ask.answer.reader import from_model

    with context.clock("answer"):
        try:
            return from_model(
                query.question,
                found,
                draft.confidence,
                context.llm,
                context.on_text,
                _shown(context),
            ), None
        except ReplyError as error:  # what was found stands
            return draft, f"{context.llm.model} gave no answer: {error}"


def _shown(context: Context) -> Show:
    """The form of the evidence that a language model is shown."""
    if context.evidence == "compact":
        from gsw_graph.ask.answer.compact import CompactEvidence

        return CompactEvidence(context)
    from gsw_graph.ask.answer.evidence import lines

    return lines


def _missing(found: Retrieved, draft: AnswerDraft, context: Context) -> str | None:
    """What the evidence lacks or, where nothing was found, what the memory as a whole does."""
    if not draft.abstained or (found.beams is not None and found.beams.ends()):
        return draft.missing
    if not found.passages and not context.reader.size()[1]:
        return "the memory is empty"
    if found.beams is not None and not context.has_pairs:
        return "the memory holds no question-answer pairs, of which chains are made"
    return draft.missing


def _report(
    strategy: Strategy[Any],
    planned: Planned,
    found: Retrieved,
    draft: AnswerDraft,
    context: Context,
    note: str | None,
    seconds: dict[str, float],
) -> Answer:
    plan, spent = planned.query.plan or found.plan, _spent(context.llm)
    return Answer(
        question=planned.query.question,
        strategy=found.ran or strategy.name,
        answer=draft.answer,
        answer_source=draft.source,
        abstained=draft.abstained,
        confidence=draft.confidence,
        missing=draft.missing,
        citations=draft.citations,
        passages=found.passages,
        chains=shown(found),
        plan=plan.to_list() if plan else None,
        plan_source=planned.source or ("llm" if found.plan else None),
        note=note or planned.note or found.note,
        round_trips=context.reader.round_trips,
        seconds=seconds,
        tokens={**spent.tokens, "evidence": 0, "prompt": 0, **draft.tokens},
        dollars=spent.dollars,
        calls=spent.calls,
        failed_calls=spent.failed_calls,
        kept=spent.kept,
        conflicts=found.conflicts,
        inferred=draft.inferred,
        models={kind: context.used.get(kind) for kind in ("embedder", "reranker", "llm")},
        trace=context.trace if context.trace != Trace() else None,  # where the strategy wrote into it
        why=found.why,
        past=found.past,
    )


def _spent(llm: QuestionModel | None) -> Spent:
    return llm.spent() if llm else Spent({"in": 0, "out": 0}, None, [])
