"""The run: every question asked with every strategy of one memory, one after another, kept as it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from gsw_graph import __version__
from gsw_graph.errors import InputError, ReplyError
from gsw_graph.evaluate.data.gold import ranks
from gsw_graph.evaluate.data.plans import Plans, follows_plans
from gsw_graph.evaluate.data.plans import plans as plans_of
from gsw_graph.evaluate.data.questions import Question, QuestionSet, read_questions
from gsw_graph.evaluate.evaluation import Evaluation, put_together
from gsw_graph.evaluate.facts import public, shown, versions
from gsw_graph.evaluate.figures.bootstrap import RESAMPLES, SEED
from gsw_graph.evaluate.journal import Journal, Outcome
from gsw_graph.evaluate.judge import judged_by, open_judge, told
from gsw_graph.evaluate.settings import known
from gsw_graph.evaluate.variants import Variant

if TYPE_CHECKING:
    from gsw_graph.memory import Memory
    from gsw_graph.results import Answer, Status

Report = Callable[[int, int], None]
K = 20  # passages asked for
WARM = 10.0  # seconds of asking before anything is timed, or each question once


def evaluate(
    memory: Memory,
    questions: QuestionSet | str | Path,
    strategies: Sequence[str | Variant] = ("auto",),
    *,
    plans: Plans | str | None = None,
    k: int = K,
    answer: bool = True,
    llm: bool = True,
    judge: str | None = None,
    out: str | Path | None = None,
    progress: Report | None = None,
) -> Evaluation:
    """Ask a memory that holds the corpus every question with every strategy, and sum up what was found.

    `plans`: `gold`, `none`, `model`, the path of a file, or None: `model` where the settings name a language
    model, else `none`. `k` passages are asked for. `answer=False`: passages only; `llm=False`: no language
    model though the settings name one. `judge` names a model, at the server of the settings, that judges the
    answers when all are there (LR-1 and LR-2); what it takes is in the ledger's stage `judge` and in
    `settings["judge"]`, and in no strategy's tokens. Questions are not kept in the memory. `out` is a folder
    that keeps what is found at once: the same call goes on where one was cut off.
    `progress` gets how many are done, and of how many. Tokens, seconds and dollars are those of asking the
    language model for every reply, as a strategy alone would with an empty cache. Raises InputError for
    questions, plans, strategies or a folder that cannot be used; StoppedError and EngineError as `Memory.ask`
    does, after which the same call goes on. A question that cannot be asked counts as one for which nothing
    was found.
    """
    if not isinstance(questions, QuestionSet):
        questions = read_questions(questions)
    variants = [one if isinstance(one, Variant) else Variant(one) for one in strategies]
    if not variants or len({variant.name for variant in variants}) < len(variants):
        raise InputError("a strategy is named twice" if variants else "no strategy is named")
    followers = [variant for variant in variants if follows_plans(variant.strategy)]
    settings = memory.settings
    if plans is None:
        plans = "model" if llm and settings.llm else "none"
    if not isinstance(plans, Plans):
        plans = plans_of(plans, questions)
    if plans.kind == "model" and not (llm and settings.llm):
        raise InputError(
            "there is no language model to make plans", hint="Name one in GSWGRAPH_LLM, or use other plans"
        )
    asking = [variant.name for variant in variants if "llm" in known(variant.strategy).needs]
    if asking and not (llm and settings.llm):
        raise InputError(
            f"there is no language model, which {', '.join(asking)} needs",
            hint="Name one in GSWGRAPH_LLM, or use other strategies",
        )
    model = (
        llm
        and settings.llm is not None
        and (answer or bool(asking) or (plans.kind == "model" and bool(followers)))
    )
    if judge is not None and not answer:
        raise InputError("nothing is answered, so there is nothing to judge", hint="Leave one of them out")
    status = memory.status()
    if not status.nodes.get("Passage"):
        raise InputError(
            "the memory is empty",
            where=public(status.memory),
            hint="Load the corpus first: gswgraph load PATH",
        )
    run = _run(questions, plans, status, memory, k=k, answer=answer, model=model)
    with (
        open_judge(settings, judge) if judge is not None else nullcontext() as chat,
        Journal(Path(out) if out is not None else None, run) as journal,
    ):
        done_already = {
            place for place, row in journal.rows.items() if row.error is None
        }  # what could not be asked may be asked now
        waiting = [
            (question, variant)
            for question, variant in _order(questions.questions, variants)
            if (variant.name, question.key) not in done_already
        ]
        total = len(questions.questions) * len(variants)
        _warm(
            memory,
            questions.questions,
            list({variant.name: variant for _, variant in waiting}.values()),
            plans,
            k,
        )
        for done, (question, variant) in enumerate(waiting, total - len(waiting)):
            if progress:
                progress(done, total)
            journal.add(_asked(memory, question, variant, plans, k=k, answer=answer, model=model))
        judged = None
        if chat is not None:
            names = [variant.name for variant in variants]
            judged = judged_by(chat, journal, questions, names, settings.concurrency, progress)
        elif progress:
            progress(total, total)
    facts = {
        **run,
        "questions": {
            "name": questions.name,
            "sha256": questions.sha256,
            "n": len(questions.questions),
            "shapes": questions.shapes,
        },
        "strategies": [
            {"name": one.name, "strategy": one.strategy, "settings": dict(one.settings)} for one in variants
        ],
        "memory": {**status.to_dict(), "memory": public(status.memory), "nodes": _evidence(status.nodes)},
        "config": shown(settings),
        "versions": versions(),
        "bootstrap": {"resamples": RESAMPLES, "seed": SEED},
    }
    if judge is not None and judged is not None:
        facts["judge"] = told(judge, list(judged.values()))
    return put_together(facts, questions, [variant.name for variant in variants], journal.rows, judged)


def _run(
    questions: QuestionSet, plans: Plans, status: Status, memory: Memory, *, k: int, answer: bool, model: bool
) -> dict[str, Any]:
    """What all parts of one evaluation have in common."""
    settings = memory.settings
    return {
        "questions": questions.sha256 or [question.key for question in questions.questions],
        "plans": plans.kind,
        "plans_sha256": plans.sha256,
        "k": k,
        "answer": answer,
        "llm": settings.llm if model else None,
        "memory": public(status.memory),
        "created": status.created,
        "version": status.version,
        "embedder": status.embedder,
        "reranker": public(settings.reranker),
        "reranker_model": settings.reranker_model if settings.reranker != "cosine" else None,
        "gswgraph": __version__,
    }


def _evidence(nodes: dict[str, int]) -> dict[str, int]:
    """Nodes by label, without the questions that people asked: these are no evidence, and a report must
    not change with them."""
    return {label: number for label, number in nodes.items() if label != "Question"}


def _order(questions: Sequence[Question], variants: Sequence[Variant]) -> list[tuple[Question, Variant]]:
    """Question by question, another strategy first each time: what a machine does beside this, and what
    the first to ask warms, is everybody's."""
    order = []
    for number, question in enumerate(questions):
        first = number % len(variants)
        order += [(question, variant) for variant in (*variants[first:], *variants[:first])]
    return order


def _warm(
    memory: Memory, questions: Sequence[Question], variants: Sequence[Variant], plans: Plans, k: int
) -> None:
    """Before anything is timed: models and caches are read, and the engine compiles what runs often. What
    cannot be asked will be said when it is asked."""
    end = perf_counter() + WARM
    for question in questions:
        for variant in variants:
            plan = plans.of(question, variant.strategy, model=False)
            with suppress(InputError):
                memory.ask(
                    question.question,
                    strategy=variant.made(),
                    plan=plan,
                    k=k,
                    answer=False,
                    llm=False,
                    keep=False,
                    past=False,
                )
        if perf_counter() > end:
            break


def _asked(
    memory: Memory, question: Question, variant: Variant, plans: Plans, *, k: int, answer: bool, model: bool
) -> Outcome:
    plan = plans.of(question, variant.strategy, model=model)
    try:
        found = memory.ask(
            question.question,
            strategy=variant.made(),
            plan=plan,
            k=k,
            answer=answer,
            llm=model,
            keep=False,
            past=False,
        )
    except (InputError, ReplyError) as error:
        return Outcome(variant.name, question.key, ranks=[None] * len(question.gold), error=str(error))
    seconds, tokens, dollars = _whole(found)
    return Outcome(
        variant.name,
        question.key,
        ran=found.strategy,
        answer=found.answer,
        answer_source=found.answer_source,
        abstained=found.abstained,
        confidence=found.confidence,
        ranks=ranks(question.gold, found.passages),
        passages=[passage.id for passage in found.passages],
        plan_source=plans.kind if found.plan_source == "given" else found.plan_source,
        seconds=seconds,
        tokens=tokens,
        dollars=dollars,
        round_trips=found.round_trips,
        models=found.models,
        cached=bool(found.kept),
        note=found.note,
    )


def _whole(found: Answer) -> tuple[dict[str, float], dict[str, int], float | None]:
    """Seconds, tokens and dollars with those that kept replies took when they were asked for: who asked
    first must make no difference."""
    seconds, tokens, dollars = dict(found.seconds), dict(found.tokens), found.dollars
    for reply in found.kept:
        for name in (reply.stage, "total"):
            seconds[name] = seconds.get(name, 0.0) + reply.seconds
        for name, number in reply.tokens.items():
            tokens[name] = tokens.get(name, 0) + number
        dollars = None if dollars is None or reply.dollars is None else dollars + reply.dollars
    return seconds, tokens, dollars
