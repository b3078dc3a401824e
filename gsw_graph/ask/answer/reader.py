"""Let a language model answer from evidence: make the request, read the reply in its full or short form, and
find the lines that support the answer. Citations come from the graph: only the line numbers of a reply are
used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

from gsw_graph.ask.answer.counting import asks_for_all
from gsw_graph.ask.answer.evidence import EvidenceLine, render_evidence, single_line
from gsw_graph.ask.answer.invention import Known
from gsw_graph.ask.answer.quotes import Said, cite, words_of
from gsw_graph.ask.answer.reply import FORM, ReaderReply, Stream, parse_reply
from gsw_graph.ask.answer.statements import FullReply, FullStream, Part, Written, parse_full, whole
from gsw_graph.ask.strategy import AnswerDraft
from gsw_graph.errors import InvalidReplyError
from gsw_graph.models.chat.request import Request, estimate, estimate_messages
from gsw_graph.models.prompts import prompt
from gsw_graph.text.words import stem
from gsw_graph.values import unique, word_set

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gsw_graph.model.results import Citation
    from gsw_graph.models.chat.request import LanguageModel


T = TypeVar("T")
_SUPPORTED = (
    0.6  # share of the words of a reply without labels that must occur somewhere, or its form is unknown
)
_YES_NO = word_set("""yes no oui non si sí sì sim não nao ja nein nee nej nei jo tak nie
    ano ne evet hayır da nu igen nem kyllä ei ya tidak có không
    ναι όχι да нет так ні
    はい いいえ 是 是的 不是 否 不 예 네 아니요 아니오 हाँ हां नहीं نعم لا כן לא""")
_CLAUSE = re.compile("[,.;:!，。、！]")


def supporting_lines(
    question: str,
    answer: str,
    named: Sequence[int],
    items: Sequence[EvidenceLine],
    *,
    is_comparison: bool,
    inferred: bool = False,
) -> list[int]:
    """Return the indexes of the lines that support an answer; None if the answer is invented. These are the
    lines that the model named and, if they lack the words of the answer, the first line that has them.
    Without either, the nearest line is taken.

    Args:
        question: The question.
        answer: The answer.
        named: Indexes of the lines that the model named.
        items: The lines.
        is_comparison: Whether the answer compares. Its words then need not be in a line, and a name in it may
            be from the question.
        inferred: Whether the model says that the answer follows from the lines that it named. Only they
            support it then.
    """
    named = [number for number in dict.fromkeys(named) if 0 <= number < len(items)]
    said = Said.of(answer)
    yes_no = is_yes_no(answer)
    if is_comparison or said.share(question) == 1:
        return named or _most(said, items)
    texts = [item.text for item in items]
    passages = [item.passage.text for item in items]
    for parts in (texts, passages):  # a line is short; the passage it was taken from may say more
        holding = [number for number, text in enumerate(parts) if said.share(text) == 1]
        if holding:
            return named if set(named) & set(holding) else [*named, holding[0]]
    if inferred or is_count_of(question, answer, [items[number] for number in named]):
        return named or _most(said, items)
    if Known.of(question, items).invented(answer):
        return []
    return named or _most(Said.of(question) if yes_no else said, items)


def is_yes_no(answer: str) -> bool:
    """Tell whether an answer is yes or no, whatever follows: "No, he was not", but not "No Doubt"."""
    return _CLAUSE.split(answer.casefold(), maxsplit=1)[0].strip() in _YES_NO


def _most(said: Said, items: Sequence[EvidenceLine]) -> list[int]:
    """Return the index of the line that says most of something; none without lines."""
    shares = [said.share(item.text) for item in items]
    return [shares.index(max(shares))] if shares else []


def is_count_of(question: str, answer: str, lines: Sequence[EvidenceLine]) -> bool:
    """Tell whether an answer is the number of the lines that it is based on, or of their passages, each of
    which has a word of the question."""
    if not lines or not asks_for_all(question):
        return False
    said = Said.of(answer)
    counts = {len(lines), len({line.passage.id for line in lines})}
    if not any(map(said.is_number, counts)):
        return False
    words = set(map(stem, words_of(question)))
    return not any(words.isdisjoint(map(stem, words_of(line.text))) for line in lines)


NOTHING_FOUND = "nothing was found for the question"
NOT_SAID = "the evidence does not hold the answer"
UNSUPPORTED = "nothing in memory supports the model's answer"
_LIMIT = 1000  # tokens of a short answer, which is a line or two
_FULL_LIMIT = 1500
# Prompts of the papers' readers, which reason and then answer; the reader alone decides what is an answer.
_REASONING = ("answer_panini", "answer_paper")
_AGAIN = (
    'Write "Answer:" and a few words of the evidence, then "Sources:" and the numbers of their '
    "lines; "
    'or "Not in the evidence:" and what is missing.'
)
_INVENTED = (
    "No line of the evidence has {names}. Give the whole reply again in the same form: leave out or correct "
    "what the lines do not have, and mark what follows from them as such."
)
_PARAGRAPH = "\n\n"  # the first one of a prompt says what the evidence looks like
_LONGEST = 500  # characters of what is missing


@dataclass(frozen=True, slots=True)
class Read:
    """Hold a model's answer with the lines that support it, or a text about missing evidence.

    tokens: Estimates of `evidence`, the numbered lines, and `prompt`, the request; 0 without a request.
    inferred: The answer follows from these lines and is not stated there.
    """

    answer: str | None
    missing: str | None = None
    sources: tuple[EvidenceLine, ...] = ()
    tokens: dict[str, int] = field(default_factory=lambda: {"evidence": 0, "prompt": 0})
    inferred: bool = False


def read_answer(
    question: str,
    evidence: Sequence[EvidenceLine],
    llm: LanguageModel,
    *,
    is_comparison: bool = False,
    task: str = "answer",
    final: bool = True,
    must: bool = False,
    doubt: bool = False,
    on_text: Callable[[str], None] | None = None,
) -> Read:
    """Let a model answer in a few words from the evidence; without evidence make no call. If no line has a
    name, number, date or code of the answer, tell the model once.

    Args:
        question: The question.
        evidence: The lines, which are numbered here.
        llm: The model.
        is_comparison: See `supporting_lines`.
        task: Name of the prompt. An answer by the prompt of a paper needs no support.
        final: See `Request`; False for a part of a question.
        must: Whether the model must answer; an answer without support then has no citations.
        doubt: Whether to tell the model that the search hardly fits the question.
        on_text: Gets the answer in pieces, before its support is checked.

    Raises:
        InvalidReplyError: There is no usable reply.
        ModelUnavailableError: No request will get a reply any more.
    """
    if not evidence:
        return Read(None, NOTHING_FOUND)
    request = build_request(question, evidence, task, final=final, must=must, doubt=doubt)
    stream = Stream(on_text) if on_text is not None else None
    checked = not must and task not in _REASONING

    def lines_of(reply: ReaderReply) -> list[int]:
        named, answer = [number - 1 for number in reply.sources], reply.answer or ""
        return supporting_lines(
            question, answer, named, evidence, is_comparison=is_comparison, inferred=reply.inferred
        )

    def parse(text: object) -> ReaderReply:
        reply = parse_reply(text)
        answer = reply.answer
        if must and answer is None:
            raise ValueError(prompt("answer_must"))
        # The form of this answer is unknown, and nothing supports it: ask the model for the right form.
        is_of_unknown_form = checked and answer is not None and not reply.labelled
        if is_of_unknown_form and _hardly_said(answer or "", question, evidence):
            raise ValueError(f"no line of the evidence holds this answer. {FORM}")
        return reply

    def invented(reply: ReaderReply) -> list[str]:
        if reply.answer is None or not checked or lines_of(reply):
            return []
        return Known.of(question, evidence).invented(reply.answer)

    reply = _ask(llm, request, parse, invented, stream)
    tokens = _tokens(request, evidence)
    numbers = lines_of(reply)
    if reply.answer is None:
        return Read(None, reply.missing[:_LONGEST] or NOT_SAID, tokens=tokens)
    if not numbers and checked:
        return Read(None, UNSUPPORTED, tokens=tokens)
    if stream is not None:
        stream.end(reply.answer)
    sources = tuple(evidence[number] for number in numbers)
    return Read(reply.answer, None, sources, tokens, inferred=reply.inferred)


def _hardly_said(answer: str, question: str, evidence: Sequence[EvidenceLine]) -> bool:
    """Tell whether few words of an answer are in the evidence or the question."""
    everything = [question]
    for item in evidence:
        everything += [item.text, item.passage.text]
    return Said.of(answer).share(" ".join(everything)) < _SUPPORTED


def _ask(
    llm: LanguageModel,
    request: Request,
    parse: Callable[[object], T],
    invented: Callable[[T], list[str]],
    stream: Stream | FullStream | None,
    better: Callable[[T, T], T] = lambda _, second: second,
) -> T:
    """Ask the model. If the reply has names, numbers, dates or code that no line has, ask once more and name
    them. Both replies are cached, so that neither is paid twice.

    Args:
        llm: The model.
        request: The request.
        parse: Reads a reply, or raises ValueError.
        invented: Returns the parts of a reply that no line has.
        stream: Gets the reply as it arrives.
        better: Chooses between the first and the second reply.
    """
    written = ""

    def check(text: object) -> T:
        nonlocal written
        written = str(text)
        if stream is not None:
            stream.again()  # after a reply that was refused
        return parse(text)

    reply = llm.ask(request, check, on_text=stream).value
    names = invented(reply)
    if not names:
        return reply
    order = _INVENTED.format(names=", ".join(f'"{single_line(name)}"' for name in names))
    turns = ({"role": "assistant", "content": written}, {"role": "user", "content": order})
    again = replace(request, messages=request.messages + turns)
    if again.short is not None:
        again = replace(again, short=replace(again.short, messages=again.short.messages + turns))
    try:
        return better(reply, llm.ask(again, check).value)
    except InvalidReplyError:  # the marks say what is wrong with the first
        return reply


def build_request(
    question: str,
    evidence: Sequence[EvidenceLine],
    task: str = "answer",
    *,
    final: bool = True,
    must: bool = False,
    doubt: bool = False,
) -> Request:
    """Build the request: the prompt, the numbered lines, the question."""
    text = f"{render_evidence(evidence)}\n\nQuestion: {single_line(question)}"
    if must:
        text = f"{text}\n\n{prompt('answer_must')}"
    elif doubt:
        text = f"{text}\n\n{prompt('answer_doubt')}"
    system = prompt(task)
    if task in ("answer", "answer_paper", FULL) and any(item.run is not None for item in evidence):
        system = f"{prompt('answer_compact')}\n\n{system.partition(_PARAGRAPH)[2]}"  # the rules are the same
    short_messages = _messages(prompt("answer_short"), f"{text}\n\n{_AGAIN}")
    short = Request("answer", short_messages, limit=_LIMIT, final=final)
    limit = _FULL_LIMIT if task in IN_FULL.values() else _LIMIT
    return Request("answer", _messages(system, text), limit=limit, short=short, final=final)


def _messages(system: str, user: str) -> tuple[dict[str, str], ...]:
    return ({"role": "system", "content": system}, {"role": "user", "content": user})


def _tokens(request: Request, evidence: Sequence[EvidenceLine]) -> dict[str, int]:
    return {"evidence": estimate(render_evidence(evidence)), "prompt": estimate_messages(request.messages)}


def from_items(
    question: str,
    items: Sequence[EvidenceLine],
    llm: LanguageModel,
    *,
    confidence: float | None = None,
    **how: Any,
) -> AnswerDraft:
    """Have a model answer in a few words from lines of evidence, and return the answer with the confidence
    of the chains; the model decides whether there is an answer. how: Keyword arguments of `read_answer`,
    whose errors it raises."""
    read = read_answer(question, items, llm, **how)
    answer = read.answer
    if answer is None:
        return AnswerDraft(None, "none", True, confidence, [], read.missing, read.tokens)
    citations = unique(cited(item, question, answer) for item in read.sources)
    return AnswerDraft(answer, "llm", False, confidence, citations, None, read.tokens, read.inferred)


def cited(item: EvidenceLine, question: str, answer: str) -> Citation:
    """Return the citation of a line: its passage, with the sentence that contains the pair or the answer."""
    return cite(item.passage, item.question or question, item.answer or answer)


FULL = "answer_full"  # the prompt of an answer in full
IN_FULL = {"answer": FULL, "overview_join": "overview_join"}  # by `RetrievalResult.prompt_name`


def in_full(
    question: str,
    items: Sequence[EvidenceLine],
    llm: LanguageModel,
    *,
    task: str = FULL,
    confidence: float | None = None,
    is_comparison: bool = False,
    must: bool = False,
    doubt: bool = False,
    on_text: Callable[[str], None] | None = None,
) -> AnswerDraft:
    """Let a model answer in full from lines of evidence: statements, each with its citations.

    If no line has a name, number, date or code of a statement, the model is told once. A statement that keeps
    it is marked; if all statements are marked, there is no answer. A reply in the short form gives an answer
    without a text. Arguments and errors are those of `read_answer`.
    """
    if not items:
        return AnswerDraft(None, "none", True, confidence, [], NOTHING_FOUND, Read(None).tokens)
    request = build_request(question, items, task, must=must, doubt=doubt)
    known = Known.of(question, items)

    def cite_line(number: int, statement: str) -> Citation | None:
        return cited(items[number - 1], question, statement) if 0 < number <= len(items) else None

    def parse(text: object) -> FullReply:
        reply = parse_full(text)
        return replace(reply, parts=tuple(_from_lines(part, len(items)) for part in reply.parts))

    def marks_of(reply: FullReply) -> list[list[str]]:
        return _invented(reply, question, items, known, is_comparison=is_comparison)

    def invented(reply: FullReply) -> list[str]:
        return [name for names in marks_of(reply) for name in names]

    def better(first: FullReply, second: FullReply) -> FullReply:
        """Return the second reply, unless it invents more or drops sound statements."""
        is_worse = not second.parts or len(invented(second)) > len(invented(first))
        return first if is_worse and not all(marks_of(first)) else second

    stream = FullStream(on_text, cite_line) if on_text is not None else None
    reply = _ask(llm, request, parse, invented, stream, better)
    marks = marks_of(reply)
    draft = AnswerDraft(source="none", abstained=True, confidence=confidence, tokens=_tokens(request, items))
    if not reply.parts:
        return replace(draft, missing=reply.missing[:_LONGEST] or NOT_SAID)
    if marks and all(marks) and not must:
        return replace(draft, missing=UNSUPPORTED)
    answer = Written(cite_line)
    parts = _with_lines(reply, question, items, is_comparison=is_comparison)
    for part, names in zip(parts, marks, strict=True):
        answer.add(part, names)
    text = answer.text if reply.in_full else None
    if stream is not None:
        stream.end(answer.plain if text is None else whole(reply.answer, text))
    return replace(
        draft,
        answer=reply.answer or answer.plain,
        source="llm",
        abstained=False,
        citations=answer.citations,
        missing=reply.missing[:_LONGEST] or None,
        inferred=all(part.follows for part in parts),
        text=text,
        statements=answer.statements,
    )


def _from_lines(part: Part, count: int) -> Part:
    """Return a statement as one that does not follow if it names none of so many lines."""
    return part if any(0 < number <= count for number in part.lines) else replace(part, follows=False)


def _invented(
    reply: FullReply, question: str, items: Sequence[EvidenceLine], known: Known, *, is_comparison: bool
) -> list[list[str]]:
    """Return for each statement its parts that no line has. An inferred statement invents nothing, nor do its
    words elsewhere in the reply. The inventions of the short answer alone mark the first statement, unless
    the answer is a judgement."""
    found = []
    follows = " ".join(part.text for part in reply.parts if part.follows)
    for part in reply.parts:
        lines = [items[number - 1] for number in part.lines if 0 < number <= len(items)]
        names = []
        if not (part.follows or is_count_of(question, part.text, lines)):
            names = known.invented(part.text)
        found.append([name for name in names if not _has_word(follows, name)])
    if found and reply.in_full and reply.answer and not is_comparison:
        said = " ".join(part.text for part in reply.parts)
        found[0] += [name for name in known.invented(reply.answer) if not _has_word(said, name)]
    return found


def _has_word(text: str, word: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text, re.IGNORECASE) is not None


def _with_lines(
    reply: FullReply, question: str, items: Sequence[EvidenceLine], *, is_comparison: bool
) -> list[Part]:
    """Return the statements; the last one has further lines if no cited line holds the words of the short
    answer and another does, or if no line is cited at all."""
    named = [number - 1 for part in reply.parts for number in part.lines if 0 < number <= len(items)]
    *others, last = reply.parts
    answer = reply.answer or last.text
    inferred = all(part.follows for part in reply.parts)
    support = supporting_lines(question, answer, named, items, is_comparison=is_comparison, inferred=inferred)
    if not (named or support):
        support = _most(Said.of(answer), items)
    further = [number + 1 for number in support if number not in named]
    return [*others, replace(last, lines=(*last.lines, *further))]
