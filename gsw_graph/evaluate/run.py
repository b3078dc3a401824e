"""Ask every question with every strategy of one memory, and keep each row at once."""

from __future__ import annotations

import platform
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, fields, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

from gsw_graph.ask.retrieve.variants import Variant, find_strategy
from gsw_graph.concurrency import map_unordered
from gsw_graph.config import Settings
from gsw_graph.errors import InputError, InvalidReplyError
from gsw_graph.evaluate.costs import index_costs
from gsw_graph.evaluate.data import Gold, Plans, Question, QuestionSet, read_plans, read_questions
from gsw_graph.evaluate.evaluation import Evaluation, assemble
from gsw_graph.evaluate.journal import Journal, Outcome, open_journal
from gsw_graph.evaluate.judge import (
    Progress,
    judge_answers,
    judge_summary,
    no_progress,
    open_judge,
)
from gsw_graph.evaluate.metrics import RESAMPLES, SEED, gold_ranks, is_gold
from gsw_graph.model.documents import Failure
from gsw_graph.model.results import Answer, Status
from gsw_graph.models.chat.limits import Budget
from gsw_graph.values import Fields
from gsw_graph.version import __version__

if TYPE_CHECKING:
    from gsw_graph.memory import Memory

Trace: TypeAlias = Fields
Pair: TypeAlias = "tuple[Question, Variant]"
Asked: TypeAlias = "tuple[Outcome, Trace | None, tuple[int, int]]"
"""A row, its trace, and the tokens of prompts and replies that were paid for it."""
Excluded: TypeAlias = dict[str, tuple[str, ...]]
"""By the key of a question the ids of the passages that it may not see."""
K = 20  # passages asked for
WARM = 10.0  # seconds of asking before anything is timed, or each question once
_NEAR_GOLD = 5  # a gold passage is among so many that are nearest to its own text
_PACKAGES = "arcadedb-embedded neo4j numpy openai onnxruntime scipy sentence-transformers torch".split()


@dataclass(frozen=True)
class Protocol:
    """Hold how questions are asked, the same for every strategy.

    Attributes:
        k: Number of passages.
        answer: Whether to answer, or to retrieve passages only.
        evidence: Form of the evidence, as in `Memory.ask`; None for the form of each strategy.
        must_answer: Whether the model must answer.
        reader: `paper` for a reader that reasons before it answers.
        in_order: Whether questions of a conversation are asked in order, each with memory of the earlier.
        without_gold: Whether the gold passages are hidden from each question, which then has no answer.
        trace: Whether to keep the trace of each answer.
        with_index: Whether the tokens of a right answer include those of the loads.
        own_context: Whether each question sees only the passages of its record (`read_corpus` with
            `own_context`).
    """

    k: int = K
    answer: bool = True
    evidence: str | None = None
    must_answer: bool = False
    reader: str | None = None
    in_order: bool = False
    without_gold: bool = False
    trace: bool = False
    with_index: bool = False
    own_context: bool = False

    @property
    def name(self) -> str:
        """Return a name for all that figures depend on, apart from questions, strategies, plans and
        models."""
        name = "passages only"
        if self.answer:
            refusal = "must answer" if self.must_answer else "may refuse"
            name = f"reads {self.evidence or 'the usual evidence'}, {refusal}"
        if self.reader:
            name += ", by the reader of the papers"
        if self.in_order:
            name += ", in order with memory of earlier questions"
        if self.without_gold:
            name += ", without the gold passages"
        if self.own_context:
            name += ", each over its own context"
        return name

    @property
    def reading(self) -> Fields:
        """Options of `Memory.ask` that are not as usual."""
        options = {name: getattr(self, name) for name in ("evidence", "must_answer", "reader", "trace")}
        return {name: value for name, value in options.items() if value}


def evaluate(
    memory: Memory,
    questions: QuestionSet | str | Path,
    strategies: Sequence[str | Variant] = ("auto",),
    *,
    plans: Plans | str | None = None,
    llm: bool = True,
    judge: str | None = None,
    at_once: int = 1,
    budget: str | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **protocol: Any,
) -> Evaluation:
    """Ask a memory with the corpus every question by every strategy, and sum up the answers.

    Questions are not kept in the memory, unless they are asked in order. Tokens, seconds and dollars are
    those of a strategy that runs alone with an empty cache. A question that cannot be asked counts as a
    question without a result. A question with a scope sees only documents of that source.

    Args:
        memory: The memory with the corpus.
        questions: A set, or the path of a file.
        strategies: Strategies by name, or with settings.
        plans: `gold`, `none`, `model` or the path of a file; by default `model` if the settings name a
            language model, else `none`.
        llm: Whether to use the language model of the settings.
        judge: A model that judges the answers at the end (LR-1, LR-2, coverage). Its costs are in the
            ledger's stage `judge`, and in no strategy's tokens.
        at_once: Number of questions at the same time; the settings' `concurrency` bounds their calls of the
            model. The time of a question is its own, and longer if others are asked beside it.
        budget: Dollars or tokens (`2.00`, `500ktok`) after which no question is begun; replies that are paid
            for are kept.
        out: A folder that keeps each row at once, so that the same call goes on after a stop.
        progress: Gets the numbers of finished and of all questions.
        protocol: Fields of `Protocol`.

    Raises:
        InputError: Questions, plans, strategies or the folder cannot be used.
        ModelUnavailableError, EngineError: As `Memory.ask`; the same call goes on afterwards.
    """
    how = Protocol(**protocol)
    progress = progress or no_progress
    questions, variants, plans, model = _prepared(memory, questions, strategies, plans, how, judge, llm=llm)
    status = memory.status()
    if not status.nodes.get("Passage"):
        raise InputError(
            "the memory is empty",
            where=without_secrets(status.memory),
            hint="Load the corpus first: gswgraph load PATH",
        )
    limit = None
    if budget is not None and model:
        limit = Budget.parse(budget)
        limit.use(memory.chat.price)
    excluded: Excluded = {}
    if how.without_gold:
        questions, excluded = _without_gold(memory, questions)
    run = _run_header(questions, plans, status, memory.settings, how, model=model)
    asking = _Asking(memory, plans, how, excluded, model=model, at_once=at_once)
    verdicts = None
    folder = None if out is None else Path(out)
    with ExitStack() as stack:
        chat = None
        if judge is not None:
            chat = stack.enter_context(open_judge(memory.settings, judge, limit))
        journal = stack.enter_context(open_journal(folder, run))
        _ask_all(asking, journal, _order(questions.questions, variants), limit, progress)
        if chat is not None:
            names = [variant.name for variant in variants]
            verdicts = judge_answers(chat, journal, questions, names, memory.settings.concurrency, progress)
    facts = {**journal.run, **_facts(memory.settings, status, questions, variants)}
    index = index_costs(memory, status)
    facts |= {"at_once": at_once, "index": index}
    if how.with_index:
        facts["index_tokens"] = sum(index["tokens"].values())
    if judge is not None and verdicts is not None:
        facts["judge"] = judge_summary(judge, list(verdicts.values()))
    outcomes: dict[str, list[Outcome]] = {}
    for variant in variants:
        outcomes[variant.name] = [
            journal.rows[variant.name, question.key] for question in questions.questions
        ]
    return assemble(facts, questions, outcomes, verdicts)


def _ask_all(
    asking: _Asking, journal: Journal, pairs: Sequence[Pair], limit: Budget | None, progress: Progress
) -> None:
    """Ask each question with each strategy but those that the journal has. Asked again is each one that could
    not be asked, or not be answered by the language model."""
    todo = []
    for pair in pairs:
        question, variant = pair
        row = journal.rows.get((variant.name, question.key))
        if row is None or row.error is not None or row.note is not None:
            todo.append(pair)
    if asking.at_once == 1:
        asking.warm(todo)
    done = len(pairs) - len(todo)
    progress(done, len(pairs))
    for row, trace, paid in asking.ask_all(todo):
        journal.add(row, trace)
        done += 1
        progress(done, len(pairs))
        if limit is not None:
            limit.charge(limit.cost(*paid))


def _facts(settings: Settings, status: Status, questions: QuestionSet, variants: Sequence[Variant]) -> Fields:
    """Return the settings of an evaluation beside those of its run."""
    memory = status.to_dict()
    memory["memory"] = without_secrets(status.memory)
    memory["nodes"].pop("Question", None)  # a report must not change with questions that people asked
    return {
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
        "memory": memory,
        "config": redacted_settings(settings),
        "versions": versions(),
        "bootstrap": {"resamples": RESAMPLES, "seed": SEED},
    }


def _prepared(
    memory: Memory,
    questions: QuestionSet | str | Path,
    strategies: Sequence[str | Variant],
    plans: Plans | str | None,
    how: Protocol,
    judge: str | None,
    *,
    llm: bool,
) -> tuple[QuestionSet, list[Variant], Plans, bool]:
    """Return the questions, the strategies, the plans, and whether a language model is asked. InputError:
    this could not be asked."""
    if not isinstance(questions, QuestionSet):
        questions = read_questions(questions)
    variants = [item if isinstance(item, Variant) else Variant(item) for item in strategies]
    if not variants:
        raise InputError("no strategy is named")
    if len({variant.name for variant in variants}) < len(variants):
        raise InputError("a strategy is named twice")
    has_model = llm and bool(memory.settings.for_role("answer").llm)
    if not isinstance(plans, Plans):
        plans = read_plans(plans or ("model" if has_model else "none"), questions)
    resolved = [find_strategy(variant.strategy) for variant in variants]
    needy = [strategy.name for strategy in resolved if "llm" in strategy.needs]
    if plans.kind == "model" and any(strategy.follows_plan for strategy in resolved):
        needy.append("planning")
    if needy and not has_model:
        raise InputError(
            f"there is no language model, which {', '.join(needy)} needs",
            hint="Name one in GSWGRAPH_LLM, or use other strategies and plans",
        )
    if judge is not None and not how.answer:
        raise InputError("nothing is answered, so there is nothing to judge", hint="Leave one of them out")
    if how.in_order and len(variants) > 1:
        raise InputError(
            "questions in order are answered by one strategy",
            hint="Ask each strategy alone, of a memory of its own, which the questions are kept in",
        )
    return questions, variants, plans, has_model and bool(how.answer or needy)


def versions() -> dict[str, str]:
    """Return the versions of gswgraph, Python and the installed packages that figures depend on."""
    installed = {"gswgraph": __version__, "python": platform.python_version()}
    for package in _PACKAGES:
        with suppress(PackageNotFoundError):
            installed[package] = version(package)
    return installed


def redacted_settings(settings: Settings) -> Fields:
    """Return the settings in JSON types, without keys and passwords."""
    values = {field.name: getattr(settings, field.name) for field in fields(settings) if field.repr}
    for role, own in settings.llm_roles.items():
        for name, value in own.items():
            if name != "llm_key":
                values[f"{name}_{role}"] = value
    for name, value in values.items():
        if isinstance(value, str | Path):
            values[name] = without_secrets(str(value))
    return values


def without_secrets(text: str) -> str:
    """Return a url without user, password, query and fragment, any of which may hold a key; any other text as
    it is."""
    if "://" not in text:
        return text
    return re.sub(r"://.*@", "://", re.sub(r"[?#].*", "", text))


def _run_header(
    questions: QuestionSet,
    plans: Plans,
    status: Status,
    settings: Settings,
    how: Protocol,
    *,
    model: bool,
) -> Fields:
    """Return what all parts of one evaluation have in common."""
    return {
        "questions": questions.sha256 or [question.key for question in questions.questions],
        "plans": plans.kind,
        "plans_sha256": plans.sha256,
        "k": how.k,
        "answer": how.answer,
        "protocol": how.name,
        "llm": settings.for_role("answer").llm if model else None,
        "planner": settings.for_role("plan").llm if model else None,
        "memory": without_secrets(status.memory),
        "created": status.created,
        "version": status.version,
        "embedder": status.embedder,
        "reranker": without_secrets(settings.reranker),
        "reranker_model": settings.reranker_model if settings.reranker != "cosine" else None,
        "gswgraph": __version__,
    }


def _without_gold(memory: Memory, questions: QuestionSet) -> tuple[QuestionSet, Excluded]:
    """Return the questions as ones that cannot be answered, and the passages that each may not see. Questions
    whose gold passages the memory does not hold are left out, as failures."""
    excluded: Excluded = {}
    hidden: list[Question] = []
    failures = list(questions.failures)
    for question in questions.questions:
        ids: list[str] = []
        for gold in question.gold:
            ids += _ids_of(memory, gold)
        if ids:
            excluded[question.key] = tuple(ids)
            hidden.append(replace(question, answerable=False, answers=(), gold=()))
        else:
            failures.append(Failure(question.key, "its gold passages are not in the memory"))
    return replace(questions, questions=hidden, failures=failures), excluded


def _ids_of(memory: Memory, gold: Gold) -> list[str]:
    """Return the ids of a gold passage and its pieces."""
    if gold.source:
        with suppress(InputError):  # the memory has no such document
            return [passage.id for passage in memory.show(gold.source).passages]
        return []
    found = memory.ask(
        f"{gold.title}\n{gold.text}",
        strategy=Variant("dense", {"rerank": 0}).build(),
        k=_NEAR_GOLD,
        answer=False,
        llm=False,
        keep=False,
        question_cache=False,
    )
    return [passage.id for passage in found.passages if is_gold(gold, passage)]


def _order(questions: Sequence[Question], variants: Sequence[Variant]) -> list[Pair]:
    """Order by question, another strategy first each time: what the machine does beside this, and what the
    first to ask warms, is shared by all."""
    order = []
    for number, question in enumerate(questions):
        first = number % len(variants)
        rotated = [*variants[first:], *variants[:first]]
        order += [(question, variant) for variant in rotated]
    return order


@dataclass(frozen=True)
class _Asking:
    """A memory and how it is asked."""

    memory: Memory
    plans: Plans
    how: Protocol
    excluded: Excluded
    model: bool
    at_once: int

    def warm(self, pairs: Sequence[Pair]) -> None:
        """Ask before anything is timed: models and caches are read, the engine compiles what runs often."""
        end = perf_counter() + WARM
        key = None
        for question, variant in pairs:
            if key not in (None, question.key) and perf_counter() > end:
                break
            key = question.key
            with suppress(InputError):  # it is reported when it is asked
                self._memory_ask(question, variant, answer=False, model=False)

    def ask_all(self, pairs: Sequence[Pair]) -> Iterator[Asked]:
        """Yield what is asked, so many at once; the questions of one conversation after one another."""
        if self.at_once == 1:
            return map(self._ask, pairs)
        if not self.how.in_order:
            return map_unordered(self._ask, pairs, self.at_once)
        talks: dict[str, list[Pair]] = {}
        for pair in pairs:
            talks.setdefault(pair[0].conversation, []).append(pair)
        return chain.from_iterable(map_unordered(self._ask_talk, talks.values(), self.at_once))

    def _ask_talk(self, pairs: Sequence[Pair]) -> list[Asked]:
        return [self._ask(pair) for pair in pairs]

    def _ask(self, pair: Pair) -> Asked:
        question, variant = pair
        try:
            reply = self._memory_ask(
                question, variant, answer=self.how.answer, model=self.model, **self.how.reading
            )
        except (InputError, InvalidReplyError) as error:
            ranks: list[int | None] = [None] * len(question.gold)
            return Outcome(variant.name, question.key, ranks=ranks, error=str(error)), None, (0, 0)
        seconds, tokens, dollars = full_cost(reply)
        row = Outcome(
            variant.name,
            question.key,
            ran=reply.strategy,
            answer=_without_marks(reply),
            answer_source=reply.answer_source,
            abstained=reply.abstained,
            confidence=reply.confidence,
            ranks=gold_ranks(question.gold, reply.passages),
            passages=[passage.id for passage in reply.passages],
            plan_source=self.plans.kind if reply.plan_source == "given" else reply.plan_source,
            seconds=seconds,
            tokens=tokens,
            dollars=dollars,
            cached=bool(reply.kept),
            note=reply.note,
        )
        trace = {"question": question.question, **reply.to_dict()} if self.how.trace else None
        return row, trace, (reply.tokens.get("in", 0), reply.tokens.get("out", 0))

    def _memory_ask(
        self, question: Question, variant: Variant, *, answer: bool, model: bool, **options: Any
    ) -> Answer:
        keeps = self.how.in_order and answer
        if excluded := self.excluded.get(question.key):
            options["excluded"] = excluded
        scope = question.scope or (question.key if self.how.own_context else "")
        if scope:
            options["inside"] = scope
        return self.memory.ask(
            question.question,
            strategy=variant.strategy if keeps and not variant.settings else variant.build(),
            plan=self.plans.of(question, variant.strategy, model=model),
            k=self.how.k,
            answer=answer,
            llm=model,
            keep=keeps,
            question_cache=keeps,
            short=not question.has_long_answer,
            **options,
        )


def _without_marks(answer: Answer) -> str | None:
    """Return an answer as gold answers are written, without the numbers of its citations."""
    return "\n".join(statement.text for statement in answer.statements) or answer.answer


def full_cost(answer: Answer) -> tuple[dict[str, float], dict[str, int], float | None]:
    """Return seconds, tokens and dollars with the original costs of cached replies, so that the first asker
    has no disadvantage."""
    seconds = defaultdict(float, answer.seconds)
    tokens = Counter(answer.tokens)
    dollars = answer.dollars
    for reply in answer.kept:
        tokens.update(reply.tokens)
        seconds[reply.stage] += reply.seconds
        seconds["total"] += reply.seconds
        if dollars is None or reply.dollars is None:
            dollars = None
        else:
            dollars += reply.dollars
    return dict(seconds), dict(tokens), dollars
