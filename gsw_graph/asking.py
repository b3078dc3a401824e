"""A question from end to end: plan -> retrieve -> answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from gsw_graph.errors import InputError, ReplyError
from gsw_graph.results import Answer, KeptReply
from gsw_graph.retrieve import STRATEGIES

if TYPE_CHECKING:
    from gsw_graph.inference.chat import Chat
    from gsw_graph.inference.chat_request import Reply, Request, T
    from gsw_graph.plan import Plan
    from gsw_graph.retrieve.strategies import Search


@dataclass(frozen=True, slots=True)
class Asking:
    """A question and how to ask it: what the options of `gswgraph ask` say."""

    question: str
    strategy: str = "auto"
    plan: object = None
    k: int = 5
    answer: bool = True
    trace: bool = False

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise InputError(f"there is no strategy {self.strategy!r}", hint=f"Use one of {', '.join(STRATEGIES)}")
        if self.given and self.strategy not in ("auto", "ricr", "fusion"):
            raise InputError(f"{self.strategy} does not follow a plan", hint="Ask without one, or with --strategy ricr or fusion")
        if not self.question.strip():
            raise InputError("the question is empty")
        if self.k < 1:
            raise InputError(f"k is {self.k}", hint="Ask for at least one passage")

    @property
    def given(self) -> bool:
        """Whether there is a plan; False says that there is none and that none is to be made."""
        return self.plan is not None and self.plan is not False


def ask(asking: Asking, search: Search | None, chat: Chat | None, on_text: Callable[[str], None] | None = None) -> Answer:
    """Answer a question. `search` is None for an empty memory; `chat`, where there is one, plans and answers, and `on_text` gets its answer as it comes."""
    from gsw_graph.answer import from_chains
    from gsw_graph.plan import parse
    from gsw_graph.retrieve.strategies import STRATEGIES as RUN
    from gsw_graph.retrieve.strategies import Found

    start = perf_counter()
    before = chat.ledger.total() if chat else None
    kept: list[KeptReply] = []
    if chat is not None:
        chat = cast("Chat", _Listening(chat, kept))
    tokens = {"in": 0, "out": 0, "evidence": 0, "prompt": 0}
    plan = parse(asking.plan) if asking.given else None
    source, note = ("given" if plan else None), None
    unplanned = chat is not None and asking.plan is None and asking.strategy in ("auto", "ricr", "fusion")
    follows = search is not None and (unplanned or (asking.strategy == "auto" and not plan)) and search.reader.has_pairs()
    if chat is not None and search is not None and unplanned and follows:
        plan, note = _planned(asking.question, search, chat)
        source = "llm" if plan else None
    # What measures best for what the memory holds: docs/results.md.
    chosen = asking.strategy if asking.strategy != "auto" else "fusion" if plan or follows else "linked"
    found = Found([])
    if search is not None:
        search.plan = plan
        found = RUN[chosen](search, asking.question, asking.k, trace=asking.trace)
        chosen = found.strategy or chosen
    said = from_chains(asking.question, found, answer=asking.answer, strategy=chosen)
    if chat is not None and search is not None and asking.answer:
        from gsw_graph.answer.reader import from_model

        with search.clock("answer"):
            try:
                said = from_model(asking.question, found, said, chat, on_text)
            except ReplyError as error:  # what was found stands
                note = f"{chat.model} gave no answer: {error}"
    if said.abstained and not said.chains and (lacks := _lacking(search, chains=found.beams is not None and not follows)):
        said = replace(said, missing=lacks)
    dollars = None
    if chat is not None and before is not None:
        after = chat.ledger.total()
        tokens = {"in": after.prompt_tokens - before.prompt_tokens, "out": after.completion_tokens - before.completion_tokens, **said.tokens}
        dollars = None if after.dollars is None else after.dollars - (before.dollars or 0.0)
    return Answer(
        question=asking.question,
        strategy=chosen,
        answer=said.answer,
        answer_source=said.source,
        abstained=said.abstained,
        confidence=said.confidence,
        missing=said.missing,
        citations=said.citations,
        passages=found.passages,
        chains=said.chains,
        plan=plan.to_list() if plan else None,
        plan_source=source,
        note=note,
        round_trips=search.reader.round_trips if search else 0,
        seconds={**(search.seconds if search else {}), "total": perf_counter() - start},
        tokens=tokens,
        dollars=dollars,
        kept=kept,
        models={
            "embedder": None if chosen == "bm25" or search is None else search.embedder,
            "reranker": (search.reranker.name if search and search.reranker else "cosine") if chosen == "ricr" or (chosen == "fusion" and plan) else None,
            "llm": chat.model if chat else None,
        },
        trace=found.trace,
    )


def _lacking(search: Search | None, *, chains: bool) -> str | None:
    """What is not in a memory as a whole, where nothing was found in it."""
    if search is None or not search.names.size:
        return "the memory is empty"
    if chains and not search.reader.has_pairs():
        return "the memory holds no question-answer pairs, of which chains are made"
    return None


class _Listening:
    """A language model whose kept replies are noted."""

    def __init__(self, chat: Chat, kept: list[KeptReply]) -> None:
        self.model, self.ledger = chat.model, chat.ledger
        self._chat, self._kept = chat, kept

    def ask(self, request: Request, check: Callable[[Any], T], *, on_text: Callable[[str], None] | None = None) -> Reply[T]:
        reply = self._chat.ask(request, check, on_text=on_text)
        if reply.cached:
            tokens = {"in": reply.prompt_tokens, "out": reply.completion_tokens}
            self._kept.append(KeptReply(request.stage, tokens, reply.seconds, self._chat.dollars(reply.prompt_tokens, reply.completion_tokens)))
        return reply


def _planned(question: str, search: Search, chat: Chat) -> tuple[Plan | None, str | None]:
    """The model's plan, or why there is none: the question can be asked without."""
    from gsw_graph.plan.decompose import decompose

    with search.clock("plan"):
        try:
            return decompose(question, chat), None
        except ReplyError as error:
            return None, f"{chat.model} made no plan: {error}"
