"""Parse the reply of a language model to a question: labelled lines, or an answer in another usual form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from gsw_graph.models.chat.request import answer_text, parse_json

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
_JSON_ANSWERS = ("answer", "final_answer", "finalAnswer", "antwort", "response", "result")
_JSON_SOURCES = ("sources", "source", "citations", "lines", "evidence", "quellen")
_JSON_MISSING = ("missing", "not_in_the_evidence", "not_in_evidence")
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


def parse(reply: object) -> ReaderReply:
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
    """Return a reply in labelled lines where it is JSON, boxed or tagged."""
    if text.lstrip()[:1] in ("{", "[", "`"):
        try:
            value = parse_json(text, (*_JSON_ANSWERS[:4], *_JSON_MISSING))
        except ValueError:
            value = None
        if isinstance(value, dict) and value.keys() & {*_JSON_ANSWERS, *_JSON_MISSING}:
            answer = next((value[key] for key in _JSON_ANSWERS if value.get(key) not in (None, "", [])), None)
            if answer is None:
                return f"Not in the evidence: {next((value[key] for key in _JSON_MISSING if value.get(key)), '')}"
            sources = next((value[key] for key in _JSON_SOURCES if value.get(key)), "")
            answers = answer if isinstance(answer, list) else [answer]
            words = ["yes" if part is True else "no" if part is False else str(part) for part in answers]
            return f"Answer: {', '.join(words)}\nSources: {', '.join(_NUMBER.findall(json.dumps(sources)))}"
    for form in (_BOXED, _TAGGED):
        if matches := list(form.finditer(text)):
            if _parts(text) and _parts(text)[0][0] == "answer":
                return form.sub(lambda match: match[1], text)
            rest = text[matches[-1].end() :]
            return f"Answer: {matches[-1][1].strip()}\n{rest if _parts(rest) else ''}"
    return text


class Stream:
    """Show the answer of a reply that comes in pieces, without labels, thoughts, sources and marks.

    A word is shown when it is complete, a line when it cannot be a label. The text shown is a beginning of the
    answer that `parse` returns in the end, unless it turns out to be thoughts whose beginning the server did
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
