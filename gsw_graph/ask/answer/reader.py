"""Have a language model answer from evidence: the request, its reply in labelled lines or another usual form,
and the lines that support the answer. Citations come from the graph: of the model's reply only the numbers of
our lines are used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.ask.answer.evidence import Item, flat, listed, quote
from gsw_graph.ask.strategy import AnswerDraft
from gsw_graph.model.results import Citation
from gsw_graph.models.chat.request import (
    Request,
    answer_text,
    estimate,
    estimate_messages,
    parse_json,
)
from gsw_graph.models.prompts import prompt
from gsw_graph.text.names import CONNECTORS, FUNCTION_WORDS, LETTERS, normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from gsw_graph.models.chat.request import LanguageModel


# share of an answer's words that must occur somewhere, where no line has them all: "Rome and Oslo", two parts
# of a date in another form
_SUPPORTED = 0.6
_STEM = 4  # letters: "American" stands for America, "Malian" for Mali, "Roomassa" for Rooma
_YES_NO = frozenset(
    """yes no oui non si sí sì sim não nao ja nein nee nej nei jo tak nie
    ano ne evet hayır da nu igen nem kyllä ei ya tidak có không
    ναι όχι да нет так ні
    はい いいえ 是 是的 不是 否 不 예 네 아니요 아니오 हाँ हां नहीं نعم لا כן לא""".split()
)
_CLAUSE = re.compile("[,.;:!，。、！]")
_WORD = re.compile(LETTERS)
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)  # scripts without spaces


def supported(
    question: str,
    answer: str,
    named: Sequence[int],
    items: Sequence[Item],
    *,
    judged: bool,
    inferred: bool = False,
) -> list[int]:
    """Return the indexes of the lines that support an answer: those that the model named, and the first that
    contains its words if none of these does; none where nothing supports it.

    Args:
        question: The question.
        answer: The answer.
        named: Indexes of the lines that the model named.
        items: The lines.
        judged: The answer compares, so its words need not be in a line, as those of yes or no and of a name
            in the question; without named lines the nearest line supports it.
        inferred: The model says that the answer follows from the lines that it named; only these support it.
    """
    named = list(dict.fromkeys(number for number in named if 0 <= number < len(items)))
    # "Three" is a function word, "!!!" is none at all.
    words = words_of(answer) or words_of(answer, every=True) or frozenset([answer.casefold()])
    yes_no = is_yes_no(answer)
    if judged or yes_no or words <= words_of(question):
        return named or _most(words_of(question) if yes_no else words, items)[:1]
    shares = [_share(words, item.text) for item in items]
    if max(shares, default=0.0) < 1:  # a line is short; the passage it was taken from may say more
        shares = [
            max(share, _share(words, item.passage.text)) for share, item in zip(shares, items, strict=True)
        ]
    if holding := [number for number, share in enumerate(shares) if share == 1]:
        return named if set(named) & set(holding) else [*named, holding[0]]
    if inferred:
        return named
    if _share(words, " ".join(f"{item.text} {item.passage.text}" for item in items)) < _SUPPORTED:
        return []
    return named or _most(words, items)[:1]


def is_yes_no(answer: str) -> bool:
    """Tell whether an answer is yes or no, whatever follows: "No, he was not", but not "No Doubt"."""
    return _CLAUSE.split(answer.casefold(), maxsplit=1)[0].strip() in _YES_NO


def _most(words: Collection[str], items: Sequence[Item]) -> list[int]:
    """Return the indexes of lines, those with most of some words first."""
    shares = [_share(words, item.text) for item in items]
    return sorted(range(len(items)), key=lambda number: -shares[number])


def _share(words: Collection[str], text: str) -> float:
    """Return the share of some words that are in a text."""
    text_words, folded = words_of(text, every=True), text.casefold()
    return sum(_is_in(word, text_words, folded) for word in words) / len(words) if words else 0.0


def _is_in(word: str, words: Collection[str], text: str) -> bool:
    if word in words or (word in text and (_UNSPACED.search(word) or not _WORD.search(word))):
        return True
    return (
        word.isalpha()
        and len(word) >= _STEM
        and any(
            len(other_word) >= _STEM and (other_word.startswith(word) or word.startswith(other_word))
            for other_word in words
        )
    )


def words_of(text: str, *, every: bool = False) -> frozenset[str]:
    """Return the words of a text, each in the normal form of names; function words only with `every`."""
    words = frozenset(filter(None, map(normalise, _WORD.findall(text))))
    return words if every else words - FUNCTION_WORDS - CONNECTORS


NOTHING_FOUND = "nothing was found for the question"
NOT_SAID = "the evidence does not hold the answer"
UNSUPPORTED = "nothing in memory supports the model's answer"
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
        task: The name of the prompt.
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
    stream = None if on_text is None else Stream(on_text)

    def lines_of(reply: ReaderReply) -> list[int]:
        cited_lines = [number - 1 for number in reply.sources]
        return supported(
            question, reply.answer or "", cited_lines, evidence, judged=judged, inferred=reply.inferred
        )

    def check(text: object) -> ReaderReply:
        if stream is not None:
            stream.again()  # after a reply that was refused
        reply = parse_reply(text)
        if must and reply.answer is None:
            raise ValueError(prompt("answer_must"))
        # The form of this answer is unknown, and nothing supports it: ask the model for the right form.
        if not must and reply.answer is not None and not reply.labelled and not lines_of(reply):
            raise ValueError(f"no line of the evidence holds this answer. {FORM}")
        return reply

    reply = llm.ask(request, check, on_text=stream).value
    tokens = {"evidence": estimate(listed(evidence)), "prompt": estimate_messages(request.messages)}
    if reply.answer is None:
        return Read(None, reply.missing[:_LONGEST] or NOT_SAID, tokens=tokens)
    if not (numbers := lines_of(reply)) and not must:
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
    if must or doubt:
        text = f"{text}\n\n{prompt('answer_must' if must else 'answer_doubt')}"
    system = prompt(task)
    if task == "answer" and any(item.run is not None for item in evidence):
        system = f"{prompt('answer_compact')}\n\n{system.partition(_PARAGRAPH)[2]}"  # the rules are the same
    short = Request(
        "answer", _messages(prompt("answer_short"), f"{text}\n\n{_AGAIN}"), limit=_LIMIT, final=final
    )
    return Request("answer", _messages(system, text), limit=_LIMIT, short=short, final=final)


def _messages(system: str, user: str) -> tuple[dict[str, str], ...]:
    return ({"role": "system", "content": system}, {"role": "user", "content": user})


def from_items(
    question: str,
    items: Sequence[Item],
    llm: LanguageModel,
    *,
    confidence: float | None = None,
    judged: bool = False,
    task: str = "answer",
    must: bool = False,
    doubt: bool = False,
    on_text: Callable[[str], None] | None = None,
) -> AnswerDraft:
    """Have a model answer from lines of evidence, and return the answer with the confidence of the chains;
    the model decides whether there is an answer. Arguments and errors as of `read_answer`."""
    read = read_answer(
        question, items, llm, judged=judged, task=task, must=must, doubt=doubt, on_text=on_text
    )
    if read.answer is None:
        return AnswerDraft(None, "none", True, confidence, [], read.missing, read.tokens)
    citations = list(dict.fromkeys(cited(item, question, read.answer) for item in read.sources))
    return AnswerDraft(
        read.answer, "llm", False, confidence, citations, None, read.tokens, inferred=read.inferred
    )


def cited(item: Item, question: str, answer: str) -> Citation:
    """Return the citation of a line: its passage, with the sentence that contains the pair or the answer."""
    passage = item.passage
    text = quote(passage.text, item.question or question, item.answer or answer)
    return Citation(passage.id, passage.document, passage.title, passage.source, text, passage.section)


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
    if (body := _answer(text)) is not None and (answer := _plain(body)):
        labelled = any(label == "answer" for label, _ in _parts(text))
        if _NO_ANSWER.fullmatch(answer):
            return ReaderReply(None, missing=answer if len(answer.split()) > 3 else "")
        lists = [_listed(body) for label, body in _parts(text) if label == "sources"]
        inline = [int(number) for mark in _MARK.findall(body) for number in _NUMBER.findall(mark)]
        numbers = [*(number for listed in lists for number in listed), *inline]
        inferred = any(_INFERRED.match(match[0]) for match in _LABEL.finditer(text))
        return ReaderReply(answer, tuple(dict.fromkeys(numbers)), inferred=inferred, labelled=labelled)
    missing = next((body for label, body in _parts(text) if label == "missing"), None)
    if missing is None:
        raise ValueError(f"the reply has no answer. {FORM}")
    return ReaderReply(None, missing=_plain(missing))


def _with_labels(text: str) -> str:
    """Return a reply in labelled lines where it is boxed, tagged or JSON."""
    if text.lstrip().startswith(("{", "```")):
        return _of_json(text)
    for form in (_BOXED, _TAGGED):
        if matches := list(form.finditer(text)):
            if _parts(text) and _parts(text)[0][0] == "answer":
                return form.sub(lambda match: match[1], text)
            rest = text[matches[-1].end() :]
            return f"Answer: {matches[-1][1].strip()}\n{rest if _parts(rest) else ''}"
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
    numbers = sources if isinstance(sources, list) else [sources]
    return f"Answer: {answer}\nSources: {', '.join(map(str, numbers))}"


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
        if any(label == "answer" for label, _ in _parts(text)) and (body := _answer(text)) is not None:
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
    labels = list(_LABEL.finditer(text))
    ends = [*(match.start() for match in labels), len(text)][1:]
    return [(str(match.lastgroup), text[match.end() : end]) for match, end in zip(labels, ends, strict=True)]


def _answer(text: str) -> str | None:
    """Return the answer with its marks; None where the reply has none, or first says that there is none."""
    parts = _parts(text)
    first = next(((name, body) for name, body in parts if name != "sources"), None)
    if first is not None:
        return first[1] if first[0] == "answer" else None
    label = _LABEL.search(text)
    return text[: label.start()] if label else text


def _settled(body: str) -> str:
    """Return the beginning of an unfinished answer that no later piece can change: without the last word or
    mark, and without a line that may become a label."""
    before, _, line = body.rpartition("\n")
    start = " ".join(line.lstrip(" \t>#*_`-").lower().split())
    if any(label.startswith(start) for label in _LABELS):
        body = before
    body = body[: max(body.rfind(space) for space in " \t\n") + 1]
    return body[:mark] if (mark := body.rfind("[")) > body.rfind("]") else body


def _plain(body: str) -> str:
    """Return an answer without marks and emphasis, in one line."""
    return " ".join(_MARK.sub(" ", _MARK_AFTER.sub("", body.replace("**", "").replace("`", ""))).split())


def _listed(body: str) -> list[int]:
    """Return the numbers of a list of sources: of a line with words only those in brackets, so that a year is
    no source."""
    lines = [line for line in body.splitlines() if line.strip()]
    numbers: list[int] = []
    for number, line in enumerate(lines):
        words = re.search(r"[^\W\d_]{4,}", line)  # "and", "no." and the like are none
        if words and (marks := _MARK.findall(line)):
            numbers += [int(number) for mark in marks for number in _NUMBER.findall(mark)]
        elif number == 0 or not words:
            numbers += [int(number) for number in _NUMBER.findall(line)]
        else:
            break
    return numbers
