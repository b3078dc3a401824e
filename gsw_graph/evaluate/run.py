"""Ask every question with every strategy of one memory, and keep each row at once."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from gsw_graph import __version__
from gsw_graph.concurrency import map_unordered
from gsw_graph.errors import InputError, ReplyError
from gsw_graph.evaluate.data import Plans, Question, QuestionSet, read_plans, read_questions
from gsw_graph.evaluate.evaluation import Evaluation, assemble
from gsw_graph.evaluate.journal import Journal, Outcome
from gsw_graph.evaluate.judge import judge_answers, judge_summary, open_judge
from gsw_graph.evaluate.metrics import gold_ranks
from gsw_graph.evaluate.statistics import RESAMPLES, SEED
from gsw_graph.evaluate.variants import Variant, find_strategy

if TYPE_CHECKING:
    from gsw_graph.config import Settings
    from gsw_graph.memory import Memory
    from gsw_graph.model.results import Answer, Status

Progress = Callable[[int, int], None]
K = 20  # passages asked for
WARM = 10.0  # seconds of asking before anything is timed, or each question once
_PACKAGES = "arcadedb-embedded neo4j numpy openai onnxruntime scipy sentence-transformers torch".split()


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
    at_once: int = 1,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Ask a memory that holds the corpus every question with every strategy, and sum up the answers.

    Questions are not kept in the memory. Tokens, seconds and dollars are those of asking the language model
    for every reply, as a strategy alone would with an empty cache. A question that cannot be asked counts
    as one for which nothing was found.

    Args:
        memory: Holds the corpus.
        questions: A set, or the path of a file.
        strategies: By name, or with settings.
        plans: `gold`, `none`, `model` or the path of a file; by default `model` where the settings name a
            language model, else `none`.
        k: How many passages are asked for.
        answer: False for passages only.
        llm: False for no language model, though the settings name one.
        judge: A model, at the server of the settings, that judges the answers when all are there (LR-1 and
            LR-2). What it takes is in the ledger's stage `judge` and in no strategy's tokens.
        at_once: Questions asked side by side. Only where it is 1 is the time of a strategy measured.
        out: A folder that keeps each row at once: the same call goes on where one was stopped or killed.
        progress: Gets how many are done, and of how many.

    Raises:
        InputError: Questions, plans, strategies or the folder cannot be used.
        StoppedError, EngineError: As `Memory.ask`; the same call goes on afterwards.
    """
    if not isinstance(questions, QuestionSet):
        questions = read_questions(questions)
    variants = [item if isinstance(item, Variant) else Variant(item) for item in strategies]
    if not variants or len({variant.name for variant in variants}) < len(variants):
        raise InputError("a strategy is named twice" if variants else "no strategy is named")
    has_model = llm and bool(memory.settings.for_role("answer").llm)
    if not isinstance(plans, Plans):
        plans = read_plans(plans or ("model" if has_model else "none"), questions)
    model = has_model and _uses_model(variants, plans, answer=answer)
    _check(variants, plans, judge, has_model=has_model, answer=answer)
    status = memory.status()
    if not status.nodes.get("Passage"):
        hint = "Load the corpus first: gswgraph load PATH"
        raise InputError("the memory is empty", where=without_secrets(status.memory), hint=hint)
    run = _run_header(questions, plans, status, memory.settings, k=k, answer=answer, model=model)
    names = [variant.name for variant in variants]
    total, verdicts = len(questions.questions) * len(variants), None
    with (
        open_judge(memory.settings, judge) if judge is not None else nullcontext() as chat,
        Journal(Path(out) if out is not None else None, run) as journal,
    ):
        # what could not be asked may be asked now
        done = {key for key, row in journal.rows.items() if row.error is None}
        order = _order(questions.questions, variants)
        todo = [
            (question, variant) for question, variant in order if (variant.name, question.key) not in done
        ]
        _warm(memory, questions.questions, list({item.name: item for _, item in todo}.values()), plans, k)

        def ask(pair: tuple[Question, Variant]) -> Outcome:
            return _ask(memory, *pair, plans, k=k, answer=answer, model=model, timed=at_once == 1)

        rows = map(ask, todo) if at_once == 1 else map_unordered(ask, todo, at_once)
        for number in range(total - len(todo), total + 1):
            if progress and (number < total or chat is None):
                progress(number, total)
            if number < total:
                journal.add(next(rows))
        if chat is not None:
            workers = max(at_once, memory.settings.concurrency)
            verdicts = judge_answers(chat, journal, questions, names, workers, progress)
    facts = {
        **run,
        "questions": {
            "name": questions.name,
            "sha256": questions.sha256,
            "n": len(questions.questions),
            "shapes": questions.shapes,
        },
        "strategies": [
            {"name": variant.name, "strategy": variant.strategy, "settings": dict(variant.settings)}
            for variant in variants
        ],
        # without questions that people asked: a report must not change with them
        "memory": {
            **status.to_dict(),
            "memory": without_secrets(status.memory),
            "nodes": {label: number for label, number in status.nodes.items() if label != "Question"},
        },
        "config": redacted_settings(memory.settings),
        "versions": versions(),
        "bootstrap": {"resamples": RESAMPLES, "seed": SEED},
    }
    if judge is not None and verdicts is not None:
        facts["judge"] = judge_summary(judge, list(verdicts.values()))
    return assemble(facts, questions, names, journal.rows, verdicts)


def versions() -> dict[str, str]:
    """Return versions of gswgraph, Python and those installed packages that figures depend on."""
    found = {"gswgraph": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def redacted_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings in JSON types: no key, no password, none in a url."""
    values = {field.name: getattr(settings, field.name) for field in fields(settings) if field.repr}
    for role, own in settings.llm_roles.items():
        values |= {f"{name}_{role}": value for name, value in own.items() if name != "llm_key"}
    return {
        name: without_secrets(str(value)) if isinstance(value, str | Path) else value
        for name, value in values.items()
    }


def without_secrets(text: str) -> str:
    """Return a url without user, password, query and fragment, any of which may hold a key; any other text as
    it is."""
    if "://" not in text:
        return text
    try:
        parts = urlsplit(text)
    except ValueError:  # no url that can be taken apart
        return text.partition("://")[0] + "://***"
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment=""))


def _uses_model(variants: Sequence[Variant], plans: Plans, *, answer: bool) -> bool:
    """Return whether there is anything for a language model to do."""
    strategies = [find_strategy(variant.strategy) for variant in variants]
    return answer or any(
        "llm" in strategy.needs or (plans.kind == "model" and strategy.follows_plan)
        for strategy in strategies
    )


def _check(
    variants: Sequence[Variant], plans: Plans, judge: str | None, *, has_model: bool, answer: bool
) -> None:
    """Raise InputError for what could not be asked, before anything is."""
    if plans.kind == "model" and not has_model:
        hint = "Name one in GSWGRAPH_LLM, or use other plans"
        raise InputError("there is no language model to make plans", hint=hint)
    needy = [variant.name for variant in variants if "llm" in find_strategy(variant.strategy).needs]
    if needy and not has_model:
        hint = "Name one in GSWGRAPH_LLM, or use other strategies"
        raise InputError(f"there is no language model, which {', '.join(needy)} needs", hint=hint)
    if judge is not None and not answer:
        raise InputError("nothing is answered, so there is nothing to judge", hint="Leave one of them out")


def _run_header(
    questions: QuestionSet,
    plans: Plans,
    status: Status,
    settings: Settings,
    *,
    k: int,
    answer: bool,
    model: bool,
) -> dict[str, Any]:
    """Return what all parts of one evaluation have in common."""
    return {
        "questions": questions.sha256 or [question.key for question in questions.questions],
        "plans": plans.kind,
        "plans_sha256": plans.sha256,
        "k": k,
        "answer": answer,
        "llm": settings.for_role("answer").llm if model else None,
        "memory": without_secrets(status.memory),
        "created": status.created,
        "version": status.version,
        "embedder": status.embedder,
        "reranker": without_secrets(settings.reranker),
        "reranker_model": settings.reranker_model if settings.reranker != "cosine" else None,
        "gswgraph": __version__,
    }


def _order(questions: Sequence[Question], variants: Sequence[Variant]) -> list[tuple[Question, Variant]]:
    """Order by question, another strategy first each time: what the machine does beside this, and what the
    first to ask warms, is shared by all."""
    order = []
    for number, question in enumerate(questions):
        first = number % len(variants)
        order += [(question, variant) for variant in (*variants[first:], *variants[:first])]
    return order


def _warm(
    memory: Memory, questions: Sequence[Question], variants: Sequence[Variant], plans: Plans, k: int
) -> None:
    """Ask before anything is timed: models and caches are read, and the engine compiles what runs often."""
    end = perf_counter() + WARM
    for question in questions:
        for variant in variants:
            with suppress(InputError):  # it is reported when it is asked
                _ask_memory(memory, question, variant, plans, k=k, answer=False, model=False)
        if perf_counter() > end:
            break


def _ask_memory(
    memory: Memory, question: Question, variant: Variant, plans: Plans, *, k: int, answer: bool, model: bool
) -> Answer:
    return memory.ask(
        question.question,
        strategy=variant.build(),
        plan=plans.of(question, variant.strategy, model=model),
        k=k,
        answer=answer,
        llm=model,
        keep=False,
        past=False,
    )


def _ask(
    memory: Memory,
    question: Question,
    variant: Variant,
    plans: Plans,
    *,
    k: int,
    answer: bool,
    model: bool,
    timed: bool,
) -> Outcome:
    try:
        reply = _ask_memory(memory, question, variant, plans, k=k, answer=answer, model=model)
    except (InputError, ReplyError) as error:
        return Outcome(variant.name, question.key, ranks=[None] * len(question.gold), error=str(error))
    seconds, tokens, dollars = full_cost(reply)
    return Outcome(
        variant.name,
        question.key,
        ran=reply.strategy,
        answer=reply.answer,
        answer_source=reply.answer_source,
        abstained=reply.abstained,
        confidence=reply.confidence,
        ranks=gold_ranks(question.gold, reply.passages),
        passages=[passage.id for passage in reply.passages],
        plan_source=plans.kind if reply.plan_source == "given" else reply.plan_source,
        seconds=seconds if timed else {},
        tokens=tokens,
        dollars=dollars,
        round_trips=reply.round_trips,
        models=reply.models,
        cached=bool(reply.kept),
        note=reply.note,
    )


def full_cost(answer: Answer) -> tuple[dict[str, float], dict[str, int], float | None]:
    """Return seconds, tokens and dollars with those that cached replies took when they were asked for: who
    asked first must make no difference."""
    seconds, tokens, dollars = dict(answer.seconds), dict(answer.tokens), answer.dollars
    for reply in answer.kept:
        for name in (reply.stage, "total"):
            seconds[name] = seconds.get(name, 0.0) + reply.seconds
        for name, number in reply.tokens.items():
            tokens[name] = tokens.get(name, 0) + number
        dollars = None if dollars is None or reply.dollars is None else dollars + reply.dollars
    return seconds, tokens, dollars
