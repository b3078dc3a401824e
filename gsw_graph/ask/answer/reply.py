"""The short form of a reply: an answer of a few words and the numbers of its lines, in labelled lines or another
usual form; read whole, and shown as it comes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gsw_graph.models.chat.request import answer_text, parse_json
from gsw_graph.values import single_spaced

if TYPE_CHECKING:
    from collections.abc import Callable

FORM = 'Write "Answer: ..." and "Sources: ...", or "Not in the evidence: ..."'
# Models that answer in the language of a question translate the labels.
ANSWER = "answer|antwort|réponse|respuesta|risposta|resposta|antwoord|svar|odpowiedź|ответ|答案|回答|답변"
SOURCES = (
    "sources?|quellen?|fuentes?|fonti|fonte|fontes|bronn?en|källor|kilder|źródła|источники?|来源|出典|출처"
)
_LABEL = re.compile(
    rf"^[ \t>#*_`-]*(?:(?:(?:final )?answer[ \t*_`]*[:：][ \t*_`]*)?(?P<missing>not in the evidence\b[ \t*_`]*[:：.]?)"
    rf"|(?P<answer>(?:(?:final |inferred )?(?:{ANSWER})(?: \(inferred\))?|inferred)[ \t*_`]*[:：])"
    rf"|(?P<sources>(?:{SOURCES})[ \t*_`]*[:：]))[ \t*_`]*",
    re.IGNORECASE | re.MULTILINE,
)
_INFERRED = re.compile(r"^[ \t>#*_`-]*(?:inferred\b|answer \(inferred\))", re.IGNORECASE | re.MULTILINE)
_LABELS = (
    "final answer:",
    "answer (inferred):",
    "inferred:",
    "inferred answer:",
    "not in the evidence:",
    *(f"{label}:" for label in f"{ANSWER}|{SOURCES}".replace("nn?", "nn").split("|")),
)
_BOXED = re.compile(r"\$*\\boxed\{(?:\\text(?:bf|rm)?\{)?((?:[^{}]|\{[^{}]*\})*)\}+\$*")
_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\]")
_MARK_AFTER = re.compile(rf"\s*{_MARK.pattern}(?!\w)")  # no space is left before a comma
_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
NO_ANSWER = re.compile(
    r"(?:no answer|n/a|unknown|not (?:known|found|available|given|stated|mentioned|specified|provided)"
    r"|(?:not (?:stated|mentioned|specified|provided|given|found|available)|unknown|nothing|no (?:answer|information)) (?:\w+ )?in the (?:\w+ )?(?:evidence|lines?|texts?|passages?|documents?|context|sources?)\b.*"
    r"|i (?:do not|don['’]t|cannot|can['’]t) (?:know|answer|determine|find|tell)\b.*|the (?:given |provided )?evidence does(?: not|n['’]t) .*"
    r"|(?:it )?cannot be (?:determined|answered|found)\b.*|(?:there is )?(?:not enough|insufficient) (?:evidence|information)\b.*)[.!]?",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class ReaderReply:
    """Hold an answer with the line numbers that the model names, or no answer and the missing evidence, which
    may be empty. inferred: The model says that the answer follows from the lines without being stated there."""

    answer: str | None
    sources: tuple[int, ...] = ()
    missing: str = ""
    inferred: bool = False
    labelled: bool = field(default=True, compare=False)


def parse_reply(reply: object) -> ReaderReply:
    """Read a reply. A reply without labels is the answer; if it has an answer and a refusal, the first counts.

    Raises:
        ValueError: The reply has neither an answer nor a refusal.
    """
    text = with_labels(answer_text(str(reply)))
    parts = _parts(text)
    body = _answer(text)
    answer = plain(body or "")
    if body is None or not answer:
        missing = [part for label, part in parts if label == "missing"]
        if not missing:
            raise ValueError(f"the reply has no answer. {FORM}")
        return ReaderReply(None, missing=plain(missing[0]))
    if NO_ANSWER.fullmatch(answer):
        return ReaderReply(None, missing=answer if len(answer.split()) > 3 else "")
    numbers = []
    for label, part in parts:
        if label == "sources":
            numbers += _listed(part)
    sources = tuple(dict.fromkeys(numbers + _marked(body)))
    inferred = any(_INFERRED.match(match[0]) for match in _LABEL.finditer(text))
    return ReaderReply(answer, sources, inferred=inferred, labelled="answer" in dict(parts))


def with_labels(text: str) -> str:
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
            self.end(plain(_settled(body)))

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
    start = single_spaced(line.lstrip(" \t>#*_`-").lower())
    if any(label.startswith(start) for label in _LABELS):
        body = before
    body = body[: max(map(body.rfind, " \t\n")) + 1]
    mark = body.rfind("[")
    return body[:mark] if mark > body.rfind("]") else body


def plain(body: str) -> str:
    """Return an answer without marks and emphasis, in one line."""
    text = _MARK_AFTER.sub("", re.sub(r"\*\*|`", "", body))
    return single_spaced(_MARK.sub(" ", text))


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
