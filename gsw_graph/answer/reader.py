"""An answer read from evidence by a language model. What it cites comes from the graph: of the model's
reply only the numbers of our own lines count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.answer import reply as protocol
from gsw_graph.answer.evidence import Item, flat, listed
from gsw_graph.answer.gather import gather, lines
from gsw_graph.answer.quote import quote
from gsw_graph.answer.support import supported
from gsw_graph.inference.chat.request import Request
from gsw_graph.inference.chat.tokens import estimate, estimate_messages
from gsw_graph.prompts import prompt
from gsw_graph.results import Citation
from gsw_graph.retrieve.strategy import AnswerDraft

if TYPE_CHECKING:
    from gsw_graph.answer.gather import Show
    from gsw_graph.inference.chat.language_model import LanguageModel
    from gsw_graph.retrieve.strategy import Retrieved

NOTHING_FOUND = "nothing was found for the question"
NOT_SAID = "the evidence does not hold the answer"
UNSUPPORTED = "the model's answer stands on nothing in memory"
_LIMIT = 1000  # tokens of an answer, which is a line or two
_AGAIN = (
    'Write "Answer:" and a few words of the evidence, then "Sources:" and the numbers of their '
    "lines; "
    'or "Not in the evidence:" and what is missing.'
)
_PARAGRAPH = "\n\n"  # the first one of a prompt says what the evidence looks like
_LONGEST = 500  # characters of what is missing


@dataclass(frozen=True, slots=True)
class Read:
    """What a model read from evidence: an answer with the lines it stands on, or what is missing.

    tokens: `evidence`, the numbered lines, and `prompt`, all that was sent, as estimated; 0 where nothing
    was asked. The ledger has what the server counted. inferred: the answer follows from these lines and does
    not stand there.
    """

    answer: str | None
    missing: str | None = None
    sources: tuple[Item, ...] = ()
    tokens: dict[str, int] = field(default_factory=lambda: {"evidence": 0, "prompt": 0})
    inferred: bool = False


def read_answer(
    question: str,
    evidence: Sequence[Item],
    llm: LanguageModel,
    *,
    judged: bool = False,
    task: str = "answer",
    final: bool = True,
    on_text: Callable[[str], None] | None = None,
) -> Read:
    """What a model answers from the evidence; without any it is not asked. `judged`: the answer may compare,
    and so stand nowhere in words. task: the prompt. final: as of `Request`; False for a part of a question.

    `on_text` gets the answer as it comes, before it is known what it stands on. ReplyError: the model gave no
    reply that can be used; StoppedError: no call works any more.
    """
    if not evidence:
        return Read(None, NOTHING_FOUND)
    request = asked(question, evidence, task, final=final)
    stream = None if on_text is None else protocol.Stream(on_text)

    def places_of(said: protocol.ReaderReply) -> list[int]:
        named = [number - 1 for number in said.sources]
        return supported(question, said.answer or "", named, evidence, judged=judged, inferred=said.inferred)

    def parsed(reply: object) -> protocol.ReaderReply:
        said = protocol.parse(reply)
        # An answer in a form that we do not know is no refusal: the model is asked for the form.
        if said.answer is not None and not said.labelled and not places_of(said):
            raise ValueError(f"no line of the evidence holds this answer. {protocol.FORM}")
        return said

    def check(reply: object) -> protocol.ReaderReply:
        try:
            return parsed(reply)
        except ValueError:
            if stream is not None:
                stream.again()
            raise

    said = llm.ask(request, check, on_text=stream).value
    tokens = {"evidence": estimate(listed(evidence)), "prompt": estimate_messages(request.messages)}
    if said.answer is None:
        return Read(None, said.missing[:_LONGEST] or NOT_SAID, tokens=tokens)
    if not (places := places_of(said)):
        return Read(None, UNSUPPORTED, tokens=tokens)
    if stream is not None:
        stream.end(said.answer)
    sources = tuple(evidence[place] for place in places)
    return Read(said.answer, None, sources, tokens, inferred=said.inferred)


def asked(
    question: str,
    evidence: Sequence[Item],
    task: str = "answer",
    *,
    final: bool = True,
) -> Request:
    """Build the request: the prompt, the numbered lines, the question."""
    text = f"{listed(evidence)}\n\nQuestion: {flat(question)}"
    told = prompt(task)
    if task == "answer" and any(item.run is not None for item in evidence):
        told = f"{prompt('answer_compact')}\n\n{told.partition(_PARAGRAPH)[2]}"  # the rules are the same
    messages = ({"role": "system", "content": told}, {"role": "user", "content": text})
    few = (
        {"role": "system", "content": prompt("answer_short")},
        {"role": "user", "content": f"{text}\n\n{_AGAIN}"},
    )
    short = Request("answer", few, limit=_LIMIT, final=final)
    return Request("answer", messages, limit=_LIMIT, short=short, final=final)


def from_model(
    question: str,
    found: Retrieved,
    confidence: float | None,
    llm: LanguageModel,
    on_text: Callable[[str], None] | None = None,
    show: Show = lines,
) -> AnswerDraft:
    """Have a model answer from what was found, beside how sure the chains are.

    Whether anything is answered is for the model to decide: it reads what the confidence only weighs. show:
    the form of the evidence. Errors as of `read_answer`.
    """
    judged = found.beams is not None and not found.beams.plan.steps[-1].retrieve
    read = read_answer(question, gather(question, found, show), llm, judged=judged, on_text=on_text)
    return _draft(question, read, confidence)


def from_items(
    question: str,
    items: Sequence[Item],
    llm: LanguageModel,
    *,
    confidence: float | None = None,
    judged: bool = False,
    task: str = "answer",
    on_text: Callable[[str], None] | None = None,
) -> AnswerDraft:
    """What a model answers from some lines of evidence. Arguments and errors as of `read_answer`."""
    read = read_answer(question, items, llm, judged=judged, task=task, on_text=on_text)
    return _draft(question, read, confidence)


def _draft(question: str, read: Read, confidence: float | None) -> AnswerDraft:
    if read.answer is None:
        return AnswerDraft(None, "none", True, confidence, [], read.missing, read.tokens)
    citations = list(dict.fromkeys(cited(item, question, read.answer) for item in read.sources))
    return AnswerDraft(
        read.answer, "llm", False, confidence, citations, None, read.tokens, inferred=read.inferred
    )


def cited(item: Item, question: str, answer: str) -> Citation:
    """The passage of a line, with the sentence that holds the pair or, of a passage, the answer."""
    passage = item.passage
    text = quote(passage.text, item.question or question, item.answer or answer)
    return Citation(passage.id, passage.document, passage.title, passage.source, text)
