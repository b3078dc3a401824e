"""Have a language model answer from evidence: the request, its reply in labelled lines or another usual form,
and the lines that support the answer. Citations come from the graph: of the model's reply only the numbers of
our lines are used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gsw_graph.ask.answer.counting import asks_for_all
from gsw_graph.ask.answer.evidence import Item, flat, listed
from gsw_graph.ask.answer.quotes import Said, cite, words_of
from gsw_graph.ask.strategy import AnswerDraft
from gsw_graph.models.chat.request import (
    Request,
    answer_text,
    estimate,
    estimate_messages,
    parse_json,
)
from gsw_graph.models.prompts import prompt
from gsw_graph.text.words import stem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gsw_graph.model.results import Citation
    from gsw_graph.models.chat.request import LanguageModel


# share of an answer's words that must occur somewhere, where no line has them all: "Rome and Oslo", two parts
# of a date in another form
_SUPPORTED = 0.6
_YES_NO = frozenset(
    """yes no oui non si sí sì sim não nao ja nein nee nej nei jo tak nie
    ano ne evet hayır da nu igen nem kyllä ei ya tidak có không
    ναι όχι да нет так ні
    はい いいえ 是 是的 不是 否 不 예 네 아니요 아니오 हाँ हां नहीं نعم لا כן לא""".split()
)
_CLAUSE = re.compile("[,.;:!，。、！]")


def supported(
    question: str,
    answer: str,
    named: Sequence[int],
    items: Sequence[Item],
    *,
    judged: bool,
    inferred: bool = False,
) -> list[int]:
    """Return the indexes of the lines that support an answer: the lines that the model named, and the first
    that contains its words if none of these does; none if nothing supports it.

    Args:
        question: The question.
        answer: The answer.
        named: Indexes of the lines that the model named.
        items: The lines.
        judged: The answer compares, so its words need not be in a line; neither need yes, no or a name in
            the question. Without named lines the nearest line supports such an answer.
        inferred: The model says that the answer follows from the lines that it named; only these support it.
    """
    named = [number for number in dict.fromkeys(named) if 0 <= number < len(items)]
    said = Said.of(answer)
    yes_no = is_yes_no(answer)
    if judged or yes_no or said.share(question) == 1:
        return named or _most(Said.of(question) if yes_no else said, items)
    texts = [item.text for item in items]
    passages = [item.passage.text for item in items]
    for parts in (texts, passages):  # a line is short; the passage it was taken from may say more
        holding = [number for number, text in enumerate(parts) if said.share(text) == 1]
        if holding:
            return named if set(named) & set(holding) else [*named, holding[0]]
    if inferred or is_count_of(question, answer, [items[number] for number in named]):
        return named
    everything = " ".join(f"{item.text} {item.passage.text}" for item in items)
    if said.share(everything) < _SUPPORTED:
        return []
    return named or _most(said, items)


def is_yes_no(answer: str) -> bool:
    """Tell whether an answer is yes or no, whatever follows: "No, he was not", but not "No Doubt"."""
    return _CLAUSE.split(answer.casefold(), maxsplit=1)[0].strip() in _YES_NO


def _most(said: Said, items: Sequence[Item]) -> list[int]:
    """Return the index of the line that says most of something; none without lines."""
    shares = [said.share(item.text) for item in items]
    return [shares.index(max(shares))] if shares else []


def is_count_of(question: str, answer: str, lines: Sequence[Item]) -> bool:
    """Tell whether an answer is the number of the lines that it is based on, or of their passages, each of which has
    a word of the question."""
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
_LIMIT = 1000  # tokens of an answer, which is a line or two
# Prompts of the papers' readers, which reason and then answer; the reader alone decides what is an answer.
_REASONING = ("answer_panini", "answer_paper")
_AGAIN = (
    'Write "Answer:" and a few words of the evidence, then "Sources:" and the numbers of their '
    "lines; "
    'or "Not in the evidence:" and what is missing.'
)
_PARAGRAPH = "\n\n"  # the first one of a prompt says what the evidence looks like
_LONGEST = 500  # characters of what is missing


@dataclass(frozen=True, slots=True)
class Read:
    """A model's answer with the lines that support it, or a text about what is missing.

    tokens: Estimates of `evidence`, the numbered lines, and `prompt`, the request; 0 without a request.
    inferred: The answer follows from these lines and is not stated there.
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
    must: bool = False,
    doubt: bool = False,
    on_text: Callable[[str], None] | None = None,
) -> Read:
    """Have a model answer from the evidence; without any it is not asked.

    Args:
        question: The question.
        evidence: The lines, which are numbered here.
        llm: The model.
        judged: As of `supported`.
        task: The name of the prompt. An answer by the prompt of a paper needs no support.
        final: As of `Request`; False for a part of a question.
        must: The model may not refuse; an answer without support then cites nothing.
        doubt: The model is told that the search hardly fits the question.
        on_text: Gets the answer in pieces, before its support is checked.

    Raises:
        ReplyError: The model gave no reply that can be used.
        StoppedError: No call works any more.
    """
    if not evidence:
        return Read(None, NOTHING_FOUND)
    request = build_request(question, evidence, task, final=final, must=must, doubt=doubt)
    stream = Stream(on_text) if on_text is not None else None
    checked = not must and task not in _REASONING

    def lines_of(reply: ReaderReply) -> list[int]:
        named, answer = [number - 1 for number in reply.sources], reply.answer or ""
        return supported(question, answer, named, evidence, judged=judged, inferred=reply.inferred)

    def check(text: object) -> ReaderReply:
        if stream is not None:
            stream.again()  # after a reply that was refused
        reply = parse_reply(text)
        if must:
            if reply.answer is None:
                raise ValueError(prompt("answer_must"))
        # The form of this answer is unknown, and nothing supports it: ask the model for the right form.
        elif checked and reply.answer is not None and not reply.labelled and not lines_of(reply):
            raise ValueError(f"no line of the evidence holds this answer. {FORM}")
        return reply

    reply = llm.ask(request, check, on_text=stream).value
    tokens = {"evidence": estimate(listed(evidence)), "prompt": estimate_messages(request.messages)}
    if reply.answer is None:
        return Read(None, reply.missing[:_LONGEST] or NOT_SAID, tokens=tokens)
    numbers = lines_of(reply)
    if not numbers and checked:
        return Read(None, UNSUPPORTED, tokens=tokens)
    if stream is not None:
        stream.end(reply.answer)
    sources = tuple(evidence[number] for number in numbers)
    return Read(reply.answer, None, sources, tokens, inferred=reply.inferred)


def build_request(
    question: str,
    evidence: Sequence[Item],
    task: str = "answer",
    *,
    final: bool = True,
    must: bool = False,
    doubt: bool = False,
) -> Request:
    """Build the request: the prompt, the numbered lines, the question."""
    text = f"{listed(evidence)}\n\nQuestion: {flat(question)}"
    if must:
        text = f"{text}\n\n{prompt('answer_must')}"
    elif doubt:
        text = f"{text}\n\n{prompt('answer_doubt')}"
    system = prompt(task)
    if task in ("answer", "answer_paper") and any(item.run is not None for item in evidence):
        system = f"{prompt('answer_compact')}\n\n{system.partition(_PARAGRAPH)[2]}"  # the rules are the same
    short_messages = _messages(prompt("answer_short"), f"{text}\n\n{_AGAIN}")
    short = Request("answer", short_messages, limit=_LIMIT, final=final)
    return Request("answer", _messages(system, text), limit=_LIMIT, short=short, final=final)


def _messages(system: str, user: str) -> tuple[dict[str, str], ...]:
    return ({"role": "system", "content": system}, {"role": "user", "content": user})


def from_items(
    question: str, items: Sequence[Item], llm: LanguageModel, *, confidence: float | None = None, **how: Any
) -> AnswerDraft:
    """Have a model answer from lines of evidence, and return the answer with the confidence of the chains;
    the model decides whether there is an answer. how: Keyword arguments of `read_answer`, whose errors it
    raises."""
    read = read_answer(question, items, llm, **how)
    answer = read.answer
    if answer is None:
        return AnswerDraft(None, "none", True, confidence, [], read.missing, read.tokens)
    citations = list(dict.fromkeys(cited(item, question, answer) for item in read.sources))
    return AnswerDraft(answer, "llm", False, confidence, citations, None, read.tokens, read.inferred)


def cited(item: Item, question: str, answer: str) -> Citation:
    """Return the citation of a line: its passage, with the sentence that contains the pair or the answer."""
    return cite(item.passage, item.question or question, item.answer or answer)


# The form of a reply

FORM = 'Write "Answer: ..." and "Sources: ...", or "Not in the evidence: ..."'
# Models that answer in the language of a question translate the labels.
_ANSWER = "answer|antwort|réponse|respuesta|risposta|resposta|antwoord|svar|odpowiedź|ответ|答案|回答|답변"
_SOURCES = (
    "sources?|quellen?|fuentes?|fonti|fonte|fontes|bronn?en|källor|kilder|źródła|источники?|来源|出典|출처"
)
_LABEL = re.compile(
    rf"^[ \t>#*_`-]*(?:(?:(?:final )?answer[ \t*_`]*[:：][ \t*_`]*)?(?P<missing>not in the evidence\b[ \t*_`]*[:：.]?)"
    rf"|(?P<answer>(?:(?:final |inferred )?(?:{_ANSWER})(?: \(inferred\))?|inferred)[ \t*_`]*[:：])"
    rf"|(?P<sources>(?:{_SOURCES})[ \t*_`]*[:：]))[ \t*_`]*",
    re.IGNORECASE | re.MULTILINE,
)
_INFERRED = re.compile(r"^[ \t>#*_`-]*(?:inferred\b|answer \(inferred\))", re.IGNORECASE | re.MULTILINE)
_LABELS = (
    "final answer:",
    "answer (inferred):",
    "inferred:",
    "inferred answer:",
    "not in the evidence:",
    *(f"{label}:" for label in f"{_ANSWER}|{_SOURCES}".replace("nn?", "nn").split("|")),
)
_BOXED = re.compile(r"\$*\\boxed\{(?:\\text(?:bf|rm)?\{)?((?:[^{}]|\{[^{}]*\})*)\}+\$*")
_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]")
_MARK_AFTER = re.compile(rf"\s*{_MARK.pattern}(?!\w)")  # no space is left before a comma
_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
_NO_ANSWER = re.compile(
    r"(?:no answer|n/a|unknown|not (?:known|found|available|given|stated|mentioned|specified|provided)"
    r"|(?:not (?:stated|mentioned|specified|provided|given|found|available)|unknown|nothing|no (?:answer|information)) (?:\w+ )?in the .*"
    r"|i (?:do not|don['’]t|cannot|can['’]t) (?:know|answer|determine|find|tell)\b.*|the (?:given |provided )?evidence does(?: not|n['’]t) .*"
    r"|(?:it )?cannot be (?:determined|answered|found)\b.*|(?:there is )?(?:not enough|insufficient) (?:evidence|information)\b.*)[.!]?",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ReaderReply:
    """An answer with the numbers of lines that the model names; or no answer and what the evidence lacks,
    which may be empty. inferred: the model says that the answer follows from these lines and is not stated
    there."""

    answer: str | None
    sources: tuple[int, ...] = ()
    missing: str = ""
    inferred: bool = False
    labelled: bool = field(default=True, compare=False)


def parse_reply(reply: object) -> ReaderReply:
    """Read a reply. Without labels all of it is the answer; of an answer and a refusal the first counts.

    Raises:
        ValueError: There is neither.
    """
    text = _with_labels(answer_text(str(reply)))
    parts = _parts(text)
    body = _answer(text)
    answer = _plain(body or "")
    if body is None or not answer:
        missing = [part for label, part in parts if label == "missing"]
        if not missing:
            raise ValueError(f"the reply has no answer. {FORM}")
        return ReaderReply(None, missing=_plain(missing[0]))
    if _NO_ANSWER.fullmatch(answer):
        return ReaderReply(None, missing=answer if len(answer.split()) > 3 else "")
    numbers = []
    for label, part in parts:
        if label == "sources":
            numbers += _listed(part)
    sources = tuple(dict.fromkeys(numbers + _marked(body)))
    inferred = any(_INFERRED.match(match[0]) for match in _LABEL.finditer(text))
    return ReaderReply(answer, sources, inferred=inferred, labelled="answer" in dict(parts))


def _with_labels(text: str) -> str:
    """Return a reply in labelled lines if it is boxed, tagged or JSON."""
    if text.lstrip().startswith(("{", "```")):
        return _of_json(text)
    for form in (_BOXED, _TAGGED):
        matches = list(form.finditer(text))
        if matches:
            parts = _parts(text)
            if parts and parts[0][0] == "answer":
                return form.sub(r"\1", text)
            last = matches[-1]
            rest = text[last.end() :]
            answer = f"Answer: {last[1].strip()}\n"
            return answer + rest if _parts(rest) else answer
    return text


def _of_json(text: str) -> str:
    """Return a reply in labelled lines if it is a JSON object with an answer; else the reply."""
    try:
        value = parse_json(text, ("answer",))
    except ValueError:
        return text
    if not isinstance(value, dict) or "answer" not in value:
        return text
    answer, sources = value["answer"], value.get("sources", ())
    if answer is None:
        return f"Not in the evidence: {value.get('missing') or 'it does not say'}"
    return f"Answer: {answer}\nSources: {sources}"


class Stream:
    """Show the answer of a reply that comes in pieces, without labels, thoughts, sources and marks.

    A word is shown when it is complete, a line when it cannot be a label. The text shown is a beginning of the
    answer that `parse_reply` returns in the end, unless it turns out to be thoughts whose beginning the server did
    not send.
    """

    def __init__(self, show: Callable[[str], None]) -> None:
        self._show = show
        self._text = self._shown = ""

    def __call__(self, piece: str) -> None:
        """Take the next piece of the reply."""
        self._text += piece
        text = answer_text(self._text)
        body = _answer(text)
        if body is not None and "answer" in dict(_parts(text)):
            self.end(_plain(_settled(body)))

    def again(self) -> None:
        """Start again with another reply."""
        self._text = ""

    def end(self, answer: str) -> None:
        """Show the rest of the answer, if the text shown is its beginning."""
        if len(answer) > len(self._shown) and answer.startswith(self._shown):
            piece, self._shown = answer[len(self._shown) :], answer
            self._show(piece)


def _parts(text: str) -> list[tuple[str, str]]:
    """Return the labels with the text after each."""
    parts = []
    end = len(text)
    for match in reversed(list(_LABEL.finditer(text))):
        parts.append((str(match.lastgroup), text[match.end() : end]))
        end = match.start()
    return parts[::-1]


def _answer(text: str) -> str | None:
    """Return the answer with its marks; None if the reply has none, or first says that there is none."""
    for label, body in _parts(text):
        if label != "sources":
            return body if label == "answer" else None
    return _LABEL.split(text, maxsplit=1)[0]


def _settled(body: str) -> str:
    """Return the beginning of an unfinished answer that no later piece can change: without the last word or
    mark, and without a line that may become a label."""
    before, _, line = body.rpartition("\n")
    start = " ".join(line.lstrip(" \t>#*_`-").lower().split())
    if any(label.startswith(start) for label in _LABELS):
        body = before
    body = body[: max(map(body.rfind, " \t\n")) + 1]
    mark = body.rfind("[")
    return body[:mark] if mark > body.rfind("]") else body


def _plain(body: str) -> str:
    """Return an answer without marks and emphasis, in one line."""
    text = _MARK_AFTER.sub("", re.sub(r"\*\*|`", "", body))
    return " ".join(_MARK.sub(" ", text).split())


def _marked(text: str) -> list[int]:
    """Return the numbers in square brackets."""
    return [int(number) for mark in _MARK.findall(text) for number in _NUMBER.findall(mark)]


def _listed(body: str) -> list[int]:
    """Return the numbers of a list of sources: of a line with words only those in brackets, so that a year is
    no source."""
    numbers: list[int] = []
    for place, line in enumerate(filter(str.strip, body.splitlines())):
        has_words = re.search(r"[^\W\d_]{4,}", line)  # "and", "no." and the like are none
        marked = _marked(line) if has_words else []
        if not marked and has_words and place > 0:
            break
        numbers += marked or map(int, _NUMBER.findall(line))
    return numbers
